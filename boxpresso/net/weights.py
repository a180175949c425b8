"""Weights in layers: a file's are copied to the layers of the same names, all of them or none."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..device import Blob
from ..graph.quantization import MARK, Quantization
from ..proto.binary import LayerWeights, read_blob, read_mean
from ..proto.errors import BoxpressoWarning, ModelError
from ..proto.weights import Row, Weights, read_weights, save_weights

__all__ = [
    "CopyReport", "LayerWeights", "Row", "Weights", "batch_norm_blobs", "copy_weights", "read_blob", "read_mean",
    "read_weights", "save_weights", "without_scales",
]  # fmt: skip

Numpy = np.ndarray[Any, Any]


def scales_of(weights: Weights) -> Quantization | None:
    """The scales for 8 bits that a file of `boxpresso quantize` holds; None where it has none.

    They are the type of a layer without blobs, which programs pass over.
    """
    layer = weights.get(MARK)
    return None if layer is None else Quantization.of_text(layer.type or "", weights.path)


def without_scales(path: str, rows: Sequence[Row]) -> list[Row]:
    """The layers of a file that become `path`: where that is HDF5 without scales for 8 bits, for which it has no place."""
    rows = list(rows)
    if path.endswith((".h5", ".hdf5")) and any(row[0] == MARK for row in rows):
        warnings.warn(
            f"{path} has no scales for 8 bits, for HDF5 has no place for them: it runs in float32; a .caffemodel holds them",
            BoxpressoWarning,
            stacklevel=3,
        )
        rows = [row for row in rows if row[0] != MARK]
    return rows


@dataclass
class CopyReport:
    """What `copy_weights` did, as names of layers."""

    path: str
    matched: list[str] = field(default_factory=list)  # in both: copied
    missing: list[str] = field(default_factory=list)  # layers of the net with parameters, missing in the file
    unused: list[str] = field(default_factory=list)  # layers of the file with blobs, missing in the net

    def __str__(self) -> str:
        lines = [f"{self.path}: {len(self.matched)} layers copied"]
        if self.missing:
            lines.append(f"not in the file, left as they were: {', '.join(self.missing)}")
        if self.unused:
            lines.append(f"not in the net, not used: {', '.join(self.unused)}")
        return "; ".join(lines)


def copy_weights(weights: Weights, layers: Iterable[Any]) -> CopyReport:
    """Copies a file's blobs to the layers of the same names; all of them or none.

    A name that the file has several times goes to the layers of that name in order, and what is left over to the last of
    them. BatchNorm also takes the forms of other forks, see `batch_norm_blobs`.

    Parameters
    ----------
    weights
        Of `read_weights`.
    layers
        Objects with `name`, `type` and `blobs`, each blob with `shape` and `data`.

    Returns
    -------
    CopyReport
        The names that are in both, or in one of them alone, which is no error.

    Raises
    ------
    ModelError
        For another number of blobs, or another shape even if the counts agree; leading axes of size 1 do not matter, as
        Caffe stored every blob with four axes until 2014.

    Source
    ------
    Caffe's CopyTrainedLayersFrom.
    """
    layers = list(layers)
    targets: dict[str, list[Any]] = {}
    for layer in layers:
        targets.setdefault(layer.name, []).append(layer)
    seen: dict[str, int] = {}
    plan: list[tuple[Any, Numpy]] = []
    report = CopyReport(weights.path)
    for source in weights.layers:
        same = targets.get(source.name)
        if same is None:
            if source.blobs:
                report.unused.append(source.name)
            continue
        turn = seen[source.name] = seen.get(source.name, -1) + 1
        pairs = _pair(weights.path, source, same[min(turn, len(same) - 1)], layers)
        plan += pairs
        if pairs:
            report.matched.append(source.name)
    report.missing = [name for name, same in targets.items() if name not in seen and any(layer.blobs for layer in same)]
    with np.errstate(over="ignore"):  # a double that float32 cannot hold becomes infinite, as in Caffe
        for blob, values in plan:
            if isinstance(blob, Blob):
                blob.overwrite()
            blob.data[...] = values.reshape(blob.shape)
    if not plan and report.missing:
        warnings.warn(
            f"{weights.path} has no layer of this net: it has {_some(report.unused)}, the net {_some(report.missing)}",
            BoxpressoWarning,
            stacklevel=3,
        )
    return report


def batch_norm_blobs(blobs: Sequence[Numpy]) -> list[Numpy]:
    """A BatchNorm's blobs in today's order: mean, variance, scale factor and, where there are five, scale and bias.

    NVCaffe and Intel's Caffe keep scale and bias in BatchNorm itself, in this order. DIGITS with older NVCaffe wrote
    (scale, bias, mean, variance, one reserved number), told apart as NVCaffe does by the single number at the end; its
    statistics are not scaled, so the factor is 1. Source: NVCaffe's Net::CopyTrainedLayersFrom.
    """
    if len(blobs) == 5 and blobs[4].size == 1 and blobs[2].size > 1:
        scale, bias, mean, variance, _ = blobs
        return [mean, variance, np.ones(1, np.float32), scale, bias]
    return list(blobs)


def _pair(path: str, source: LayerWeights, layer: Any, layers: Sequence[Any]) -> list[tuple[Any, Numpy]]:
    """Each blob of a layer with the file's values for it. Raises ModelError if they do not fit."""
    who = f"{path}: layer {source.name!r} ({layer.type})"
    advice = "Use the prototxt that it was trained with; to learn this layer from scratch, give it another name"
    vectors = layer.type.lower() == "batchnorm"
    blobs: Sequence[Numpy | None] = source.blobs
    if vectors:
        blobs = _fit_batch_norm(who, [blob for blob in source.blobs if blob is not None], len(layer.blobs))
    if len(blobs) > len(layer.blobs):
        raise ModelError(f"{who} has {len(blobs)} blobs in the file but {len(layer.blobs)} in the net. {advice}")
    pairs = []
    for i, blob in enumerate(layer.blobs):
        values = blobs[i] if i < len(blobs) else None
        if values is None:
            if not _is_shared(blob, layers):
                raise ModelError(
                    f"{who} has {len(layer.blobs)} blobs in the net, but the file lacks blob {i}. {advice}"
                )
            continue
        if fitted := getattr(layer, "fitted", None):
            values = fitted(i, values)
        if _bare(values.shape, vectors) != _bare(blob.shape, vectors):
            raise ModelError(
                f"{who}: blob {i} has the shape {values.shape} in the file but {tuple(blob.shape)} in the net. {advice}"
            )
        pairs.append((blob, values))
    return pairs


