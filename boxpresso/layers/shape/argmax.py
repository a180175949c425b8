"""ArgMax, ParseOutput: where the largest values are."""

from __future__ import annotations

from math import prod

from ...device import Blob, Kernels
from ..core import Layer, Trait


class ArgMax(Layer, type="ArgMax", param="argmax_param", bottoms=1, tops=1, traits=Trait.WRITES_ALL):
    """The indices of the top_k largest values, in descending order of the values.

    Of equal values the one with the higher index comes first. A NaN is among the largest only where nothing else is
    left. There is no gradient.

    Parameters
    ----------
    bottom 0
        Any shape; without `axis` at least one axis, of which the first is the batch.
    argmax_param
        `axis` (none): the axis along which the largest are sought; a negative one counts from the end. Without it they
        are sought in each whole image. `top_k` (1): how many. `out_max_val` (false): give the values: with `axis`
        instead of the indices, without it after them.

    Returns
    -------
    top 0
        With `axis`: the shape of the bottom, except that this axis has the length top_k; indices along that axis, or
        the values with out_max_val. Without `axis`: (N, 1, top_k, 1 ...), indices into the flattened image, or with
        out_max_val (N, 2, top_k, 1 ...), the indices and then the values; as many axes as the bottom has, and at least
        three.

    Raises
    ------
    LayerError
        For a top_k of 0 or of more than the number of elements, an axis that the bottom lacks, a bottom without axes
        where `axis` is missing, or `min_first`, a field of a fork. In backward, for a bottom that needs a gradient.

    Source
    ------
    Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "ArgMax" argmax_param { axis: 1 top_k: 2 }', [[3, 9, 4], [5, 5, 1]]).tolist()
    [[1.0, 2.0], [1.0, 0.0]]
    >>> run_layer('type: "ArgMax" argmax_param { out_max_val: true }', [[3, 9, 4], [5, 5, 1]]).tolist()
    [[[1.0], [9.0]], [[1.0], [5.0]]]
    """

    kernels = Kernels("argmax.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.argmax_param
        self.need(not p.min_first, "argmax_param: min_first of a fork is not supported; remove it")
        self.need(p.top_k > 0, f"top_k must be at least 1, got {p.top_k}")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, shape = self.param.argmax_param, bottom[0].shape
        if p.HasField("axis"):
            axis = self.axis(bottom[0], p.axis)
            self.sizes = shape[axis], prod(shape[axis + 1 :])
            top[0].reshape(*shape[:axis], p.top_k, *shape[axis + 1 :])
            self.outputs = int(not p.out_max_val), int(p.out_max_val)  # whether it has places, whether values
        else:
            self.need(shape, "needs a bottom with at least one axis, or an axis of its own")
            self.sizes = prod(shape[1:]), 1
            wanted = [shape[0], 2 if p.out_max_val else 1, p.top_k] + [1] * (len(shape) - 3)
            top[0].reshape(*wanted)
            self.outputs = 1, int(p.out_max_val)
        self.need(p.top_k <= self.sizes[0], f"top_k {p.top_k} is more than the {self.sizes[0]} elements, shape {shape}")
        self.rows = bottom[0].count // self.sizes[0]

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        top_k = self.param.argmax_param.top_k
        self.kernels.argmax(self.rows, bottom[0].data, top[0].data, *self.sizes, top_k, *self.outputs)


class ParseOutput(Layer, type="ParseOutput", bottoms=1, tops=(1, 2), traits=Trait.WRITES_ALL):
    """The channel of the largest value at each place, and that value: of scores of classes a map of classes.

    Of equal values the first channel wins, where ArgMax takes the last. A NaN in the first channel stays, one in another is
    passed over. There is no gradient.

    Parameters
    ----------
    bottom 0
        (N, C, H, W), with at least one channel.

    Returns
    -------
    top 0
        (N, 1, H, W), channels from 0.
    top 1
        Optional, (N, 1, H, W): the values.

    Raises
    ------
    LayerError
        For a bottom without four axes, or without channels. In backward, for a bottom that needs a gradient.

    Source
    ------
    Liu et al. 2015, ParseNet, and its Caffe (weiliu89/caffe, branch fcn).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "ParseOutput"', [[[[1, 5]], [[4, 5]], [[2, 6]]]]).tolist()
    [[[[1.0, 2.0]]]]
    """

    kernels = Kernels("argmax.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        images, self.channels, *size = self.axes(bottom[0], 4)
        self.need(self.channels, f"needs at least one channel, got shape {bottom[0].shape}")
        self.plane = prod(size)
        for blob in top:
            blob.reshape(images, 1, *size)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        values = top[1].data if len(top) > 1 else None
        self.kernels.likeliest(top[0].count, bottom[0].data, top[0].data, values, self.channels, self.plane)
