"""Suppression that lowers scores in place of removing boxes, and how much rotated boxes and polygons overlap."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.boxes import best
from ..device import Device
from ..device.cast import cast_to
from ..layers.detection.soften import matrix_decay, overlaps, soft_suppress
from ..proto.errors import BoxpressoError
from . import arrays
from .parameters import number


def soft_nms(
    boxes: Any, scores: Any, iou_threshold: float = 0.3, sigma: float = 0.5, min_score: float = 1e-3,
    method: str = "linear", offset: int = 0, *, idxs: Any = None,
) -> tuple[Any, Any]:  # fmt: skip
    """Soft-NMS: the best box is taken, and the scores of those that overlap it shrink, until none is left.

    With overlap o a score is multiplied by 1 - o where o is the threshold or more ("linear"), by exp(-o^2 / sigma)
    ("gaussian"), or by 0 where o is the threshold or more ("naive").

    Parameters
    ----------
    boxes : (N, 4), x1, y1, x2, y2. scores : (N,); of equal scores the first is better; NaN is never taken.
    min_score : a box goes when its score falls below it; the best of all always stays.
    method : "linear", "gaussian" or "naive". offset : what is added to widths and heights, 0 or 1.
    idxs : (N,), the class of each box, within which it is done; None: one class.

    Returns
    -------
    dets : (M, 5), of the boxes' dtype, those that stay with their new scores, best first. inds : (M,), int64, which they are.

    Raises
    ------
    BoxpressoError: another method or offset, a sigma that is not above 0, or arrays of other shapes.

    Source
    ------
    Bodla et al. 2017; arguments and results as mmcv's soft_nms.

    Examples
    --------
    >>> import numpy as np
    >>> boxes = np.array([[0, 0, 2, 1], [0, 0, 2, 2], [3, 3, 4, 4]], float)
    >>> dets, inds = soft_nms(boxes, np.array([0.8, 0.9, 0.6]), 0.3)
    >>> inds.tolist(), dets[:, 4].round(3).tolist()
    ([1, 2, 0], [0.9, 0.6, 0.4])
    """
    if method not in ("linear", "gaussian", "naive"):
        raise BoxpressoError(f"method must be 'linear', 'gaussian' or 'naive', got {method!r}")
    check_rule(offset, sigma, min_score)
    iou_threshold, min_score = number(iou_threshold, "iou_threshold"), number(min_score, "min_score")
    device, rows, values, labels = taken(boxes, scores, idxs)
    order = np.argsort(labels, kind="stable")
    groups = labels[order]
    first = np.append(True, groups[1:] != groups[:-1])[: len(groups)]
    starts = np.append(np.flatnonzero(first), len(order)).astype(np.int32)
    stay, left = soft_suppress(
        device, rows[order], values[order], starts, method=method, threshold=iou_threshold, sigma=sigma, least=min_score,
        last=offset,
    )  # fmt: skip
    stay = order[stay]
    by_score = np.argsort(-left, kind="stable")
    stay, left = stay[by_score], left[by_score]
    return handed(boxes, device, np.column_stack([rows[stay], left]), stay.astype(np.int64))


def matrix_nms(
    boxes: Any, scores: Any, idxs: Any = None, sigma: float = 2.0, min_score: float = 0.0, method: str = "gaussian",
    offset: int = 0,
) -> tuple[Any, Any]:  # fmt: skip
    """Matrix-NMS: all scores shrink at once, each by the better box of its class that lowers it most.

    A box j is multiplied by the smallest f(o_ij) / f(c_i) over the better boxes i, where o_ij is their overlap and c_i the
    largest overlap of i with a better one: f(o) = exp(-sigma o^2) ("gaussian") or 1 - o ("linear").

    Parameters
    ----------
    boxes : (N, 4). scores : (N,); of equal scores the first is better. idxs : (N,), the class of each; None: one class.
    min_score : boxes whose new score is below it go. method : "gaussian" or "linear". offset : as `soft_nms`'s.

    Returns
    -------
    dets : (M, 5), of the boxes' dtype, those that stay with their new scores, best first. inds : (M,), int64, which they are.

    Raises
    ------
    BoxpressoError: another method or offset, a sigma that is not above 0, or arrays of other shapes.

    Source
    ------
    Wang et al. 2020 (SOLOv2), on boxes as PaddleDetection's matrix_nms; f as mmdetection's mask_matrix_nms.

    Examples
    --------
    >>> import numpy as np
    >>> boxes = np.array([[0, 0, 2, 1], [0, 0, 2, 2], [3, 3, 4, 4]], float)
    >>> dets, inds = matrix_nms(boxes, np.array([0.8, 0.9, 0.6]), method="linear")
    >>> inds.tolist(), dets[:, 4].round(3).tolist()
    ([1, 2, 0], [0.9, 0.6, 0.4])
    """
    if method not in ("linear", "gaussian"):
        raise BoxpressoError(f"method must be 'gaussian' or 'linear', got {method!r}")
    check_rule(offset, sigma, min_score)
    device, rows, values, labels = taken(boxes, scores, idxs)
    order = best(values)
    groups = np.unique(labels[order], return_inverse=True)[1].reshape(-1)
    new = values[order] * matrix_decay(device, rows[order], groups, method=method, sigma=sigma, last=offset)
    by_score = np.argsort(-new, kind="stable")
    stay = by_score[new[by_score] >= min_score]
    chosen = order[stay]
    return handed(boxes, device, np.column_stack([rows[chosen], new[stay]]), chosen.astype(np.int64))


def check_rule(offset: int, sigma: float, min_score: float) -> None:
    if offset not in (0, 1):
        raise BoxpressoError(f"offset must be 0 or 1, got {offset!r}")
    number(min_score, "min_score")
    if not 0 < number(sigma, "sigma") < np.inf:
        raise BoxpressoError(f"sigma must be above 0, got {sigma}")


def taken(boxes: Any, scores: Any, idxs: Any) -> tuple[Device, np.ndarray, np.ndarray, np.ndarray]:
    """The device, and boxes, scores and classes on the host, of one dtype."""
    device = arrays.device_of(boxes)
    rows, values = arrays.real_values(boxes, device, "boxes"), arrays.real_values(scores, device, "scores")
    labels = np.zeros(values.size) if idxs is None else arrays.real_values(idxs, arrays.device_of(idxs), "idxs")
    if rows.ndim != 2 or rows.shape[1] != 4 or values.shape != rows.shape[:1] or labels.shape != values.shape:
        raise BoxpressoError(
            f"boxes must be (N, 4), scores and idxs (N,), got {rows.shape}, {values.shape} and {labels.shape}"
        )
    real = np.float64 if rows.dtype == np.float64 else np.float32
    return device, rows.astype(real), values.astype(real), labels


def handed(like: Any, device: Device, *results: np.ndarray) -> tuple[Any, ...]:
    """Results on the host as arrays of the caller's kind, numbers that are not whole in its dtype."""
    inputs = []
    for result in results:
        dtype = result.dtype if result.dtype.kind == "i" else arrays.float_of(like, device)
        theirs, ours = arrays.Results(like, device).empty(result.shape, dtype)
        ours[...] = cast_to(result, dtype)
        inputs.append(theirs)
    device.synchronize()
    return tuple(inputs)


