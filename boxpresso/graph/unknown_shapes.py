"""The shapes of data that no field of a net tells: what the layers that read them tell, while the net is built."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import gcd, sqrt

import numpy as np

from ..device import Blob
from ..layers.core import Layer, Trait
from ..layers.core.data_tops import REGIONS, SIDE, Top
from ..proto import BoxpressoError

# Sides of images, the likelier first
USUAL = (227, 256, 225, 299, 321, 320, 448, 416, 512, 513, 128, 112, 96, 64, 48, 32, 28)
UNUSUAL = range(SIDE, 2 * SIDE)  # where none of those serves; a net that halves its maps eight times meets a period


class UnknownShapes:
    """What becomes of the tops of data layers while the layers that read them are made, one after another by `fit`.

    Parameters
    ----------
    tops
        {name of a blob: what it holds}: those that are not `certain` get other shapes.

    Attributes
    ----------
    classes
        {name of a top of labels: how many classes there are}.
    """

    blobs: Mapping[str, Blob]  # those of the net so far
    changed: Callable[[], None]  # reshapes the layers that were built before

    def __init__(self, tops: dict[str, Top]) -> None:
        self.tops = tops
        self.classes: dict[str, int] = {}
        self.origin = {name: name for name in tops}  # copies of a top -> the top
        self.made_of: dict[str, set[str]] = {}  # blobs -> the tops that they are computed from
        self.same: dict[str, set[str]] = {}  # tops that no field tells -> those that must have the same shape
        self.parts: dict[str, list[str]] = {}  # blobs that are tops without a shape, joined -> those tops
        self.pieces: dict[
            str, tuple[str, bool]
        ] = {}  # blobs -> the top without a shape that is parted into them; the last?
        self.cropped: dict[str, str] = {}  # blobs -> the top without a shape that they are cut out of
        self.pooled: dict[str, str] = {}  # blobs -> the top without a shape that is pooled to them
        self.computed: set[str] = set()  # blobs with other values than the top that gives them their shape

    def fit(self, layer: Layer, bottoms: Sequence[str], blobs: Mapping[str, Blob], changed: Callable[[], None]) -> None:
        """Learns of the tops that a layer reads what fields did not tell: their shape, and how many classes there are.

        Parameters
        ----------
        layer
            The layer that is being built.
        bottoms
            Their names.
        blobs
            Those of the net so far.
        changed
            Called when a top has another shape: reshapes the layers that were built before.
        """
        self.blobs, self.changed, traits = blobs, changed, layer.traits
        if bottoms and not fits(layer, blobs[bottoms[0]].shape):
            images = self.made_of.get(bottoms[0], set(bottoms[:1]))
            if images and all(map(self.resizable, images)):
                self.try_sides(images, lambda: fits(layer, blobs[bottoms[0]].shape))
        of = set().union(*(self.made_of.get(name, {name} & self.tops.keys()) for name in bottoms))
        self.made_of.update((name, of) for name in layer.param.top if bottoms)
        if len(bottoms) > 1 and traits & (Trait.JOINS | Trait.ELEMENTWISE):
            if Trait.ELEMENTWISE in traits and all(self.open(name) for name in bottoms):
                self.alike(layer, bottoms)
                return
            self.agree(layer, bottoms)
            if Trait.JOINS in traits and all(self.open(name) for name in bottoms):
                self.parts[layer.param.top[0]] = [self.origin[name] for name in bottoms]
        if Trait.VIEW in traits:
            if layer.param.HasField("reshape_param"):
                self.count(layer, bottoms[0])
            for name in layer.param.top:
                if bottoms[0] in self.origin:
                    self.origin[name] = self.origin[bottoms[0]]
                if bottoms[0] in self.pieces and not layer.param.HasField("reshape_param"):
                    self.pieces[name] = self.pieces[bottoms[0]]
                if bottoms[0] in self.cropped and not layer.param.HasField("reshape_param"):
                    self.cropped[name] = self.cropped[bottoms[0]]
            return
        if Trait.PARTS in traits and self.open(bottoms[0]):
            last = layer.param.top[-1]
            self.pieces.update((name, (self.origin[bottoms[0]], name == last)) for name in layer.param.top)
        if "crop_param" in layer.messages and self.open(bottoms[0]):
            self.cropped.update((name, self.origin[bottoms[0]]) for name in layer.param.top)
        if Trait.POOLS in traits and self.open(bottoms[0]):
            self.pooled[layer.param.top[0]] = self.origin[bottoms[0]]
        if Trait.ELEMENTWISE in traits and len(bottoms) == 1 and bottoms[0] in self.origin:
            self.computed.update(layer.param.top)  # of the same shape, with other values
            self.origin.update((name, self.origin[bottoms[0]]) for name in layer.param.top)
        if len(bottoms) < 2:
            return
        if "recurrent_param" in layer.messages and len(bottoms) > 2 and not layer.param.recurrent_param.expose_hidden:
            self.sequences(blobs[bottoms[0]].shape, blobs[bottoms[2]].shape)
        if "ctc_loss_param" in layer.messages and len(bottoms) == 2:
            self.one_row(*bottoms)
        if Trait.REGIONS in traits and self.resizable(regions := self.origin.get(bottoms[1], "")):
            self.tops[regions] = Top((REGIONS, 5), "rois", False)
            blobs[regions].reshape(REGIONS, 5)
            self.changed()
            return
        wanted_first = Trait.COMPARES in traits and self.open(bottoms[0]) and not self.open(bottoms[1])
        if wanted_first and self.origin[bottoms[0]] not in self.made_of.get(bottoms[1], {bottoms[1]}):
            bottoms = [bottoms[1], bottoms[0], *bottoms[2:]]
        labelled = Trait.CLASS_LABELS in traits
        known_rows, rows = labelled or Trait.COMPARES in traits, blobs[bottoms[0]].shape
        for at, name in enumerate(bottoms[1:], 1):
            top = None if labelled and name in self.computed else self.origin.get(name)
            wanted = rows if known_rows else layer.expects(at, rows)
            if wanted is None:
                continue
            if wanted[:1] == (-1,):
                wanted = (*blobs[name].shape[:1], *wanted[1:])
            scores_of = self.made_of.get(bottoms[0], {bottoms[0]})
            if top is None and known_rows and name in self.cropped and self.cropped[name] not in scores_of:
                self.deepen(self.cropped[name], layer, rows)
            if top is None and known_rows and name in self.pieces and self.pieces[name][0] not in scores_of:
                self.whole(*self.pieces[name], name, layer, rows)
            if top is None and known_rows and name in self.parts:
                self.part(self.parts[name], blobs[name], wanted)
            if top is None and known_rows and name in self.pooled and self.pooled[name] not in scores_of:
                self.unpool(self.pooled[name], name, layer, rows)
            if top is None:
                own = self.made_of.get(name, set())
                if own and own == self.made_of.get(bottoms[0]) and all(map(self.resizable, own)):
                    first, other = blobs[bottoms[0]], blobs[name]
                    if other.shape != wanted:  # two parts of a net that one image makes
                        self.try_sides(own, lambda: layer.expects(at, first.shape) == other.shape)  # noqa: B023
                elif wanted[1:] == blobs[name].shape[1:]:  # steps of time, which an image's width makes
                    self.search(bottoms[0], lambda: blobs[bottoms[0]].shape[0], blobs[name].shape[0])
                continue
            if labelled and rows:
                axis = axis_of(layer) % len(rows)
                self.classes[top] = min(self.classes.get(top, rows[axis]), rows[axis])
                wanted = labels_of(rows, axis)
                if self.tops[top].role == "identity" or (at == 2 and layer.type == "InfogainLoss"):
                    self.tops[top] = Top(self.tops[top].shape, "identity", self.tops[top].certain)
                    wanted = (rows[axis], rows[axis])
                elif at > 1:
                    self.tops[top] = Top(self.tops[top].shape, "ones", self.tops[top].certain)
            elif Trait.BINARY in traits:
                self.classes[top] = 2
                self.tops[top] = Top(self.tops[top].shape, "class", self.tops[top].certain)
            known = self.tops[top]
            if not known.certain and int(np.prod(known.shape)) != int(np.prod(wanted)):
                role = "numbers" if not labelled and known.role == "image" else known.role
                self.give(top, Top(wanted, role, False))

    def open(self, name: str) -> bool:
        """Whether a blob has the shape of a top that no field tells."""
        return name in self.origin and not self.tops[self.origin[name]].certain

    def give(self, name: str, top: Top) -> None:
        """Gives a top, and those that are multiplied with it or added to it, another shape."""
        for other in self.same.get(name, {name}):
            self.tops[other] = Top(top.shape, top.role if other == name else self.tops[other].role, top.certain)
            self.blobs[other].reshape(*top.shape)
        self.changed()

    def deepen(self, name: str, layer: Layer, rows: tuple[int, ...]) -> None:
        """Gives a top that no field tells, and of which a part is compared with `rows`, as many channels as these want."""
        top, labelled = self.tops[name], Trait.CLASS_LABELS in layer.traits
        if len(top.shape) != 4 or len(rows) != 4:
            return
        if labelled or Trait.BINARY in layer.traits:
            self.classes[name] = rows[1] if labelled else 2
        role = "class" if name in self.classes else "numbers"
        self.give(name, Top((top.shape[0], 1 if labelled else rows[1], *top.shape[2:]), role, False))

    def unpool(self, name: str, label: str, layer: Layer, rows: tuple[int, ...]) -> None:
        """Gives a map that no field tells channels and sides with which what a pooling makes of it is as large as `rows`."""
        self.deepen(name, layer, rows)
        if len(self.tops[name].shape) == len(self.blobs[label].shape) == len(rows) == 4:
            self.resize(name, self.blobs[label], rows[2:])

    def whole(self, name: str, last: bool, piece: str, layer: Layer, rows: tuple[int, ...]) -> None:
        """Gives a top that no field tells, and that is parted along axis 1, as many rows and places as what a piece of it is
        compared with; of the last piece, which takes what is left, as many channels, too."""
        top, shape, wanted, role = self.tops[name], self.blobs[piece].shape, rows, "numbers"
        if Trait.CLASS_LABELS in layer.traits and rows:
            axis = axis_of(layer) % len(rows)
            wanted, role = labels_of(rows, axis), "class"
            self.classes[name] = min(self.classes.get(name, rows[axis]), rows[axis])
        if len(shape) < 2 or not wanted or not all(wanted) or self.blobs[piece].count == int(np.prod(wanted)):
            return
        places = wanted[2:] or (1,) * len(shape[2:])
        channels, rest = divmod(int(np.prod(wanted)), wanted[0] * int(np.prod(places)))
        if not rest and (last or channels == shape[1]):
            self.give(name, Top((wanted[0], top.shape[1] - shape[1] + channels, *places), role, False))

    def sequences(self, first: tuple[int, ...], static: tuple[int, ...]) -> None:
        """Gives tops of (steps, sequences) that no field tells as many sequences as a recurrent layer has static inputs, which
        lie beside its bottom 0: captions of images."""
        if len(first) < 2 or not static or static[0] == first[1]:
            return
        names = [name for name, top in self.tops.items() if not top.certain and top.shape == first[:2]]
        for name in names:
            self.tops[name] = Top((first[0], static[0]), self.tops[name].role, False)
            self.blobs[name].reshape(first[0], static[0])
        if names:
            self.changed()

    def one_row(self, scores: str, labels: str) -> None:
        """Gives images the sides with which scores (T, N, C) belong to as many sequences as have labels: a net that reads
        lines of text makes maps of a single row of them."""
        lines, images = self.blobs[labels].shape[:1], self.made_of.get(scores, set())
        if self.blobs[scores].shape[1:2] != lines and images and all(map(self.resizable, images)):
            self.try_sides(images, lambda: self.blobs[scores].shape[1:2] == lines)

    def part(
        self,
        names: Sequence[str],
        joined: Blob,
        wanted: tuple[int, ...],
    ) -> None:
        """Gives tops that no field tells, and which a layer joins along axis 1, equal parts of what is wanted of them."""
        channels = int(np.prod(wanted[1:]))
        if joined.count != int(np.prod(wanted)) and channels % len(names) == 0:
            for name in names:
                shape = (wanted[0], channels // len(names))
                self.give(name, Top(shape, self.tops[name].role, False))

    def alike(self, layer: Layer, bottoms: Sequence[str]) -> None:
        """Gives tops that no field tells, whose product or sum a layer makes, the shape of the largest of them."""
        names = [self.origin[name] for name in bottoms]
        group = set().union(*(self.same.get(name, {name}) for name in names))
        self.same.update((name, group) for name in group)
        largest = max((self.tops[name] for name in names), key=lambda top: int(np.prod(top.shape)))
        if any(self.tops[name].shape != largest.shape for name in group):
            self.give(names[0], Top(largest.shape, self.tops[names[0]].role, False))
        self.origin.update((name, names[0]) for name in layer.param.top)

    def count(self, layer: Layer, bottom: str) -> None:
        """Gives what a Reshape reads as many elements as its dims ask for, where no field tells them.

        A top itself takes the shape of the dims, or rows of a number of features that they part; of what is computed from
        tops, whose batch no field tells, the batch is multiplied, unless it is copied, and else the images have other sides.
        """
        p, shape = layer.param.reshape_param, self.blobs[bottom].shape
        first = p.axis if p.axis >= 0 else p.axis + len(shape) + 1
        asked = [*[0] * first, *p.shape.dim]
        dims = [shape[i] if dim == 0 and i < len(shape) else int(dim) for i, dim in enumerate(asked)]
        known, now = int(np.prod([dim for dim in dims if dim != -1])), self.blobs[bottom].count
        inferred = -1 in dims
        if (
            not 0 <= first <= len(shape)
            or p.num_axes != -1
            or known < 1
            or not now
            or (now % known if inferred else now - known) == 0
        ):
            return
        times = known // gcd(known, now)
        of = [name for name in self.made_of.get(bottom, ()) if not self.tops[name].certain]
        rows = inferred and len(shape) == 2 and dims[0] == shape[0]
        if self.open(bottom) and rows:  # features, of as many as the dims part
            name, each = self.origin[bottom], known // shape[0]
            self.give(name, Top((shape[0], -(-shape[1] // each) * each), "numbers", False))
        elif self.open(bottom) and not inferred:
            name = self.origin[bottom]
            role = "numbers" if self.tops[name].role == "image" else self.tops[name].role
            self.give(name, Top(tuple(dims), role, False))
        elif asked[:1] == [0] and inferred:
            images = self.made_of.get(bottom, set())
            if images and all(map(self.resizable, images)):
                self.try_sides(images, lambda: self.blobs[bottom].count % known == 0)
        elif of and all(self.tops[name].shape[:1] == (1,) for name in of) and (inferred or now * times == known):
            for name in of:
                top = self.tops[name]
                self.tops[name] = Top((times, *top.shape[1:]), top.role, False)
                self.blobs[name].reshape(*self.tops[name].shape)
            self.changed()
        elif not inferred:
            self.search(bottom, lambda: self.blobs[bottom].count, known)

    def search(
        self,
        bottom: str,
        read: Callable[[], int],
        wanted: int,
    ) -> None:
        """Gives the one image whose sides no field tells, and which a blob is computed from, sides with which `read` is
        as wanted: another width, or height, or both."""
        free = [name for name in self.made_of.get(bottom, ()) if self.resizable(name)]
        if len(free) != 1 or read() == wanted:
            return
        name, before = free[0], self.tops[free[0]].shape
        for moving in ((3,), (2,), (2, 3)):
            shape = list(before)
            for _ in range(6):
                now = read()
                if not now or now == wanted:
                    break
                for axis in moving:
                    side = round(shape[axis] * (wanted / now if len(moving) == 1 else sqrt(wanted / now)))
                    shape[axis] = max(1, side if side != shape[axis] else side + (1 if wanted > now else -1))
                try:
                    self.blobs[name].reshape(*shape)
                    self.changed()
                except BoxpressoError:
                    break
            if read() == wanted and self.blobs[name].shape == tuple(shape):
                self.tops[name] = Top(tuple(shape), "image", False)
                return
            self.blobs[name].reshape(*before)
            self.changed()

    def agree(self, layer: Layer, bottoms: Sequence[str]) -> None:
        """Gives images whose size no field tells the height and width with which bottoms of a sum or join agree."""
        if Trait.JOINS in layer.traits and layer.param.concat_param.axis not in (0, 1, -3, -4):
            return
        for name in bottoms if Trait.JOINS in layer.traits else ():  # a number for each image is a column of others
            if self.open(name) and len(self.blobs[name].shape) == 1 < max(
                len(self.blobs[other].shape) for other in bottoms
            ):
                column = self.origin[name]
                self.give(column, Top((*self.blobs[name].shape, 1), self.tops[column].role, False))
        first = self.blobs[bottoms[0]]
        for name in bottoms[1:]:
            own, other = self.made_of.get(name, {name}), self.made_of.get(bottoms[0], {bottoms[0]})
            if (
                len(self.blobs[name].shape) != 4
                or len(first.shape) != 4
                or self.blobs[name].shape[2:] == first.shape[2:]
            ):
                continue
            for tops, blob, wanted in ((own - other, self.blobs[name], first), (other - own, first, self.blobs[name])):
                free = [top for top in tops if self.resizable(top)]
                if len(free) == 1 and self.resize(free[0], blob, wanted.shape[2:]):
                    break
            if own == other and self.blobs[name].shape[2:] != first.shape[2:] and all(map(self.resizable, own)):
                self.try_sides(own, lambda: self.blobs[name].shape[2:] == first.shape[2:])  # noqa: B023
        if Trait.ELEMENTWISE in layer.traits:  # a mask, say, which is as large as what it is multiplied with
            for name in bottoms:
                others = [self.blobs[other].shape for other in bottoms if not self.open(other)]
                if self.open(name) and others and self.blobs[name].shape != others[0]:
                    mask = self.origin[name]
                    if not any(mask in self.made_of.get(other, {other}) for other in bottoms if not self.open(other)):
                        self.give(mask, Top(others[0], self.tops[mask].role, False))

    def try_sides(self, names: set[str], agrees: Callable[[], bool]) -> None:
        """Gives images whose sides no field tells the first of the usual sides, or else of further ones, with which two parts
        of a net agree, or a kernel fits."""
        before = {name: self.tops[name].shape for name in names}
        for side in (*USUAL, *UNUSUAL):
            try:
                for name, shape in before.items():
                    self.blobs[name].reshape(*shape[:2], side, side)
                self.changed()
            except BoxpressoError:
                continue
            if agrees():
                for name, shape in before.items():
                    self.tops[name] = Top((*shape[:2], side, side), "image", False)
                return
        for name, shape in before.items():
            self.blobs[name].reshape(*shape)
        self.changed()

    def resizable(self, name: str) -> bool:
        """Whether a top is an image whose size no field tells."""
        top = self.tops.get(name)
        return top is not None and top.role == "image" and not top.certain and len(top.shape) == 4

    def resize(self, name: str, blob: Blob, wanted: tuple[int, ...]) -> bool:
        """Gives a top the sides with which `blob`, computed from it, has those `wanted`; whether there are such."""
        before = shape = self.tops[name].shape
        for _ in range(4):
            now = blob.shape[2:]
            if not all(now) or now == wanted:
                break
            strides = [max(1, round(side / of)) for side, of in zip(shape[2:], now)]
            sides = [side + (to - of) * by for side, to, of, by in zip(shape[2:], wanted, now, strides)]
            shape = (*shape[:2], *(max(1, side) for side in sides))
            try:
                self.blobs[name].reshape(*shape)
                self.changed()
            except BoxpressoError:
                break
        agrees = blob.shape[2:] == wanted and self.blobs[name].shape == shape
        if not agrees:
            self.blobs[name].reshape(*before)
            self.changed()
        self.tops[name] = Top(shape if agrees else before, self.tops[name].role, False)
        return agrees


def fits(layer: Layer, shape: tuple[int, ...]) -> bool:
    """Whether the kernel of a convolution or pooling lies within a padded image of that shape."""
    window = layer.window_of(layer.param)
    if window is None or window.spreads or len(shape) != 4:
        return True
    for i, side in enumerate(shape[2:]):
        kernel, stride, pad, dilation = (each[min(i, len(each) - 1)] for each in window[1:5])
        beyond = stride - 1 if Trait.POOLS in layer.traits else 0  # a last window that reaches over the edge
        if side + 2 * pad + beyond < (kernel - 1) * dilation + 1:
            return False
    return True


def axis_of(layer: Layer) -> int:
    """The axis of the classes of a loss or measure."""
    measures = "accuracy_param" in layer.messages
    return int(layer.param.accuracy_param.axis if measures else layer.param.softmax_param.axis)


def labels_of(scores: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """The shape of labels for scores: one for each place, with a single channel where there are places."""
    places = scores[axis + 1 :]
    return (*scores[:axis], 1, *places) if places and int(np.prod(places)) > 1 else scores[:axis]
