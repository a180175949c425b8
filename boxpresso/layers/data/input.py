"""Input: blobs that the caller fills."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob
from ..core import Layer, Trait


class Input(Layer, type="Input", param="input_param", bottoms=0, tops=(1, None), traits=Trait.FILLED):
    """Tops of given shapes, whose data the caller writes before the forward pass; the caller may reshape them too.

    Parameters
    ----------
    input_param
        Such as input_param { shape { dim: 1 dim: 3 dim: 300 dim: 300 } }.
        `shape`: one for all tops, one for each, or none; without a shape the caller shapes the tops.

    Returns
    -------
    top 0, ...
        What the caller wrote.

    Raises
    ------
    LayerError
        For another number of shapes, or a negative length.

    Source
    ------
    Caffe.

    Examples
    --------
    >>> from boxpresso import Net
    >>> from boxpresso.proto import parse_net
    >>> net = Net(parse_net('''
    ...     layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 2 } } }
    ...     layer { name: "y" type: "ReLU" bottom: "x" top: "y" }'''), device="cpu")
    >>> net.forward(x=[[3, 2]])["y"].tolist()
    [[3.0, 2.0]]
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        shapes = [tuple(shape.dim) for shape in self.param.input_param.shape]
        self.need(
            len(shapes) in (0, 1, len(top)),
            f"give one shape, one for each of the {len(top)} tops, or none; {len(shapes)} were given",
        )
        for blob, shape in zip(top, shapes * len(top) if len(shapes) == 1 else shapes, strict=False):
            self.need(all(dim >= 0 for dim in shape), f"shape {shape} has a negative length")
            blob.reshape(*shape)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        """The tops keep the shapes that setup, or the caller, gave them."""

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        """The caller has written the data."""

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        """There is no bottom."""
