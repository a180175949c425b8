"""Slice: cut a blob into pieces along an axis."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, strides
from ..core import Layer, Trait, strided


class Slice(Layer, type="Slice", param="slice_param", bottoms=1, tops=(1, None), traits=Trait.PARTS | Trait.WRITES_ALL):
    """Cuts the bottom into pieces along `axis`; top i holds the bottom from one cut to the next.

    Each top's gradient is that of its piece. A single top shares the bottom's memory.

    Parameters
    ----------
    bottom 0
        Any shape that has the axis.
    slice_param
        `axis` (1): a negative axis counts from the end. `slice_dim` (1): its old name. `slice_point` (repeated): the
        positions of the cuts, one fewer than tops. Without any, all pieces have the same length.

    Returns
    -------
    top 0, 1, ...
        The pieces; their lengths on `axis` add up to that of the bottom.

    Raises
    ------
    LayerError
        For both `axis` and `slice_dim`, an axis that the bottom lacks, a number of cuts that does not fit the tops,
        cuts that do not rise from above 0 to below the length of the axis, or a length that does not divide into equal
        pieces.

    Source
    ------
    Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "Slice" slice_param { axis: 1 slice_point: 2 slice_point: 5 }'
    >>> [top.tolist() for top in run_layer(text, [[1, 2, 3, 4, 5, 6]], tops=3)]
    [[[1.0, 2.0]], [[3.0, 4.0, 5.0]], [[6.0]]]
    >>> [top.tolist() for top in run_layer('type: "Slice"', [[1, 2, 3, 4, 5, 6]], tops=2)]
    [[[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]]]
    """

    kernels = strided.kernels

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        param = self.param.slice_param
        self.need(
            not (param.HasField("axis") and param.HasField("slice_dim")),
            f"axis {param.axis} and slice_dim {param.slice_dim} mean the same; give one of them",
        )
        points = list(param.slice_point)
        self.need(
            len(points) in (0, len(top) - 1),
            f"{len(top)} tops need {len(top) - 1} slice_point, or none for equal pieces; {points} was given",
        )

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        param, shape = self.param.slice_param, bottom[0].shape
        old = param.HasField("slice_dim")
        axis = self.axis(bottom[0], *((param.slice_dim, "slice_dim") if old else (param.axis,)))
        length = shape[axis]
        cuts = list(param.slice_point)
        if not cuts:
            self.need(length % len(top) == 0, f"axis {axis} of {shape} does not divide into {len(top)} equal pieces")
            cuts = [length // len(top) * i for i in range(1, len(top))]
        else:
            rising = all(a < b for a, b in zip([0, *cuts], [*cuts, length], strict=True))
            self.need(rising, f"slice_point {cuts} must rise from above 0 to below {length}, axis {axis} of {shape}")
        if len(top) == 1:
            self.pass_on_memory(bottom[0], top[0])
            top[0].share_diff(bottom[0])
            return
        self.steps = strides(shape)
        self.starts = [cut * self.steps[axis] for cut in (0, *cuts)]
        for blob, start, end in zip(top, (0, *cuts), (*cuts, length), strict=True):
            blob.reshape(*shape[:axis], end - start, *shape[axis + 1 :])

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if len(top) == 1:
            self.pass_on_data(bottom[0], top[0])
            return
        for blob, start in zip(top, self.starts, strict=True):
            strided.copy(
                self.device, blob.shape, bottom[0].data, self.steps, blob.data, strides(blob.shape), source_at=start
            )

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if len(top) == 1 or not propagate_down[0]:
            return
        for blob, start in zip(top, self.starts, strict=True):
            strided.copy(
                self.device, blob.shape, blob.diff, strides(blob.shape), bottom[0].diff, self.steps, target_at=start
            )
