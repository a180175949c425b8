"""What all reports share: the page around them, tables, bars and numbers as HTML, and the file that they are written to.

A report is one file: its style sheet and script are written into it, and it loads nothing. Whatever comes from a prototxt, a
file name or a label goes through `escape`.
"""

from __future__ import annotations

import base64
import io
import os
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from html import escape as html_escape
from pathlib import Path

from PIL.Image import Image as PillowImage

from ..proto.errors import BoxpressoError
from ..proto.files import need_place, replacing

TIMES = "\u00d7"  # the sign between the numbers of a shape
ODD = re.compile("[^\t\n\x20-\x7e\x80-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # no character of an XML document
QUALITY = 80  # JPEG's, of pictures on a page
HERE = Path(__file__).parent
# Nothing may be loaded, whatever a text on the page says.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def escape(text: object) -> str:
    """A text for HTML or XML, inside and outside of attributes; characters that XML has no place for become "?".

    >>> escape('<script>"a" & b')
    '&lt;script&gt;&quot;a&quot; &amp; b'
    >>> escape("bell\\x07")
    'bell?'
    """
    return html_escape(ODD.sub("?", str(text)))


def count(value: float) -> str:
    """A number with a unit that people read.

    >>> count(950), count(26_285_486), count(3.4e10)
    ('950', '26.3 M', '34.0 G')
    """
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if value >= unit:
            return f"{value / (1e3 if name == 'k' else unit):.1f} {name}"
    return f"{value:,.0f}"


def size(value: float) -> str:
    """A number of bytes with a unit.

    >>> size(100), size(1536), size(5 << 30)
    ('100 B', '1.5 KiB', '5.0 GiB')
    """
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if value >= unit:
            return f"{value / unit:.1f} {name}"
    return f"{value:.0f} B"


def shape_text(shape: Sequence[int]) -> str:
    """A shape as people write it.

    >>> shape_text((1, 3, 300, 300)).split(TIMES), shape_text(())
    (['1', '3', '300', '300'], 'one number')
    """
    return TIMES.join(map(str, shape)) or "one number"


def bar(share: float, text: str, kind: str = "") -> str:
    """A cell's content: a text over a bar that is as long as a share of the cell, from 0 to 1."""
    width = 100 * min(1.0, max(0.0, share))
    drawn = f'<i class="bar {kind}" style="width:{width:.1f}%"></i>' if width >= 0.05 else ""
    return f'{drawn}<span class="over">{text}</span>'


class Column:
    """A column of a table: its head, whether it holds numbers, and whether these have bars."""

    def __init__(self, head: str, *, number: bool = False, bars: bool = False, title: str = "") -> None:
        self.head, self.number, self.bars, self.title = head, number, bars, title


def table(columns: Sequence[Column], rows: Iterable[tuple[str, Sequence[tuple[str, float | None]]]], name: str) -> str:
    """A table that a click on a head sorts.

    Parameters
    ----------
    columns
        As many as a row has cells.
    rows
        Of each the attributes of its <tr>, and for each cell its HTML and the number that it is sorted by, None for a text.
    name
        The class of the table.
    """
    lines = [f'<div class="wide"><table class="sortable {name}"><thead><tr>']
    for column in columns:
        title = f' title="{escape(column.title)}"' if column.title else ""
        kind = " n" if column.number else ""
        lines.append(f'<th class="{"b" if column.bars else "t"}{kind}"{title}>{escape(column.head)}</th>')
    lines.append("</tr></thead><tbody>")
    for attributes, cells in rows:
        parts = []
        for column, (text, value) in zip(columns, cells):
            kind = "b n" if column.bars else "n" if column.number else ""
            key = f' data-v="{value:.6g}"' if value is not None else ""
            parts.append(cell(kind, key, text))
        lines.append(f"<tr{attributes}>{''.join(parts)}</tr>")
    lines.append("</tbody></table></div>")
    return "\n".join(lines)


def cell(kind: str, key: str, text: str) -> str:
    """One <td>."""
    name = f' class="{kind}"' if kind else ""
    return f"<td{name}{key}>{text}</td>"


def tiles(items: Iterable[tuple[str, str]]) -> str:
    """The few numbers at the top of a report: (what, value)."""
    parts = [f"<div><b>{escape(value)}</b><span>{escape(caption)}</span></div>" for caption, value in items]
    return f'<div class="tiles">{"".join(parts)}</div>'


def facts(items: Iterable[tuple[str, str]]) -> str:
    """What the report is of: (name, value) as a list."""
    parts = [f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in items]
    return f'<dl class="facts">{"".join(parts)}</dl>'


def picture_tag(picture: PillowImage, name: str) -> str:
    """An <img> that holds a picture; name: of what it shows."""
    data = io.BytesIO()
    picture.save(data, "JPEG", quality=QUALITY)
    source = f"data:image/jpeg;base64,{base64.b64encode(data.getvalue()).decode()}"
    return f'<img alt="{escape(name)}" width="{picture.width}" height="{picture.height}" src="{source}">'


def section(title: str, body: str, name: str, note: str = "") -> str:
    """A part of the page under a heading; note: HTML."""
    about = f'<p class="note">{note}</p>' if note else ""
    return f'<section id="{name}"><h2>{escape(title)}</h2>{about}{body}</section>'


def page(title: str, subtitle: str, parts: Sequence[str], links: Sequence[tuple[str, str]]) -> str:
    """The whole file. links: (id of a section, its name)."""
    from .. import __version__

    style = (HERE / "report.css").read_text(encoding="utf-8")
    script = (HERE / "report.js").read_text(encoding="utf-8")
    menu = "".join(f'<a href="#{name}">{escape(text)}</a>' for name, text in links)
    now = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %z")
    body = "\n".join(parts)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<style>
{style}</style>
</head>
<body>
<header><h1>{escape(title)}</h1><p>{escape(subtitle)}</p><nav>{menu}</nav></header>
<main>
{body}
</main>
<footer>Boxpresso {escape(__version__)}, {escape(now)}</footer>
<script>
{script}</script>
</body>
</html>
"""


def check_place(path: str | os.PathLike[str]) -> None:
    """Raises BoxpressoError where a report cannot be written, before the work that it reports on is done."""
    if Path(path).is_dir():
        raise BoxpressoError(f"--html {path} is a folder; name a file, such as {Path(path) / 'report.html'}")
    need_place(path, "the report ")


def write_page(path: str | os.PathLike[str], text: str) -> None:
    """Writes a report, whole or not at all. Raises BoxpressoError that names the file."""
    with replacing(path, "the report ") as part:
        part.write_text(text, encoding="utf-8", errors="replace", newline="\n")
