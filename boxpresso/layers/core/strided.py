"""copy: elements from one strided layout to another. Permute, Concat, Slice and Crop are calls of it, both ways."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from math import isqrt, prod
from pathlib import Path
from typing import Any

from ...device import AnyArray, Device, Kernels
from ...device.kernel import Kernel, StructValue

kernels = Kernels(Path(__file__).with_name("strided.cu"))
PIECE = 4096  # elements that one block copies where they are contiguous
TILE = 512, 16  # what one block of the CPU turns at a time: along the target's fast axis, along the source's
SECTOR = 8  # numbers of float that a GPU reads and writes together
ENOUGH = 1024  # blocks that a GPU is to have
KEPT = 2**12  # shapes and steps whose plans the CPU keeps
PAST = 2**24  # bytes of a result from which on it is written past the caches


def copy(
    device: Device,
    shape: Sequence[int],
    source: AnyArray,
    source_steps: Sequence[int],
    target: AnyArray,
    target_steps: Sequence[int],
    source_at: int = 0,
    target_at: int = 0,
) -> None:
    """target[target_at + sum(i * target_steps)] = source[source_at + sum(i * source_steps)] for each i in `shape`.

    Steps count elements, one per axis, as `strides` gives them. Both arrays are on `device` and of one dtype, float16,
    float32 or float64; no two indices may name one target.
    """
    if prod(shape):
        key = (
            tuple(shape),
            tuple(source_steps),
            tuple(target_steps),
            prod(shape) * target.dtype.itemsize > PAST,
        )
        plans: OrderedDict[Any, Any] = device.memo.setdefault("strided", OrderedDict())
        kernel, blocks, plan = plans[key] = plans.pop(key, None) or _plan(device, *key)  # the latest is the last
        if device.kind == "cpu" and len(plans) > KEPT:  # captured graphs of a GPU read their tables
            plans.popitem(last=False)
        args = (blocks, source, target, source_at, target_at, *plan)
        device.launch(kernel, kernel.real(args), args)


Axis = tuple[int, int, int]  # size, step in the source, step in the target


def merged(axes: Sequence[Axis]) -> list[Axis]:
    """The axes from the target's slowest to its fastest, without those of size 1, neighbours that act as one joined."""
    joined: list[Axis] = []
    for size, source, target in sorted((a for a in axes if a[0] != 1), key=lambda a: -a[2]):
        if joined and joined[-1][1:] == (size * source, size * target):
            joined[-1] = (joined[-1][0] * size, source, target)
        else:
            joined.append((size, source, target))
    return joined


def tile_of(p: int, q: int, outer: int) -> tuple[int, int]:
    """What a block of a GPU turns at a time: as much as its shared memory holds where that leaves blocks enough, for each block
    has to find its place; and both sides long, so that sectors are read and written whole."""
    room, least = kernels.constants["ROOM"], kernels.constants["SIDE"] ** 2
    room = max(min(room, outer * p * q // ENOUGH), least)
    high = whole(q, isqrt(room))
    wide = whole(p, room // (high | 1))
    while high < q and wide * (high + 1 | 1) <= room:
        high += 1
    return wide, whole(q, high)


def whole(size: int, most: int) -> int:
    """A part of an axis of that size: all of it, or a number of whole sectors of 32 bytes."""
    return size if size <= most else max(most // SECTOR * SECTOR, 1)


def _plan(
    device: Device, shape: tuple[int, ...], source_steps: tuple[int, ...], target_steps: tuple[int, ...], past: bool
) -> tuple[Kernel, int, tuple[StructValue | AnyArray, ...]]:
    """Which kernel copies that shape, on how many blocks, and its arguments after the two starts."""
    axes = merged(list(zip(shape, source_steps, target_steps, strict=True)))
    fast = min(range(len(axes)), key=lambda a: axes[a][1], default=0)  # the axis that is fastest in the source
    if axes and fast != len(axes) - 1:
        q, p = axes.pop(fast), axes.pop()
        p_tile, q_tile = TILE if device.kind == "cpu" else tile_of(p[0], q[0], prod(a[0] for a in axes))
        blocks = -(-p[0] // p_tile) * -(-q[0] // q_tile)
        sides = dict(zip(("p_size", "p_from", "p_to", "q_size", "q_from", "q_to"), (*p, *q)))
        geometry = kernels.struct("Turn", p_tile=p_tile, q_tile=q_tile, past=int(past), axes=len(axes), **sides)
        kernel = kernels.copy_turned
    else:
        run = axes.pop()[0] if axes and axes[-1][1:] == (1, 1) else 1
        rows, from_row, to_row = axes.pop() if axes else (1, 0, 0)
        tile_run, tile_rows = min(run, PIECE), max(1, PIECE // run)
        blocks = -(-rows // tile_rows) * -(-run // tile_run)
        geometry = kernels.struct(
            "Runs", rows=rows, run=run, from_row=from_row, to_row=to_row, tile_rows=tile_rows, tile_run=tile_run,
            axes=len(axes),
        )  # fmt: skip
        kernel = kernels.copy_runs
    outer = [device.table(column) for column in zip(*axes, strict=True)] or [device.table([0])] * 3
    return kernel, prod(a[0] for a in axes) * blocks, (geometry, *outer)
