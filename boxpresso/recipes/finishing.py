"""What the scripts of published detectors do when training ends: weights for targets divided by their deviations become weights
for the boxes themselves.

    finish("train.prototxt", "trained.caffemodel", "deploy.caffemodel")

Fast R-CNN, Faster R-CNN, R-FCN and RRPN learn (offset - mean) / deviation. Their train.py writes every snapshot with
`bbox_pred` (R-FCN: `rfcn_bbox`) multiplied by the deviations and with the means added, so that deploy.prototxt gives
offsets. A file that a solver wrote is without that.
"""

from __future__ import annotations

import warnings
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..device import Blob, open_device
from ..graph.dialects import settle
from ..graph.prepare import select
from ..layers.core import Trait, make_layer, traits_of
from ..layers.core.boundary import Named
from ..layers.core.registry import known_type, replacement
from ..net.weights import LayerWeights, Row, Weights, read_weights, save_weights
from ..proto import LayerParameter, NetParameter, read_net
from ..proto.errors import BoxpressoWarning, ModelError, nearest
from ..proto.reading import FilePath

__all__ = ["Finished", "finish"]

Numpy = np.ndarray[Any, Any]
PASSES = Trait.VIEW | Trait.POOLS  # with one of them each column of a layer's top is what it was in its bottom
MARK = "boxpresso finish: "  # a layer of this name and without blobs says that a layer is finished
DETAILS = "docs/finish.md says what is looked for"


@dataclass(frozen=True)
class Finished:
    """One layer whose weights were multiplied.

    Attributes
    ----------
    layer
        Its name.
    means, stds
        One for each output, in float64.
    source
        Who says so: the name of the layer that makes the targets, or "given".
    """

    layer: str
    means: Numpy
    stds: Numpy
    source: str

    def __str__(self) -> str:
        few = " ".join(f"{value:g}" for value in dict.fromkeys(self.stds.tolist()))
        means = " ".join(f"{value:g}" for value in dict.fromkeys(self.means.tolist())) if self.means.any() else ""
        said = "as given" if self.source == "given" else f"of {self.source!r}"
        return f"{self.layer}: {len(self.stds)} outputs times {few}{f', plus {means}' if means else ''}, {said}"


@dataclass(frozen=True)
class Head:
    """A layer that predicts offsets: how many bins vote for each, and what its targets were divided by, where that is known."""

    layer: LayerParameter
    bins: int
    targets: str  # the name of the layer that makes them
    means: Sequence[float] | Numpy | None = None
    stds: Sequence[float] | Numpy | None = None
    why: str = ""  # they are not known


