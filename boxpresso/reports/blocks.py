"""From a net to the boxes of its graph: layers that work on one blob share a box, and boxes are folded into blocks.

A block is a run of boxes in the order of the net, so that a graph of blocks has no circle either. Runs are found by names
(`inception_3a/1x1`, `res4b22_branch2a` and `bn4b22_branch2a`, `conv4_1` and `relu4_1`), then by where a single blob passes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from ..layers.core import REGISTRY, Layer, Trait
from ..net import Net
from ..summary import Shape

SMALL = 18  # a graph of so few boxes is shown as it is
MANY = 28  # things of a graph from which on blocks of one number, such as those of a stage, are folded together
MOST = 44  # things beside and below each other before they are folded once more
LEAST = 3  # boxes of a block
MODULE = 12  # boxes of a block that is found by where a single blob passes, where that is enough
DRAWN = 400_000  # boxes that all wires together pass; a graph of more is not drawn
REACH = 24  # a blob that is read so many boxes later passes by, it does not hold a block together


@dataclass(eq=False)
class Box:
    """One layer, with those after it that no other layer reads between. name: of the first."""

    name: str
    layers: list[int]
    number: int = 0


@dataclass(eq=False)
class Block:
    """Boxes and blocks that are shown as one until they are unfolded."""

    name: str
    items: list[Item]

    def boxes(self) -> list[Box]:
        """All boxes inside, in the order of the net."""
        return [box for item in self.items for box in boxes_of(item)]


Item = Box | Block


def boxes_of(item: Item) -> list[Box]:
    """The boxes of a box or a block."""
    return [item] if isinstance(item, Box) else item.boxes()


@dataclass
class Wire:
    """A blob from the box that gives it to one that reads it."""

    source: Box
    target: Box
    blob: str
    shape: Shape


@dataclass
class BlockGraph:
    """The boxes of a net in its order, and the wires between them. loose: by the id of a box, what it gives and nobody reads.
    root: all of it, folded; nothing of a graph that cannot be drawn."""

    boxes: list[Box]
    wires: list[Wire]
    loose: dict[int, list[tuple[str, Shape]]] = field(default_factory=dict)
    root: Block = field(default_factory=lambda: Block("", []))


def graph_of(net: Net) -> BlockGraph:
    """The graph of a net, without the Split layers that the Net adds itself."""
    boxes: list[Box] = []
    wires: list[Wire] = []
    maker: dict[str, Box] = {}  # who gives a blob
    copies = originals(net)
    readers = read_counts(net, copies)
    read: set[str] = set()
    for i, (layer, (bottoms, tops)) in enumerate(zip(net.layers, net.names)):
        if is_split(layer.type, layer.name):
            continue
        names = [copies.get(name, name) for name in bottoms]
        box = maker.get(names[0]) if len(names) == 1 else None
        in_place = list(tops) == list(bottoms)
        if box is not None and (in_place or (follows(layer) and readers.get(names[0], 0) == 1 and len(tops) == 1)):
            box.layers.append(i)
            read.update(() if in_place else names)
        else:
            box = Box(layer.name, [i], len(boxes))
            boxes.append(box)
            for name in dict.fromkeys(names):
                if name in maker:
                    wires.append(Wire(maker[name], box, name, net.blobs[name].shape))
                read.add(name)
        maker.update(dict.fromkeys(tops, box))
    graph = BlockGraph(boxes, wires)
    for name, box in maker.items():
        if name not in read and name not in copies:
            graph.loose.setdefault(id(box), []).append((name, net.blobs[name].shape))
    if sum(wire.target.number - wire.source.number for wire in wires) <= DRAWN:
        graph.root = Block(net.name, fold(graph.boxes, wires))
    return graph


def is_split(kind: str, name: str) -> bool:
    """Whether a layer is one of those that the Net adds where several layers read a blob."""
    return kind == "Split" and name.endswith("_split")


def originals(net: Net) -> dict[str, str]:
    """The tops of Splits: what each is a copy of."""
    kinds: dict[str, str] = {}
    for layer, (bottoms, tops) in zip(net.layers, net.names):
        if is_split(layer.type, layer.name):
            kinds.update(dict.fromkeys(tops, kinds.get(bottoms[0], bottoms[0])))
    return kinds


def read_counts(net: Net, copies: dict[str, str]) -> dict[str, int]:
    """How many layers read each blob, through Splits."""
    counts: dict[str, int] = {}
    for layer, (bottoms, _) in zip(net.layers, net.names):
        if not is_split(layer.type, layer.name):
            for name in dict.fromkeys(copies.get(name, name) for name in bottoms):
                counts[name] = counts.get(name, 0) + 1
    return counts


def family(kind: str) -> str:
    """The family of a layer type, such as "dense", by which boxes are coloured; "other" for a user's own."""
    module = getattr(REGISTRY.get(kind.lower()), "__module__", "")
    parts = module.split(".")
    return parts[2] if parts[:2] == ["boxpresso", "layers"] and len(parts) > 3 and parts[2] != "core" else "other"


