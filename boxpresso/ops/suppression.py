"""Non-maximum suppression as functions: torchvision's nms and batched_nms, mmcv's offset and nms_rotated."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np

from ..data.boxes import best, falling
from ..device import Array, Device, Kernels
from ..device.cuda import Cuda
from ..device.foreign import borrowed
from ..device.kernel import real_of
from ..layers.core.scratch import Scratch
from ..layers.detection import nms_choice, suppress
from ..layers.detection.order import Order, sortable
from ..proto.errors import BoxpressoError
from . import arrays
from .parameters import number

KERNELS = Kernels(Path(__file__).with_name("nms.cu"))


def nms(boxes: Any, scores: Any, iou_threshold: float, offset: int = 0) -> Any:
    """Non-maximum suppression: a box goes when it overlaps a better one that stays by more than the threshold.

    Parameters
    ----------
    boxes : (N, 4), x1, y1, x2, y2.
    scores : (N,); of equal scores the first is better, and those that are NaN come last.
    offset : what is added to widths and heights: 0 as in torchvision, or 1 for whole pixels.

    Returns
    -------
    The indices (int64) of the boxes that stay, best first.

    Raises
    ------
    BoxpressoError: another offset, or arrays of other shapes.

    Source
    ------
    torchvision's nms; with an offset mmcv's.

    Examples
    --------
    >>> import numpy as np
    >>> boxes = np.array([[0, 0, 2, 1], [0, 0, 2, 2], [3, 3, 4, 4]], np.float32)
    >>> nms(boxes, np.array([0.8, 0.9, 0.1]), 0.4).tolist(), nms(boxes, np.array([0.8, 0.9, 0.1]), 0.5).tolist()
    ([1, 2], [1, 0, 2])
    """
    if offset not in (0, 1):
        raise BoxpressoError(f"offset must be 0 or 1, got {offset}")
    return suppressed(boxes, scores, None, 4, iou_threshold, pixels=offset == 1, strict=True)


def batched_nms(boxes: Any, scores: Any, idxs: Any, iou_threshold: float) -> Any:
    """`nms` within each class.

    Parameters
    ----------
    idxs : (N,), the class of each box; boxes of different classes do not suppress each other.
    boxes, scores, iou_threshold : see `nms`.

    Returns
    -------
    The indices (int64) of the boxes that stay, best first.

    Source
    ------
    torchvision's batched_nms.

    Examples
    --------
    >>> import numpy as np
    >>> boxes = np.array([[0, 0, 2, 2], [0, 0, 2, 2], [0, 0, 2, 2]], np.float32)
    >>> batched_nms(boxes, np.array([0.7, 0.8, 0.9]), np.array([1, 2, 2]), 0.5).tolist()
    [2, 0]
    """
    need_classes(idxs)
    return suppressed(boxes, scores, idxs, 4, iou_threshold, pixels=False, strict=True)


def nms_rotated(boxes: Any, scores: Any, iou_threshold: float, clockwise: bool = True) -> Any:
    """`nms` of rotated boxes.

    Parameters
    ----------
    boxes : (N, 5): centre x, centre y, width, height, angle in radians.
    clockwise : which way the angle turns, y pointing down.
    scores, iou_threshold : see `nms`.

    Returns
    -------
    The indices (int64) of the boxes that stay, best first.

    Source
    ------
    mmcv's nms_rotated.

    Examples
    --------
    >>> import numpy as np
    >>> boxes = np.array([[5, 5, 4, 2, 0], [5, 5, 2, 4, np.pi / 2], [5, 5, 4, 2, np.pi / 2]], np.float32)
    >>> nms_rotated(boxes, np.array([0.9, 0.8, 0.7]), 0.5).tolist()  # the second is the first; the third lies across
    [0, 2]
    """
    return suppressed(boxes, scores, None, 5, iou_threshold, clockwise=clockwise)


def batched_nms_rotated(boxes: Any, scores: Any, idxs: Any, iou_threshold: float, clockwise: bool = True) -> Any:
    """`nms_rotated` within each class.

    Parameters
    ----------
    idxs : (N,), the class of each box; boxes of different classes do not suppress each other.
    boxes, scores, iou_threshold, clockwise : see `nms_rotated`.

    Returns
    -------
    The indices (int64) of the boxes that stay, best first.

    Source
    ------
    mmcv's batched_nms with rotated boxes; detectron2's batched_nms_rotated.

    Examples
    --------
    >>> import numpy as np
    >>> boxes = np.array([[5, 5, 4, 2, 0]] * 3, np.float32)
    >>> batched_nms_rotated(boxes, np.array([0.7, 0.8, 0.9]), np.array([1, 2, 2]), 0.5).tolist()
    [2, 0]
    """
    need_classes(idxs)
    return suppressed(boxes, scores, idxs, 5, iou_threshold, clockwise=clockwise)


def need_classes(idxs: Any) -> None:
    if idxs is None:
        raise BoxpressoError("idxs must be an array, got None")


def given_shape(x: Any) -> tuple[int, ...]:
    """The shape of the caller's array, a list too; of a type of its library's own."""
    shape: tuple[int, ...] = x.shape if hasattr(x, "shape") else np.shape(x)
    return shape


def suppressed(
    boxes: Any, scores: Any, classes: Any, columns: int, threshold: float, clockwise: bool = True, **rule: bool
) -> Any:
    """The indices that stay, by score, under the caller's kind of array. classes: None where all boxes are of one."""
    device, shape, count = arrays.device_of(boxes), given_shape(boxes), given_shape(scores)
    threshold = number(threshold, "iou_threshold")
    if boxes is None or scores is None:
        raise BoxpressoError(f"{'boxes' if boxes is None else 'scores'} must be an array, got None")
    if len(shape) != 2 or shape[1] != columns or count != shape[:1]:
        seen = f"{tuple(shape)} and {tuple(count)}"
        raise BoxpressoError(f"boxes must be of shape (N, {columns}) and scores of shape (N,), got {seen}")
    if classes is not None and given_shape(classes) != count:
        seen = f"{tuple(count)}, as the scores are, got {tuple(given_shape(classes))}"
        raise BoxpressoError(f"idxs must be of shape {seen}")
    if device.kind == "cuda":
        turn = 1 if clockwise else -1
        result = on_device(cast(Cuda, device), boxes, scores, classes, columns, threshold, turn, **rule)
        if result is not None:
            return result
    return on_host(device, boxes, scores, classes, threshold, clockwise, **rule)


