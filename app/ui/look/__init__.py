"""How everything looks: themes, sizes, fonts, icons and the language."""
