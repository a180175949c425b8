"""Nets without their data: Inputs in the place of data layers, shaped as the layers' fields say and filled with
plausible values."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from math import isqrt
from types import ModuleType

import numpy as np

from ..data.plausible import fill
from ..device import Blob
from ..layers.core import Trait, traits_of
from ..layers.core.data_tops import OBJECTS, REGIONS, SPATIAL, Top, by_name, data_tops
from ..proto import LayerParameter, ModelError, NetParameter, nearest
from .unknown_shapes import UnknownShapes

Shapes = Mapping[str, Sequence[int]]


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
    unknown
        What the layers that read them tell of their shapes, while the net is built.

    Raises
    ------
    ModelError
        For a shape of a name that is not a top of a data layer or an Input.
    """

    def __init__(self, net: NetParameter, shapes: Shapes | None = None, python_layers: Sequence[str] = ()) -> None:
        self.types: dict[str, str] = {}
        self.tops: dict[str, Top] = {}
        self.scales: dict[str, float] = {}
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
        self.unknown = UnknownShapes(self.tops)

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
                made_anew = image_of_numbers(numbers_of(net, layer.top[i]), top.shape[1])
                tops[i] = Top((top.shape[0], *(made_anew or (top.shape[1], *sides))), top.role, False)
        if layer.type == "Data" and len(tops) == 1 and "label" in layer.top[0] and not tops[0].certain:
            readers_here = {kind.lower() for kind in readers[0]}
            if not readers_here & SPATIAL:  # labels that lie in a file of their own
                tops = [Top((tops[0].shape[0], sliced(net, layer.top[0]) or 1, 1, 1), "class", False)]
        if layer.type == "CPMData" and slice_points(net, layer.top[0]) == [3]:  # the map of the centre
            tops[0] = Top((tops[0].shape[0], 4, *tops[0].shape[2:]), tops[0].role, tops[0].certain)
        if layer.type == "CPMData" and len(tops) > 1:  # masks, then maps; without masks nothing parts them
            batch, channels, *rest = tops[1].shape
            points = slice_points(net, layer.top[1])
            if not tops[1].certain and len(points) == 3:
                channels = 2 * points[1]
            tops[1] = Top((batch, channels, *rest), tops[1].role, tops[1].certain and bool(points))
        for i, top in enumerate(tops):  # rows of boxes, which a Slice parts from what stands behind them
            points = slice_points(net, layer.top[i])
            if layer.type == "Python" and top.role == "image" and points and layer.top[i].startswith("gt"):
                tops[i] = Top((OBJECTS, points[-1] + 1), "numbers", False)
        for i, top in enumerate(tops):  # pairs of images of a siamese net
            if layer.type == "Python" and top.role == "image" and not layer.top[i].startswith("gt"):
                tops[i] = Top((top.shape[0], sliced(net, layer.top[i]) or top.shape[1], *top.shape[2:]), "image", False)
        for i, top in enumerate(tops):  # several labels of an image, which a Slice parts
            if top.role == "class" and len(top.shape) == 1 and (parts := sliced(net, layer.top[i])):
                tops[i] = Top((*top.shape, parts), top.role, False)  # of the last part nothing tells the size
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

    def fill(self, blobs: Mapping[str, Blob], seed: int = 0) -> None:
        """Fills the tops of data layers and Inputs with values of a plausible range."""
        rng = np.random.default_rng(seed)
        image = next(
            (blobs[n].shape for n, top in self.tops.items() if top.role == "image" and len(top.shape) == 4), ()
        )
        for name, top in self.tops.items():
            blob = blobs[name]
            if blob.count:
                values = fill(top.role, blob.shape, image or blob.shape, self.unknown.classes.get(name, 2), rng)
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
        types.append("RegionEvalDetection" if layer.eval_detection_param.biases else layer.type)
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


def numbers_of(net: NetParameter, blob: str) -> int:
    """How many numbers an image has, as the outputs say that it is compared with as a row, in an autoencoder; 0 where nothing
    says it.

    >>> from boxpresso.proto import parse_net
    >>> net = parse_net('''layer { name: "f" type: "Flatten" bottom: "x" top: "f" }
    ...     layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip" inner_product_param { num_output: 48 } }
    ...     layer { name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "f" top: "loss" }''')
    >>> numbers_of(net, "x")
    48
    """
    rows: set[str] = set()
    outputs: dict[str, int] = {}
    for layer in net.layer:
        traits = traits_of(layer.type)
        if Trait.VIEW in traits and not layer.HasField("reshape_param") and set(layer.bottom) & (rows | {blob}):
            rows |= set(layer.top) - {blob}
        elif layer.HasField("inner_product_param"):
            outputs.update((name, layer.inner_product_param.num_output) for name in layer.top)
        elif Trait.ELEMENTWISE in traits and len(layer.bottom) == 1 and layer.bottom[0] in outputs:
            outputs.update((name, outputs[layer.bottom[0]]) for name in layer.top)
        elif Trait.COMPARES in traits and rows & set(layer.bottom):
            for name in layer.bottom:
                if name in outputs:
                    return outputs[name]
    return 0


def image_of_numbers(count: int, channels: int) -> tuple[int, int, int] | None:
    """The shape of an image of so many numbers, as near to a square as it goes; None where there is none.

    >>> image_of_numbers(5700, 3), image_of_numbers(784, 3), image_of_numbers(0, 3)
    ((3, 38, 50), (1, 28, 28), None)
    """
    shapes = []
    for own in (channels, 1) if count else ():
        if count % own == 0:
            pixels = count // own
            high = next(side for side in range(isqrt(pixels), 0, -1) if pixels % side == 0)
            shapes.append((own, high, pixels // high))
    return max(shapes, key=lambda shape: 2 * shape[1] >= shape[2], default=None)


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


def needs_viewpoints(layer: LayerParameter) -> bool:
    """Whether a layer is LSI-Faster R-CNN's ProposalTarget, whose true boxes have a viewpoint."""
    viewed = layer.python_param.module == "rpn.proposal_target_layer" and len(layer.top) == 7 and len(layer.bottom) == 2
    return viewed or layer.type.lower() == "viewpointproposaltarget"