def finish(
    model: FilePath | NetParameter,
    weights: FilePath,
    out: FilePath,
    *,
    layers: Sequence[str] = (),
    means: Sequence[float] | Numpy | None = None,
    stds: Sequence[float] | Numpy | None = None,
    deploy: FilePath | NetParameter | None = None,
    level: int = 0,
    stages: Sequence[str] = (),
) -> list[Finished]:
    """Writes the weights of a train net for its deploy net: layers of offsets times the deviations of their targets.

    Row j of a layer's weights, and its bias, are multiplied by the deviation of output j, and the mean is added to the bias.
    Which layers, and by what, is seen in the train net: a loss compares their outputs with the targets of a ProposalTarget
    (of whatever kind), whose settings hold means and deviations. Position-sensitive pooling between the two (R-FCN) gives a
    layer as many outputs for each offset as there are bins.

    Layers whose offsets DecodeBBox or FrcnnOutput read with deviations of their own stay as they are.

    Parameters
    ----------
    model
        The train net: its path, or a NetParameter.
    weights
        Of the train net, a .caffemodel or .h5.
    out
        The file to write: a .caffemodel, or HDF5 for a name that ends in .h5. All other layers are copied. It is marked as
        finished, by a layer without blobs, which programs pass over.
    layers
        Names of layers to finish instead of those that the net tells.
    means, stds
        Numbers in place of those that the net tells: one for each offset of a box, or of a box of each class, as Fast R-CNN
        computes them from its training data. Means alone are refused.
    deploy
        The deploy net. Layers whose offsets it restores by itself stay as they are.
    level, stages
        They choose layers of `model`, as of a Net; its phase is TRAIN.

    Returns
    -------
    list of Finished

    Raises
    ------
    ModelError
        Where there is nothing to finish, or the net does not tell by what; for weights that are marked as finished; for files
        that cannot be read or written.

    Source
    ------
    py-faster-rcnn's and py-R-FCN's SolverWrapper.snapshot.

    Examples
    --------
    >>> import tempfile
    >>> from boxpresso.proto import parse_net
    >>> net = parse_net('''
    ...     layer { name: "x" type: "Input" top: "x" } layer { name: "regions" type: "Input" top: "regions" }
    ...     layer { name: "truth" type: "Input" top: "truth" }
    ...     layer { name: "roi-data" type: "ProposalTarget" bottom: "regions" bottom: "truth"
    ...         top: "rois" top: "labels" top: "targets" top: "inside" top: "outside" python_param {
    ...         param_str: "'num_classes': 2, 'bbox_normalize_targets_precomputed': True" } }
    ...     layer { name: "bbox_pred" type: "InnerProduct" bottom: "x" top: "bbox_pred" inner_product_param { num_output: 8 } }
    ...     layer { name: "loss" type: "SmoothL1Loss" bottom: "bbox_pred" bottom: "targets" top: "loss" }''')
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     before, after = f"{folder}/trained.caffemodel", f"{folder}/deploy.caffemodel"
    ...     save_weights(before, [("bbox_pred", "InnerProduct", ["x"], ["bbox_pred"], [np.ones((8, 3)), np.ones(8)])])
    ...     print(*finish(net, before, after))
    ...     print(read_weights(after)["bbox_pred"].blobs[1].round(3).tolist())
    bbox_pred: 8 outputs times 0.1 0.2, of 'roi-data'
    [0.1, 0.1, 0.2, 0.2, 0.1, 0.1, 0.2, 0.2]
    """
    if means is not None and stds is None:
        raise ModelError("means are given without deviations; give both, or neither")
    net = settle(
        select(model if isinstance(model, NetParameter) else read_net(model), "TRAIN", level=level, stages=stages)
    )
    file = read_weights(weights)
    shown = net.name or "the train net"
    heads = named_heads(net, layers) if layers and stds is not None else heads_of(net)
    if stds is not None:
        heads = [Head(h.layer, h.bins, "given", [0.0] if means is None else means, stds) for h in heads]
    heads = chosen(heads, layers, net)
    deployed = deploy if deploy is None or isinstance(deploy, NetParameter) else read_net(deploy)
    left = restored(heads, net, deployed, guided=bool(layers))
    heads = [h for h in heads if h.layer.name not in left]
    unknown = [f"{h.layer.name} {h.why}" for h in heads if h.stds is None]
    heads = [h for h in heads if h.stds is not None]
    if not heads:
        why = [*unknown, *(f"{name} stays as it is: {reason}" for name, reason in left.items())] or [nothing(net)]
        raise ModelError(f"{shown} has nothing to finish: {'; '.join(why)}. {DETAILS}")
    for reason in unknown:
        warnings.warn(f"a layer of {shown} stays as it is: {reason}", BoxpressoWarning, stacklevel=2)
    done = [finished(file, head) for head in heads]
    check_sharing(net, done)
    write(out, file, net, done)
    return done


# What the net tells


def heads_of(net: NetParameter) -> list[Head]:
    """The layers whose outputs a loss compares with the targets of regions, in the net's order."""
    heads: dict[str, Head] = {}
    makers, said = Makers(net), dict[tuple[int, str], tuple[Any, Any, str]]()
    for index, loss in enumerate(net.layer):
        if not compares(loss) or len(loss.bottom) < 2:
            continue
        maker = makers.maker(loss.bottom[1], index)
        if maker is None or "anchortarget" in kind_of(maker):
            continue  # a proposal network's targets are not divided
        blob = str(loss.bottom[1])
        spreads = said[id(maker), blob] = said.get((id(maker), blob)) or deviations(maker, blob, net)
        for layer, bins in makers.origins(loss.bottom[0], index):
            head = Head(layer, bins, maker.name, *spreads)
            known = heads.setdefault(layer.name, head)
            if not alike(known, head):
                raise ModelError(
                    f"layer {layer.name!r} learns the targets of {known.targets!r} and of {maker.name!r}, which are divided "
                    "by different deviations; give --stds"
                )
    return list(heads.values())


def alike(one: Head, other: Head) -> bool:
    if one.stds is None or other.stds is None:
        return one.stds is other.stds
    return one.bins == other.bins and all(
        np.array_equal(np.asarray(a), np.asarray(b)) for a, b in ((one.stds, other.stds), (one.means, other.means))
    )


def kind_of(layer: LayerParameter) -> str:
    """The type of a layer, or the class that a Python layer or a Module names, lower-case."""
    named = {"Python": layer.python_param.layer, "Module": layer.module_param.type}.get(layer.type, layer.type)
    return str(named).lower()


