"""Local: a convolution whose filters are others at each place of an image."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from ..core import Layer, Trait


class Local(Layer, type="Local", param="local_param", bottoms=1, tops=1, traits=Trait.WRITES_ALL):
    """top[n, m, y, x] = sum over c, k of w[m, c, k, y, x] * bottom[n, c, stride * (y, x) - pad + dilation * k] + b[m, y, x].

    A locally connected layer, as face nets have it at their end, where each place shows the same part of every face.

    Learned parameters: weights (num_output, 1, C * kernel_size^2, H' * W') and, unless bias_term is false, biases
    (1, 1, num_output, H' * W'). They are for images of one size.

    Parameters
    ----------
    bottom 0
        (N, C, H, W).
    local_param
        `num_output` and `kernel_size`: required. `pad` (0), `stride` (1), `dilation` (1), `bias_term` (true),
        `weight_filler` and `bias_filler` (constant 0).

    Returns
    -------
    top 0
        (N, num_output, H', W'), with H' = (H + 2 * pad - dilation * (kernel_size - 1) - 1) / stride + 1, rounded down.

    Raises
    ------
    LayerError
        A bottom that is not of four axes, num_output, kernel_size, stride or a dilation of 0, several dilations, a kernel
        that does not fit into the padded image, an image of another size than the parameters are for.

    Source
    ------
    Taigman et al. 2014, DeepFace, and Sun et al. 2014, DeepID; happynear/caffe-windows and 17 other forks; yuLiu24/RRF-Net
    for the dilation.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "Local" local_param { num_output: 1 kernel_size: 1 bias_term: false }'
    >>> run_layer(text, [[[[1, 2, 3]]]], params=[[[[[1, 10, 100]]]]]).tolist()
    [[[[1.0, 20.0, 300.0]]]]
    """

    kernels = Kernels("local.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.local_param
        self.need(len(p.dilation) < 2, f"takes one dilation for both axes, got {list(p.dilation)}")
        self.dilation = p.dilation[0] if p.dilation else 1
        for field, value in (
            ("num_output", p.num_output),
            ("kernel_size", p.kernel_size),
            ("stride", p.stride),
            ("dilation", self.dilation),
        ):
            self.need(value > 0, f"local_param: {field} must be at least 1, got {value}")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.local_param
        images, channels, *image = self.axes(bottom[0], 4)
        extent = self.dilation * (p.kernel_size - 1) + 1
        self.need(
            min(image) + 2 * p.pad >= extent,
            f"a kernel of {extent} x {extent} does not fit into images of {image[0]} x {image[1]} with a pad of {p.pad}",
        )
        height, width = ((side + 2 * p.pad - extent) // p.stride + 1 for side in image)
        self.parameter(0, (p.num_output, 1, channels * p.kernel_size**2, height * width), p.weight_filler)
        if p.bias_term:
            self.parameter(1, (1, 1, p.num_output, height * width), p.bias_filler)
        top[0].reshape(images, p.num_output, height, width)
        self.sizes = self.kernels.struct(
            "Local", channels=channels, height=image[0], width=image[1], maps=p.num_output, out_height=height,
            out_width=width, kernel=p.kernel_size, stride=p.stride, pad=p.pad, dilation=self.dilation,
        )  # fmt: skip

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        bias = self.blobs[1].data if len(self.blobs) > 1 else None
        self.kernels.local_forward(top[0].count, bottom[0].data, self.blobs[0].data, bias, top[0].data, self.sizes)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        diff, images = top[0].diff, bottom[0].shape[0]
        weights = self.blobs[0]
        if self.param_propagate_down[0]:
            self.kernels.local_weights(weights.count, bottom[0].data, diff, weights.diff, images, self.sizes)
        if len(self.blobs) > 1 and self.param_propagate_down[1]:
            self.kernels.local_bias(self.blobs[1].count, diff, self.blobs[1].diff, images)
        if propagate_down[0]:
            self.kernels.local_backward(bottom[0].count, diff, weights.data, bottom[0].diff, self.sizes)
