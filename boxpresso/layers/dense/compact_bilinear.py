"""CompactBilinear: the products of all pairs of channels of two maps, in as many bins as one chooses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from math import prod

import numpy as np

from ...device import AnyArray, Blob, Kernels, blas
from ..core import Layer, Trait

MOST = 2**24  # pairs of channels, and bins: those of two layers of 4096 channels


def numbers_of_c(seed: int) -> Iterator[int]:
    """What rand() of the C library of GNU gives after srand(seed): an additive feedback generator of 31 numbers.

    >>> numbers = numbers_of_c(1)
    >>> [next(numbers) for _ in range(5)]
    [1804289383, 846930886, 1681692777, 1714636915, 1957747793]
    """
    state = [seed]
    for _ in range(30):
        state.append(16807 * state[-1] % 2147483647)
    state += state[:3]
    while True:
        state.append((state[-3] + state[-31]) % 2**32)
        if len(state) > 344:
            yield state[-1] >> 1
            del state[0]


class CompactBilinear(
    Layer, type="CompactBilinear", param="compact_bilinear_param", bottoms=2, tops=1, traits=Trait.WRITES_ALL
):
    """top[n, d] = D times the sum of s1[i] s2[j] a[n, i] b[n, j] over pairs with (h1[i] + h2[j]) mod D = d; D is num_output.

    With sum_pool places are summed, too. It is the tensor sketch of the outer product of a and b: inner products of tops are
    near those of outer products. Bins h and signs s of the channels are those of its program, which draws them by rand() of the
    C library of GNU from the seed 1, so that weights that were trained there fit; that the top is D times the sketch is also
    the program's, whose Fourier transforms are not divided. Both bottoms get a gradient.

    Parameters
    ----------
    bottom 0
        a (N, C1, H, W).
    bottom 1
        b (N, C2, H, W).
    compact_bilinear_param
        `num_output` (required): the number of bins. `sum_pool` (true): whether to sum over all places.

    Returns
    -------
    top 0
        (N, num_output, 1, 1), or (N, num_output, H, W) without sum_pool.

    Raises
    ------
    LayerError
        No num_output, or one above 2^24; bottoms that are not of four axes, or that differ in another than the channels;
        more than 2^24 pairs of channels.

    Source
    ------
    Gao et al. 2016, Compact Bilinear Pooling (gy20073/compact_bilinear_pooling); LisaAnne/lisa-caffe-public and others.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "CompactBilinear" compact_bilinear_param { num_output: 4 }'
    >>> top = run_layer(text, [[[[3]]]], [[[[2]]]])  # one pair of channels
    >>> sorted(abs(top).ravel().tolist())
    [0.0, 0.0, 0.0, 24.0]
    """

    kernels = Kernels("compact_bilinear.cu")
    products, gpu_files = blas.HOST, (blas.TILED,)

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.compact_bilinear_param
        self.need(
            0 < p.num_output <= MOST,
            f"compact_bilinear_param: num_output must be given, from 1 to {MOST}, got {p.num_output}",
        )
        self.gemm, self.bins, self.summed = partial(blas.gemm, self.device), p.num_output, bool(p.sum_pool)
        self.channels = 0, 0

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        a, b = (self.axes(blob, 4, f"bottom {i}") for i, blob in enumerate(bottom))
        self.need(a[0] == b[0] and a[2:] == b[2:], f"its bottoms may differ in their channels alone, got {a} and {b}")
        self.images, self.size = a[0], prod(a[2:])
        pairs = a[1] * b[1]
        self.need(pairs <= MOST, f"{a[1]} and {b[1]} channels make {pairs} pairs; at most {MOST} are allowed")
        if self.channels != (a[1], b[1]):
            self.channels = a[1], b[1]
            self.draw()
        places = (1, 1) if self.summed else a[2:]
        top[0].reshape(self.images, self.bins, *places)
        if self.summed:
            self.scratch("products", (self.images, pairs))

    def draw(self) -> None:
        """The bin and the sign of each pair of channels, and the pairs of each bin."""
        drawn, drawings = numbers_of_c(1), []
        for count in self.channels:
            hashes = [next(drawn) % self.bins for _ in range(count)]
            drawings.append(
                (np.array(hashes, np.int64), np.array([2 * (next(drawn) % 2) - 1 for _ in range(count)], np.int64))
            )
        (first, signs), (second, others) = drawings
        bins = ((first[:, None] + second) % self.bins).ravel()
        sign, order = (signs[:, None] * others).ravel(), np.argsort(bins, kind="stable")
        begins = np.searchsorted(bins[order], np.arange(self.bins + 1))
        self.begins = self.device.table(begins)
        self.pairs, self.bin_of = (self.device.empty((max(1, bins.size),), np.int32) for _ in range(2))
        if bins.size:
            self.pairs[...] = ((order + 1) * sign[order]).astype(np.int32)
            self.bin_of[...] = ((bins + 1) * sign).astype(np.int32)

    def part(self, array: AnyArray, index: int, size: int) -> AnyArray:
        image: AnyArray = self.device.part(array, index * size, (size,))
        return image

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        (of_a, of_b), size, count = self.channels, self.size, top[0].count
        a, b, to = bottom[0].data, bottom[1].data, top[0].data
        if not self.summed:
            how = self.bins, of_a, of_b, size, self.bins
            self.kernels.bins_of_places(count, a, b, self.begins, self.pairs, to, *how)
            return
        products, pairs = self.room("products"), of_a * of_b
        for i in range(self.images):
            rows = self.part(a, i, of_a * size), self.part(b, i, of_b * size)
            self.gemm(False, True, of_a, of_b, size, 1, *rows, 0, self.part(products, i, pairs))
        self.kernels.bins_of_sums(count, products, self.begins, self.pairs, to, self.bins, pairs, self.bins)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        (of_a, of_b), size, diff = self.channels, self.size, top[0].diff
        if not self.summed:
            for own, other, channels, others, steps in ((0, 1, of_a, of_b, (of_b, 1)), (1, 0, of_b, of_a, (1, of_b))):
                if propagate_down[own]:
                    self.kernels.bins_of_places_backward(
                        bottom[own].count, diff, bottom[other].data, self.bin_of, bottom[own].diff, self.bins, channels, others,
                        *steps, size, self.bins,
                    )  # fmt: skip
            return
        products, pairs = self.room("products"), of_a * of_b
        how = self.bins, pairs, self.bins
        self.kernels.bins_of_sums_backward(self.images * pairs, diff, self.bin_of, products, *how)
        for i in range(self.images):
            of_image = self.part(products, i, pairs)
            if propagate_down[0]:
                rows = self.part(bottom[1].data, i, of_b * size), self.part(bottom[0].diff, i, of_a * size)
                self.gemm(False, False, of_a, size, of_b, 1, of_image, rows[0], 0, rows[1])
            if propagate_down[1]:
                rows = self.part(bottom[0].data, i, of_a * size), self.part(bottom[1].diff, i, of_b * size)
                self.gemm(True, False, of_b, size, of_a, 1, of_image, rows[0], 0, rows[1])
