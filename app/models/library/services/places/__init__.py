"""The places where models are stored: Hearth's folder, the Hub's cache, other programs' folders."""
