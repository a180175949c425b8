"""The graph of a net as SVG, folded by blocks; report.js unfolds them.

Every box and block is a <g> that is moved to its place. What is folded has no places yet: the page carries the cells of its
layout, from which report.js sums up the places when it is unfolded.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..layers.core import Layer, Trait
from ..net import Net
from ..summary import Shape
from .blocks import Block, BlockGraph, Box, Item, Wire, boxes_of, family
from .layout import FOOT, GAP_X, GAP_Y, MARGIN, THREAD, End, lay_out, path, place
from .page import TIMES, count, escape, shape_text

LETTER, LINE, HEADER = 6.4, 14, 26  # the width of a letter, the height of a line, and that of an open block's name
SEEN = 0.0005  # a smaller part of the cost is not shown
LONGEST = 30  # letters of a line in a box
Size = tuple[float, float]


@dataclass(frozen=True)
class Port:
    """A blob that comes into a block from outside, or leaves it."""

    blob: str
    out: bool


@dataclass
class Cost:
    """What boxes show of the cost of layers: each layer's part of the whole, from 0 to 1, and a text for it."""

    shares: Mapping[int, float]
    name: str


@dataclass
class Drawing:
    """What is drawn of a graph: SVG elements by their parent, and what report.js needs to lay out blocks again."""

    net: Net
    graph: BlockGraph
    cost: Cost
    numbers: dict[int, int] = field(default_factory=dict)  # of a layer of the net: that of its card
    data: dict[str, Any] = field(default_factory=dict)
    ids: dict[int, str] = field(default_factory=dict)
    free: Iterator[int] = field(default_factory=lambda: itertools.count(1))


def draw(net: Net, graph: BlockGraph, cost: Cost, numbers: Mapping[int, int]) -> str:
    """The graph as an SVG element and the data of its blocks."""
    drawing = Drawing(net, graph, cost, dict(numbers))
    sources: dict[int, list[Wire]] = {}
    targets: dict[int, list[Wire]] = {}
    for wire in graph.wires:
        sources.setdefault(id(wire.source), []).append(wire)
        targets.setdefault(id(wire.target), []).append(wire)
    root = Inside(drawing, graph.root, sources, targets, root=True)
    known = {
        "gap": [GAP_X, GAP_Y],
        "margin": [MARGIN, FOOT],
        "thread": THREAD,
        "header": HEADER,
        "blocks": drawing.data,
    }
    width, height = root.size
    return (
        f'<div class="canvas"><svg id="graph" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="group" aria-label="the graph of the net">{MARKS}'
        f'<g id="b0" class="block root">{root.svg}</g></svg></div>'
        f'<script type="application/json" id="blocks">{safe(json.dumps(known, separators=(",", ":")))}</script>'
    )


MARKS = (
    '<defs><marker id="tip" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="6" markerHeight="6" orient="auto">'
    '<path d="M0 0 6 3 0 6z"/></marker></defs>'
)


def safe(text: str) -> str:
    """JSON that cannot end its <script>."""
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


