"""The scripted Hub of the pages that discover models."""

from tests.app.models.discover.pages.conftest import hub  # noqa: F401
