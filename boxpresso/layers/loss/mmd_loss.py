"""MMDLoss: how far the features of two sets of images are from one distribution, by kernels of pairs that are drawn (DAN)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...device import Blob, Kernels
from ...device.functions import power
from ..core import Layer
from .normalized_sum import rows_of

FORKS = ("num_of_kernel", "mmd_lambda", "iter_of_epoch", "method", "method_param")
MOST = 1000  # kernels: widths of more are 0 or infinity, even in double


class MMDLoss(Layer, type="MMDLoss", param="mmd_param", bottoms=2, tops=(0, 1), loss=True):
    """top = sum over draws of k(s, s') + k(t, t') - k(s, t') - k(s', t), the maximum mean discrepancy of two domains.

    k(a, b) is the sum of exp(-gamma m^(j - K // 2) |a - b|^2) for 0 <= j < K kernels, m = kernel_mul, and gamma one over the
    mean of |a - b|^2 over all pairs of rows of both. There are as many draws as the larger bottom has rows; s and s' differ,
    and t and t'. As in its program, the gradient is that of the mean over the draws, with gamma fixed, and it is 0 where a
    bottom has a single row. Forward and backward use the same draws, where its program draws anew.

    Parameters
    ----------
    bottom 0
        (S, ...), the features of the first domain, s.
    bottom 1
        (T, ...), of the second, t: rows as long as those of bottom 0.
    mmd_param
        `kernel_num` (5): K, at most 1000. `kernel_mul` (2): m. `fix_gamma` (false): keeps the gamma of the first forward.

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        For rows of other lengths, no rows, no kernels, a kernel_mul that is not above 0, and fields of mmd-caffe, whose layer
        has the same name: num_of_kernel, mmd_lambda, iter_of_epoch, method and method_param.

    Source
    ------
    Long et al. 2015, Learning Transferable Features with Deep Adaptation Networks; the program of Long et al. 2017.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "MMDLoss"', [[1, 2], [1, 2]], [[1, 2], [1, 2]]).item()
    0.0
    """

    kernels = Kernels("mmd_loss.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.how = p = self.param.mmd_param
        for fork in FORKS:
            self.need(
                not p.HasField(fork), f"mmd_param: {fork} is of another layer of this name, which is not supported"
            )
        self.need(0 < p.kernel_num <= MOST, f"mmd_param: kernel_num must be from 1 to {MOST}, got {p.kernel_num}")
        self.need(p.kernel_mul > 0, f"mmd_param: kernel_mul must be above 0, got {p.kernel_mul:g}")
        widths = [power(p.kernel_mul, j - p.kernel_num // 2) for j in range(p.kernel_num)]
        self.widths = self.device.table(np.array(widths), np.float64)
        self.gamma = self.device.empty((1,), np.float64)
        self.gamma.fill(0)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.rows, self.length = rows_of(self, bottom[0])
        others, length = rows_of(self, bottom[1])
        self.need(
            length == self.length, f"rows of bottom 0 have {self.length} numbers, those of bottom 1 have {length}"
        )
        self.others, self.total, self.count = others, self.rows + others, max(self.rows, others)
        top[0].reshape()
        self.squares = self.device.empty((self.total**2,), self.dtype)
        self.pairs = self.device.empty((self.count, 4, 2), np.int32)
        self.slopes = self.device.empty((self.count, 4), np.float64)

    def drawn(self) -> np.ndarray[Any, Any]:
        """The rows of each pair, (draws, 4, 2): two of the first domain, two of the second, and one of each twice."""
        draws = self.draws()
        s, s2 = draws.integers(self.rows, size=(2, self.count))
        t, t2 = draws.integers(self.others, size=(2, self.count))
        s2, t2 = (s2 + (s == s2)) % self.rows, (t2 + (t == t2)) % self.others
        t, t2 = t + self.rows, t2 + self.rows
        pairs: np.ndarray[Any, Any] = np.array([[s, s2], [t, t2], [s, t2], [s2, t]], np.int32).transpose(2, 0, 1)
        return pairs

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        s, t, p = bottom[0].data, bottom[1].data, self.how
        self.pairs[...] = self.drawn()
        self.kernels.mmd_squares(self.total**2, s, t, self.squares, self.rows, self.total, self.length)
        self.kernels.mmd_gamma(1, self.squares, self.gamma, self.total, int(p.fix_gamma))
        sizes = 4 * self.count, self.total, p.kernel_num
        self.kernels.mmd_loss(1, self.squares, self.pairs, self.gamma, self.widths, top[0].data, *sizes)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        s, t, p = bottom[0].data, bottom[1].data, self.how
        count = 4 * self.count * (self.rows > 1 and self.others > 1)
        if count:
            widths, sizes = (self.gamma, self.widths), (self.total, p.kernel_num)
            self.kernels.mmd_slopes(count, self.squares, self.pairs, *widths, top[0].diff, self.slopes, *sizes)
        for i, first in enumerate((0, self.rows)):
            if propagate_down[i]:
                rows, diff, order = (self.rows, self.others)[i], bottom[i].diff, (self.rows, self.length)
                self.kernels.mmd_diff(rows, s, t, self.pairs, self.slopes, diff, first, count, *order)
