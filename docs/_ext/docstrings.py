"""Docstrings as they are written here, plain text with sections in numpy's style, as reStructuredText.

A docstring is read by people in a terminal, so nothing in it is markup but backticks: asterisks, bars and underscores mean
themselves. A section's entries are a name alone on its line and an indented text, or `name : text` on one line.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

ENTRIES = ("Parameters", "Returns", "Yields", "Raises", "Attributes", "Warns")
NAME = re.compile(r"[A-Za-z_][\w.]*(\(\))?")


def plain(text: str, links: bool = True) -> str:
    """A text in which only backticks are markup; a name between them becomes a link where the reference has it."""
    parts = re.split(r"(``[^`]+``|`[^`]+`)", text)
    for i, part in enumerate(parts):
        if i % 2:
            inner = part.strip("`")
            after = parts[i + 1][:1]
            link = links and NAME.fullmatch(inner)
            parts[i] = (f":py:obj:`{inner}`" if link else f"``{inner}``") + ("\\ " if after.isalnum() else "")
            if parts[i - 1][-1:].isalnum():
                parts[i] = "\\ " + parts[i]
        else:
            parts[i] = re.sub(r"([\\*|`])|(?<=\w)(_)(?!\w)", lambda m: "\\" + m[0], part)
    return "".join(parts)


def sections(doc: str) -> Iterator[tuple[str, list[str]]]:
    """The sections of a docstring with their lines; the first, without a name, is the description."""
    lines, name, start = doc.splitlines(), "", 0
    for i in range(1, len(lines)):
        if lines[i - 1].strip() and re.fullmatch("-{3,}", lines[i].strip()):
            yield name, lines[start : i - 1]
            name, start = lines[i - 1].strip(), i + 1
    yield name, lines[start:]


def blocks(lines: list[str]) -> list[list[str]]:
    """The parts of a text between its empty lines."""
    text = "\n".join(line.rstrip() for line in lines).strip("\n")
    return [block.splitlines() for block in re.split(r"\n\n+", text) if block.strip()]


def prose(lines: list[str], links: bool = True) -> list[str]:
    """Paragraphs, lists, and indented blocks, which are shown as they are."""
    out: list[str] = []
    for block in blocks(lines):
        if all(line.startswith("    ") for line in block):
            code = textwrap.dedent("\n".join(block)).splitlines()
            python = any(re.match(r"(from|import|\w+ = |net|with|>>>)", line) for line in code)
            out += [f".. code-block:: {'python' if python else 'text'}", "", *(f"   {line}" for line in code), ""]
        elif block[0].startswith(">>> "):
            out += [".. code-block:: python", "", *(f"   {line}" for line in block), ""]
        else:
            out += [*plain("\n".join(block), links).splitlines(), ""]
    return out


def entries(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """The entries of a section: a name and its text, either of which may be empty."""
    name, text = "", []
    for line in textwrap.dedent("\n".join(lines)).strip("\n").splitlines():
        if line.startswith(" ") or not line:
            text.append(line)
            continue
        if name or any(text):
            yield name, text
        short = re.match(r"([\w*][\w*, .]*?) ?: (.+)", line)
        name, text = (short[1], [f"    {short[2]}"]) if short else (line, [])
    if name or any(text):
        yield name, text


def described(lines: list[str], links: bool = True) -> list[str]:
    """Entries as a definition list; an entry without a text of its own is a paragraph."""
    out: list[str] = []
    for name, text in entries(lines):
        if any(text):
            own = textwrap.dedent("\n".join(text)).splitlines()
            out += [f"``{name}``", *(f"   {line}" if line else "" for line in prose(own, links)), ""]
        else:
            code = not re.search(r"[a-z]{2,} [a-z]{2,} [a-z]{2,}", name)  # a shape or a type, not a sentence
            out += [f"``{name}``" if code else plain(name, links), ""]
    return out


def as_rst(doc: str, links: bool = True, titles: dict[str, str] | None = None) -> list[str]:
    """A docstring as lines of reStructuredText; `titles` renames sections."""
    out: list[str] = []
    for name, lines in sections(doc):
        if name:
            out += [f".. rubric:: {(titles or {}).get(name, name)}", ""]
        if name == "Examples":
            code = "\n".join(lines).strip("\n").splitlines()
            out += [".. code-block:: python", "", *(f"   {line}" if line else "" for line in code), ""]
        elif name in ENTRIES:
            out += described(lines, links)
        else:
            out += prose(lines, links)
    return out


def process(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """autodoc's docstrings."""
    lines[:] = as_rst("\n".join(lines))


def name_fully(app: Sphinx, document: nodes.document) -> None:
    """Which Net a signature means that only types import: that of boxpresso, but for the pages of the other two."""
    if app.env.docname not in ("reference/dnn", "reference/caffe"):
        for node in document.findall(addnodes.pending_xref):
            if node["reftype"] == "class" and node["reftarget"] == "Net":
                node["reftarget"] = "boxpresso.Net"


def setup(app: Sphinx) -> dict[str, bool]:
    """Connects with autodoc."""
    app.connect("autodoc-process-docstring", process)
    app.connect("doctree-read", name_fully)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