def on_device(
    device: Cuda, boxes: Any, scores: Any, classes: Any, columns: int, threshold: float, turn: int,
    *, pixels: bool = False, strict: bool = False,
) -> Any:  # fmt: skip
    """The same by kernels alone, but that the host waits for how many stay.

    None where they cannot do it: of no boxes, of other numbers than floats, of labels on the host or that are no ints of 32 or
    64 bits, and of more boxes than all pairs of which can be compared.
    """
    if classes is not None and arrays.device_of(classes).name != device.name:
        return None
    rows, values = (arrays.take(array, device) for array in (boxes, scores))
    labels = None if classes is None else arrays.take(classes, device)
    count = rows.shape[0]
    if rows.dtype not in arrays.FLOATS or values.dtype not in arrays.FLOATS or not count or not sortable(2, count):
        return None
    if labels is not None and labels.dtype.str[1:] not in ("i4", "i8", "u4", "u8"):
        return None
    if not suppress.compares_pairs(device, count, count, suppress.MOST_WORDS):
        return None
    rows, values = arrays.take(boxes, device, real_of(rows.dtype)), arrays.take(scores, device, real_of(values.dtype))
    room = Scratch(device)
    best = Order(room, 2, count, -1, values.dtype)
    nms_choice.kernels.on(device).nms_values(count, values, best.values, best.room)
    best.sort(device)
    listed, bound = room("boxes", (count, columns), rows.dtype), KERNELS.on(device)
    bound.nms_boxes(count * columns, rows, best.order, listed, columns, float(turn))
    survivors, stay, same = room("kept", (count,)), room("stay", (1,)), None
    if labels is not None:
        wide = labels.dtype.itemsize // 4
        words = borrowed(device, np.int32, (count * wide,), None, cast(Array, labels).address(False), labels)
        same = suppress.Labels(words, best.order, wide)
    least = suppress.least_overlap(threshold, rows.dtype, strict) if columns == 4 else threshold
    rooms = suppress.rooms_of(device, (count, columns), rows.dtype, 1, count, suppress.MOST_WORDS)
    suppress.launch(
        device, listed, device.table([0, count]), survivors, stay, least, -1, count, lambda name: room(name, *rooms[name]),
        suppress.MOST_WORDS, last=int(pixels), labels=same,
    )  # fmt: skip
    number = int(np.asarray(stay)[0])
    results = arrays.Results(boxes, device)
    result, ours = results.empty((number,), np.int64)
    if number:
        halves = borrowed(device, np.int32, (2 * number,), None, ours.address(True), ours)
        bound.nms_indices(number, best.order, survivors, halves)
    results.finish()
    return result


def on_host(
    device: Device, boxes: Any, scores: Any, classes: Any, threshold: float, clockwise: bool, **rule: bool
) -> Any:
    """The same with the order found on the host."""
    rows = arrays.real_values(boxes, device, "boxes")
    rows = rows.astype(np.float64 if rows.dtype == np.float64 else np.float32, copy=not clockwise)
    if not clockwise:
        rows[:, 4] *= -1
    values = arrays.real_values(scores, device, "scores")
    if classes is None:
        first = best(values)
        stay = first[suppress.suppress_boxes(device, rows.take(first, 0), threshold, starts=None, **rule)]
    else:
        labels = arrays.real_values(classes, arrays.device_of(classes), "idxs")
        order = np.lexsort((falling(values), labels))  # by class, within one best first
        sorted_labels = labels[order]
        changes = (sorted_labels[1:] != sorted_labels[:-1]).nonzero()[0]
        starts = np.zeros(len(changes) + 2, np.int32)
        starts[1:-1], starts[-1] = changes + 1, len(order)
        stay = order[suppress.suppress_boxes(device, rows.take(order, 0), threshold, starts=starts, **rule)]
        stay.sort()
        stay = stay[best(values[stay])]
    results = arrays.Results(boxes, device)
    if device.kind == "cpu":
        return results.outwards(stay.astype(np.int64, copy=False))
    result, ours = results.empty(stay.shape, np.int64)
    ours[...] = stay
    if isinstance(ours, Array):
        ours.address(False)  # copies it to the GPU, where the caller looks for it
    results.finish()
    return result
