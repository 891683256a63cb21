"""The error of a build."""


class BuildError(Exception):
    """Why a package cannot be built, in a sentence or two."""