class Makers:
    """Who gives each blob of a net, at each place of it: blobs that are written in place have several makers."""

    def __init__(self, net: NetParameter) -> None:
        self.layers = list(net.layer)
        self.places: dict[str, list[int]] = {}
        for index, layer in enumerate(self.layers):
            for top in set(layer.top):
                self.places.setdefault(top, []).append(index)

    def last(self, blob: str, before: int) -> int | None:
        """The place of the last layer before place `before` that gives a blob."""
        places = self.places.get(blob, [])
        at = bisect_left(places, before)
        return places[at - 1] if at else None

    def maker(self, blob: str, before: int) -> LayerParameter | None:
        """The layer that computes a blob, through layers that hand it on."""
        while (index := self.last(blob, before)) is not None:
            layer = self.layers[index]
            if not layer.bottom or not traits_of(layer.type) & (PASSES | Trait.REARRANGES | Trait.JOINS | Trait.PARTS):
                return layer
            blob, before = layer.bottom[0], index
        return None

    def origins(self, blob: str, before: int) -> list[tuple[LayerParameter, int]]:
        """The layers with weights whose outputs a blob holds, each once, and how many bins vote for each of their columns."""
        makers: dict[tuple[int, int], tuple[LayerParameter, int]] = {}
        waiting, seen = [(blob, before, 1)], set[tuple[int, int]]()
        while waiting:
            blob, before, bins = waiting.pop()
            index = self.last(blob, before)
            if index is None or (index, bins) in seen:
                continue
            seen.add((index, bins))
            layer = self.layers[index]
            traits, votes = traits_of(layer.type), votes_of(layer)
            if outputs_of(layer):
                makers[index, bins] = layer, bins
            elif Trait.JOINS in traits and layer.concat_param.axis == 0:
                waiting += [(bottom, index, bins) for bottom in dict.fromkeys(reversed(layer.bottom))]
            elif votes or traits & PASSES:  # of something else, the columns are not known
                waiting += [(bottom, index, bins * (votes or 1)) for bottom in layer.bottom[:1]]
        return list(makers.values())


def compares(layer: LayerParameter) -> bool:
    """Whether a layer is a loss that compares numbers, such as the offsets of boxes with their targets."""
    traits = traits_of(layer.type)
    return Trait.LOSS | Trait.COMPARES in traits and Trait.BINARY not in traits


def outputs_of(layer: LayerParameter) -> int:
    """How many outputs a layer with weights has, one for each row of them; 0 for any other layer."""
    known = known_type(layer.type)
    if known is None or Trait.WEIGHTED not in known.traits:
        return 0
    window = known.window_of(layer)
    if window is not None and window.spreads:
        return 0  # its weights have a column for each output
    return int(next((getattr(layer, name).num_output for name in known.messages if layer.HasField(name)), 0))


def votes_of(layer: LayerParameter) -> int:
    """How many bins position-sensitive pooling has for each of its outputs; 0 for any other layer."""
    known = known_type(layer.type)
    if known is None or Trait.REGIONS not in known.traits:
        return 0
    field = "group_size"
    of = [p for p in (getattr(layer, name) for name in known.messages) if field in p.DESCRIPTOR.fields_by_name]
    if not of:
        return 0
    size = int(getattr(of[0], field))
    if not 0 < size < 2**15:
        raise ModelError(f"layer {layer.name!r} has a {field} of {size}; it must be 1 or more, and small")
    return size * size


def deviations(maker: LayerParameter, blob: str, net: NetParameter) -> tuple[Any, Any, str]:
    """Means and deviations of the targets that a layer makes; or None twice, and why."""
    known = targets_layer(maker)
    if known is not None:
        return known
    kind = maker.python_param.layer or maker.type
    return None, None, (
        f"learns {blob!r} of layer {maker.name!r} ({kind}), whose deviations are not in the prototxt (Fast R-CNN "
        "computes them from its data); give those that training printed: --stds FILE --means FILE"
    )  # fmt: skip


def targets_layer(maker: LayerParameter) -> tuple[Any, Any, str] | None:
    """The same of a layer of ours that gives targets of regions, with its settings read; None for another one."""
    python = maker.python_param
    foreign = maker.type == "Python" and replacement(python.module, python.layer) is None
    if "target" not in kind_of(maker) or len(maker.top) < 5 or foreign:
        return None
    device = open_device("cpu")
    layer = make_layer(maker, device=device, phase="TRAIN", axes=[0] * len(maker.bottom))
    bottom, top = ([Blob((), np.float32, device) for _ in names] for names in (maker.bottom, maker.top))
    with Named(layer):
        layer.setup(bottom, top)
    return layer.deviations()


