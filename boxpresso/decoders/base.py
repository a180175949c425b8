"""What every decoder has: how it recognises its nets, how it prepares a picture, and how it reads the outputs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from operator import index
from typing import Any, ClassVar

import numpy as np

from ..data.inputs import Mean, Numpy, input_values, mean_array, resize
from ..device.functions import exp
from ..layers.core import Layer
from ..net import Net
from ..proto.errors import BoxpressoError, LayerError, ModelError
from .detections import Detections


def two(value: Any) -> tuple[int, int]:
    """A width and a height. Raises TypeError or ValueError for anything else."""
    width, height = map(index, value)
    return width, height


def factor(value: Any) -> float:
    """What pixels are multiplied by. Raises TypeError or ValueError for what is no finite number, and for 0."""
    number = float(value)
    if not number or not isfinite(number):
        raise ValueError
    return number


PLAIN: Mapping[str, tuple[Callable[[Any], Any], str]] = {  # of settings: what makes Python's numbers of them, in words
    "scale": (factor, "a finite number other than 0"), "threshold": (float, "a number"), "overlap": (float, "a number"),
    "anchors": (lambda values: tuple(map(float, values)), "numbers"), "size": (two, "two whole numbers, (width, height)"),
}  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """How pictures become the input of a net, and which detections are given.

    Attributes
    ----------
    mean, scale, swap_rb
        The input is (pixel - mean) * scale, blue first, or red first with `swap_rb`; see `image.input_array`.
    size
        (width, height) to which the picture, and the net, are resized; None for what the net or the decoder says.
    threshold
        The lowest score.
    overlap
        The intersection over union from which on a better detection suppresses another; None is what the net's own layer
        says, where that suppresses.
    anchors
        Of YOLO's raw maps: widths and heights in turn, the finest map first; None for those of a well-known configuration.
    """

    mean: Mean = None
    scale: float = 1.0
    swap_rb: bool = False
    size: tuple[int, int] | None = None
    threshold: float = 0.5
    overlap: float | None = None
    anchors: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        """Numbers become Python's own: decoders write them into prototxts. Raises BoxpressoError for what is none."""
        for name, (plain, wanted) in PLAIN.items():
            value = getattr(self, name)
            if value is None:
                continue
            try:
                object.__setattr__(self, name, plain(value))
            except (TypeError, ValueError):
                raise BoxpressoError(f"{name} must be {wanted}, got {value!r}") from None

    def given(self, **settings: Any) -> Settings:
        """These settings with those that are given, not None, in their place. A mean per channel follows `swap_rb`."""
        chosen = {name: value for name, value in settings.items() if value is not None}
        swapped = chosen.get("swap_rb", self.swap_rb) != self.swap_rb
        if swapped and "mean" not in chosen and isinstance(self.mean, tuple):
            chosen["mean"] = self.mean[::-1]
        return replace(self, **chosen)

    def describe(self) -> str:
        """In words, for a message.

        >>> Settings((104, 117, 123), 1.0, size=(300, 300)).describe()
        '(pixel - 104,117,123) in the order blue, green, red, at 300 x 300'
        """
        mean = "" if self.mean is None else self.mean if isinstance(self.mean, (str, int, float)) else None
        if mean is None:
            values = np.asarray(self.mean).ravel() if not hasattr(self.mean, "__fspath__") else None
            mean = str(self.mean) if values is None else ",".join(f"{v:g}" for v in values[:4])
        text = f"(pixel - {mean})" if mean != "" else "pixels from 0 to 255"
        text += f" * {self.scale:.6g}" if self.scale != 1 else ""
        text += f" in the order {'red, green, blue' if self.swap_rb else 'blue, green, red'}"
        return text + (f", at {self.size[0]} x {self.size[1]}" if self.size else "")


