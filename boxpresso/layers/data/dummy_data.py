"""DummyData: blobs of constants or random numbers, to try a net without data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from ...device import Blob
from ..core import Layer, Trait, fill

Value = TypeVar("Value")


class DummyData(
    Layer, type="DummyData", param="dummy_data_param", bottoms=0, tops=(1, None), traits=Trait.FILLED | Trait.CONSTANT
):
    """Tops of given shapes, filled by fillers: by a constant filler once, by any other before every forward pass.

    Parameters
    ----------
    dummy_data_param
        `shape` (required): one for all tops, or one for each. `data_filler`: one for all tops, or one for each; without
        a filler all is 0. `num`, `channels`, `height`, `width`: the old form of shape.

    Returns
    -------
    top 0, ...
        The filled blobs.

    Raises
    ------
    LayerError
        For a number of shapes or fillers that is neither 1 nor that of the tops, a negative length, or shape together
        with its old form.

    Source
    ------
    Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> layer = 'type: "DummyData" dummy_data_param { shape { dim: 2 dim: 3 } data_filler { value: 0.5 } }'
    >>> run_layer(layer).tolist()
    [[0.5, 0.5, 0.5], [0.5, 0.5, 0.5]]
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        param = self.param.dummy_data_param
        self.fillers = self.each(list(param.data_filler) or [None], "data_filler", len(top))
        self.drawn = any(filler is not None and filler.type != "constant" for filler in self.fillers)
        if self.drawn:
            self.traits &= ~Trait.CONSTANT
        old = ("num", "channels", "height", "width")
        if any(len(getattr(param, name)) for name in old):
            self.need(not param.shape, f"give shape or {', '.join(old)}, not both")
            columns = [self.each(list(getattr(param, name)), name, len(top)) for name in old]
            shapes = list(zip(*columns, strict=True))
        else:
            shapes = self.each([tuple(shape.dim) for shape in param.shape], "shape", len(top))
        for blob, shape, filler in zip(top, shapes, self.fillers, strict=True):
            self.need(all(dim >= 0 for dim in shape), f"shape {shape} has a negative length")
            blob.reshape(*shape)
            if self.memory is not None:  # values are drawn in double
                self.memory.check(self, f"top of shape {blob.shape}", blob.count * (blob.dtype.itemsize + 8))
            if filler is None:
                blob.data.fill(0)
            else:
                blob.data[...] = fill(blob.shape, filler, self.rng, self.dtype)

    def each(self, values: list[Value], name: str, tops: int) -> list[Value]:
        """One value for each top, from one for all or one for each."""
        self.need(
            len(values) in (1, tops), f"give {name} once, or once for each of the {tops} tops; {len(values)} were given"
        )
        return values if len(values) == tops else values * tops

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        """The tops keep the shapes that setup gave them."""

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if not self.drawn:
            return
        draws = self.draws()
        for blob, filler in zip(top, self.fillers, strict=True):
            if filler is not None and filler.type != "constant":
                blob.data[...] = fill(blob.shape, filler, draws, self.dtype)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        """There is no bottom."""
