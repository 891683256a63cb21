"""The composition root: the only place that makes stores, services, presenters and engines.

`app` makes what window and terminal share, `window` what the window has besides. The other
modules each make one part of these.
"""
