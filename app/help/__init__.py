"""The guides, and the versions and licences of Hearth's parts."""
