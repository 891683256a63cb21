"""The error of a build."""


class BuildError(Exception):
    """The reason why a package cannot be built, in a sentence or two."""
