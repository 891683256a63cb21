"""The composition root: the only place that creates stores, services, presenters and engines.

`app` creates the parts that window and terminal share, `window` creates the window's presenters.
Each other module creates one part of these.
"""
