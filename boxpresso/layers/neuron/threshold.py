"""Threshold: 1 above a threshold, else 0."""

from __future__ import annotations

from ...device import Blob, Kernels
from ..core import Layer


class Threshold(Layer, type="Threshold", param="threshold_param", bottoms=1, tops=1, in_place=True):
    """top = 1 where bottom > threshold, else 0; it has no gradient. threshold_param { threshold: 0 }. Source: Caffe."""

    kernels = Kernels("threshold.cu")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        top[0].reshape(*bottom[0].shape)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        limit = self.param.threshold_param.threshold
        self.kernels.threshold_forward(top[0].count, bottom[0].data, top[0].data, limit)