def box_iou_rotated(boxes1: Any, boxes2: Any, mode: str = "iou", aligned: bool = False, clockwise: bool = True) -> Any:
    """How much rotated boxes overlap.

    Parameters
    ----------
    boxes1, boxes2 : (N, 5) and (M, 5): centre x, centre y, width, height, angle in radians.
    mode : "iou", over the union, or "iof", over the area of the first. aligned : row by row, N = M.
    clockwise : which way the angle turns, y pointing down.

    Returns
    -------
    (N, M), or (N,) where aligned, of boxes1's dtype; 0 for a box without an area, or with NaN.

    Raises
    ------
    BoxpressoError: another mode, or arrays of other shapes.

    Source
    ------
    mmcv's box_iou_rotated.

    Examples
    --------
    >>> import numpy as np
    >>> a, b = np.array([[5, 5, 4, 2, 0.0]]), np.array([[5, 5, 4, 2, np.pi / 2], [6, 5, 4, 2, 0]])
    >>> box_iou_rotated(a, b).round(3).tolist(), box_iou_rotated(a, b, "iof").round(3).tolist()
    ([[0.333, 0.6]], [[0.5, 0.75]])
    """
    return overlap_of(boxes1, boxes2, mode, aligned, clockwise)


def polygon_iou(polygons1: Any, polygons2: Any, mode: str = "iou", aligned: bool = False) -> Any:
    """How much polygons overlap, convex or not, whichever way they turn.

    Parameters
    ----------
    polygons1, polygons2 : (N, 2 k) and (M, 2 l): x and y of k and l corners in order; their sides do not cross.
    mode, aligned : as `box_iou_rotated`'s.

    Returns
    -------
    (N, M), or (N,) where aligned, of polygons1's dtype; 0 for a polygon without an area, or with NaN.

    Raises
    ------
    BoxpressoError: another mode, or arrays of other shapes.

    Source
    ------
    DOTA's polygon overlap of quadrilaterals, of mmcv's convex_iou; here of any simple polygons, by the triangles of their fans.

    Examples
    --------
    An L of three squares, and the square that it lacks with one more.

    >>> import numpy as np
    >>> corner = np.array([[0, 0, 2, 0, 2, 1, 1, 1, 1, 2, 0, 2]], np.float32)
    >>> polygon_iou(corner, np.array([[0, 1, 2, 1, 2, 2, 0, 2]], np.float32)).tolist()
    [[0.25]]
    """
    return overlap_of(polygons1, polygons2, mode, aligned, None)


def overlap_of(a: Any, b: Any, mode: str, aligned: bool, clockwise: bool | None) -> Any:
    """Of rotated boxes, or of polygons where `clockwise` is None."""
    if mode not in ("iou", "iof"):
        raise BoxpressoError(f"mode must be 'iou' or 'iof', got {mode!r}")
    device = arrays.device_of(a)
    boxes = clockwise is not None
    rows = [arrays.real_values(x, device, f"{'boxes' if boxes else 'polygons'}{i}") for i, x in ((1, a), (2, b))]
    fit = all(x.ndim == 2 and (x.shape[1] == 5 if boxes else x.shape[1] % 2 == 0 and x.shape[1] >= 6) for x in rows)
    if not fit or (aligned and len(rows[0]) != len(rows[1])):
        wanted = "(N, 5)" if boxes else "(N, 2 k) of k corners, 3 or more"
        both = "boxes1 and boxes2" if boxes else "polygons1 and polygons2"
        raise BoxpressoError(
            f"{both} must be {wanted}{' with one N' * aligned}; got {rows[0].shape} and {rows[1].shape}"
        )
    real = np.float64 if rows[0].dtype == np.float64 else np.float32
    rows = [x.astype(real) for x in rows]
    if clockwise is False:
        for x in rows:
            x[:, 4] *= -1
    shares = overlaps(device, *rows, aligned=aligned, foreground=mode == "iof", boxes=boxes)
    return handed(a, device, shares)[0]
