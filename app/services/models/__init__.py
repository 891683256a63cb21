"""The models that can be chosen: found, described, judged and looked after."""
