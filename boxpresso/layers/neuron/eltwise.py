"""Eltwise: the sum, product or maximum of blobs of one shape."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer, Trait
from ..core.lowering import Combine, Lowering, Pointwise


class Eltwise(
    Layer, type="Eltwise", param="eltwise_param", bottoms=(2, None), tops=1, in_place=True, traits=Trait.ELEMENTWISE
):
    """top = sum(coeff[i] * bottom[i]), or the product, or the maximum of all bottoms, element by element.

    MAX: where bottoms have equal elements, bottom 1 wins over bottom 0, and both win over later bottoms; the winner
    gets the gradient. PROD: the gradient of a bottom is the product of the other bottoms, or without stable_prod_grad
    the quotient top / bottom, which is NaN where the bottom is 0.

    Every operation works in place of bottom 0; PROD then keeps a copy of it.

    Parameters
    ----------
    bottom 0, bottom 1, ...
        Two or more blobs of one shape. They may differ by trailing axes of size 1: (R, 1, 1, 1) is added to (R).
    eltwise_param
        `operation` (SUM): PROD, SUM or MAX. `coeff` (1 for each): of SUM, one for each bottom, or none.
        `stable_prod_grad` (true): whether the gradient of PROD multiplies the other bottoms instead of dividing.

    Returns
    -------
    top 0
        The result, in the shape of bottom 0.

    Raises
    ------
    LayerError
        For another operation, a wrong number of coeff, a coeff with PROD, bottoms of different shapes, and a top in
        place of another bottom than the first.

    Source
    ------
    Caffe, whose SUM in place loses bottom 0.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Eltwise" eltwise_param { operation: SUM coeff: 1 coeff: -1 }', [[5, 2]], [[3, 4]]).tolist()
    [[2.0, -2.0]]
    >>> run_layer('type: "Eltwise" eltwise_param { operation: MAX }', [[5, 2]], [[3, 4]]).tolist()
    [[5.0, 4.0]]
    """

    kernels = Kernels("eltwise.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        param = self.param.eltwise_param
        self.operation = param.EltwiseOp.Name(param.operation)
        self.need(
            self.operation in ("PROD", "SUM", "MAX"), f"operation {self.operation} is not one of PROD, SUM and MAX"
        )
        factors = list(param.coeff)
        self.need(
            len(factors) in (0, len(bottom)),
            f"give one coeff for each of the {len(bottom)} bottoms, or none; got {factors}",
        )
        self.need(
            not (factors and self.operation == "PROD"), f"coeff is for SUM, operation PROD takes none; got {factors}"
        )
        self.coeff = factors or [1.0] * len(bottom)
        self.in_place_now = top[0] is bottom[0]
        self.reads_top = self.operation == "PROD" and not param.stable_prod_grad
        self.need(all(blob is not top[0] for blob in bottom[1:]), "in place, the top must be the first bottom")
        self.winner = Blob((), np.int32, self.device)  # of MAX: which bottom it was
        self.first = Blob((), self.dtype, self.device) if self.in_place_now else bottom[0]  # of PROD

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = bottom[0].shape
        for i, blob in enumerate(bottom):
            self.need(
                without_ones(blob.shape) == without_ones(shape),
                f"bottom {i} has shape {blob.shape}, bottom 0 has {shape}; they must be equal",
            )
        top[0].reshape(*shape)
        if self.operation == "MAX":
            self.winner.reshape(*shape)
        elif self.operation == "PROD":
            self.first.reshape(*shape)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        count, output, (first, second, *rest) = top[0].count, top[0].data, [blob.data for blob in bottom]
        if self.operation == "SUM":
            self.kernels.eltwise_sum(count, first, second, output, *self.coeff[:2])
            for more, coeff in zip(rest, self.coeff[2:], strict=True):
                self.kernels.eltwise_sum(count, output, more, output, 1.0, coeff)
        elif self.operation == "PROD":
            if self.in_place_now:
                self.first.data[...] = first
            self.kernels.eltwise_product(count, first, second, output)
            for more in rest:
                self.kernels.eltwise_product(count, output, more, output)
            self.remember(top[0])
        else:
            self.kernels.eltwise_max(count, first, second, output, self.winner.data)
            for index, more in enumerate(rest, 2):
                self.kernels.eltwise_max_next(count, more, output, self.winner.data, index)

    def lower(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        same = all(blob.shape == bottom[0].shape for blob in bottom)
        if not same:
            return None
        if self.operation == "SUM" and len(bottom) == 2 and self.coeff[1] == 1:
            return Pointwise(self.device, self.dtype, coefficient=self.coeff[0], sums=True)
        steps: list[tuple[str, Sequence[float]]]
        if self.operation == "SUM":
            steps = [("sum", self.coeff[:2]), *(("sum", (1.0, coeff)) for coeff in self.coeff[2:])]
        elif self.operation == "PROD":
            steps = [("product", ())] * (len(bottom) - 1)
        else:
            steps = [("larger", ()), *[("next", ())] * (len(bottom) - 2)]
        return Combine([(self.kernels.bound(f"eltwise_{name}").kernel, numbers) for name, numbers in steps])

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        count, upstream = top[0].count, top[0].diff
        for i in reversed(range(len(bottom))):  # bottom 0 last: in place its diff is the top's
            if not propagate_down[i]:
                continue
            if self.operation == "SUM":
                self.kernels.eltwise_scale(count, upstream, bottom[i].diff, self.coeff[i])
            elif self.operation == "MAX":
                self.kernels.eltwise_max_backward(count, upstream, self.winner.data, bottom[i].diff, i)
            else:
                self.product_backward(i, top, bottom)

    def product_backward(self, i: int, top: list[Blob], bottom: list[Blob]) -> None:
        count, diff = top[0].count, bottom[i].diff
        factors = [self.first.data, *(blob.data for blob in bottom[1:])]
        if not self.param.eltwise_param.stable_prod_grad:
            self.kernels.eltwise_quotient(count, top[0].diff, self.as_made(top[0]).data, factors[i], diff)
            return
        del factors[i]
        self.kernels.eltwise_product(count, top[0].diff, factors[0], diff)
        for more in factors[1:]:
            self.kernels.eltwise_product(count, diff, more, diff)


def without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape without trailing axes of size 1, by which legacy 4-D blobs differ: (R, 1, 1, 1) adds to (R,)."""
    return shape[: max((i + 1 for i, size in enumerate(shape) if size != 1), default=0)]
