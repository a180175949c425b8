"""How a layer joins a net: the blobs that its names stand for, its weights in the loss, and parameters that are shared."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

import numpy as np

from ..device import AnyArray, Blob
from ..layers.core import Layer, Trait, check_arity
from ..layers.core.boundary import Named
from ..proto import LayerParameter
from ..proto.errors import ModelError, nearest, visible
from ..proto.reading import FilePath

named = Named  # names the layer in errors


class AtWork:
    """True within its `with`: a net's own code is at work on blobs, not a script."""

    def __init__(self) -> None:
        self.depth = 0

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(self, *error: object) -> None:
        self.depth -= 1

    def __bool__(self) -> bool:
        return self.depth > 0


Signature = tuple[tuple[tuple[int, ...], int], ...]


def connect(layer: Layer, blobs: Mapping[str, Blob]) -> tuple[list[str], dict[str, Blob]]:
    """The names of a layer's bottoms, and its tops by name: new blobs, or those of its bottoms where it works in place.

    Raises LayerError for a wrong number of bottoms or tops and for a layer that cannot work in place, ModelError for a bottom
    that `blobs`, those of the layers before it, lacks, and for a top that is there already.
    """
    bottoms, tops = list(layer.param.bottom), list(layer.param.top)
    if Trait.LOSS in layer.traits and not tops:
        tops = [f"{layer.name} (automatic)"]
    check_arity(layer, len(bottoms), len(tops))
    for name in bottoms:
        if name not in blobs:
            raise ModelError(f"{layer}: its bottom {name!r} is not a top of an earlier layer{nearest(name, blobs)}")
    result: dict[str, Blob] = {}
    for i, name in enumerate(tops):
        if i < len(bottoms) and bottoms[i] == name:
            layer.need(layer.in_place and i == 0, f"cannot work in place; give its top {name!r} another name")
            result[name] = blobs[name]
        elif name in blobs or name in result:
            raise ModelError(f"{layer}: its top {name!r} is the top of an earlier layer already; rename one of them")
        else:
            result[name] = Blob((), layer.dtype, layer.device)
            result[name].is_input = layer.type == "Input"
    layer.net_blobs = blobs
    return bottoms, result


def folders(paths: FilePath | Sequence[FilePath] | None) -> tuple[str, ...] | None:
    """A folder, or several, as texts; None, which stands for all, stays."""
    if paths is None:
        return None
    return tuple(os.fspath(folder) for folder in ([paths] if isinstance(paths, (str, os.PathLike)) else paths))


def loss_weights(layer: Layer, tops: int) -> list[float]:
    """The weight of each top in the loss: that of the prototxt, or else 1 for the first top of a loss and 0 for any other."""
    weights = list(layer.param.loss_weight) or (
        [1.0] + [0.0] * (tops - 1) if Trait.LOSS in layer.traits and tops else [0.0] * tops
    )
    layer.need(len(weights) == tops, f"has {len(weights)} loss_weight values for {tops} tops; give one each, or none")
    return weights


def share_parameters(layer: Layer, shared: dict[str, tuple[Layer, int]]) -> None:
    """Makes parameters with the same `param { name }` one blob, that of the first layer, which `shared` remembers.

    Its lr_mult and decay_mult are those that any of the layers gives; LayerError where two give different ones.
    """
    param: LayerParameter = layer.param
    layer.need(
        len(param.param) <= len(layer.blobs),
        f"has {len(param.param)} param entries but {len(layer.blobs)} parameters",
    )
    for i, spec in enumerate(param.param):
        if not spec.name:
            continue
        if spec.name not in shared:
            shared[spec.name] = (layer, i)
            continue
        owner, j = shared[spec.name]
        blob, owned = layer.blobs[i], owner.blobs[j]
        loose = spec.share_mode == 1  # PERMISSIVE: the count must agree
        layer.need(
            blob.count == owned.count if loose else blob.shape == owned.shape,
            f"parameter {i} has the shape {blob.shape}, but {spec.name!r}, which it shares with {owner}, has "
            f"{owned.shape}" + ("" if loose else "; share_mode: PERMISSIVE allows another shape of the same count"),
        )
        shape = blob.shape
        blob.share(owned)
        blob.reshape(*shape)
        own = owner.param.param[j]
        for field in ("lr_mult", "decay_mult"):
            if spec.HasField(field):
                value, first = getattr(spec, field), getattr(own, field)
                layer.need(
                    not own.HasField(field) or value == first,
                    f"parameter {i} has {field} {value:g}, but {spec.name!r}, which it shares with {owner}, has {first:g}; "
                    f"give both the same, or one alone",
                )
                setattr(own, field, value)


def show(direction: str, layer: Layer, blob_name: str, kind: str, values: AnyArray) -> None:
    """A line of debug_info: the mean of the absolute values of a blob."""
    mean = float(np.abs(np.asarray(values)).mean()) if values.size else 0.0
    print(visible(f"    [{direction}] Layer {layer.name}, {blob_name} {kind}: {mean:.6g}"), file=sys.stderr)


def show_norms(blobs: Sequence[Blob]) -> None:
    """The line of debug_info behind a backward pass: the sums of absolute values, and the L2 norms, of all parameters."""
    sums, norms = [], []
    for arrays in ([blob.data for blob in blobs], [blob.diff for blob in blobs]):
        numbers = [np.asarray(array, np.float64) for array in arrays]
        sums.append(float(sum(np.abs(each).sum() for each in numbers)))
        norms.append(float(np.sqrt(sum(np.square(each).sum() for each in numbers))))
    said = f"L1 norm = ({sums[0]:.6g}, {sums[1]:.6g}); L2 norm = ({norms[0]:.6g}, {norms[1]:.6g})"
    print(f"    [Backward] All net params (data, diff): {said}", file=sys.stderr)


def signature(blobs: Sequence[Blob]) -> Signature:
    """What a layer's reshape depends on: the shapes of its bottoms, and the buffers that they use."""
    return tuple((blob.shape, id(blob._data)) for blob in blobs)
