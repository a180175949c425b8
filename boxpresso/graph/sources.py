"""Nets without their data: Inputs in the place of data layers, shaped as the layers' fields say and filled with
plausible values."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from math import gcd, sqrt
from types import ModuleType

import numpy as np

from ..data.plausible import fill
from ..device import Blob
from ..layers.core import Layer, Trait, traits_of
from ..layers.core.data_tops import OBJECTS, REGIONS, SIDE, SPATIAL, Top, by_name, data_tops
from ..proto import BoxpressoError, LayerParameter, ModelError, NetParameter, nearest

Shapes = Mapping[str, Sequence[int]]
# Sides of images, the likelier first
USUAL = (227, 256, 225, 299, 321, 320, 448, 512, 513, 128, 112, 96, 64, 48, 32, 28)
UNUSUAL = range(SIDE, 2 * SIDE)  # where none of those serves; a net that halves its maps eight times meets a period


class Sources:
    """The data layers of a net that is built without its data.

    Parameters
    ----------
    net
        Of one phase, without splits.
    shapes
        Shapes of tops by name, which go before those that the fields give.
    python_layers
        Names of the Python modules that the net may import: their layers run as they are.

    Attributes
    ----------
    param
        The net with an Input in the place of each data layer.
    types
        {name of such a layer: its own type}.
    tops
        {name of a blob: what it holds}, of the data layers and of the Inputs that the net has anyway.

    Raises
    ------
    ModelError
        For a shape of a name that is not a top of a data layer or an Input.
    """

    def __init__(self, net: NetParameter, shapes: Shapes | None = None, python_layers: Sequence[str] = ()) -> None:
        self.types: dict[str, str] = {}
        self.tops: dict[str, Top] = {}
        self.scales: dict[str, float] = {}
        self.classes: dict[str, int] = {}
        self.origin: dict[str, str] = {}  # copies of a top -> the top
        self.made_of: dict[str, set[str]] = {}  # blobs -> the tops that they are computed from
        self.same: dict[str, set[str]] = {}  # tops that no field tells -> those that must have the same shape
        self.parts: dict[str, list[str]] = {}  # blobs that are tops without a shape, joined -> those tops
        self.computed: set[str] = set()  # blobs with other values than the top that gives them their shape
        self.matrices: set[str] = set()  # Inputs for the files of InfogainLoss
        sizes = {name: tuple(int(side) for side in shape) for name, shape in (shapes or {}).items()}
        self.param = NetParameter()
        self.param.CopyFrom(net)
        for layer in self.param.layer:
            layer.detection_evaluate_param.ClearField("name_size_file")  # of the data
            if not layer.detection_evaluate_param.ListFields():
                layer.ClearField("detection_evaluate_param")
        self.viewpoints = any(needs_viewpoints(layer) for layer in self.param.layer)
        self.add_matrices()
        for layer in self.param.layer:
            if layer.type.lower() == "input":
                self.keep(layer, sizes)
            elif is_source(layer, python_layers):
                self.replace(layer, net, sizes)
        for name in sizes:
            if name not in self.tops:
                raise ModelError(
                    f"data gives a shape for {name!r}, which is not a top of a data layer{nearest(name, self.tops)}"
                )
        self.origin.update((name, name) for name in self.tops)

    def add_matrices(self) -> None:
        """Makes an Input of the matrix H of each InfogainLoss that keeps it in a file that is not there."""
        layers = list(self.param.layer)
        wanting = [
            i for i, layer in enumerate(layers) if layer.type.lower() == "infogainloss" and len(layer.bottom) == 2
        ]
        wanting = [i for i in wanting if not os.path.exists(layers[i].infogain_loss_param.source)]
        if not wanting:
            return
        self.param.ClearField("layer")
        for i, layer in enumerate(layers):
            if i in wanting:
                name = f"{layer.name}_H"
                self.param.layer.add(name=name, type="Input", top=[name]).input_param.shape.add(dim=(1, 1))
                layer.bottom.append(name)
                if layer.propagate_down:
                    layer.propagate_down.append(False)
                self.matrices.add(name)
            self.param.layer.add().CopyFrom(layer)

    def keep(self, layer: LayerParameter, sizes: Mapping[str, tuple[int, ...]]) -> None:
        """Takes note of an Input's tops, and gives them the shapes of the caller."""
        shapes = [tuple(map(int, shape.dim)) for shape in layer.input_param.shape]
        shapes = shapes * (len(layer.top) if len(shapes) == 1 else 1)
        if any(name in sizes for name in layer.top) and len(shapes) == len(layer.top):
            shapes = [sizes.get(name, shape) for name, shape in zip(layer.top, shapes)]
            layer.input_param.ClearField("shape")
            for shape in shapes:
                layer.input_param.shape.add(dim=shape)
        for name, shape in zip(layer.top, shapes):
            if name in self.matrices:
                self.tops[name] = Top(shape, "identity", name in sizes)
                continue
            known = by_name(name, 1, (3, 1, 1), 2, shape[-1] if name == "gt_boxes" and shape else 5)
            role = known.role if known else "class" if "label" in name else "image"
            self.tops[name] = Top(shape, role)

    def replace(self, layer: LayerParameter, net: NetParameter, sizes: Mapping[str, tuple[int, ...]]) -> None:
        """Makes an Input of a data layer."""
        readers = [readers_of(net, name) for name in layer.top]
        tops = data_tops(layer, readers, net.name, sliced(net, layer.top[0]))
        video = layer.video_data_param
        # whether the channels are those of one frame, not those of all frames
        frame_channels = layer.HasField("video_data_param") or tops[0].shape[1:2] in ((1,), (3,))
        if video.new_length and frame_channels and of_volumes(net, layer.top[0]) and len(tops[0].shape) == 4:
            channels = 1 if video.grayscale else 2 if video.HasField("modality") and video.modality == video.FLOW else 3
            shape = tops[0].shape[0], channels, video.new_length, *tops[0].shape[2:]
            tops = [Top(shape, tops[0].role, tops[0].certain), *tops[1:]]
        for i, top in enumerate(tops):
            if top.role == "image" and not top.certain and len(top.shape) == 4:
                sides = map(max, top.shape[2:], kernel_over(net, layer.top[i]))
                tops[i] = Top((*top.shape[:2], *sides), top.role, False)
        if layer.type == "Data" and len(tops) == 1 and "label" in layer.top[0] and not tops[0].certain:
            readers_here = {kind.lower() for kind in readers[0]}
            if not readers_here & SPATIAL:  # labels that lie in a file of their own
                tops = [Top((tops[0].shape[0], sliced(net, layer.top[0]) or 1, 1, 1), "class", False)]
        if layer.type == "CPMData" and slice_points(net, layer.top[0]) == [3]:  # the map of the centre
            tops[0] = Top((tops[0].shape[0], 4, *tops[0].shape[2:]), tops[0].role, tops[0].certain)
        for i, top in enumerate(tops):  # rows of boxes, which a Slice parts from what stands behind them
            points = slice_points(net, layer.top[i])
            if layer.type == "Python" and top.role == "image" and points and layer.top[i].startswith("gt"):
                tops[i] = Top((OBJECTS, points[-1] + 1), "numbers", False)
        for i, top in enumerate(tops):  # pairs of images of a siamese net
            if layer.type == "Python" and top.role == "image" and not layer.top[i].startswith("gt"):
                tops[i] = Top((top.shape[0], sliced(net, layer.top[i]) or top.shape[1], *top.shape[2:]), "image", False)
        for i, top in enumerate(tops):  # several labels of an image, which a Slice parts
            if top.role == "class" and len(top.shape) == 1 and (parts := sliced(net, layer.top[i])):
                tops[i] = Top((*top.shape, parts), top.role)
        contexts = max((other.mil_param.context_per_roi for other in net.layer), default=0)
        for i, name in enumerate(layer.top):  # boxes around each region (R*CNN)
            if contexts and name == "secondary_rois":
                tops[i] = Top((contexts * REGIONS, 5), "rois")
        if rows := rows_of_regions(net, tops):
            tops = [Top((rows, *top.shape[1:]), top.role, top.certain) if top.shape[:1] == (REGIONS,) else top
                    for top in tops]  # fmt: skip
        scale = layer.transform_param.scale or 1.0
        self.types[layer.name] = layer.type
        name, names = layer.name, list(layer.top)
        layer.Clear()
        layer.name, layer.type = name, "Input"
        layer.top.extend(names)
        for top_name, top in zip(names, tops):
            if top_name == "gt_boxes" and self.viewpoints:
                top = Top((top.shape[0], 6), "viewed objects")
            own = Top(sizes[top_name], top.role) if top_name in sizes else top
            self.tops[top_name], self.scales[top_name] = own, scale
            layer.input_param.shape.add(dim=own.shape)

    # While the net is built

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
        traits = layer.traits
        if bottoms and not fits(layer, blobs[bottoms[0]].shape):
            images = self.made_of.get(bottoms[0], set(bottoms[:1]))
            if images and all(map(self.resizable, images)):
                self.try_sides(images, lambda: fits(layer, blobs[bottoms[0]].shape), blobs, changed)
        of = set().union(*(self.made_of.get(name, {name} & self.tops.keys()) for name in bottoms))
        self.made_of.update((name, of) for name in layer.param.top if bottoms)
        if len(bottoms) > 1 and traits & (Trait.JOINS | Trait.ELEMENTWISE):
            if Trait.ELEMENTWISE in traits and all(self.open(name) for name in bottoms):
                self.alike(layer, bottoms, blobs, changed)
                return
            self.agree(layer, bottoms, blobs, changed)
            if Trait.JOINS in traits and all(self.open(name) for name in bottoms):
                self.parts[layer.param.top[0]] = [self.origin[name] for name in bottoms]
        if Trait.VIEW in traits:
            if layer.param.HasField("reshape_param"):
                self.count(layer, bottoms[0], blobs, changed)
            for name in layer.param.top:
                if bottoms[0] in self.origin:
                    self.origin[name] = self.origin[bottoms[0]]
            return
        if Trait.ELEMENTWISE in traits and len(bottoms) == 1 and bottoms[0] in self.origin:
            self.computed.update(layer.param.top)  # of the same shape, with other values
            self.origin.update((name, self.origin[bottoms[0]]) for name in layer.param.top)
        if len(bottoms) < 2:
            return
        if Trait.REGIONS in traits and self.resizable(regions := self.origin.get(bottoms[1], "")):
            self.tops[regions] = Top((REGIONS, 5), "rois", False)
            blobs[regions].reshape(REGIONS, 5)
            changed()
            return
        labelled = Trait.CLASS_LABELS in traits
        known_rows, rows = labelled or Trait.COMPARES in traits, blobs[bottoms[0]].shape
        for at, name in enumerate(bottoms[1:], 1):
            top = None if labelled and name in self.computed else self.origin.get(name)
            wanted = rows if known_rows else layer.expects(at, rows)
            if wanted is None:
                continue
            if top is None and known_rows and name in self.parts:
                self.part(self.parts[name], blobs[name], wanted, blobs, changed)
            if top is None:
                own = self.made_of.get(name, set())
                if own and own == self.made_of.get(bottoms[0]) and all(map(self.resizable, own)):
                    first, other = blobs[bottoms[0]], blobs[name]
                    if other.shape != wanted:  # two parts of a net that one image makes
                        self.try_sides(own, lambda: layer.expects(at, first.shape) == other.shape, blobs, changed)  # noqa: B023
                elif wanted[1:] == blobs[name].shape[1:]:  # steps of time, which an image's width makes
                    self.search(bottoms[0], lambda: blobs[bottoms[0]].shape[0], blobs[name].shape[0], blobs, changed)
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
                self.give(top, Top(wanted, role, False), blobs, changed)

    def open(self, name: str) -> bool:
        """Whether a blob has the shape of a top that no field tells."""
        return name in self.origin and not self.tops[self.origin[name]].certain

    def give(self, name: str, top: Top, blobs: Mapping[str, Blob], changed: Callable[[], None]) -> None:
        """Gives a top, and those that are multiplied with it or added to it, another shape."""
        for other in self.same.get(name, {name}):
            self.tops[other] = Top(top.shape, top.role if other == name else self.tops[other].role, top.certain)
            blobs[other].reshape(*top.shape)
        changed()

    def part(
        self,
        names: Sequence[str],
        joined: Blob,
        wanted: tuple[int, ...],
        blobs: Mapping[str, Blob],
        changed: Callable[[], None],
    ) -> None:
        """Gives tops that no field tells, and which a layer joins along axis 1, equal parts of what is wanted of them."""
        channels = int(np.prod(wanted[1:]))
        if joined.count != int(np.prod(wanted)) and channels % len(names) == 0:
            for name in names:
                shape = (wanted[0], channels // len(names))
                self.give(name, Top(shape, self.tops[name].role, False), blobs, changed)

    def alike(
        self, layer: Layer, bottoms: Sequence[str], blobs: Mapping[str, Blob], changed: Callable[[], None]
    ) -> None:
        """Gives tops that no field tells, whose product or sum a layer makes, the shape of the largest of them."""
        names = [self.origin[name] for name in bottoms]
        group = set().union(*(self.same.get(name, {name}) for name in names))
        self.same.update((name, group) for name in group)
        largest = max((self.tops[name] for name in names), key=lambda top: int(np.prod(top.shape)))
        if any(self.tops[name].shape != largest.shape for name in group):
            self.give(names[0], Top(largest.shape, self.tops[names[0]].role, False), blobs, changed)
        self.origin.update((name, names[0]) for name in layer.param.top)

    def count(self, layer: Layer, bottom: str, blobs: Mapping[str, Blob], changed: Callable[[], None]) -> None:
        """Gives what a Reshape reads as many elements as its dims ask for, where no field tells them.

        A top itself takes the shape of the dims, or rows of a number of features that they part; of what is computed from
        tops, whose batch no field tells, the batch is multiplied, and else the images have other sides.
        """
        p, shape = layer.param.reshape_param, blobs[bottom].shape
        dims = [shape[i] if dim == 0 and i < len(shape) else int(dim) for i, dim in enumerate(p.shape.dim)]
        known, now = int(np.prod([dim for dim in dims if dim != -1])), blobs[bottom].count
        inferred = -1 in dims
        if p.axis or p.num_axes != -1 or known < 1 or not now or (now % known if inferred else now - known) == 0:
            return
        times = known // gcd(known, now)
        of = [name for name in self.made_of.get(bottom, ()) if not self.tops[name].certain]
        rows = inferred and len(shape) == 2 and dims[0] == shape[0]
        if self.open(bottom) and rows:  # features, of as many as the dims part
            name, each = self.origin[bottom], known // shape[0]
            self.give(name, Top((shape[0], -(-shape[1] // each) * each), "numbers", False), blobs, changed)
        elif self.open(bottom) and not inferred:
            name = self.origin[bottom]
            role = "numbers" if self.tops[name].role == "image" else self.tops[name].role
            self.give(name, Top(tuple(dims), role, False), blobs, changed)
        elif of and all(self.tops[name].shape[:1] == (1,) for name in of) and (inferred or now * times == known):
            for name in of:
                top = self.tops[name]
                self.tops[name] = Top((times, *top.shape[1:]), top.role, False)
                blobs[name].reshape(*self.tops[name].shape)
            changed()
        elif not inferred:
            self.search(bottom, lambda: blobs[bottom].count, known, blobs, changed)

    def search(
        self,
        bottom: str,
        read: Callable[[], int],
        wanted: int,
        blobs: Mapping[str, Blob],
        changed: Callable[[], None],
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
                    blobs[name].reshape(*shape)
                    changed()
                except BoxpressoError:
                    break
            if read() == wanted and blobs[name].shape == tuple(shape):
                self.tops[name] = Top(tuple(shape), "image", False)
                return
            blobs[name].reshape(*before)
            changed()

    def agree(
        self, layer: Layer, bottoms: Sequence[str], blobs: Mapping[str, Blob], changed: Callable[[], None]
    ) -> None:
        """Gives images whose size no field tells the height and width with which bottoms of a sum or join agree."""
        if Trait.JOINS in layer.traits and layer.param.concat_param.axis not in (0, 1, -3, -4):
            return
        for name in bottoms if Trait.JOINS in layer.traits else ():  # a number for each image is a column of others
            if self.open(name) and len(blobs[name].shape) == 1 < max(len(blobs[other].shape) for other in bottoms):
                column = self.origin[name]
                self.give(column, Top((*blobs[name].shape, 1), self.tops[column].role, False), blobs, changed)
        first = blobs[bottoms[0]]
        for name in bottoms[1:]:
            own, other = self.made_of.get(name, {name}), self.made_of.get(bottoms[0], {bottoms[0]})
            if len(blobs[name].shape) != 4 or len(first.shape) != 4 or blobs[name].shape[2:] == first.shape[2:]:
                continue
            for tops, blob, wanted in ((own - other, blobs[name], first), (other - own, first, blobs[name])):
                free = [top for top in tops if self.resizable(top)]
                if len(free) == 1 and self.resize(free[0], blob, wanted.shape[2:], blobs, changed):
                    break
            if own == other and blobs[name].shape[2:] != first.shape[2:] and all(map(self.resizable, own)):
                self.try_sides(own, lambda: blobs[name].shape[2:] == first.shape[2:], blobs, changed)  # noqa: B023
        if Trait.ELEMENTWISE in layer.traits:  # a mask, say, which is as large as what it is multiplied with
            for name in bottoms:
                others = [blobs[other].shape for other in bottoms if not self.open(other)]
                if self.open(name) and others and blobs[name].shape != others[0]:
                    mask = self.origin[name]
                    if not any(mask in self.made_of.get(other, {other}) for other in bottoms if not self.open(other)):
                        self.give(mask, Top(others[0], self.tops[mask].role, False), blobs, changed)

    def try_sides(
        self, names: set[str], agrees: Callable[[], bool], blobs: Mapping[str, Blob], changed: Callable[[], None]
    ) -> None:
        """Gives images whose sides no field tells the first of the usual sides, or else of further ones, with which two parts
        of a net agree, or a kernel fits."""
        before = {name: self.tops[name].shape for name in names}
        for side in (*USUAL, *UNUSUAL):
            try:
                for name, shape in before.items():
                    blobs[name].reshape(*shape[:2], side, side)
                changed()
            except BoxpressoError:
                continue
            if agrees():
                for name, shape in before.items():
                    self.tops[name] = Top((*shape[:2], side, side), "image", False)
                return
        for name, shape in before.items():
            blobs[name].reshape(*shape)
        changed()

    def resizable(self, name: str) -> bool:
        """Whether a top is an image whose size no field tells."""
        top = self.tops.get(name)
        return top is not None and top.role == "image" and not top.certain and len(top.shape) == 4

    def resize(
        self, name: str, blob: Blob, wanted: tuple[int, ...], blobs: Mapping[str, Blob], changed: Callable[[], None]
    ) -> bool:
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
                blobs[name].reshape(*shape)
                changed()
            except BoxpressoError:
                break
        agrees = blob.shape[2:] == wanted and blobs[name].shape == shape
        if not agrees:
            blobs[name].reshape(*before)
            changed()
        self.tops[name] = Top(shape if agrees else before, "image", False)
        return agrees

    # Values

    def fill(self, blobs: Mapping[str, Blob], seed: int = 0) -> None:
        """Fills the tops of data layers and Inputs with values of a plausible range."""
        rng = np.random.default_rng(seed)
        image = next(
            (blobs[n].shape for n, top in self.tops.items() if top.role == "image" and len(top.shape) == 4), ()
        )
        for name, top in self.tops.items():
            blob = blobs[name]
            if blob.count:
                values = fill(top.role, blob.shape, image or blob.shape, self.classes.get(name, 2), rng)
                blob.data[...] = values * self.scales.get(name, 1.0) if top.role == "image" else values


def stand_ins(
    net: NetParameter, data: str | Shapes | None, python_layers: Sequence[str | ModuleType]
) -> Sources | None:
    """The Sources that Net's argument `data` asks for, or None where data are read."""
    if data is None:
        return None
    if isinstance(data, str) and data != "shapes":
        raise ModelError(f"data is 'shapes', a mapping of shapes, or None to read the data; got {data!r}")
    modules = [getattr(module, "__name__", str(module)) for module in python_layers]
    return Sources(net, None if isinstance(data, str) else data, modules)


def is_source(layer: LayerParameter, python_layers: Sequence[str]) -> bool:
    """Whether a layer reads data: it has no bottom, and is not of those that make their tops by themselves."""
    if layer.bottom or not layer.top or Trait.FILLED in traits_of(layer.type):
        return False
    return layer.type.lower() != "python" or layer.python_param.module not in python_layers


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


def readers_of(net: NetParameter, blob: str) -> list[str]:
    """The types of the layers that read a blob, what a sum, a join or parts of it become, or what it is joined with.

    >>> from boxpresso.proto import parse_net
    >>> net = parse_net('''layer { name: "a" type: "Concat" bottom: "x" top: "a" }
    ...     layer { name: "b" type: "Convolution" bottom: "a" top: "b" }''')
    >>> readers_of(net, "x")
    ['Concat', 'Convolution']
    """
    followed, types = {blob}, []
    for layer in net.layer:
        if not followed & set(layer.bottom):
            continue
        types.append(layer.type)
        traits = traits_of(layer.type)
        if traits & (Trait.JOINS | Trait.PARTS | Trait.ELEMENTWISE):
            followed |= set(layer.top)
        if Trait.JOINS in traits:
            followed |= set(layer.bottom)
    return types


def of_volumes(net: NetParameter, blob: str) -> bool:
    """Whether the first convolution that reads a blob, or another shape of it, has a kernel of three sizes."""
    followed = {blob}
    for layer in net.layer:
        if followed & set(layer.bottom):
            if layer.HasField("convolution_param"):
                return len(layer.convolution_param.kernel_size) == 3
            followed |= set(layer.top)
    return False


def kernel_over(net: NetParameter, blob: str) -> tuple[int, int]:
    """The sides of the largest kernel of a convolution that reads a blob itself, (1, 1) without one: rows of features are
    taken as images that are as wide as their kernel."""
    sides = [(1, 1)]
    for layer in net.layer:
        p = layer.convolution_param
        if blob in layer.bottom and layer.HasField("convolution_param") and len(p.kernel_size) < 3:
            sizes = list(p.kernel_size) or [p.kernel_h, p.kernel_w]
            sides.append((int(sizes[0]), int(sizes[-1])))
    return max(side[0] for side in sides), max(side[1] for side in sides)


def slice_points(net: NetParameter, blob: str) -> list[int]:
    """The channels at which a Slice parts a blob; empty where none does."""
    for layer in net.layer:
        p = layer.slice_param
        if layer.type == "Slice" and blob in layer.bottom and (p.axis == 1 or p.slice_dim == 1) and p.slice_point:
            return list(map(int, p.slice_point))
    return []


def sliced(net: NetParameter, blob: str) -> int:
    """The channels that a Slice of a blob asks for: two, for the pairs of a siamese net; 0 where none does."""
    points = [0, *slice_points(net, blob)]
    return 2 * points[-1] - points[-2] if points[1:] else 0


def rows_of_regions(net: NetParameter, tops: Sequence[Top]) -> int:
    """The rows that a Slice along axis 0 asks for, where the tops hold regions; 0 where none does."""
    if not any(top.role == "rois" for top in tops):
        return 0
    points = [
        layer.slice_param.slice_point[0]
        for layer in net.layer
        if layer.type == "Slice" and layer.slice_param.HasField("axis") and layer.slice_param.axis == 0
        and layer.slice_param.slice_point
    ]  # fmt: skip
    return int(points[0]) if points else 0


def axis_of(layer: Layer) -> int:
    """The axis of the classes of a loss or measure."""
    measures = "accuracy_param" in layer.messages
    return int(layer.param.accuracy_param.axis if measures else layer.param.softmax_param.axis)


def labels_of(scores: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """The shape of labels for scores: one for each place, with a single channel where there are places."""
    places = scores[axis + 1 :]
    return (*scores[:axis], 1, *places) if places and int(np.prod(places)) > 1 else scores[:axis]


def needs_viewpoints(layer: LayerParameter) -> bool:
    """Whether a layer is LSI-Faster R-CNN's ProposalTarget, whose true boxes have a viewpoint."""
    viewed = layer.python_param.module == "rpn.proposal_target_layer" and len(layer.top) == 7 and len(layer.bottom) == 2
    return viewed or layer.type.lower() == "viewpointproposaltarget"
