"""The places where models lie: Hearth's folder, the Hub's cache, other programs."""
