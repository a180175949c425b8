"""EuclideanLoss, WeightedEuclideanLoss, EuclideanLossHeatmap: mean squared distances between two blobs."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from ..core import Layer, Trait
from .pairs import batch_of_pair

# Where the maps of the corners of each type of room begin
ROOM_CORNERS = 0, 8, 14, 20, 24, 28, 34, 38, 42, 44, 46, 48


class EuclideanLoss(Layer, type="EuclideanLoss", bottoms=2, tops=(0, 1), loss=True, traits=Trait.COMPARES):
    """top = sum((a - b)^2) / (2 N), N being the first axis.

    Both bottoms get a gradient.

    Parameters
    ----------
    bottom 0
        a (N, ...).
    bottom 1
        b, with the same first axis and as many elements.

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        The bottoms differ in their first axis or in their number of elements; an empty batch.

    Source
    ------
    Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "EuclideanLoss"', [[1, 2]], [[3, 2]]).item()
    2.0
    """

    replaces = ("pyloss.EuclideanLossLayer",)
    kernels = Kernels("euclidean_loss.cu")

    @classmethod
    def variant(cls, module: str, axes: Sequence[int], tops: int) -> str:
        """Nothing in the place of a class of that name that is a layer of another project: Caffe's has two bottoms."""
        return cls.type if len(axes) == 2 and tops < 2 else ""

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.batch = batch_of_pair(self, bottom)
        self.need(self.batch > 0, f"a loss over an empty batch (shape {bottom[0].shape}) has no value")
        top[0].reshape()
        self.divisor = 2 * self.batch
        self.partial = self.device.empty((self.batch,), self.dtype)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.euclidean_rows(
            self.batch, bottom[0].data, bottom[1].data, self.partial, bottom[0].count // self.batch
        )
        self.kernels.euclidean_total(1, self.partial, top[0].data, self.batch, self.divisor)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        for i, sign in ((0, 1.0), (1, -1.0)):
            if propagate_down[i]:
                self.kernels.euclidean_backward(
                    bottom[i].count, bottom[0].data, bottom[1].data, top[0].diff, bottom[i].diff, sign / self.batch
                )


class WeightedEuclideanLoss(EuclideanLoss, type="WeightedEuclideanLoss", bottoms=3, tops=(0, 1), loss=True):
    """top = sum(w (a - b)^2) / (2 N), N being the first axis.

    a and b get a gradient, w gets none.

    Parameters
    ----------
    bottom 0
        a (N, ...).
    bottom 1
        b, with the same first axis and as many elements.
    bottom 2
        w, as many weights.

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        The bottoms differ in their number of elements, a and b in their first axis; an empty batch; a gradient of the weights
        is asked for.

    Source
    ------
    linjieyangsc/densecap, and a pull request to BVLC/caffe. kridgeway/caffe divides the weights of each row by their mean;
    zobot/caffe takes a matrix for each row.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "WeightedEuclideanLoss"', [[1, 2]], [[3, 4]], [[1, 0.5]]).item()
    3.0
    """

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().reshape(bottom[:2], top)
        self.need(
            bottom[2].count == bottom[0].count,
            f"bottom 2 must have a weight for each element of bottom 0, got {bottom[2].shape} and {bottom[0].shape}",
        )

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        a, b, weight = (blob.data for blob in bottom)
        self.kernels.weighted_rows(self.batch, a, b, weight, self.partial, bottom[0].count // self.batch)
        self.kernels.euclidean_total(1, self.partial, top[0].data, self.batch, self.divisor)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[2], "weights have no gradient; set propagate_down: false for bottom 2")
        a, b, weight = (blob.data for blob in bottom)
        for i, sign in ((0, 1.0), (1, -1.0)):
            if propagate_down[i]:
                scale = sign / self.batch
                self.kernels.weighted_diffs(bottom[i].count, a, b, weight, top[0].diff, bottom[i].diff, scale)

    def allow_force_backward(self, index: int) -> bool:
        return index < 2


class EuclideanLossHeatmap(
    EuclideanLoss, type="EuclideanLossHeatmap", bottoms=(2, 3), tops=(0, 1), loss=True, traits=Trait.COMPARES
):
    """top = the mean of d^2 over all numbers of the maps of joints, d = a - b.

    The gradient of a is that of its program, d, whatever the loss weight.

    Where bottom 2 is no image but a number for each, it is RoomNet's layer: the type of a room. d is then 0 but in the maps of
    that type's corners, and a fifth of a - b where b is 0.01 at most; the gradient is d times the loss weight.

    Parameters
    ----------
    bottom 0
        a (N, C, H, W), a predicted map for each joint; of rooms C is 48.
    bottom 1
        b, the true maps, in the same shape.
    bottom 2
        Optional: the images, which its program draws the joints on, and which are not read; or (N), types of rooms, 0 to 10.

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        Maps of two sizes or without elements; a bottom 2 that is neither; types of rooms beside other than 48 maps; a gradient
        of another bottom than the first is asked for.

    Source
    ------
    tpfister/caffe-heatmap (Pfister et al. 2015); FengyangZhang/caffe_roomnet (Lee et al. 2017).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "EuclideanLossHeatmap"', [[[[1, 2]]]], [[[[3, 2]]]]).item()
    2.0
    """

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = bottom[0].shape
        images, channels, height, width = self.axes(bottom[0], 4, "bottom 0")
        self.need(shape == bottom[1].shape, f"needs maps of one size, got {shape} and {bottom[1].shape}")
        third = bottom[2].shape if len(bottom) > 2 else (images, 1, 1, 1)
        self.of_rooms = len(third) < 4
        self.need(
            not self.of_rooms or bottom[2].count == images,
            f"bottom 2 must be images, (N, C, H, W), or the type of a room for each of {images} images, got {third}",
        )
        self.need(
            not self.of_rooms or channels == ROOM_CORNERS[-1],
            f"rooms have {ROOM_CORNERS[-1]} corners, of all types, bottom 0 has {channels} maps",
        )
        super().reshape(bottom, top)
        self.need(bottom[0].count > 0, f"a loss over maps without elements (shape {shape}) has no value")
        self.divisor, self.sizes = bottom[0].count, (channels, height * width, len(ROOM_CORNERS) - 1)
        self.off = self.device.empty(shape if self.of_rooms else (1,), self.dtype)
        self.begins = self.device.table(ROOM_CORNERS)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if not self.of_rooms:
            super().forward(bottom, top)
            return
        maps = bottom[0].data, bottom[1].data, bottom[2].data
        self.kernels.room_differences(bottom[0].count, *maps, self.begins, self.off, *self.sizes)
        self.kernels.euclidean_rows(self.batch, self.off, None, self.partial, bottom[0].count // self.batch)
        self.kernels.euclidean_total(1, self.partial, top[0].data, self.batch, self.divisor)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(
            not any(propagate_down[1:]), "true maps and bottom 2 have no gradient; set propagate_down: false for them"
        )
        if propagate_down[0] and self.of_rooms:
            self.kernels.times_weight(bottom[0].count, self.off, top[0].diff, bottom[0].diff)
        elif propagate_down[0]:
            self.kernels.differences(bottom[0].count, bottom[0].data, bottom[1].data, bottom[0].diff)

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
