"""The look of everything: themes, sizes, fonts, icons and the language."""
