"""Crop, AutoCrop: cut a window out of a blob, as large as another blob."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, strides
from ..core import Layer, Trait, strided
from ..core.lowering import Lowering, Same


class Crop(Layer, type=("Crop", "AutoCrop"), param="crop_param", bottoms=(1, 2), tops=1, traits=Trait.WRITES_ALL):
    """Cuts a window out of bottom 0 that is as large as bottom 1.

    The window starts at `offset`. The axes from `axis` on are cropped to the lengths of bottom 1. Those before it
    keep the lengths of bottom 0. The gradient of bottom 0 is 0 outside of the window. Only the shape of bottom 1 is
    used, so its gradient is zero.

    AutoCrop, of FCN's first Caffe, has no parameters: it begins where the coordinates of both bottoms meet, which a Net works
    out from the layers before them (`boxpresso.graph.crops.align_crops`), as for a Crop without crop_param.

    Parameters
    ----------
    bottom 0
        The blob to be cropped.
    bottom 1
        A blob of the wanted size, with at least as many axes as bottom 0. Without it crop_param says the size.
    crop_param
        `axis` (2): the first axis to be cropped; a negative axis counts from the end. `offset` (0): where the window
        starts; one offset for all cropped axes, or one for each. `height` and `weight`, which is the width: the lengths of
        axis 2 and of the other cropped axes, without a bottom 1.

    Returns
    -------
    top 0
        The window: the lengths of bottom 0 before `axis`, those of bottom 1 from `axis` on.

    Raises
    ------
    LayerError
        For several offsets whose number is not that of the cropped axes, an axis that bottom 0 lacks, a bottom 1 with
        fewer axes than bottom 0, a window that reaches beyond bottom 0, or `height` or `weight` beside a bottom 1 or without
        one another.

    Source
    ------
    Caffe; FCN; yun-liu/rcf for AutoCrop; southatsouth/GLAD for a size without a bottom 1.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Crop" crop_param { axis: 1 offset: 1 }', [[1, 2, 3], [4, 5, 6]], [[0, 0]]).tolist()
    [[2.0, 3.0], [5.0, 6.0]]
    >>> run_layer('type: "Crop" crop_param { axis: 0 offset: 1 offset: 2 }', [[1, 2, 3], [4, 5, 6]], [[0]]).tolist()
    [[6.0]]
    """

    kernels = strided.kernels

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape, offsets = bottom[0].shape, list(self.param.crop_param.offset)
        axis = self.axis(bottom[0], self.param.crop_param.axis)
        self.need(
            len(offsets) < 2 or axis + len(offsets) == len(shape),
            f"offset {offsets} is for {len(offsets)} axes, but {len(shape) - axis} of {shape} are cropped, from axis "
            f"{axis} on; give one offset for all, or one for each",
        )

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape, p = bottom[0].shape, self.param.crop_param
        size = p.height, p.weight
        self.need(
            all(size) if len(bottom) == 1 else not any(size),
            f"crop_param: height and weight are for a Crop without bottom 1, which needs both, got {size}",
        )
        wanted = bottom[1].shape if len(bottom) > 1 else [size[0] if k == 2 else size[1] for k in range(len(shape))]
        axis = self.axis(bottom[0], self.param.crop_param.axis)
        self.need(len(wanted) >= len(shape), f"bottom 1 of shape {wanted} has fewer axes than bottom 0, {shape}")
        offset = list(self.param.crop_param.offset) or [0]
        offsets = [0] * axis + offset * (len(shape) - axis if len(offset) == 1 else 1)
        window = (*shape[:axis], *wanted[axis : len(shape)])
        for k, (first, size, whole) in enumerate(zip(offsets, window, shape, strict=True)):
            self.need(
                first + size <= whole,
                f"axis {k} of bottom 0, {shape}, ends at {whole}, the crop asks for {first} to {first + size}",
            )
        top[0].reshape(*window)
        self.steps = strides(shape)
        self.start = sum(offset * step for offset, step in zip(offsets, self.steps, strict=True))

    def lower(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        return Same() if top[0].shape == bottom[0].shape else None

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        window, steps = top[0], strides(top[0].shape)
        strided.copy(self.device, window.shape, bottom[0].data, self.steps, window.data, steps, source_at=self.start)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        window, steps = top[0], strides(top[0].shape)
        for blob, down in zip(bottom, propagate_down, strict=True):
            if down:
                blob.diff.fill(0)
        if propagate_down[0]:
            strided.copy(
                self.device, window.shape, window.diff, steps, bottom[0].diff, self.steps, target_at=self.start
            )
