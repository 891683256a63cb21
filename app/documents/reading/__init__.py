"""Reads documents, pictures and sounds in a separate process with limits; see `child`.

The libraries, and why these:

- pypdfium2 (BSD and Apache-2.0) is PDFium, the PDF reader of Chromium, which is exposed to hostile
  files every day. It has no dependencies and comes ready-made for all desktops.
- openpyxl (MIT) knows what cells mean: dates, shared strings, the last results of formulas.
  `cell_formats` formats their numbers, because no maintained library does that in Python.
- For DOCX, PPTX and EPUB the few parts that hold text are read here. python-docx and python-pptx
  would bring lxml, Pillow and XlsxWriter to write files, which nobody here does, and they do not
  compute automatic numbers.
- chardet (0BSD) detects the encoding of a text. It was right where charset-normalizer mistook short
  texts in German, French and Polish for other languages.
- Python reads HTML and e-mail. defusedxml, last released in 2021, does no more than refuse document
  types, as `package` does.
- Pillow (MIT-CMU) reads pictures. It is released every few months, fixes the bugs found in the
  decoders it bundles, and comes ready-made for all desktops. The readers of Qt and llama.cpp ignore
  orientation and have no limits. Only the plugins for the formats listed in `pictures` are used.
  HEIC is encumbered by patents, and no package for it is as actively maintained.
- The frames of sounds are scanned here without decoding them: engines decode.
"""
