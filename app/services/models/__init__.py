"""The models that can be chosen: found, described, judged and managed."""
