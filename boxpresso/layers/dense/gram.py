"""Gram: how channels go together, which is what nets for style compare."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ...device import AnyArray, Blob, blas
from ..core import Layer, Trait


class Gram(Layer, type="Gram", bottoms=1, tops=1, traits=Trait.WRITES_ALL):
    """top[n, i, j] = the sum over all places of x[n, i] x[n, j], divided by the number of elements of an image, C H W.

    The gradient is the derivative. Its program's is half of that, where the gradient of the top is symmetric, off the diagonal.

    Parameters
    ----------
    bottom 0
        x (N, C, ...).

    Returns
    -------
    top 0
        (N, C, C, 1).

    Raises
    ------
    LayerError
        Fewer than two axes; images without elements.

    Source
    ------
    Gatys et al. 2015; happynear/caffe-windows and its copies.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Gram"', [[[1, 2], [0, 4]]])[..., 0].tolist()
    [[[1.25, 2.0], [2.0, 4.0]]]
    """

    products, gpu_files = blas.HOST, (blas.TILED,)

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.gemm = partial(blas.gemm, self.device)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = bottom[0].shape
        self.need(len(shape) > 1, f"its bottom must be (N, C, ...), got {shape}")
        self.images, self.channels = shape[:2]
        self.size = bottom[0].count // max(1, self.images)
        self.need(not self.images or self.size > 0, f"images of shape {shape} have no elements")
        self.places = self.size // max(1, self.channels)
        top[0].reshape(self.images, self.channels, self.channels, 1)

    def part(self, array: AnyArray, index: int, size: int) -> AnyArray:
        image: AnyArray = self.device.part(array, index * size, (size,))
        return image

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        c = self.channels
        for i in range(self.images):
            x = self.part(bottom[0].data, i, self.size)
            self.gemm(False, True, c, c, self.places, 1 / self.size, x, x, 0, self.part(top[0].data, i, c * c))

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if not propagate_down[0]:
            return
        c = self.channels
        for i in range(self.images):
            x, to = (self.part(array, i, self.size) for array in (bottom[0].data, bottom[0].diff))
            diff = self.part(top[0].diff, i, c * c)
            for turn, beta in ((False, 0), (True, 1)):
                self.gemm(turn, False, c, self.places, c, 1 / self.size, diff, x, beta, to)
