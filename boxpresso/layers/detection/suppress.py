"""Greedy suppression of boxes and overlaps of rotated boxes, by kernels; arrays are numpy's, in and out."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...device import UNFUSED, AnyArray, Device, Kernels
from ...proto.errors import KernelError

BITS = {"cpu": False, "cuda": True}  # whether all pairs of boxes are compared at once, and the choice is made of bits
MOST_WORDS = 2**26  # of 32 bits each for the pairs; more boxes are compared with those that stay, chunk by chunk
KEPT_WORDS = 2**24  # the same, where their memory is kept from one forward to the next

Rooms = Mapping[str, tuple[tuple[int, ...], Any]]  # arrays to work in: their shape and dtype by name

kernels = Kernels(Path(__file__).with_name("suppress.cu"), UNFUSED)
TILE = dict.fromkeys(
    BITS, kernels.constants["TILE_WORDS"]
)  # words of a group that one launch chooses of, at most TILE_WORDS


class Labels(NamedTuple):
    """Which boxes of a list do not see each other: those whose labels differ, `wide` numbers (of int32) for box order[i]."""

    values: AnyArray | None
    order: AnyArray | None
    wide: int


def suppress_boxes(
    device: Device,
    boxes: np.ndarray,
    threshold: float,
    limit: int = -1,
    starts: np.ndarray | None = None,
    *,
    pixels: bool = True,
    strict: bool = False,
) -> np.ndarray:
    """The indices of the boxes that stay when each that overlaps a better one is left out, in the order of the boxes.

    Parameters
    ----------
    boxes : best first; (N, 4) corners (xmin, ymin, xmax, ymax), or (N, 5) rotated (centre x, centre y, width, height, angle
        in radians, clockwise).
    threshold : of the intersection over union. Corners in whole pixels (widths xmax - xmin + 1) are suppressed by an overlap
        of the threshold or more (py-faster-rcnn's CPU rule), as are others unless `strict`; with `strict` (torchvision's
        rule) and when rotated (mmcv's and RRPN's rule) an overlap must be above the threshold.
    limit : at most so many of each group from 0 on; below 0 all.
    starts : (groups + 1,), the index at which each group starts, and N. Groups do not see each other. None is one group.
    pixels : whether corners name the last pixel of a box.
    """
    real = real_type(boxes)
    rows = device.table(boxes, real)
    if boxes.shape[1] == 5:
        return suppress_rows(device, rows, threshold, limit, starts)
    least = least_overlap(threshold, real, strict)  # the threshold is a double
    return suppress_rows(device, rows, least, limit, starts, last=int(pixels))


def suppress_rows(
    device: Device,
    boxes: AnyArray,
    threshold: float,
    limit: int = -1,
    starts: np.ndarray | None = None,
    *,
    last: int = 0,
    eta: float = 1.0,
    above: bool = False,
) -> np.ndarray:
    """`suppress_boxes` of boxes that the device has, (N, 4) or rotated (N, 5), with the kernels' own rules.

    Parameters
    ----------
    threshold : of upright boxes as their dtype has it.

    The others are those of `launch`.
    """
    count = boxes.shape[0]
    if not count:
        return np.zeros(0, np.intp)
    most = count  # the largest group is looked for where all pairs are compared at once alone
    if starts is not None and BITS[device.kind]:
        most = int(np.diff(np.asarray(starts)).max())
    empty: Callable[..., AnyArray] = np.empty if device.kind == "cpu" else device.empty
    survivors, table = empty((count,), np.int32), device.table([0, count] if starts is None else starts)
    rooms = rooms_of(device, boxes.shape, boxes.dtype, len(table) - 1, most, MOST_WORDS, eta)
    launch(
        device, boxes, table, survivors, None, threshold, limit, most, lambda name: empty(*rooms[name]), MOST_WORDS,
        last=last, eta=eta, above=above,
    )  # fmt: skip
    indices = np.asarray(survivors)
    return indices[indices >= 0].astype(np.intp)


def rooms_of(
    device: Device, boxes: tuple[int, ...], dtype: Any, groups: int, most: int, most_words: int, eta: float = 1.0
) -> Rooms:
    """What `launch` works in, for boxes of a shape and dtype in so many groups; the rest is as there."""
    (count, columns), bits, across = boxes, BITS[device.kind] and eta == 1, -(-most // 32)
    if bits and across * count <= most_words:
        words = ((across * count,), np.int32), ((groups, across), np.int32), ((groups,), np.int32)
        return dict(zip(("words", "gone", "stayed"), words))
    if columns == 5 or bits:
        return {}
    return {"numbers": ((kernels.constants["ROOM"] * count,), dtype)}


def launch(
    device: Device,
    boxes: AnyArray,
    starts: AnyArray,
    survivors: AnyArray,
    stay: AnyArray | None,
    threshold: float,
    limit: int,
    most: int,
    room: Callable[[str], AnyArray],
    most_words: int,
    *,
    last: int = 0,
    eta: float = 1.0,
    above: bool = False,
    labels: Labels | None = None,
) -> None:
    """The kernels of all suppression, for groups that the device knows, without the host.

    Parameters
    ----------
    boxes : (count, 4), or rotated ones (count, 5), of which an overlap must be above the threshold; those behind the last
        group's end are not looked at.
    starts : (groups + 1,).
    kept : (count,) of int32: in each group the indices of the boxes that stay, then -1.
    stay : (groups,) of int32, how many stay; or None.
    most : at most so many boxes are in a group.
    labels : of boxes that are compared by the bits of all pairs, as `compares_pairs` says; None: one for all.
    room : gives the arrays to work in, those of `rooms_of`, by name; "stayed" where `stay` is None.
    most_words : of pairs, at most; more boxes are compared with those that stay.
    last : of upright boxes, what is added to widths and heights.
    eta : of upright boxes, the threshold is multiplied by it each time one stays, while it is above 0.5 (SSD's adaptive
        threshold).
    above : of upright boxes, whether an overlap must be above the threshold, where infinite ones suppress each other, as in
        SSD.
    """
    (count, columns), groups, bound = boxes.shape, starts.shape[0] - 1, kernels.on(device)
    rotated, bits, across = columns == 5, BITS[device.kind] and eta == 1, -(-most // 32)
    limit = count if limit < 0 else limit
    if bits and across * count <= most_words:
        words, gone = room("words"), room("gone")
        same = labels or Labels(None, None, 0)
        if rotated:
            bound.suppress_rotated_words(words.size, boxes, starts, words, count, groups, threshold, *same)
        else:
            bound.suppress_words(words.size, boxes, starts, words, count, groups, last, threshold, int(above), *same)
        tile = TILE[device.kind]
        stay = room("stayed") if stay is None and across > tile else stay
        for begin in range(0, max(across, 1), tile):
            end = min(begin + tile, across)
            bound.suppress_chosen(groups, words, starts, gone, survivors, stay, limit, count, across, begin, end)
            if end < across:
                bound.suppress_behind(groups * (across - end), words, starts, gone, count, across, begin, end)
        return
    if labels is not None:
        raise KernelError("suppression by labels: there are too many boxes for the words of all their pairs")
    if rotated:
        bound.suppress_rotated(groups, boxes, starts, survivors, stay, limit, threshold)
    elif bits:
        bound.suppress_chunks(groups, boxes, starts, survivors, stay, limit, last, threshold, int(above))
    else:
        bound.suppress_upright(
            groups, boxes, starts, room("numbers"), survivors, stay, limit, last, threshold, eta, int(above)
        )


def compares_pairs(device: Device, count: int, most: int, most_words: int) -> bool:
    """Whether `launch` compares all pairs of so many boxes at once, in groups of at most `most`."""
    return BITS[device.kind] and -(-most // 32) * count <= most_words


@functools.lru_cache(256)
def least_overlap(threshold: float, real: np.dtype[Any], strict: bool = False) -> float:
    """The first number of dtype `real` that is not below a threshold, or with `strict` above it."""
    least = real.type(threshold)
    if float(least) < threshold or (strict and float(least) == threshold):
        least = np.nextafter(least, real.type(np.inf))
    return float(least)


def real_type(boxes: np.ndarray) -> np.dtype[Any]:
    """The dtype that kernels compute in: float64 for float64, else float32."""
    return boxes.dtype if boxes.dtype == np.float64 else np.dtype(np.float32)


def overlaps_of_rotated(device: Device, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Intersection over union (A, B) of rotated boxes a (A, 5) and b (B, 5), angles in radians; in a's dtype."""
    real = real_type(a)
    overlap = device.empty((len(a), len(b)), real)
    kernels.on(device).rotated_overlaps(
        len(a) * len(b), device.table(a, real), device.table(b, real), overlap, max(1, len(b))
    )
    return np.asarray(overlap)