class Inside:
    """The inside of a block: its things, their layout, and the wires between them.

    Attributes
    ----------
    svg
        Its elements; at the root they are at their places.
    size
        Of all, at the root.
    """

    def __init__(
        self,
        drawing: Drawing,
        block: Block,
        sources: Mapping[int, list[Wire]],
        targets: Mapping[int, list[Wire]],
        root: bool = False,
    ) -> None:
        self.drawing, self.sources, self.targets, self.root = drawing, sources, targets, root
        mine = "b0" if root else drawing.ids[id(block)]
        for item in block.items:
            drawing.ids[id(item)] = f"n{item.number}" if isinstance(item, Box) else f"b{next(drawing.free)}"
        pairs, last = self.pairs(block)
        first = [port for port in dict.fromkeys(source for source, _ in pairs) if isinstance(port, Port)]
        self.things: dict[Hashable, Any] = {key_of(thing): thing for thing in (*first, *block.items, *last)}
        self.wires = {(key_of(a), key_of(b)): blobs for (a, b), blobs in pairs.items()}
        self.layout = lay_out(list(self.things), list(self.wires), [key_of(port) for port in last])
        self.sizes = {key: self.size_of(thing) for key, thing in self.things.items()}
        self.room = {key: self.room_of(thing) for key, thing in self.things.items()}
        self.names = {
            key: f"{mine}p{i}" if isinstance(thing, Port) else drawing.ids[id(thing)]
            for i, (key, thing) in enumerate(self.things.items())
        }
        drawing.data[mine] = self.cells()
        self.places = place(self.layout, self.sizes, self.room)
        self.size = self.places.size
        drawn = "".join(self.wire(a, b, blobs) for (a, b), blobs in self.wires.items())
        self.svg = f'<g class="wires">{drawn}</g>' + "".join(self.thing(key) for key in self.things)

    def pairs(self, block: Block) -> tuple[dict[tuple[Any, Any], dict[str, Shape]], list[Port]]:
        """Which things wires join, with the blobs that go there; and the blobs that leave the block."""
        home = {id(box): item for item in block.items for box in boxes_of(item)}
        boxes = block.boxes()
        pairs: dict[tuple[Any, Any], dict[str, Shape]] = {}
        last: dict[Port, None] = {}
        for wire in (wire for box in boxes for wire in self.targets.get(id(box), ())):
            source, target = home.get(id(wire.source)), home[id(wire.target)]
            if source is not target:
                pairs.setdefault((source or Port(wire.blob, False), target), {})[wire.blob] = wire.shape
        for wire in (wire for box in boxes for wire in self.sources.get(id(box), ())):
            if id(wire.target) not in home:
                port = Port(wire.blob, True)
                last[port] = None
                pairs.setdefault((home[id(wire.source)], port), {})[wire.blob] = wire.shape
        return pairs, list(last)

    def cells(self) -> dict[str, Any]:
        """What report.js needs of the layout: of things the names, cells and sizes, of wires the ends and the cells between."""
        number = {key: i for i, key in enumerate(self.things)}
        kids = [
            [self.names[key], *self.layout.cells[key], *map(round, self.sizes[key]), round(self.room[key])]
            for key in self.things
        ]
        passed = self.layout.passed
        wires = [[number[a], number[b], *(n for cell in passed.get((a, b), ()) for n in cell)] for a, b in self.wires]
        return {"kids": kids, "wires": wires}

    def size_of(self, thing: Any) -> Size:
        """The width and height of a thing while it is folded."""
        if isinstance(thing, Port):
            return round(LETTER * 0.9 * len(short(thing.blob)) + 16), 18
        name, lines = self.texts(thing)
        letters = max(1.16 * (len(name) + 2 * isinstance(thing, Block)), *(0.95 * len(line) for line in lines), 12)
        return round(LETTER * letters + 24), 24 + LINE * len(lines) + 6

    def room_of(self, thing: Any) -> float:
        """The width that a thing takes with the shapes below it, which begin at its middle."""
        return 0 if isinstance(thing, Port) else 2 * (6 + LETTER * len(self.shapes(thing)))

    def share(self, item: Item) -> float:
        """The part of the whole cost that an item has."""
        return sum(self.drawing.cost.shares.get(i, 0.0) for i in layers_of(item))

    def texts(self, item: Item) -> tuple[str, list[str]]:
        """The name and the lines of a box or a folded block."""
        layers, share = layers_of(item), self.share(item)
        part = f"{share:.1%}" if share >= SEEN else ""
        if isinstance(item, Block):
            return short(item.name), [f"{len(layers)} layers" + (f" · {part}" if part else "")]
        first, *others = (self.drawing.net.layers[i] for i in layers)
        lines = [brief(first) + (f" · {part}" if part else "")]
        if others:
            lines.append(short(" · ".join(dict.fromkeys(layer.type for layer in others)), LONGEST + 4))
        return short(item.name), lines

    def shapes(self, item: Item) -> str:
        """The shapes of what leaves a box or a block."""
        boxes = boxes_of(item)
        inside = {id(box) for box in boxes}
        kinds: dict[str, str] = {}
        for box in boxes:
            leaving = [wire for wire in self.sources.get(id(box), ()) if id(wire.target) not in inside]
            kinds.update((wire.blob, shape_text(wire.shape)) for wire in leaving)
            kinds.update((name, shape_text(shape)) for name, shape in self.drawing.graph.loose.get(id(box), ()))
        texts = list(dict.fromkeys(kinds.values()))
        return ", ".join(texts[:2]) + (f" +{len(texts) - 2}" if len(texts) > 2 else "")

    def wire(self, a: Hashable, b: Hashable, blobs: Mapping[str, Shape]) -> str:
        """The element of a wire, with its path at the root."""
        d = ""
        if self.root:
            source, target = (End(self.layout.cells[key], self.sizes[key][1]) for key in (a, b))
            d = f' d="{path(self.places, source, self.layout.passed.get((a, b), ()), target)}"'
        about = "; ".join(f"{blob} {shape_text(shape)}" for blob, shape in blobs.items())
        return f"<path{d}><title>{escape(about)}</title></path>"

    def thing(self, key: Hashable) -> str:
        """The element of a port, a box or a block."""
        thing, name = self.things[key], self.names[key]
        width, height = map(round, self.sizes[key])
        at = f' transform="translate({self.corner(key)})"' if self.root else ""
        if isinstance(thing, Port):
            text, about = escape(short(thing.blob)), f"{'to' if thing.out else 'from'} outside: {thing.blob}"
            return (
                f'<g id="{name}" class="port"{at}><title>{escape(about)}</title>'
                f'<rect width="{width}" height="{height}" rx="9"/><text x="{width // 2}" y="13">{text}</text></g>'
            )
        label = self.shapes(thing)
        below = f'<text class="shape" x="{width // 2 + 5}" y="{height + 14}">{escape(label)}</text>' if label else ""
        if isinstance(thing, Box):
            return f'<g id="{name}" class="box"{at}>{self.face(thing, width, height)}{below}</g>'
        inner = Inside(self.drawing, thing, self.sources, self.targets)
        return (
            f'<g id="{name}" class="block"{at}><g class="folded" tabindex="0" role="button" aria-expanded="false">'
            f'{self.face(thing, width, height)}</g><g class="open" style="display:none"><rect class="frame" rx="6"/>'
            '<g class="head" tabindex="0" role="button" aria-expanded="true">'
            f'<rect class="handle" height="{HEADER - 4}" rx="6"/><text x="10" y="16">▾ {escape(short(thing.name))}</text></g>'
            f"{inner.svg}</g>{below}</g>"
        )

    def face(self, item: Item, width: int, height: int) -> str:
        """What a box, or a folded block, looks like."""
        name, lines = self.texts(item)
        net, layers, share = self.drawing.net, layers_of(item), self.share(item)
        mark = "▸ " if isinstance(item, Block) else ""
        parts = [f"<title>{escape(hint(net, layers, share, self.drawing.cost.name))}</title>"]
        if isinstance(item, Block):
            parts.append(f'<rect class="back" x="3" y="3" width="{width}" height="{height}" rx="5"/>')
        parts.append(f'<rect class="face" width="{width}" height="{height}" rx="5"/>')
        if isinstance(item, Box):
            kind = family(net.layers[layers[0]].type)
            parts.append(f'<rect class="strip {kind}" x="1" y="1" width="5" height="{height - 2}" rx="2"/>')
        if share >= SEEN:
            long = max(1.0, (width - 12) * share)
            parts.append(f'<rect class="cost" x="8" y="{height - 5}" width="{long:.1f}" height="3" rx="1"/>')
        parts.append(f'<text class="name" x="13" y="17">{mark}{escape(name)}</text>')
        for i, line in enumerate(lines, 1):
            parts.append(f'<text class="line" x="13" y="{17 + LINE * i}">{escape(line)}</text>')
        if isinstance(item, Block):
            return "".join(parts)
        cards = [str(self.drawing.numbers[i]) for i in layers]
        return f'<a href="#layer-{cards[0]}" data-cards="{" ".join(cards)}">{"".join(parts)}</a>'

    def corner(self, key: Hashable) -> str:
        """The upper left corner of a thing in its cell."""
        (row, lane), (width, height), places = self.layout.cells[key], self.sizes[key], self.places
        return f"{places.middle(lane) - width / 2:.1f} {places.top[row] + (places.height[row] - height) / 2:.1f}"