def follows(layer: Layer) -> bool:
    """Whether a layer belongs to the one before it: normalisation, scale and activation."""
    return Trait.KEEPS_PLACES | Trait.BY_CHANNEL in layer.traits or family(layer.type) == "neuron"


# Folding


GENERIC = frozenset({
    "", "conv", "convolution", "relu", "prelu", "elu", "bn", "batchnorm", "scale", "sc", "bias", "res", "pool", "pooling",
    "norm", "drop", "dropout", "fc", "ip", "innerproduct", "eltwise", "elt", "concat", "add", "sum", "act", "layer",
    "deconv", "dw", "sep",
})  # fmt: skip
LONG = 200  # letters of a name
KEY = re.compile(r"(?P<word>[A-Za-z_\-]*?)_*(?P<number>\d+)(?:_(?P<part>\d+)|(?P<letter>[a-z]\d*))?(?![A-Za-z])")


def head_of(name: str) -> str:
    """The part of a name that is looked into: before a slash, and no more of it than a person would write."""
    return name[:LONG].split("/")[0]


def key_of(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What a layer's name says of its place: coarse and fine.

    >>> key_of("res4b22_branch2a")
    (('', '4'), ('', '4', 'b22'))
    >>> key_of("inception_3a/1x1"), key_of("relu4_1")
    ((('inception', '3'), ('inception', '3', 'a')), (('', '4'), ('', '4', '1')))
    >>> key_of("rpn_conv/3x3")[0], key_of("mbox_loc")[0]
    (('rpn',), ('mbox',))
    """
    head = head_of(name)
    match = KEY.match(head)
    if match is None:
        word = re.split(r"[_\-. ]", head)[0]
        return (word,), (word,)
    word = match["word"].strip("_-").lower()
    coarse = ("" if word in GENERIC else word, match["number"])
    return coarse, (*coarse, match["part"] or match["letter"] or "")


def beginning(name: str, fine: bool) -> str:
    """The part of a name that says its coarse or fine place.

    >>> beginning("res4b22_branch2a", False), beginning("res4b22_branch2a", True), beginning("mbox_loc", False)
    ('res4', 'res4b22', 'mbox')
    """
    match = KEY.match(head_of(name))
    if match is None:
        return key_of(name)[0][0]
    return name[: match.end() if fine else match.end("number")]


def fold(boxes: Sequence[Box], wires: Sequence[Wire]) -> list[Item]:
    """Boxes and blocks, a few of them: small graphs stay as they are."""
    if len(boxes) <= SMALL:
        return list(boxes)
    items = runs(boxes, lambda box: key_of(box.name)[0], lambda run: by_part(run, len(boxes)))
    if len(items) > MANY:
        items = runs(boxes, lambda box: key_of(box.name)[0], lambda run: [block_of(by_part(run, len(boxes)))])
    items = fold_by_flow(items, wires)
    for item in items:
        if isinstance(item, Block):
            refold(item, wires)
    return items


def runs(boxes: Iterable[Box], key: Callable[[Box], object], make: Callable[[list[Box]], list[Item]]) -> list[Item]:
    """What `make` makes of each run of boxes with one key."""
    groups: list[tuple[object, list[Box]]] = []
    for box in boxes:
        mine = key(box)
        if not groups or groups[-1][0] != mine:
            groups.append((mine, []))
        groups[-1][1].append(box)
    return [item for _, run in groups for item in (make(run) if len(run) >= LEAST else list(run))]


def by_part(run: list[Box], whole: int) -> list[Item]:
    """A run of one coarse key as blocks of the fine ones; as one block where there are none."""
    parts = runs(run, lambda box: key_of(box.name)[1], lambda same: [Block(title(same, True), list(same))])
    if any(isinstance(item, Block) for item in parts):
        return parts
    return [Block(title(run, False), list(run))]


def block_of(items: list[Item]) -> Item:
    """One block of several."""
    return items[0] if len(items) == 1 else Block(title([b for item in items for b in boxes_of(item)], False), items)


def title(boxes: Sequence[Box], fine: bool) -> str:
    """The name of a block: how all its names begin, else what the first says of its place, else the first and the last.

    >>> title([Box("conv4_1", []), Box("relu4_1", []), Box("pool4", [])], False)
    'conv4'
    >>> title([Box("conv4_3_norm", []), Box("conv4_3_norm_mbox_loc", [])], False)
    'conv4_3_norm'
    """
    names = [box.name[:LONG] for box in boxes]
    common = os.path.commonprefix(names)  # noqa: RUF071  # of letters
    inside = any(common[-1:].isalnum() and name[len(common) :][:1].isalnum() for name in names)
    if inside:  # of a word or a number
        common = re.sub(r"([A-Za-z]+|\d+)$", "", common)
    common, place = common.strip("/_-. "), beginning(names[0], fine)
    if len(common) >= max(2, len(place)):
        return common
    keys = {key_of(name)[fine] for name in names}
    return place if len(keys) == 1 and len(place) > 1 else f"{names[0]} .. {names[-1]}"


def refold(block: Block, wires: Sequence[Wire]) -> None:
    """Folds what a block has too many of."""
    block.items = fold_by_flow(block.items, wires)
    for item in block.items:
        if isinstance(item, Block):
            refold(item, wires)


def fold_by_flow(items: list[Item], wires: Sequence[Wire]) -> list[Item]:
    """Folds items where there are too many: between places that a single blob passes, then by number."""
    if len(items) <= MOST:
        return items
    passing, fed = passing_blobs(items, wires)
    pieces: list[list[Item]] = []
    for i, item in enumerate(items):
        same = bool(pieces) and loose([*pieces[-1], item]) and place_of(pieces[-1][-1]) == place_of(item)
        if not pieces or (passing[i] <= 1 and not same):
            pieces.append([])
        pieces[-1].append(item)
    joined: list[list[Item]] = []
    most = max(4, -(-len(items) // MOST) + 1)
    for piece in pieces:  # single boxes after one another are one block, but for those that give data
        before = joined[-1] if joined else []
        short = len(piece) < LEAST and len(before) + len(piece) <= most and loose(before)
        if before and short and all(id(item) in fed for item in before):
            before += piece
        else:
            joined.append(list(piece))
    flat = [item for piece in joined for item in (folded(piece) if LEAST <= len(piece) <= MODULE else piece)]
    if len(flat) > MOST:
        flat = [item for piece in joined for item in (folded(piece) if LEAST <= len(piece) < len(items) else piece)]
    while len(flat) > MOST:
        step = -(-len(flat) // (MOST * 3 // 4))
        flat = [item for i in range(0, len(flat), step) for item in folded(flat[i : i + step])]
    return flat


def passing_blobs(items: Sequence[Item], wires: Sequence[Wire]) -> tuple[list[int], set[int]]:
    """How many blobs pass before each item, without those that pass by, and the ids of items that read something."""
    home = {id(box): i for i, item in enumerate(items) for box in boxes_of(item)}
    last: dict[tuple[int, str], int] = {}  # of each blob: the last item that reads it, of those in reach
    fed = set()
    for wire in wires:
        a, b = home.get(id(wire.source)), home.get(id(wire.target))
        if b is not None:
            fed.add(id(items[b]))
        if a is not None and b is not None and a < b <= a + REACH:
            last[a, wire.blob] = max(last.get((a, wire.blob), 0), b)
    change = [0] * (len(items) + 1)
    for (a, _), b in last.items():
        change[a + 1] += 1
        change[b + 1] -= 1
    return list(accumulate(change[:-1])), fed


def place_of(item: Item) -> tuple[str, ...]:
    """The coarse place of an item's first box, by its name."""
    return key_of(boxes_of(item)[0].name)[0]


def loose(piece: Sequence[Item]) -> bool:
    """Whether a piece is single boxes."""
    return all(isinstance(item, Box) for item in piece)


def folded(items: list[Item]) -> list[Item]:
    """Several items as one block; one stays as it is."""
    if len(items) == 1:
        return items
    boxes = [box for item in items for box in boxes_of(item)]
    return [Block(title(boxes, False), list(items))]
