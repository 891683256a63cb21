"""Reads the text of documents, in a process of its own with limits; see `reader` and `child`.

The libraries, and why these: pypdfium2 (BSD and Apache-2.0) is PDFium, the reader of Chromium,
which is fed hostile files every day; it needs nothing else and comes ready-made for all desktops.
openpyxl (MIT) knows what cells mean: dates, shared texts, the last results of formulas. For DOCX,
PPTX and EPUB the few parts that hold text are read here: python-docx and python-pptx would bring
lxml, Pillow and XlsxWriter, to write files that nobody here writes. Python reads HTML and e-mail;
defusedxml, last released in 2021, does no more than refuse document types, as `package` does.
"""