def key_of(thing: Any) -> Hashable:
    """What a thing is known by in a layout."""
    return thing if isinstance(thing, Port) else id(thing)


def layers_of(item: Item) -> list[int]:
    """The numbers of the layers of a box or a block."""
    return [i for box in boxes_of(item) for i in box.layers]


def short(text: str, most: int = LONGEST) -> str:
    """A text, or its beginning and its end.

    >>> short("conv1"), short("a_very_long_name_of_a_layer_that_goes_on")
    ('conv1', 'a_very_long_nam…er_that_goes_on')
    """
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most // 2]}…{text[-(most // 2) :]}"


def hint(net: Net, layers: Sequence[int], share: float, name: str) -> str:
    """The text that a pointer over a box or a block brings up."""
    parts = [f"{net.layers[i].name} ({net.layers[i].type})" for i in layers[:8]]
    if len(layers) > 8:
        parts.append(f"and {len(layers) - 8} more layers")
    numbers = sum(blob.count for i in layers for blob in net.layers[i].blobs)
    parts += [f"{count(numbers)} parameters"] if numbers else []
    parts += [f"{share:.1%} of {name}"] if share else []
    return "\n".join(parts)


def brief(layer: Layer) -> str:
    """A layer's type and what matters most of its parameters."""
    param, kind = layer.param, layer.type
    if layer.blobs and "convolution_param" in layer.messages:
        weights = layer.blobs[0].shape
        own = param.convolution_param
        stride = max([own.stride_h, own.stride_w, *own.stride])
        name = {"Convolution": "conv", "Deconvolution": "deconv"}.get(kind, kind)
        text = f"{name} {TIMES.join(map(str, weights[2:]))}, {own.num_output}"
        text += f", /{stride}" if stride > 1 else ""
        return short(text + (f", {own.group} groups" if own.group > 1 else ""))
    if Trait.POOLS in layer.traits:
        own = param.pooling_param
        window = (
            "whole"
            if own.global_pooling
            else f"{own.kernel_h or own.kernel_size}{TIMES}{own.kernel_w or own.kernel_size}"
        )
        word = {0: "max", 1: "average", 2: "stochastic"}.get(own.pool, "")
        return f"{word} pool {window}" + (f", /{own.stride}" if own.stride > 1 else "")
    if kind == "InnerProduct":
        return f"inner product, {param.inner_product_param.num_output}"
    if kind == "Eltwise":
        return f"Eltwise {({0: 'product', 1: 'sum', 2: 'max'}).get(param.eltwise_param.operation, '')}"
    return short(kind)
