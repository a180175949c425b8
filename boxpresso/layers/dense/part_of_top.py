"""A convolution by cuDNN whose maps are written into part of a larger blob, as a concatenation of several images has them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...device import AnyArray, Array, cudnn, strides
from .columns import CudnnConvolution, Finish, finish


class PartOfTop:
    """The forward of a convolution into a blob whose images are further apart than its own.

    Parameters
    ----------
    convolution
        The convolution, whose sizes and device these are.
    dtype
        float32 or float64.
    step
        Elements from an image of the larger blob to the next.
    """

    def __init__(self, convolution: CudnnConvolution, dtype: np.dtype[Any], step: int) -> None:
        s, self.step, self.device = convolution.sizes, step, convolution.device
        image, map, *window = convolution.by_axis(s.padded(2))
        self.sizes = s
        self.by = cudnn.Convolution(self.device, dtype, s.images, s.channels, s.maps, s.group, image, map, *window)
        shape = s.images, s.maps, *map
        lies = len(shape), cudnn.ints(shape), cudnn.ints([step, *strides(shape)[1:]])
        make = cudnn.Descriptors(self.by).make
        self.by.y = make("Tensor", "cudnnSetTensorNdDescriptor", cudnn.TYPES[dtype], *lies)

    def apply(self, image: Array, weights: Array, whole: Array, at: int, after: Finish) -> bool:
        """The maps of all images, and what `after` says, into `whole` from element `at` on.

        What cuDNN does not do in the same call is done image by image. False where cuDNN has no algorithm for it: then
        nothing is written.
        """
        s = self.sizes
        own = s.maps * s.places
        y = self.device.part(whole, at, ((s.images - 1) * self.step + own,))
        bias, kind = after.bias, after.activation.kind
        known = kind in ("", "RELU") and isinstance(bias, Array)
        if known and self.by.forward_after(image, weights, bias, None, y, kind == "RELU"):  # type: ignore[arg-type]
            return True
        pointer, by = cudnn.Pointer, self.by
        read = by.x, pointer(image.address(False)), by.w, pointer(weights.address(False)), by.by
        args = [by.number(1), *read, "workspace", by.number(0), by.y, pointer(y.address(True))]
        if not by.run("Forward", "cudnnConvolutionForward", args, (image, weights, y)):
            return False
        for n in range(s.images):
            map: AnyArray = self.device.part(whole, at + n * self.step, (own,))
            finish(self.device, map, after, s.maps, s.places)
        return True
