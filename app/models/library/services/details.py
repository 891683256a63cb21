"""Describes a model for its page, from its file."""

from __future__ import annotations

from app.models.library.services.library import Library
from app.models.library.values.details import ModelDetails, TemplateAbilities
from engines.dialect import Dialect
from engines.errors import TemplateFailed
from engines.sentences import joined


def details(library: Library, called: str) -> ModelDetails:
    """Describe a model by its header.

    Raises:
        ModelUnknown, ModelAmbiguous, EngineError
    """
    entry = library.find(called)
    file = library.details(entry)
    return ModelDetails(entry, file, template_of(file.chat_template))


def template_of(source: str | None) -> TemplateAbilities:
    """Describe a chat template by running it."""
    try:
        dialect = Dialect(source)
    except TemplateFailed as error:
        return TemplateAbilities(source is not None, trouble=joined(" ", (error.what, error.why)))
    dialect.close()
    return TemplateAbilities(source is not None, dialect.system_role, dialect.format is not None)