def _fit_batch_norm(who: str, blobs: list[Numpy], count: int) -> list[Numpy]:
    """A BatchNorm's blobs for a layer that has `count` of them: without scale and bias if they change nothing."""
    blobs = batch_norm_blobs(blobs)
    if len(blobs) != 5 or count != 3:
        return blobs
    if np.any(blobs[3] != 1) or np.any(blobs[4] != 0):
        raise ModelError(
            f"{who} has a scale and a bias of its own in the file (NVCaffe's five blobs), but not in the net; "
            "write batch_norm_param { scale_bias: true } in the prototxt"
        )
    return blobs[:3]


def _bare(shape: Sequence[int], vector: bool) -> tuple[int, ...]:
    """A shape without its leading axes of size 1; of a vector (NVCaffe has (1, C, 1, 1)) without any of size 1."""
    if vector:
        return tuple(size for size in shape if size != 1)
    first = next((axis for axis, size in enumerate(shape) if size != 1), len(shape))
    return tuple(shape[first:])


def _is_shared(blob: Any, layers: Sequence[Any]) -> bool:
    """Whether a parameter is another layer's too: HDF5 then keeps its values with the owner only."""

    def memory(other: Any) -> Any:
        return getattr(other.data, "buffer", other.data)

    def same(a: Any, b: Any) -> bool:
        return a is b or (isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.may_share_memory(a, b))

    return any(same(memory(blob), memory(b)) for layer in layers for b in layer.blobs if b is not blob)


def _some(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:3])) + (", .." if len(names) > 3 else "") if names else "none"