def restored(heads: Sequence[Head], net: NetParameter, deploy: NetParameter | None, guided: bool) -> dict[str, str]:
    """{layer: why it stays as it is}, of those whose offsets the nets restore by themselves.

    guided: the caller names the layers, so that what the train net does with them does not matter.
    """
    left: dict[str, str] = {}
    for which, where in ((deploy, "the deploy net"), (None if guided else net, "the train net")):
        makers = Makers(which) if which is not None else None
        for index, reader in enumerate(makers.layers if makers else ()):
            restores = known_type(kind_of(reader)) if reader.bbox_reg_param.bbox_std else None
            if makers and restores is not None and Trait.RESTORES in restores.traits:
                at = restores.offsets_bottom
                if at >= len(reader.bottom):
                    raise ModelError(f"layer {reader.name!r} of {where} has no bottom {at}, the offsets")
                for layer, _ in makers.origins(reader.bottom[at], index):
                    left.setdefault(layer.name, f"{reader.name!r} of {where} multiplies its offsets by bbox_std")
    names = {h.layer.name for h in heads}
    doubt = sorted(names - set(left))
    if left and doubt and deploy is None and not guided and names & set(left):
        raise ModelError(
            f"{net.name or 'the train net'} restores offsets of {', '.join(sorted(names & set(left)))} by itself, and whether "
            f"its deploy net does so with those of {', '.join(doubt)} is not to be seen here; give --deploy deploy.prototxt"
        )
    return {name: why for name, why in left.items() if name in names}


def named_heads(net: NetParameter, names: Sequence[str]) -> list[Head]:
    """The layers of these names, each with the bins of the position-sensitive pooling that reads it."""
    heads, makers = [], Makers(net)
    by_name = {layer.name: layer for layer in makers.layers}
    pools = [(i, reader) for i, reader in enumerate(makers.layers) if reader.bottom and votes_of(reader)]
    for name in names:
        if name not in by_name:
            raise ModelError(f"{net.name or 'the train net'} has no layer {name!r}{nearest(name, by_name)}")
        layer, bins = by_name[name], 1
        if not outputs_of(layer):
            raise ModelError(f"layer {name!r} is a {layer.type}; layers to finish are InnerProduct or Convolution")
        for index, reader in pools:
            sources = makers.origins(reader.bottom[0], index)
            if len(sources) == 1 and sources[0][0] is layer and sources[0][1] == 1:
                bins = votes_of(reader)
        heads.append(Head(layer, bins, "given"))
    return heads


def chosen(heads: Sequence[Head], names: Sequence[str], net: NetParameter) -> list[Head]:
    """The heads of these names, or all of them."""
    if not names:
        return list(heads)
    by_name = {h.layer.name: h for h in heads}
    missing = [name for name in names if name not in by_name]
    if missing:
        raise ModelError(
            f"no loss of {net.name or 'the train net'} compares the outputs of layer {missing[0]!r} with targets of regions, "
            f"so that it does not tell their deviations{nearest(missing[0], by_name)}; give --stds"
        )
    return [by_name[name] for name in names]


def nothing(net: NetParameter) -> str:
    """What was looked for in vain."""
    losses = [layer.name for layer in net.layer if compares(layer)]
    if not losses:
        return "it has no SmoothL1Loss, SmoothL1LossOHEM or EuclideanLoss in phase TRAIN; give the train net"
    return (
        f"none of its losses ({', '.join(losses)}) compares the outputs of an InnerProduct or Convolution with the targets of "
        "a ProposalTarget layer; name the layer: --layer NAME --stds 0.1,0.1,0.2,0.2"
    )


# What becomes of the weights


def finished(file: Weights, head: Head) -> Finished:
    """Means and deviations of each output of a layer, checked against its weights in the file."""
    name = head.layer.name
    if name not in file:
        raise ModelError(f"{file.path} has no layer {name!r}{nearest(name, file)}; are these the train net's weights?")
    if MARK + name in file:
        raise ModelError(f"{file.path} is finished already: layer {name!r} was multiplied by its targets' deviations")
    outputs = outputs_of(head.layer)
    source = file[name]
    for i, blob in enumerate(source.blobs[:2]):
        if blob is None or not outputs or not blob.size or blob.size % outputs or (i == 1 and blob.size != outputs):
            seen = "missing" if blob is None else blob.shape
            raise ModelError(f"{file.path}: blob {i} of layer {name!r} is {seen}, which does not fit {outputs} outputs")
    if not source.blobs:
        raise ModelError(f"{file.path}: layer {name!r} has no blobs")
    parts = (("means", head.means), ("stds", head.stds))
    each = [spread(name, part, numbers, outputs, head.bins) for part, numbers in parts]
    if each[0].any() and len(source.blobs) < 2:
        raise ModelError(f"layer {name!r} has no bias, to which the means {np.unique(each[0]).tolist()} could be added")
    return Finished(name, each[0], each[1], head.targets)


