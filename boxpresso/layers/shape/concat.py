"""Concat: put blobs one after another along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...device import Blob, strides
from ..core import Layer, Trait, strided
from ..core.gpu_lowering import OnLast
from ..core.lowering import Join, Lowering, Same


class JoinLast(OnLast):
    """A Concat of channels."""

    def __init__(self, layer: Any) -> None:
        self.layer = layer

    def run(self, bottoms: Sequence[Blob], top: Blob) -> None:
        at, channels = 0, top.shape[1]
        for blob in bottoms:
            own = blob.shape[1]
            shape, steps, target = (blob.count // own, own), (own, 1), (channels, 1)
            strided.copy(self.layer.device, shape, blob.data, steps, top.data, target, target_at=at)
            at += own


class Concat(
    Layer, type="Concat", param="concat_param", bottoms=(1, None), tops=1, traits=Trait.JOINS | Trait.WRITES_ALL
):
    """Joins the bottoms along `axis`.

    On `axis`, the length of the top is the sum of the lengths of all bottoms. The other axes are the same in all of
    them. Each bottom's gradient is its part of the top's gradient. A single bottom shares its memory with the top.

    Parameters
    ----------
    bottom 0, 1, ...
        One or more blobs whose shapes differ on `axis` alone.
    concat_param
        `axis` (1): a negative axis counts from the end. `concat_dim` (1): its old name.

    Returns
    -------
    top 0
        The bottoms, one after another along `axis`.

    Raises
    ------
    LayerError
        For both `axis` and `concat_dim`, an axis that the bottoms lack, or shapes that differ on another axis.

    Source
    ------
    Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Concat" concat_param { axis: 1 }', [[1, 2], [3, 4]], [[5], [6]]).tolist()
    [[1.0, 2.0, 5.0], [3.0, 4.0, 6.0]]
    """

    kernels = strided.kernels

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        param = self.param.concat_param
        self.need(
            not (param.HasField("axis") and param.HasField("concat_dim")),
            f"axis {param.axis} and concat_dim {param.concat_dim} mean the same; give one of them",
        )

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        param = self.param.concat_param
        old = param.HasField("concat_dim")
        axis = self.axis(bottom[0], *((param.concat_dim, "concat_dim") if old else (param.axis,)))
        first = bottom[0].shape
        for i, blob in enumerate(bottom):
            fits = len(blob.shape) == len(first) and all(
                a == b or k == axis for k, (a, b) in enumerate(zip(first, blob.shape, strict=True))
            )
            self.need(fits, f"bottom {i} of shape {blob.shape} may differ from bottom 0, {first}, on axis {axis} alone")
        if len(bottom) == 1:
            self.pass_on_memory(bottom[0], top[0])
            top[0].share_diff(bottom[0])
            return
        lengths = [blob.shape[axis] for blob in bottom]
        top[0].reshape(*first[:axis], sum(lengths), *first[axis + 1 :])
        self.top_steps = strides(top[0].shape)
        self.starts = [sum(lengths[:i]) * self.top_steps[axis] for i in range(len(bottom))]

    def lower(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        if len(bottom) == 1:
            return Same()
        param = self.param.concat_param
        return Join(self.axis(bottom[0], param.concat_dim if param.HasField("concat_dim") else param.axis))

    def lower_last(self, bottom: list[Blob], top: list[Blob]) -> OnLast | None:
        channels = [sum(blob.shape[1] for blob in bottom), *bottom[0].shape[2:]] == [*top[0].shape[1:]]
        return JoinLast(self) if channels else None

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if len(bottom) == 1:
            self.pass_on_data(bottom[0], top[0])
            return
        for blob, start in zip(bottom, self.starts, strict=True):
            strided.copy(
                self.device, blob.shape, blob.data, strides(blob.shape), top[0].data, self.top_steps, target_at=start
            )

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if len(bottom) == 1:
            return
        for blob, start, down in zip(bottom, self.starts, propagate_down, strict=True):
            if down:
                strided.copy(
                    self.device,
                    blob.shape,
                    top[0].diff,
                    self.top_steps,
                    blob.diff,
                    strides(blob.shape),
                    source_at=start,
                )
