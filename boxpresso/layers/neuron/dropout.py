"""Dropout: while training, a random part of the elements is zero."""

from __future__ import annotations

import numpy as np

from ...device import AnyArray, Blob, Kernels
from ..core.lowering import Affine, Fusible, Lowering, Pointwise, Same
from .dropout_base import DropoutBase


class Dropout(DropoutBase, type="Dropout", param="dropout_param", bottoms=1, tops=1, in_place=True):
    """While training, sets a random part of the elements to 0 and scales the others.

    TRAIN: an element becomes 0 with probability dropout_ratio, otherwise x / (1 - dropout_ratio). TEST: top is bottom.

    Which elements are dropped depends only on the layer's seed, the number of the forward pass and the index of the
    element: the CPU and the GPU, and any number of threads, drop the same elements. The gradient passes the same
    elements at the same scale.

    Parameters
    ----------
    bottom 0
        Any shape.
    dropout_param
        `dropout_ratio` (0.5): the probability of an element to be dropped, from 0 to below 1, and 1 too where nothing is
        dropped, at TEST. Of forks: `scale_train` (true): false does not scale in TRAIN, and scales by 1 - dropout_ratio at
        TEST instead (Microsoft).
        `sample_weights_test` (false): true drops at TEST too (SegNet). `random_seed` (-1): unless negative, it replaces
        the layer's seed (NVIDIA).

    Returns
    -------
    top 0
        The values that remain, in the shape of the bottom.

    Raises
    ------
    LayerError
        For a dropout_ratio outside this range, and for `sqrt_scale: true` of a fork.

    Source
    ------
    Caffe; Srivastava et al. 2014. The forks' fields: Microsoft's Caffe, SegNet's, NVIDIA's.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Dropout"', [[1, 2]]).tolist()
    [[1.0, 2.0]]
    >>> top = run_layer('type: "Dropout" dropout_param { dropout_ratio: 0.5 }', [1] * 100, phase="TRAIN")
    >>> sorted(set(top.tolist()))
    [0.0, 2.0]
    """

    kernels = Kernels("dropout.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        param = self.param.dropout_param
        ratio = param.dropout_ratio
        passes = self.phase == "TEST" and not param.sample_weights_test and param.scale_train
        self.need(0 <= ratio < 1 or (ratio == 1 and passes), f"dropout_ratio must be from 0 to below 1, got {ratio:g}")
        self.need(not param.sqrt_scale, "sqrt_scale: true is not supported; remove it and scale by a Power layer")
        self.drops = ratio > 0 and (self.phase == "TRAIN" or param.sample_weights_test)
        if self.drops:
            self.scale = 1 / (1 - ratio) if param.scale_train else 1.0
        else:
            self.scale = 1.0 if param.scale_train or self.phase == "TRAIN" else 1 - ratio
        self.identity = not self.drops and self.scale == 1
        self.lose_traits()
        self.threshold = self.threshold_of(ratio)
        self.key = int(self.rng.integers(2**32)) if param.random_seed < 0 else param.random_seed % 2**32

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        if top[0] is bottom[0]:
            return
        if self.identity:
            self.pass_on_memory(bottom[0], top[0])
            top[0].share_diff(bottom[0])
        else:
            top[0].reshape(*bottom[0].shape)

    def fuse(self) -> Fusible | None:
        return None if self.drops or self.identity else Affine(np.array(self.scale, np.float64), None)

    def lower(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        if self.identity:
            return Same()
        return Pointwise(self.device, self.dtype, affine=self.fuse) if not self.drops else None

    def pass_on(self, source: AnyArray, target: AnyArray) -> None:
        if self.drops:
            self.kernels.dropout(source.size, source, target, self.key, self.pass_number, self.threshold, self.scale)
        elif not self.identity:
            self.kernels.dropout_scale(source.size, source, target, self.scale)
