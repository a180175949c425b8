"""Concatenations of several images on a GPU: convolutions by cuDNN write where the top has their maps, and nothing is copied.

The operands of one image lie one behind the other in the top (memory.py). Those of several do not: an image's maps are as
far apart as the top's images are, and only a kernel that knows of such steps can write them. cuDNN's do.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from ...device import Blob, strides
from ...device.cuda import Cuda
from ...graph.graph import Source, Step, Value
from ...graph.passes import portions
from ...layers.core import Layer, strided
from ...layers.core.gpu_lowering import GpuLowering, IntoPart
from .memory import INNER, Uses


@dataclass
class Operand:
    """An operand that a convolution may write into the top.

    Attributes
    ----------
    producer
        The place of the step of the convolution.
    into
        How it does.
    whole, at
        The top, and where the operand begins in its first image.
    written
        Whether the last run of the step has; False where cuDNN does not have the convolution.
    """

    producer: int
    into: IntoPart
    whole: Blob
    at: int
    written: bool = False

    def run(self, bottom: Blob) -> bool:
        """The convolution; False where it has still to be done."""
        self.written = self.into(bottom, self.whole, self.at)
        return self.written


@dataclass
class Spread:
    """A concatenation of several images, some of whose operands convolutions write into its top: {bottom: Operand}."""

    place: int
    layer: Layer
    operands: dict[int, Operand] = field(default_factory=dict)

    def run(self, bottom: Sequence[Blob], top: Blob, device: Cuda) -> None:
        """Copies the other operands, and those that could not be written."""
        top._data.on_device(True)
        for i, (blob, start) in enumerate(zip(bottom, self.layer.starts, strict=True)):
            if i not in self.operands or not self.operands[i].written:
                strided.copy(
                    device, blob.shape, blob.data, strides(blob.shape), top.data, self.layer.top_steps, target_at=start
                )


def spread(
    steps: Sequence[Step], source: Source, uses: Uses, lasting: Collection[int], blob_of: Callable[[Value], Blob]
) -> list[Spread]:
    """The concatenations of several images whose operands can be written into their tops.

    An operand is, if a convolution alone writes it, which adds no other blob, and the concatenation alone reads it; and if it
    begins at a multiple of INNER bytes in each image. The top is then needed from the first such convolution on.

    Parameters
    ----------
    steps, source
        Of the program.
    uses
        What each step reads and writes: changed, so that a convolution writes the top too.
    lasting
        The ids of buffers that are needed before or after.
    blob_of
        Where a value lies.
    """
    joins = []
    touched: dict[int, list[int]] = {}
    for place, (reads, writes) in enumerate(uses):
        for key in {id(buffer) for buffer in (*reads, *writes)}:
            touched.setdefault(key, []).append(place)
    shapes: dict[int, set[tuple[int, ...]]] = {}
    for blob in source.blobs.values():
        shapes.setdefault(id(blob._data), set()).add(blob.shape)
    for place, step in enumerate(steps):
        parts = portions(step, source)
        whole = source.tops[step.layer][0] if parts else None
        if whole is None or not 1 < whole.shape[0] == parts[0].pieces:
            continue
        bottom = source.bottoms[step.layer]
        if id(whole._data) in lasting or touched[id(whole._data)][0] != place:
            continue
        join, size = Spread(place, source.layers[step.layer]), whole.dtype.itemsize
        for i, (blob, part) in enumerate(zip(bottom, parts, strict=True)):
            key, at = id(blob._data), part.at
            once = sum(other._data is blob._data for other in bottom) == 1
            alone = key not in lasting and len(touched[key]) == 2 and shapes[key] == {blob.shape} and blob.count > 0
            if not (once and alone) or at * size % INNER or part.step * size % INNER:
                continue
            producer = touched[key][0]
            maker = steps[producer]
            if maker.added is not None or not maker.writes or blob_of(maker.writes[0])._data is not blob._data:
                continue
            lowering = maker.lowering
            into = lowering.into_part(part.step) if isinstance(lowering, GpuLowering) else None
            if into is not None and touched[key][1] == place:
                join.operands[i] = Operand(producer, into, whole, at)
        if join.operands:
            joins.append(join)
            for operand in join.operands.values():
                reads, writes = uses[operand.producer]
                uses[operand.producer] = reads, [*writes, whole._data]
    return joins