def spread(name: str, subject: str, numbers: Any, outputs: int, bins: int) -> Numpy:
    """The number of each output: `numbers` holds one for each offset of a box, or of the boxes of all classes."""
    try:
        values = np.asarray(numbers, np.float64).ravel()
    except (TypeError, ValueError):
        raise ModelError(f"{subject} must be numbers, got {str(numbers)[:60]}") from None
    if (
        not len(values)
        or not np.isfinite(values).all()
        or (subject == "stds" and ((values < 0).any() or not values.any()))
    ):
        raise ModelError(
            f"{subject} must be finite numbers{', above 0' if subject == 'stds' else ''}, got {values[:8].tolist()}"
        )
    columns, rest = divmod(outputs, bins)
    if rest or columns % len(values):
        votes = f" of {bins} bins each" if bins > 1 else ""
        raise ModelError(
            f"layer {name!r} has {outputs} outputs, {columns} offsets{votes}; {len(values)} {subject} do not fit"
        )
    return np.repeat(np.tile(values, columns // len(values)), bins)


def check_sharing(net: NetParameter, done: Sequence[Finished]) -> None:
    """Raises ModelError where a layer that is not finished in the same way has the weights of one that is."""
    by_name = {f.layer: f for f in done}
    owners: dict[str, list[str]] = {}
    for layer in net.layer:
        for param in layer.param:
            if param.name:
                owners.setdefault(param.name, []).append(layer.name)
    for parameter, names in owners.items():
        mine = [by_name.get(name) for name in names]
        first = next((f for f in mine if f is not None), None)
        if first is not None:
            others = [
                name for name, f in zip(names, mine)
                if f is None or not (np.array_equal(f.stds, first.stds) and np.array_equal(f.means, first.means))
            ]  # fmt: skip
            if others:
                raise ModelError(
                    f"layer {first.layer!r} shares the parameter {parameter!r} with {others[0]!r}, which would be finished too"
                )


def multiplied(layer: LayerWeights, by: Finished, transposed: bool) -> list[Numpy]:
    """The blobs of a layer, finished; in the dtype that the file has. transposed: of an InnerProduct, outputs are columns."""
    blobs = [np.asarray(blob) for blob in layer.blobs]
    weights = blobs[0].astype(np.float64)
    if transposed:
        weights = (weights.reshape(-1, len(by.stds)) * by.stds).reshape(weights.shape)
    else:
        weights = (weights.reshape(len(by.stds), -1) * by.stds[:, None]).reshape(weights.shape)
    blobs[0] = weights.astype(blobs[0].dtype)
    if len(blobs) > 1:
        biases = blobs[1].astype(np.float64).reshape(-1) * by.stds + by.means
        blobs[1] = biases.reshape(blobs[1].shape).astype(blobs[1].dtype)
    return blobs


def write(out: FilePath, file: Weights, net: NetParameter, done: Sequence[Finished]) -> None:
    """Writes the file's layers, those of `done` finished, and their marks."""
    partial = [layer.name for layer in file.layers if any(blob is None for blob in layer.blobs)]
    if partial:
        raise ModelError(
            f"{file.path}: layers that share blobs are in it once ({', '.join(partial[:3])}); load it into its Net and save "
            "that as a .caffemodel"
        )
    by_name = {f.layer: f for f in done}
    ends = {layer.name: (layer.bottom, layer.top) for layer in net.layer}
    across = {layer.name for layer in net.layer if layer.inner_product_param.transpose}
    rows: list[Row] = []
    for layer in file.layers:
        blobs = [blob for blob in layer.blobs if blob is not None]
        if layer.name in by_name:
            blobs = multiplied(layer, by_name[layer.name], layer.name in across)
        rows.append((layer.name, layer.type or "", *ends.get(layer.name, ((), ())), blobs))
    rows += [(MARK + name, "Finished", (), (), []) for name in by_name]
    save_weights(out, rows, file.name)
