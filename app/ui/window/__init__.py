"""The window itself: its pages, what its commands do, and how it is opened."""
