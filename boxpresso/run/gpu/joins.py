"""Concatenations of several images on a GPU: convolutions by cuDNN write where the top has their maps, and nothing is copied.

The operands of one image lie one behind the other in the top (gpu_memory.py). Those of several do not: an image's maps are as
far apart as the top's images are, and only a kernel that knows of such steps can write them. cuDNN's do.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from math import prod

from ...device import Blob, Buffer, strides
from ...device.cuda import Cuda
from ...graph.graph import Source, Step, Value
from ...layers.core import Layer, Trait, strided
from ...layers.core.gpu_lowering import GpuLowering, IntoPart
from .memory import INNER

Uses = list[tuple[Sequence[Buffer], Sequence[Buffer]]]  # what each step reads and writes


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


def by_images(layer: Layer, bottom: Sequence[Blob], top: Blob) -> bool:
    """Whether the top has several images, and in each the images of the bottoms one behind the other."""
    if Trait.JOINS not in layer.traits or len(bottom) < 2 or len(top.shape) < 2 or top.shape[0] < 2:
        return False
    sizes = [prod(blob.shape[1:]) for blob in bottom]
    starts = [sum(sizes[:i]) for i in range(len(bottom))]
    return top.count > 0 and layer.starts == starts and sum(sizes) == prod(top.shape[1:])


def spread(
    steps: Sequence[Step], source: Source, uses: Uses, kept: Collection[int], blob_of: Callable[[Value], Blob]
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
    kept
        The ids of buffers that are needed before or after.
    blob_of
        Where a value lies.
    """
    found = []
    touched: dict[int, list[int]] = {}
    for place, (reads, writes) in enumerate(uses):
        for key in {id(buffer) for buffer in (*reads, *writes)}:
            touched.setdefault(key, []).append(place)
    shapes: dict[int, set[tuple[int, ...]]] = {}
    for blob in source.blobs.values():
        shapes.setdefault(id(blob._data), set()).add(blob.shape)
    for place, step in enumerate(steps):
        layer, bottom, tops = source.layers[step.layer], source.bottoms[step.layer], source.tops[step.layer]
        if step.lowering is not None or not by_images(layer, bottom, tops[0]):
            continue
        whole = tops[0]
        if id(whole._data) in kept or touched[id(whole._data)][0] != place:
            continue
        join, images, size = Spread(place, layer), whole.shape[0], whole.dtype.itemsize
        for i, blob in enumerate(bottom):
            key, at = id(blob._data), layer.starts[i]
            once = sum(other._data is blob._data for other in bottom) == 1
            alone = key not in kept and len(touched[key]) == 2 and shapes[key] == {blob.shape} and blob.count > 0
            if not (once and alone) or at * size % INNER or whole.count // images * size % INNER:
                continue
            producer = touched[key][0]
            maker = steps[producer]
            if maker.added is not None or not maker.writes or blob_of(maker.writes[0])._data is not blob._data:
                continue
            lowering = maker.lowering
            into = lowering.into_part(whole.count // images) if isinstance(lowering, GpuLowering) else None
            if into is not None and touched[key][1] == place:
                join.operands[i] = Operand(producer, into, whole, at)
        if join.operands:
            found.append(join)
            for operand in join.operands.values():
                reads, writes = uses[operand.producer]
                uses[operand.producer] = reads, [*writes, whole._data]
    return found
