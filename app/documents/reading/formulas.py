"""Writes formulas on one line: OMML as in Office, and MathML as in EPUB and HTML.

10² never becomes 102, and a fraction never becomes a row of its digits: (a+b)/c, √(x), ∑_(i=1)^n.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from typing import Final
from xml.etree import ElementTree as ET

from app.documents.values.shifted import Shift, shifted

NOT_READ: Final = "(formula, not read)"
"""Replaces a formula that cannot be read at all."""

_MOST_DEEP: Final = 200
_SIMPLE: Final = re.compile(r"[\w.,\u00b0%\u2032'\u207a\u207b\u208a\u208b\u221e]+")
_ONE_THING: Final = re.compile(r"[\d.,]+|[^\W\d_]+[\u2070-\u209f\u00b2\u00b3\u00b9\u2032]*")
_BUILT: Final = re.compile(r"[/^_\u221a\u2070-\u209f\u00b2\u00b3\u00b9]")
_LETTERS: Final = re.compile("[\U0001d400-\U0001d7ff]")
"""Letters that are italic or bold in formulas."""
_BARE_SHIFT: Final = re.compile(r"[\^_]\w$")
_SIGN_AFTER: Final = re.compile(r"[\u2070-\u209f\u00b2\u00b3\u00b9]$")
_INVISIBLE: Final = {ord("\u2061"): "", ord("\u2062"): "", ord("\u2063"): "", ord("\u2064"): " "}
_ACCENTS: Final = {
    **dict.fromkeys("\u0302^\u02c6", "hat"),
    **dict.fromkeys("\u0303~\u02dc", "tilde"),
    **dict.fromkeys("\u0304\u0305\u00af\u203e\u02c9", "overline"),
    **dict.fromkeys("\u0307\u02d9.", "dot"),
    **dict.fromkeys("\u0308\u00a8", "ddot"),
    **dict.fromkeys("\u20d7\u2192\u20d1", "vec"),
    **dict.fromkeys("\u0332_", "underline"),
}
_BRACES: Final = set("\u23de\u23df\u23b4\u23b5\u23dc\u23dd{}")


class _Fraction(str):
    """A fraction, which must not merge with the text next to it."""

    __slots__ = ()


class FormulaTree:
    """Builds an Office formula from the events of an XML parser."""

    def __init__(self) -> None:
        self._open: list[ET.Element] = []
        self._whole = ET.Element("oMath")

    def opened(self, tag: str, attributes: Mapping[str, str]) -> bool:
        """Process the start of an element; return whether it belongs to a formula."""
        if not self._open:
            if tag == "oMath":
                self._whole = ET.Element(tag)
                self._open.append(self._whole)
            return tag == "oMath"
        element = self._open[-1]
        if len(self._open) < _MOST_DEEP:
            element = ET.SubElement(element, tag, dict(attributes))
        self._open.append(element)
        return True

    def closed(self) -> str | None:
        """Process the end of an element.

        Returns:
            The formula if it ends here, "" within one, None outside formulas.
        """
        if not self._open:
            return None
        self._open.pop()
        return "" if self._open else omml_text(self._whole) or NOT_READ

    def data(self, text: str) -> bool:
        """Process text; return whether it belongs to a formula."""
        if self._open:
            self._open[-1].text = (self._open[-1].text or "") + text
        return bool(self._open)


def omml_text(formula: ET.Element) -> str:
    """Write an Office formula; the names of its elements have no namespace."""
    return _plain(_omml(formula, 0))


def mathml_text(formula: ET.Element) -> str:
    """Write a MathML formula; the names of its elements have no namespace."""
    return _plain(_mathml(formula, 0)) or formula.get("alttext", "").strip()


def _plain(text: str) -> str:
    text = _LETTERS.sub(lambda letter: unicodedata.normalize("NFKC", letter[0]), text)
    return " ".join(text.split()) or ""


def _joined(parts: Iterable[str]) -> str:
    """Concatenate parts, with a space where they would otherwise read as another number."""
    found = [part for part in parts if part]
    if len(found) == 1:
        return found[0]
    line, last = "", ""
    for part in found:
        if line and part and line[-1].isalnum() and (part[0].isalnum() or part[0] == "("):
            apart = isinstance(part, _Fraction) or (
                part[0] != "("
                and (
                    isinstance(last, _Fraction)
                    or bool(_BARE_SHIFT.search(line))
                    or (bool(_SIGN_AFTER.search(line)) and part[0].isdigit())
                )
            )
            line += " " if apart else ""
        line += part
        last = part
    return line


def _is_enclosed(text: str) -> bool:
    """Return whether a text is enclosed in one pair of parentheses."""
    if not (text.startswith("(") and text.endswith(")")):
        return False
    depth = 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if not depth:
            return at == len(text) - 1
    return False


def _grouped(text: str) -> str:
    text = text.strip()
    return text if _SIMPLE.fullmatch(text) or _is_enclosed(text) else f"({text})"


def _fraction(above: str, below: str, *, bar: bool = True) -> str:
    if not bar:
        return f"binom({above.strip()}, {below.strip()})"
    below = _grouped(below)
    if not (_ONE_THING.fullmatch(below) or _is_enclosed(below)):
        below = f"({below})"  # 1/2a would mean half of a
    return _Fraction(f"{_grouped(above)}/{below}")


def _scripted(base: str, lowered: str = "", above: str = "") -> str:
    """Write a base with a subscript and a superscript."""
    if base and _BUILT.search(base) and not _is_enclosed(base):
        base = f"({base})"
    line = base
    scripts: tuple[tuple[Shift, str], ...] = (("lowered", lowered), ("raised", above))
    for shift, text in scripts:
        text = text.strip()  # noqa: PLW2901
        if not text:
            continue
        if _is_enclosed(text):
            line += ("^" if shift == "raised" else "_") + text
        elif text.isalpha() and shift == "raised" and len(text) > 1:
            line += f"^({text})"  # not an ordinal: 2^(nd) in a formula
        elif text.isalpha() and shift == "raised" and text != "n":
            line += f"^{text}"
        elif not any(map(str.isalnum, text)):
            line += f"^{text}" if shift == "raised" and len(text) == 1 else _marked(shift, text)
        else:
            line += shifted(line, shift, text)
    return line


def _marked(shift: Shift, text: str) -> str:
    return f"{'^' if shift == 'raised' else '_'}({text})"


def _root(inner: str, degree: str = "") -> str:
    degree = degree.strip()
    inner = inner.strip()
    inside = inner if _is_enclosed(inner) else f"({inner})"
    if not degree or degree == "2":
        return f"√{inside}"
    if degree in {"3", "4"}:
        return ("∛" if degree == "3" else "∜") + inside
    return f"root({degree}, {inner})"


def _accented(base: str, accent: str) -> str:
    if accent in _BRACES:
        return base
    name = _ACCENTS.get(accent)
    return f"{name}({base})" if name else _scripted(base, "", accent)


def _table(rows: Iterable[Iterable[str]]) -> str:
    return "; ".join(", ".join(cell.strip() for cell in row) for row in rows)


# OMML (ECMA-376, part 1, 22.1)


def _omml(element: ET.Element, depth: int) -> str:
    if depth > _MOST_DEEP:
        return NOT_READ
    if element.tag in _SKIPPED or element.tag.endswith("Pr"):
        return ""
    if element.tag == "t":
        return (element.text or "").translate(_INVISIBLE)
    if write := _OMML.get(element.tag):
        return write(element, depth + 1)
    return _joined(_omml(child, depth + 1) for child in element)


_SKIPPED: Final = {"del", "moveFrom", "Fallback", "instrText", "delText"}


def _part(element: ET.Element, name: str, depth: int) -> str:
    found = element.find(name)
    return _omml(found, depth) if found is not None else ""


def _property(element: ET.Element, name: str, otherwise: str | None = None) -> str | None:
    """Return the value of a property, or `otherwise` if it is missing."""
    found = element.find(f"{element.tag}Pr/{name}")
    return otherwise if found is None else found.get("val", "")


def _is_on(value: str | None) -> bool:
    return value is not None and value not in {"0", "off", "false"}


def _omml_fraction(element: ET.Element, depth: int) -> str:
    bar = _property(element, "type") != "noBar"
    return _fraction(_part(element, "num", depth), _part(element, "den", depth), bar=bar)


def _omml_script(element: ET.Element, depth: int) -> str:
    return _scripted(
        _part(element, "e", depth), _part(element, "sub", depth), _part(element, "sup", depth)
    )


def _omml_before(element: ET.Element, depth: int) -> str:
    scripts = _scripted("", _part(element, "sub", depth), _part(element, "sup", depth))
    return f"{scripts}{_part(element, 'e', depth)}"


def _omml_root(element: ET.Element, depth: int) -> str:
    return _root(_part(element, "e", depth), _part(element, "deg", depth))


def _omml_nary(element: ET.Element, depth: int) -> str:
    sign = _property(element, "chr", "\u222b") or ""
    scripts = _scripted(sign, _part(element, "sub", depth), _part(element, "sup", depth))
    return f"{scripts} {_part(element, 'e', depth)} "


def _omml_enclosed(element: ET.Element, depth: int) -> str:
    begin, end = _property(element, "begChr", "("), _property(element, "endChr", ")")
    inner = []
    for e in element.findall("e"):
        only = next(iter(e), None) if len(e) == 1 else None
        inner.append(
            _omml_rows(only, depth)
            if only is not None and only.tag == "m"
            else _omml(e, depth).strip()
        )
    return f"{begin}{(_property(element, 'sepChr', '|') or '').join(inner)}{end}"


def _omml_rows(element: ET.Element, depth: int) -> str:
    return _table([_omml(e, depth) for e in row.findall("e")] for row in element.findall("mr"))


def _omml_matrix(element: ET.Element, depth: int) -> str:
    return f"[{_omml_rows(element, depth)}]"


def _omml_equations(element: ET.Element, depth: int) -> str:
    return "; ".join(_omml(e, depth).replace("&", "").strip() for e in element.findall("e"))


def _omml_function(element: ET.Element, depth: int) -> str:
    name, argument = _part(element, "fName", depth), _part(element, "e", depth)
    return f"{name}{argument}" if argument.startswith("(") else f"{name} {argument}"


def _omml_limit(element: ET.Element, depth: int) -> str:
    limit = _part(element, "lim", depth)
    base = _part(element, "e", depth)
    return _scripted(base, limit) if element.tag == "limLow" else _scripted(base, "", limit)


def _omml_accent(element: ET.Element, depth: int) -> str:
    return _accented(_part(element, "e", depth), _property(element, "chr", "\u0302") or "")


def _omml_bar(element: ET.Element, depth: int) -> str:
    name = "overline" if _property(element, "pos") == "top" else "underline"
    return f"{name}({_part(element, 'e', depth)})"


def _omml_box(element: ET.Element, depth: int) -> str:
    inner = _part(element, "e", depth)
    struck = any(
        _is_on(_property(element, f"strike{direction}")) for direction in ("H", "V", "BLTR", "TLBR")
    )
    return f"cancel({inner})" if struck else inner


def _omml_phantom(element: ET.Element, depth: int) -> str:
    is_shown = _property(element, "show", "1")
    return _part(element, "e", depth) if _is_on(is_shown) or is_shown == "" else " "


_Write = Callable[[ET.Element, int], str]
_OMML: Final[Mapping[str, _Write]] = {
    "f": _omml_fraction,
    "sSup": _omml_script,
    "sSub": _omml_script,
    "sSubSup": _omml_script,
    "sPre": _omml_before,
    "rad": _omml_root,
    "nary": _omml_nary,
    "d": _omml_enclosed,
    "m": _omml_matrix,
    "eqArr": _omml_equations,
    "func": _omml_function,
    "limLow": _omml_limit,
    "limUpp": _omml_limit,
    "acc": _omml_accent,
    "bar": _omml_bar,
    "borderBox": _omml_box,
    "phant": _omml_phantom,
    "tab": lambda _element, _depth: " ",
    "br": lambda _element, _depth: " ",
}


# MathML 3 (presentation)


def _mathml(element: ET.Element, depth: int) -> str:
    if depth > _MOST_DEEP:
        return NOT_READ
    if element.tag in _TOKENS:
        inner = "".join(element.itertext())
        text = " ".join(inner.split()) if element.tag != "mtext" else inner
        return text.translate(_INVISIBLE)
    if element.tag == "apply":
        return NOT_READ  # content markup: the meaning, not the notation
    if write := _MATHML.get(element.tag):
        return write(element, depth + 1)
    return _of_row(element, depth + 1)


_TOKENS: Final = {"mi", "mn", "mo", "mtext", "ms"}


def _of_row(element: ET.Element, depth: int) -> str:
    parts: list[str] = []
    named = False
    for child in element:
        text = _mathml(child, depth)
        # Not “sinx”.
        parts += [" "] if named and text[:1].isalnum() else []
        parts.append(text)
        named = child.tag == "mi" and len(text) > 1
    return _joined(parts)


def _child(element: ET.Element, number: int, depth: int) -> str:
    return _mathml(element[number], depth) if number < len(element) else ""


def _ml_fraction(element: ET.Element, depth: int) -> str:
    bar = not re.match(r"0(?![.\d]*[1-9])", element.get("linethickness", ""))
    return _fraction(_child(element, 0, depth), _child(element, 1, depth), bar=bar)


def _ml_sup(element: ET.Element, depth: int) -> str:
    return _scripted(_child(element, 0, depth), "", _child(element, 1, depth))


def _ml_sub(element: ET.Element, depth: int) -> str:
    return _scripted(
        _child(element, 0, depth), _child(element, 1, depth), _child(element, 2, depth)
    )


def _ml_over(element: ET.Element, depth: int) -> str:
    return _accented(_child(element, 0, depth), _child(element, 1, depth).strip())


def _ml_under(element: ET.Element, depth: int) -> str:
    under = _child(element, 1, depth).strip()
    base = _child(element, 0, depth)
    return base if under in _BRACES else _scripted(base, under, _child(element, 2, depth))


def _ml_sqrt(element: ET.Element, depth: int) -> str:
    return _root(_of_row(element, depth))


def _ml_root(element: ET.Element, depth: int) -> str:
    return _root(_child(element, 0, depth), _child(element, 1, depth))


def _ml_table(element: ET.Element, depth: int) -> str:
    rows = [
        [_mathml(cell, depth) for cell in row if row.tag == "mtr" or cell is not row[0]]
        for row in element
        if row.tag in {"mtr", "mlabeledtr"}
    ]
    return f"[{_table(rows)}]"


def _ml_fenced(element: ET.Element, depth: int) -> str:
    marks = "".join(element.get("separators", ",").split())
    line = ""
    for number, child in enumerate(element):
        if number and marks:
            line += marks[min(number, len(marks)) - 1] + " "
        line += _mathml(child, depth)
    return f"{element.get('open', '(')}{line}{element.get('close', ')')}"


def _ml_many(element: ET.Element, depth: int) -> str:
    """Write a base with scripts on both sides."""
    children = list(element)
    before = next((at for at, child in enumerate(children) if child.tag == "mprescripts"), None)
    after = children[1:before] if before is not None else children[1:]
    front = children[before + 1 :] if before is not None else []
    line = ""
    for at in range(0, len(front), 2):
        line += _scripted("", *(_mathml(child, depth) for child in front[at : at + 2]))
    line += _child(element, 0, depth)
    for at in range(0, len(after), 2):
        line += _scripted("", *(_mathml(child, depth) for child in after[at : at + 2]))
    return line


def _ml_enclosed(element: ET.Element, depth: int) -> str:
    inner, notation = _of_row(element, depth), element.get("notation", "longdiv")
    if "radical" in notation:
        return _root(inner)
    return f"cancel({inner})" if "strike" in notation else inner


def _ml_first(element: ET.Element, depth: int) -> str:
    return _child(element, 0, depth)


def _nothing(_element: ET.Element, _depth: int) -> str:
    return ""


_MATHML: Final[Mapping[str, _Write]] = {
    "mfrac": _ml_fraction,
    "msup": _ml_sup,
    "msub": _ml_sub,
    "msubsup": _ml_sub,
    "mover": _ml_over,
    "munder": _ml_under,
    "munderover": _ml_under,
    "msqrt": _ml_sqrt,
    "mroot": _ml_root,
    "mtable": _ml_table,
    "mfenced": _ml_fenced,
    "mmultiscripts": _ml_many,
    "menclose": _ml_enclosed,
    "semantics": _ml_first,
    "maction": _ml_first,
    "mphantom": lambda _element, _depth: " ",
    "mspace": lambda _element, _depth: " ",
    "annotation": _nothing,
    "annotation-xml": _nothing,
    "none": _nothing,
    "mprescripts": _nothing,
}
