"""LRN: local response normalisation, of AlexNet and GoogLeNet."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...device import Blob, Kernels
from ...device.chain import Chain
from ..core import Layer, Trait
from ..core.lowering import Last, Lowering, layout

LAST = Kernels(Path(__file__).with_name("lrn_last.cpp"))


class LrnLowering(Lowering):
    """LRN across channels; numbers: those of lrn_last.cpp's struct."""

    heavy = False

    def __init__(self, **numbers: float) -> None:
        self.numbers = numbers

    def files(self) -> Sequence[Kernels]:
        return [LAST]

    def record(self, chain: Chain, bottoms: Sequence[Last], top: Last, addend: Last | None) -> None:
        sizes = LAST.struct("Response", channels=top.channels, height=top.height, width=top.width, **self.numbers)
        shapes = layout(LAST, bottoms[0], top, None, None)
        chain.add(LAST.lrn_last, top.images * top.height, bottoms[0].memory, top.memory, sizes, shapes)


class LRN(Layer, type="LRN", param="lrn_param", bottoms=1, tops=1, traits=Trait.KEEPS_PLACES | Trait.WRITES_ALL):
    """top = x / (k + alpha / n * sum(x^2))^beta, with the sum over a window of n elements around x.

    Elements of the window that lie outside the blob count as 0; n includes them.

    ACROSS_CHANNELS: the window is local_size channels at one position, and n is local_size. WITHIN_CHANNEL: the window
    is local_size x local_size positions of one channel, n is their number, and k is 1, whatever the prototxt says.

    Parameters
    ----------
    bottom 0
        (N, C, H, W).
    lrn_param
        `local_size` (5): the side of the window, odd. `alpha` (1), `beta` (0.75) and `k` (1): as in the formula.
        `norm_region` (ACROSS_CHANNELS): ACROSS_CHANNELS or WITHIN_CHANNEL.

    Returns
    -------
    top 0
        The normalised values, in the shape of the bottom.

    Raises
    ------
    LayerError
        For an even local_size, a bottom that does not have 4 axes, and `fuse_type` of a fork.

    Source
    ------
    Caffe; Krizhevsky et al. 2012.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> top = run_layer('type: "LRN" lrn_param { local_size: 3 alpha: 3 beta: 0.5 k: 2 }', [[[[1]], [[1]]]])
    >>> top.shape, top.round(4).ravel().tolist()  # 1 / (2 + 3 / 3 * (1 + 1))^0.5
    ((1, 2, 1, 1), [0.5, 0.5])
    """

    kernels = Kernels("lrn.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.lrn_param
        self.need(p.local_size % 2 == 1, f"local_size must be odd, got {p.local_size}")
        self.need(p.fuse_type == p.UNFUSED, "lrn_param: fuse_type of a fork is not supported; add a Pooling layer")
        self.across = p.norm_region == p.ACROSS_CHANNELS
        self.half, self.beta, self.k = p.local_size // 2, p.beta, p.k if self.across else 1.0
        self.by = p.alpha / (p.local_size if self.across else p.local_size**2)
        self.scale = Blob((), self.dtype, self.device)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        images, channels, height, width = self.axes(bottom[0], 4)
        top[0].reshape(*bottom[0].shape)
        self.scale.reshape(*bottom[0].shape)
        self.scratch("ratio", bottom[0].shape, backward=True)
        if self.across:
            pieces = -(-height * width // self.kernels.constants["PIECE"])
            self.blocks = images * pieces
            self.shape: tuple[int, ...] = (channels, height * width, pieces, min(self.half, channels))
        else:
            half = min(self.half, max(height, width))  # beyond the image there is nothing
            self.blocks, self.shape = images * channels * height, (height, width, half)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        x, scale = bottom[0].data, self.scale.data
        scales = self.kernels.scales_across if self.across else self.kernels.scales_within
        scales(self.blocks, x, scale, *self.shape, self.by, self.k)
        self.kernels.lrn_forward(bottom[0].count, x, scale, top[0].data, self.beta)

    def lower(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        if not self.across:
            return None
        return LrnLowering(half=self.half, by=self.by, k=self.k, beta=self.beta)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if not propagate_down[0]:
            return
        x, scale, diff, ratio = bottom[0].data, self.scale.data, top[0].diff, self.room("ratio")
        self.kernels.ratios(bottom[0].count, x, scale, diff, ratio, self.beta)
        gradient = self.kernels.across_backward if self.across else self.kernels.within_backward
        gradient(self.blocks, x, scale, diff, ratio, bottom[0].diff, *self.shape, self.by, self.beta)
