"""Reshape: the same elements under other axes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...device import Blob
from ..core import Layer, Trait
from ..core.lowering import Lowering, View


class Reshape(Layer, type="Reshape", param="reshape_param", bottoms=1, tops=1, traits=Trait.VIEW):
    """Gives the bottom's memory another shape.

    The `num_axes` axes from `axis` on are replaced by the dims of `shape`:
    reshape_param { shape { dim: 0 dim: -1 dim: 4 } axis: 0 num_axes: -1 }.

    Parameters
    ----------
    bottom 0
        Any shape.
    reshape_param
        `shape` (no dims): the new lengths. A 0 keeps the length that the bottom has there. One -1 takes what is left;
        in an empty bottom, axes of length 0 are not counted for it. `axis` (0): the first axis to be replaced; a
        negative axis counts from behind the last one, so axis -1 with num_axes 0 appends. `num_axes` (-1): how many
        axes are replaced; -1 for all from `axis` on.

    Returns
    -------
    top 0
        The same elements in the new shape.

    Raises
    ------
    LayerError
        For more than one -1, a dim below -1, a num_axes below -1, axes that the bottom lacks, a shape with another
        number of elements, or a `pixelshuffler` other than 1, a field of forks that moves elements.

    Source
    ------
    Caffe.

    Examples
    --------
    >>> import numpy as np
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Reshape" reshape_param { shape { dim: 0 dim: -1 dim: 2 } }', [[1, 2, 3, 4]]).tolist()
    [[[1.0, 2.0], [3.0, 4.0]]]
    >>> run_layer('type: "Reshape" reshape_param { shape { dim: 1 } axis: -1 num_axes: 0 }', np.zeros((2, 3))).shape
    (2, 3, 1)
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        param = self.param.reshape_param
        self.dims = list(param.shape.dim)
        self.need(self.dims.count(-1) < 2, f"dims {self.dims} hold -1 more than once; one length alone can be inferred")
        self.need(all(dim >= -1 for dim in self.dims), f"dims {self.dims} must be lengths, 0 to copy or -1 to infer")
        if not param.axis and self.dims and self.dims[0] > 0 and -1 in self.dims:
            self.grows = self.dims.index(-1)
        self.need(param.num_axes >= -1, f"num_axes {param.num_axes} must be a count, or -1 for all axes")
        self.need(
            param.pixelshuffler == 1,
            f"pixelshuffler {param.pixelshuffler} moves elements, which Reshape does not; write Reshape, Permute and "
            "Reshape instead",
        )

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.pass_on_memory(bottom[0], top[0], *self.lengths(bottom[0].shape))
        top[0].share_diff(bottom[0])

    def lengths(self, shape: Sequence[int]) -> list[int]:
        """The shape of the top for a bottom of some shape."""
        shape, param = tuple(shape), self.param.reshape_param
        start = param.axis if param.axis >= 0 else len(shape) + 1 + param.axis
        end = len(shape) if param.num_axes == -1 else start + param.num_axes
        self.need(
            0 <= start <= end <= len(shape),
            f"axis {param.axis} with num_axes {param.num_axes} does not fit a bottom of shape {shape}",
        )
        dims = list(self.dims)
        for k, dim in enumerate(dims):
            if dim == 0:
                self.need(start + k < len(shape), f"dim {k} is 0, but there is no axis {start + k} in shape {shape}")
                dims[k] = shape[start + k]
        wanted = [*shape[:start], *dims, *shape[end:]]
        if -1 in wanted:
            place, others = wanted.index(-1), prod(dim for dim in wanted if dim != -1)
            if others:
                wanted[place] = prod(shape) // others
            else:  # an empty batch: what one image would leave, so that later layers see their usual length
                wanted[place] = prod(filter(None, shape)) // prod(dim for dim in wanted if dim > 0)
        self.need(
            prod(wanted) == prod(shape),
            f"dims {self.dims} make {tuple(wanted)} of a bottom of shape {shape}, which has {prod(shape)} elements",
        )
        return wanted

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.pass_on_data(bottom[0], top[0])

    def lower(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        return View()

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        """Nothing is to be done: the memory is shared."""
