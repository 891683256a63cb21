"""Everything on this computer that can be chatted with: who keeps models, and what they keep."""