class Decoder(ABC):
    """From the outputs of a net, or of the nets of a cascade, to Detections.

    A decoder is a class of its own file. Its `signs` say by what it is recognised; `build` makes one for nets.
    """

    NAME: ClassVar[str]  # what --as calls it
    TITLE: ClassVar[str]  # what it reads, in a few words
    SETTINGS: ClassVar[Settings] = Settings()
    NAMES: ClassVar[Mapping[int, str]] = {}  # of the classes, where all nets of the kind have the same
    KIND: ClassVar[str] = "boxes"  # that of its Detections
    CASCADE: ClassVar[bool] = False  # whether it takes several nets

    nets: Sequence[Net]
    settings: Settings

    @classmethod
    @abstractmethod
    def signs(cls, nets: Sequence[Net]) -> dict[str, bool]:
        """By what the decoder is recognised: {what there must be, in words: whether the nets have it}."""

    @classmethod
    @abstractmethod
    def build(cls, nets: Sequence[Net]) -> Decoder:
        """The decoder of these nets.

        Raises ModelError that says what is missing, where it cannot read them.
        """

    @classmethod
    def recognises(cls, nets: Sequence[Net]) -> bool:
        """Whether all signs are there."""
        return all(cls.signs(nets).values())

    @property
    def suppresses(self) -> bool:
        """Whether `overlap` has a meaning: the decoder, or a layer of its net, leaves out boxes that overlap better ones."""
        return self.SETTINGS.overlap is not None

    @property
    def names(self) -> Mapping[int, str]:
        """{class_id: class_name}, as far as the decoder knows them."""
        return self.NAMES

    @property
    def classes(self) -> int | None:
        """How many classes the detections have, the background included; None where that is not known."""
        return None

    @abstractmethod
    def detect(self, pixels: Numpy, settings: Settings) -> Detections:
        """The detections of a picture, pixels (H, W) or (H, W, 3), uint8 in RGB order; not yet sorted."""

    def batch(self, pictures: Sequence[Numpy], settings: Settings) -> list[Detections]:
        """The detections of several pictures."""
        return [self.detect(pixels, settings) for pixels in pictures]


class OneNet(Decoder):
    """A decoder of one net with one picture as its input."""

    def __init__(self, net: Net, blobs: Sequence[str]) -> None:
        self.net, self.nets = net, [net]
        self.blobs = tuple(blobs)
        self.settings = self.SETTINGS

    def inputs(self, pixels: Numpy, settings: Settings) -> dict[str, Numpy]:
        """The net's input for a picture, stretched to the input's size or to the settings'."""
        name, channels, width, height = picture_input(self.net, settings.size)
        return {name: prepare(pixels, channels, width, height, settings)}

    @abstractmethod
    def read(self, values: dict[str, Numpy], shape: tuple[int, int], settings: Settings) -> Detections:
        """The detections of the net's outputs for one picture of shape (height, width)."""

    def run(self, inputs: dict[str, Any], settings: Settings) -> dict[str, Numpy]:
        """The outputs of a pass of the net."""
        return self.net.forward(self.blobs, **inputs)

    def detect(self, pixels: Numpy, settings: Settings) -> Detections:
        values = self.run(self.inputs(pixels, settings), settings)
        return self.read(values, (pixels.shape[0], pixels.shape[1]), settings)

    def part(self, values: dict[str, Numpy], index: int, count: int) -> dict[str, Numpy] | None:
        """Of the outputs for a batch of `count` pictures those of one; None where the outputs are not so many, as of a net
        whose Reshape layers fix the number."""
        if any(len(value) != count for value in values.values()):
            return None
        return {name: value[index : index + 1] for name, value in values.items()}

    def batch(self, pictures: Sequence[Numpy], settings: Settings) -> list[Detections]:
        """One pass of the net where all inputs have one shape and the net takes several, else one for each picture."""
        if len(pictures) < 2:
            return super().batch(pictures, settings)
        inputs = [self.inputs(pixels, settings) for pixels in pictures]
        same = len({tuple(v.shape for v in each.values()) for each in inputs}) == 1 and len(inputs[0]) == 1
        if not same:
            return super().batch(pictures, settings)
        joined: dict[str, Any] = {name: np.concatenate([each[name] for each in inputs]) for name in inputs[0]}
        try:
            values = self.run(joined, settings)
        except LayerError:  # a layer that is made for one picture
            return super().batch(pictures, settings)
        wanted = {name: values[name] for name in self.blobs}
        parts = [self.part(wanted, i, len(pictures)) for i in range(len(pictures))]
        if any(part is None for part in parts):
            return super().batch(pictures, settings)
        return [
            self.read(part, (pixels.shape[0], pixels.shape[1]), settings)
            for part, pixels in zip(parts, pictures)
            if part is not None
        ]


