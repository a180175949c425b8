"""A graph of layers and blobs drawn with Pillow, for machines without Graphviz: in ranks, in the order of the net."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from PIL import Image, ImageDraw

from ..drawing import font_for
from ..proto.errors import BoxpressoError

GAP, SPACE, PADDING = 12, 40, 6  # pixels between nodes of a rank, between ranks, and around a text
LONG = 1000  # letters of a label
SIDE = 30000  # the longest picture, in pixels
Nodes = Mapping[str, tuple[str, Mapping[str, str]]]
Edges = Sequence[tuple[str, str, str]]


def ranks(nodes: Nodes, edges: Edges) -> dict[str, int]:
    """The rank of each node: one more than the highest of those before it; an edge back to an earlier node does not count."""
    before: dict[str, list[str]] = {name: [] for name in nodes}
    result: dict[str, int] = {}
    for source, target, _ in edges:  # in the order of the net, so that a node's bottoms have their ranks
        if source not in result:
            result[source] = 0
        if target in result and (source in before[target] or target in before[source]):
            continue  # in place
        before[target].append(source)
        if target not in result or not reaches(target, source, before):
            result[target] = max(result.get(target, 0), result[source] + 1)
    return {name: result.get(name, 0) for name in nodes}


def reaches(source: str, target: str, before: Mapping[str, list[str]]) -> bool:
    """Whether `target` comes from `source`, directly: then an edge from target to source closes a circle."""
    return source in before[target]


def draw(nodes: Nodes, edges: Edges, ext: str, across: bool) -> bytes:
    """The file of the picture. Raises BoxpressoError for a format that Pillow cannot write, and for too large a net."""
    Image.init()
    format = Image.registered_extensions().get(f".{ext.lower()}")
    if format is None or format not in Image.SAVE:
        raise BoxpressoError(
            f"the format {ext!r} needs Graphviz (apt install graphviz); without it: png, pdf, jpg, raw"
        )
    texts = {name: label[:LONG].strip('"').replace(r"\n", "\n") for name, (label, _) in nodes.items()}
    font = font_for([*texts.values(), *(label for *_, label in edges)], 10)
    probe = ImageDraw.Draw(Image.new("RGB", (1, 1)))
    sizes = {}
    for name, text in texts.items():
        left, top, right, bottom = probe.multiline_textbbox((0, 0), text, font=font)
        sizes[name] = int(right - left) + 2 * PADDING, int(bottom - top) + 2 * PADDING
    boxes, size = place(ranks(nodes, edges), sizes, across)
    if max(size) > SIDE:
        raise BoxpressoError(f"the picture would be {size[0]} x {size[1]} pixels; install Graphviz, or write .raw")
    image = Image.new("RGB", size, "white")
    canvas = ImageDraw.Draw(image)
    for source, target, label in edges:
        arrow(canvas, boxes[source], boxes[target], label.strip('"'), across, font)
    for name, (_, style) in nodes.items():
        x, y, right, bottom = boxes[name]
        shape = canvas.rounded_rectangle if style.get("shape") != "record" else canvas.rectangle
        shape((x, y, right, bottom), fill=style.get("fillcolor", "white"), outline="black")
        canvas.multiline_text((x + PADDING, y + PADDING), texts[name], fill="black", font=font)
    file = io.BytesIO()
    image.save(file, format)
    return file.getvalue()


def place(
    rank: Mapping[str, int], sizes: Mapping[str, tuple[int, int]], across: bool
) -> tuple[dict[str, tuple[int, int, int, int]], tuple[int, int]]:
    """The box of each node, ranks from left to right or from top to bottom, and the size of the picture."""
    rows: dict[int, list[str]] = {}
    for name, number in rank.items():
        rows.setdefault(number, []).append(name)
    boxes, at, widest = {}, GAP, GAP  # of a net without layers, too, there is a picture
    for number in sorted(rows):
        along, deep = GAP, 0
        for name in rows[number]:
            width, height = sizes[name]
            x, y = (at, along) if across else (along, at)
            boxes[name] = x, y, x + width, y + height
            along += GAP + (height if across else width)
            deep = max(deep, width if across else height)
        at, widest = at + deep + SPACE, max(widest, along)
    return boxes, (at, widest) if across else (widest, at)


def arrow(canvas: Any, source: Sequence[int], target: Sequence[int], label: str, across: bool, font: Any) -> None:
    """A line from the end of one box to the beginning of another, with a head and a text."""
    if across:
        start, end = (source[2], (source[1] + source[3]) // 2), (target[0], (target[1] + target[3]) // 2)
        head = [end, (end[0] - 6, end[1] - 3), (end[0] - 6, end[1] + 3)]
    else:
        start, end = ((source[0] + source[2]) // 2, source[3]), ((target[0] + target[2]) // 2, target[1])
        head = [end, (end[0] - 3, end[1] - 6), (end[0] + 3, end[1] - 6)]
    canvas.line([start, end], fill="#505050")
    canvas.polygon(head, fill="#505050")
    if label:
        canvas.text(((start[0] + end[0]) // 2, (start[1] + end[1]) // 2 - 10), label, fill="black", font=font)
