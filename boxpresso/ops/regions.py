"""Pooling of regions whose bins stay where they are: upright, rotated, position-sensitive."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ..proto.errors import BoxpressoError
from .operator import TO_NHWC, Call, Plan, operator
from .parameters import Two, pooled, position_sensitive


@operator("x", "rois", linear=(), large=True)
def roi_align(
    x: Any, rois: Any, output_size: Two, spatial_scale: float = 1.0, sampling_ratio: int = 0, aligned: bool = True,
    pool_mode: str = "avg", *, layout: str = "NCHW",
) -> Plan:  # fmt: skip
    """RoIAlign: the average or maximum of bilinear samples in each bin of each region.

    Parameters
    ----------
    x, rois, output_size, spatial_scale, layout : see boxpresso.ops.
    sampling_ratio : samples per bin and axis; 0 or less takes as many as the bin has pixels along the axis, rounded up.
    aligned : whether pixel centres are at half a pixel; see the layer ROIAlign.
    pool_mode : "avg" or "max".

    Returns
    -------
    (K, C, *output_size)

    Source
    ------
    He et al. 2017 (Mask R-CNN); see the layer ROIAlign.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    >>> rois = np.array([[0, 0, 0, 4, 4]], np.float32)
    >>> roi_align(x, rois, 2, sampling_ratio=2)[0, 0].tolist()
    [[2.5, 4.5], [10.5, 12.5]]
    """
    if pool_mode not in ("avg", "max"):
        raise BoxpressoError(f"pool_mode must be 'avg' or 'max', got {pool_mode!r}")
    fields = {**pooled(output_size, spatial_scale), "sampling_ratio": sampling_ratio, "aligned": aligned}
    fields["pool_mode"] = pool_mode.upper()
    largest = pool_mode == "max"
    attributes = {"has_places": False} if largest else {}
    return Plan("ROIAlign", {"roi_align_param": fields}, attributes, remembers=False, keeps=largest)


def roi_align_argmax(*args: Any, **kwargs: Any) -> tuple[Any, Any, Any]:
    """roi_align's maximum, and where the sample that it is lies on the map; arguments as roi_align's, but for pool_mode.

    Returns
    -------
    result : (K, C, *output_size)
    y, x : float32, or float64 beside it, of the same shape: the sample's place in pixels of the map, whose first pixel's centre
        is 0; -1 for a region that cannot be read, and a bin without samples.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    >>> largest, at_y, at_x = roi_align_argmax(x, np.array([[0, 0, 0, 4, 4]], np.float32), 1, sampling_ratio=2)
    >>> largest.item(), at_y.item(), at_x.item()
    (12.5, 2.5, 2.5)
    """
    inputs, options = roi_align.bind(*args, **{**kwargs, "pool_mode": "max"})
    call = roi_align.open(inputs, options, ("argmax",))
    result, layer, shape = call.forward(keep=True), cast(Any, call.layer), call.top[0].shape
    places = []
    with call.cached.lock:
        if not call.cached.ran:  # it was played from a tape, and another call has the layer's memory
            call.borrow()
            call.run(keep=True)
        rooms = [call.device.empty(shape, call.dtype) for _ in "yx"]
        if call.top[0].count and call.shapes[0] and call.shapes[0][0]:
            layer.largest.roi_align_max_places(call.top[0].count, layer.places, call.arrays[1], *rooms, layer.geometry)
        else:
            for room in rooms:
                room.fill(-1)
        for room in rooms:
            turned = call.turns and len(shape) == 4
            theirs, ours = call.results.empty([shape[axis] for axis in TO_NHWC] if turned else shape, call.dtype)
            if turned:
                call.permuted(room, TO_NHWC, ours)
            elif room.size:
                ours[...] = room
            places.append(call.outwards(theirs))
    call.results.finish()
    call.close()
    return result, places[0], places[1]


@operator("x", "rois", linear=(), large=True)
def roi_pool(
    x: Any, rois: Any, output_size: Two, spatial_scale: float = 1.0, *, mmcv: bool = False, layout: str = "NCHW"
) -> Plan:
    """RoIPool: the largest pixel of each bin.

    Parameters
    ----------
    x, rois, output_size, spatial_scale, layout : see boxpresso.ops.
    mmcv : cut the bins as mmcv's roi_pool does, which does not round them to whole pixels.

    Returns
    -------
    (K, C, *output_size)

    Source
    ------
    Girshick 2015 (Fast R-CNN), as in Caffe and torchvision; see the layer ROIPooling.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    >>> roi_pool(x, np.array([[0, 0, 0, 3, 3]], np.float32), 2)[0, 0].tolist()
    [[5.0, 7.0], [13.0, 15.0]]
    """
    parameter = {"roi_pooling_param": pooled(output_size, spatial_scale)}
    return Plan("ROIPooling", parameter, {"mmcv": mmcv, "has_places": False}, remembers=False, keeps=True, last=True)


def roi_pool_argmax(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """roi_pool's result, and where each number of it lies in its map.

    Returns
    -------
    result : (K, C, *output_size)
    argmax : int32 of the same shape: h W + w, or -1 for an empty bin; for roi_pool_backward.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    >>> roi_pool_argmax(x, np.array([[0, 0, 0, 3, 3]], np.float32), 2)[1][0, 0].tolist()
    [[5, 7], [13, 15]]
    """
    call = roi_pool.open(*roi_pool.bind(*args, **kwargs), ("argmax",))
    places, ours = call.results.empty(call.top[0].shape, np.int32)
    result = call.forward(places=ours)
    places = call.outwards(places)
    call.close()
    return result, places


def roi_pool_backward(grad: Any, *args: Any, argmax: Any = None, **kwargs: Any) -> dict[str, Any]:
    """The gradient of sum(grad * roi_pool(...)), as {"x": gradient}.

    Parameters
    ----------
    grad : (K, C, *output_size), followed by roi_pool's arguments.
    argmax : from roi_pool_argmax for the same arguments; without it the largest pixels are looked for again.

    Examples
    --------
    >>> import numpy as np
    >>> x, rois = np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2), np.array([[0, 0, 0, 1, 1]], np.float32)
    >>> roi_pool_backward(np.full((1, 1, 1, 1), 5, np.float32), x, rois, 1)["x"][0, 0].tolist()
    [[0.0, 0.0], [0.0, 5.0]]
    """
    if argmax is None:
        return roi_pool.backward(grad, *args, **kwargs)
    call = Call(roi_pool, *roi_pool.bind(*args, **kwargs))
    layer: Any = call.layer
    try:
        with layer.rooms[0].lent("places", call.inwards(argmax, np.int32, "argmax")):
            layer.has_places = True
            return {"x": call.backward(grad, [True, False])[0]}
    finally:
        layer.has_places = False


@operator("x", "rois", large=True)
def roi_align_rotated(
    x: Any, rois: Any, output_size: Two, spatial_scale: float = 1.0, sampling_ratio: int = 0, aligned: bool = True,
    clockwise: bool = False, *, layout: str = "NCHW",
) -> Plan:  # fmt: skip
    """RoIAlign of rotated regions.

    Parameters
    ----------
    rois : (K, 6): batch index, centre x, centre y, width, height in pixels of the image, angle in radians.
    clockwise : which way the angle turns, y pointing down.
    x, output_size, spatial_scale, layout : see boxpresso.ops; sampling_ratio, aligned : see `roi_align`.

    Returns
    -------
    (K, C, *output_size)

    Source
    ------
    mmcv's roi_align_rotated; see the layer ROIAlignRotated.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    >>> rois = np.array([[0, 2, 2, 2, 2, np.pi / 2]], np.float32)
    >>> roi_align_rotated(x, rois, 2, sampling_ratio=1)[0, 0].round(3).tolist()
    [[9.0, 5.0], [10.0, 6.0]]
    """
    fields = {**pooled(output_size, spatial_scale), "sampling_ratio": sampling_ratio}
    fields.update(aligned=aligned, clockwise=clockwise)
    return Plan("ROIAlignRotated", {"roi_align_rotated_param": fields}, remembers=False)


@operator("x", "rois")
def riroi_align_rotated(
    x: Any, rois: Any, output_size: Two, spatial_scale: float = 1.0, num_samples: int = 0, num_orientations: int = 8,
    clockwise: bool = False, *, layout: str = "NCHW",
) -> Plan:  # fmt: skip
    """Rotation-invariant roi_align_rotated: the angle also rotates x's channels among their orientations.

    Parameters
    ----------
    rois : (K, 6), as roi_align_rotated's.
    num_samples : roi_align's sampling_ratio.
    num_orientations : so many channels in a row belong together.
    clockwise : which way the angle turns.
    x, output_size, spatial_scale, layout : see boxpresso.ops.

    Returns
    -------
    (K, C, *output_size)

    Source
    ------
    Han et al. 2021 (ReDet), as mmcv's riroi_align_rotated; see the layer RiROIAlignRotated.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.ones((1, 4, 4, 4), np.float32) * np.arange(4, dtype=np.float32)[:, None, None]
    >>> rois = np.array([[0, 2, 2, 2, 2, np.pi / 2]], np.float32)
    >>> riroi_align_rotated(x, rois, 1, num_orientations=4).ravel().round(3).tolist()
    [3.0, 0.0, 1.0, 2.0]
    """
    fields = {**pooled(output_size, spatial_scale), "sampling_ratio": num_samples}
    fields.update(num_orientations=num_orientations, clockwise=clockwise)
    return Plan("RiROIAlignRotated", {"riroi_align_rotated_param": fields}, remembers=False)


@operator("x", "rois", "image_info", constant=("rois", "image_info"), linear=())
def rotate_roi_pool(
    x: Any, rois: Any, image_info: Any, output_size: Two, spatial_scale: float = 1.0, *, layout: str = "NCHW"
) -> Plan:
    """The largest pixel in each bin of rotated regions.

    Parameters
    ----------
    rois : (K, 6): batch index, centre x, centre y, height, width in pixels of the image, angle in degrees.
    image_info : (1, 3): height, width and scale of the image.
    x, output_size, spatial_scale, layout : see boxpresso.ops.

    Returns
    -------
    (K, C, *output_size)

    Source
    ------
    Ma et al. 2018 (RRPN); see the layer RotateROIPooling.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(36, dtype=np.float32).reshape(1, 1, 6, 6)
    >>> rois, info = np.array([[0, 3, 3, 4, 4, 0]], np.float32), np.array([[6, 6, 1]], np.float32)
    >>> rotate_roi_pool(x, rois, info, 2)[0, 0].tolist()
    [[14.0, 16.0], [26.0, 28.0]]
    """
    return Plan("RotateROIPooling", {"rotate_pooling_param": pooled(output_size, spatial_scale)})


@operator("x", "rois", large=True)
def ps_roi_pool(x: Any, rois: Any, output_size: int, spatial_scale: float = 1.0, *, layout: str = "NCHW") -> Plan:
    """Position-sensitive RoIPool, as torchvision has it; R-FCN's own is the layer PSROIPooling.

    Parameters
    ----------
    x : (B, outputs * output_size^2, H, W): each bin has channels of its own.
    output_size : one number.
    rois, spatial_scale, layout : see boxpresso.ops.

    Returns
    -------
    (K, outputs, output_size, output_size)

    Source
    ------
    Dai et al. 2016 (R-FCN), in torchvision's form.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.ones((1, 4, 4, 4), np.float32) * np.arange(4, dtype=np.float32)[:, None, None]
    >>> ps_roi_pool(x, np.array([[0, 0, 0, 3, 3]], np.float32), 2)[0, 0].tolist()
    [[0.0, 1.0], [2.0, 3.0]]
    """
    fields = position_sensitive(x, output_size, spatial_scale)
    return Plan("PSROIPooling", {"psroi_pooling_param": fields}, {"torchvision": True, "least_outputs": 0})


@operator("x", "rois", large=True)
def ps_roi_align(
    x: Any, rois: Any, output_size: int, spatial_scale: float = 1.0, sampling_ratio: int = -1, *, layout: str = "NCHW"
) -> Plan:
    """Position-sensitive RoIAlign.

    Parameters
    ----------
    x : (B, outputs * output_size^2, H, W): each bin has channels of its own.
    output_size : one number.
    sampling_ratio : as `roi_align`'s.
    rois, spatial_scale, layout : see boxpresso.ops.

    Returns
    -------
    (K, outputs, output_size, output_size)

    Source
    ------
    torchvision's ps_roi_align; see the layer PSROIAlign.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.ones((1, 4, 4, 4), np.float32) * np.arange(4, dtype=np.float32)[:, None, None]
    >>> ps_roi_align(x, np.array([[0, 0, 0, 3, 3]], np.float32), 2)[0, 0].tolist()
    [[0.0, 1.0], [2.0, 3.0]]
    """
    fields = {**position_sensitive(x, output_size, spatial_scale), "sampling_ratio": sampling_ratio}
    return Plan("PSROIAlign", {"psroi_align_param": fields}, {"least_outputs": 0})


@operator("x", "rois", constant=(), large=True)
def prroi_pool(x: Any, rois: Any, output_size: Two, spatial_scale: float = 1.0, *, layout: str = "NCHW") -> Plan:
    """Precise RoI pooling: the exact average of the bilinear surface over each bin. The regions have a gradient, too.

    Parameters
    ----------
    x, rois, output_size, spatial_scale, layout : see boxpresso.ops.

    Returns
    -------
    (K, C, *output_size)

    Source
    ------
    Jiang et al. 2018 (IoU-Net); see the layer PrROIPooling.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    >>> prroi_pool(x, np.array([[0, 0, 0, 2, 2]], np.float32), 1).item()
    5.0
    """
    return Plan("PrROIPooling", {"prroi_pooling_param": pooled(output_size, spatial_scale)}, remembers=False)