def prepare(
    pixels: Numpy, channels: int, width: int, height: int, settings: Settings,
    factors: tuple[float, float] | None = None,
) -> Numpy:  # fmt: skip
    """Pixels as an input (1, channels, height, width)."""
    return input_values(
        pixels,
        channels,
        width,
        height,
        mean=settings.mean,
        scale=settings.scale,
        swap_rb=settings.swap_rb,
        factors=factors,
    )


def prepare_crops(crops: Numpy, settings: Settings) -> Numpy:
    """Pictures (N, H, W, C) of one size, in the net's order of channels, as an input (N, C, H, W); of a net that sees several
    crops at once C is a multiple of 3, and each has the mean."""
    values = crops.transpose(0, 3, 1, 2)
    if settings.mean is not None:
        mean = mean_array(settings.mean, 3, crops.shape[2], crops.shape[1])
        values = values - np.tile(mean, (crops.shape[3] // len(mean), 1, 1))
    return np.asarray(values * np.float32(settings.scale))


def letterbox(pixels: Numpy, width: int, height: int) -> tuple[Numpy, float]:
    """The picture, enlarged or shrunk so that it fits, in the top left corner of a black one of width x height, uint8; and by
    how much it is enlarged."""
    scale = min(width / pixels.shape[1], height / pixels.shape[0])
    wide, high = (
        min(max(1, round(side * scale)), most) for side, most in ((pixels.shape[1], width), (pixels.shape[0], height))
    )
    source = pixels.reshape(*pixels.shape[:2], -1)
    result = np.zeros((height, width, source.shape[2]), np.uint8)
    result[:high, :wide] = resize(source, wide, high, (scale, scale)).round().clip(0, 255)
    return result.reshape(height, width, *pixels.shape[2:]), scale


def picture_input(
    net: Net, size: tuple[int, int] | None = None, others: Sequence[str] = ()
) -> tuple[str, int, int, int]:
    """The name, channels, width and height of the net's only picture; `others` are inputs that are none.

    Raises ModelError for a net without an Input layer or with other inputs.
    """
    if not net.inputs:
        raise ModelError(f"net {net.name!r} has no Input layer: give the deploy.prototxt, not the one for training")
    shapes = {name: net.blobs[name].shape for name in net.inputs}
    pictures = [name for name in net.inputs if name not in others]
    if len(pictures) != 1 or len(shapes[pictures[0]]) != 4:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ModelError(
            "detection needs a net whose only input is a picture (N, C, H, W), or a picture and im_info; this one's are: "
            f"{listed}"
        )
    name = pictures[0]
    _, channels, height, width = shapes[name]
    width, height = size or (width, height)
    if min(width, height) < 1:
        raise ModelError(f"input {name!r} is {width} pixels wide and {height} high; give a size")
    return name, channels, width, height


def shape_of(net: Net, name: str) -> tuple[int, ...]:
    """The shape of a blob."""
    return tuple(net.blobs[name].shape)


def producer(net: Net, blob: str) -> Layer | None:
    """The last layer that writes a blob, None for an input."""
    makers = [layer for layer, (_, tops) in zip(net.layers, net.names) if blob in tops]
    return makers[-1] if makers and makers[-1].type != "Input" else None


def single(nets: Sequence[Net], name: str) -> Net:
    """The only net. Raises ModelError where there are several."""
    if len(nets) != 1:
        raise ModelError(f"the decoder {name} reads one net, got {len(nets)}; name its prototxt and weights")
    return nets[0]


def in_roles(nets: Sequence[Net], roles: Sequence[tuple[int, int, list[int]]]) -> list[Net | None]:
    """The first net for each role of a cascade: the side and the channels of its one input, and the widths of its outputs."""
    result: list[Net | None] = [None] * len(roles)
    for net in nets:
        shape = shape_of(net, net.inputs[0]) if len(net.inputs) == 1 else ()
        widths = sorted(shape_of(net, name)[1] for name in net.outputs if len(shape_of(net, name)) > 1)
        for role, (side, channels, wanted) in enumerate(roles):
            if shape[1:] == (channels, side, side) and widths == wanted and result[role] is None:
                result[role] = net
    return result


def sigmoid(x: Numpy) -> Numpy:
    """The logistic function, without overflow."""
    return np.asarray(1 / (1 + exp(-np.asarray(x))))


def softmax(x: Numpy, axis: int = -1) -> Numpy:
    """exp(x) over its sum."""
    raised = exp(x - x.max(axis, keepdims=True))
    return np.asarray(raised / raised.sum(axis, keepdims=True))
