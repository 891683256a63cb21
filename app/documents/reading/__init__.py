"""Reads documents, pictures and sounds in a process of its own with limits; see `child`.

The libraries, and why these: pypdfium2 (BSD and Apache-2.0) is PDFium, the reader of Chromium,
which is fed hostile files every day; it needs nothing else and comes ready-made for all desktops.
openpyxl (MIT) knows what cells mean: dates, shared texts, the last results of formulas; how their
numbers look is written in `cell_formats`, as no library that is kept does it in Python. For DOCX,
PPTX and EPUB the few parts that hold text are read here: python-docx and python-pptx would bring
lxml, Pillow and XlsxWriter, to write files that nobody here writes, and count no automatic numbers.
chardet (0BSD) tells the encoding of a text: it was right where charset-normalizer took short texts
in German, French and Polish for others. Python reads HTML and e-mail; defusedxml, last released in
2021, does no more than refuse document types, as `package` does.

Pillow (MIT-CMU) reads pictures: it is released every few months, mends what is found in the
decoders that it brings along, and comes ready-made for all desktops. Qt's and llama.cpp's own
readers turn nothing upright and know no limits. Only the formats named in `pictures` are let at
their plugins. What HEIC needs is encumbered by patents, and no package of it is as alive. The
frames of sounds are walked over here, without decoding them: engines decode.
"""
