"""Well-known public caffemodels, recognised by their layers: what each expects as input, and where it is published.

The table is known_models.json; docs/models.md shows it. A fact that is not known is null there, and None here. A
fingerprint is the set of the layers with weights of two or more dimensions (convolutions, inner products), each by
its name and the shape of its weights: whether BatchNorm is folded, how the input is called, and whether a net is for
training or for deployment makes no difference to it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Union

from ..net import Net
from ..net.weights import Weights, read_weights

TABLE = Path(__file__).with_name("known_models.json")
DIGITS = 6  # hexadecimal ones of the hash of a layer
EXTRA = 0.25  # a net with more layers than this share of others is not the model itself, but made from it
VARIANT = 0.6  # the share of common layers, of all, from which on a net is a variant of a model
ORDERS = {"BGR": "blue, green, red", "RGB": "red, green, blue", "grey": "grey", "L": "lightness (Lab)"}


@dataclass(frozen=True)
class KnownModel:
    """One public model; None is unknown.

    Attributes
    ----------
    name, title
        A short name, and what it is.
    family, decoder
        What kind of net it is, and the decoder that reads its outputs.
    mean, scale, order
        The input is (pixel - mean) * scale, with the mean of each channel in the order of the net's channels, and the order
        BGR, RGB or grey (L: the lightness of Lab).
    size
        (width, height) of the input.
    labels
        The name of a list in the table, or the names of the classes, without the background.
    published, licence, source
        Where the model is published, under which licence, and where its preprocessing is documented.
    note
        What else a user must know.
    anchors
        Of YOLO's raw maps: widths and heights in turn, in pixels of the input, of the finest map first.
    code, shapes
        The fingerprint: hashes of layers, one after another, and one hash of the shapes of all weights without names.
    """

    name: str
    title: str
    family: str
    decoder: str | None
    mean: tuple[float, ...] | None
    scale: float | None
    order: str | None
    size: tuple[int, int] | None
    labels: str | tuple[str, ...] | None
    published: str | None
    licence: str | None
    source: str | None
    note: str | None
    code: str = field(repr=False)
    shapes: str = field(repr=False)
    anchors: tuple[float, ...] | None = None

    @cached_property
    def layers(self) -> frozenset[str]:
        """The hashes of its layers."""
        return frozenset(self.code[i : i + DIGITS] for i in range(0, len(self.code), DIGITS))

    @property
    def class_names(self) -> tuple[str, ...]:
        """The names of the classes without the background; empty where the table does not list them."""
        if isinstance(self.labels, str):
            return label_sets().get(self.labels, ())
        return self.labels or ()

    def settings(self) -> dict[str, Any]:
        """What is known, as the arguments `mean`, `scale`, `swap_rb`, `size` and `anchors` of a `Detector`.

        >>> known_models()["mobilenet-ssd"].settings()
        {'mean': (127.5, 127.5, 127.5), 'scale': 0.007843, 'swap_rb': False, 'size': (300, 300)}
        """
        known: dict[str, Any] = {"mean": self.mean, "scale": self.scale, "size": self.size, "anchors": self.anchors}
        known["swap_rb"] = None if self.order not in ("BGR", "RGB") else self.order == "RGB"
        names = ("mean", "scale", "swap_rb", "size", "anchors")
        return {name: known[name] for name in names if known[name] is not None}

    def describe(self) -> str:
        """What the input is, in words.

        >>> known_models()["mobilenet-ssd"].describe()
        '(pixel - 127.5) * 0.007843, blue, green, red, 300 x 300'
        """
        return f"{self.pixels()}, {f'{self.size[0]} x {self.size[1]}' if self.size else 'the size of the prototxt'}"

    def pixels(self) -> str:
        """What is known of the pixels, in words."""
        if self.mean is None:
            pixel = "pixel - mean (unknown)"
        elif any(self.mean):
            pixel = f"pixel - {','.join(f'{m:g}' for m in (self.mean if len(set(self.mean)) > 1 else self.mean[:1]))}"
        else:
            pixel = "pixel"
        if self.scale is None:
            pixel = f"({pixel}) * scale (unknown)"
        elif self.scale != 1:
            pixel = f"({pixel}) * {self.scale:.6g}" if " " in pixel else f"{pixel} * {self.scale:.6g}"
        return f"{pixel}, {ORDERS.get(self.order or '', 'unknown order of channels')}"


@dataclass(frozen=True)
class Recognition:
    """A known model that a net is, or is made from, and the evidence.

    Attributes
    ----------
    model
        The entry of the table.
    kind
        "same", "variant" (some layers differ, as after training for other classes), "renamed" (the shapes of all weights are
        the same, names of layers differ), or "part" (a file of weights has the layers of several nets).
    matching, missing, others
        The names of the net's layers that the model has too, how many of the model's it lacks, and names that only it has.
    """

    model: KnownModel
    kind: str
    matching: tuple[str, ...]
    missing: int
    others: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether it is the model itself, so that its labels are right too."""
        return self.kind != "variant"

    @property
    def alike(self) -> tuple[str, ...]:
        """The names of the models with this fingerprint: some were trained on other data."""
        return tuple(model.name for model in known_models().values() if model.layers == self.model.layers)

    def evidence(self) -> str:
        """How much of the net matches, in words."""
        whole = len(self.model.layers)
        if self.kind == "part":
            return f"the file has all its {whole} layers with weights, and {len(self.others)} of other nets"
        if self.kind == "renamed":
            return f"the weights of all {whole} layers have its shapes, under other names"
        if not self.missing and not self.others:
            return f"all {whole} layers with weights match"
        more = f", {len(self.others)} of the net are not in it" if self.others else ""
        return f"{whole - self.missing} of {whole} layers with weights match{more}"

    def explain(self) -> list[str]:
        """The evidence in full, for `--explain`."""
        model = self.model
        lines = [f"recognised: {model.title} ({' or '.join(self.alike)}), {self.evidence()}"]
        if self.kind == "variant":
            lines.append("  it is a variant: input as for that model, labels unknown")
        for label, names in (("matching", self.matching), ("not in it", self.others)):
            if names:
                more = f" and {len(names) - 8} more" if len(names) > 8 else ""
                lines.append(f"  {label}: {', '.join(names[:8])}{more}")
        lines.append(f"  input: {model.describe()}")
        lines.append(f"  documented at {model.source or 'unknown'}")
        lines.append(f"  published at {model.published or 'unknown'}, licence {model.licence or 'unknown'}")
        if model.note:
            lines.append(f"  note: {model.note}")
        return lines


Layers = Sequence[tuple[str, tuple[int, ...]]]  # the name of each layer and the shape of its weights


@cache
def table() -> dict[str, Any]:
    """The table as it is in the file."""
    result: dict[str, Any] = json.loads(TABLE.read_text(encoding="utf-8"))
    return result


def label_sets() -> dict[str, tuple[str, ...]]:
    """{name of a list: the names of its classes}."""
    return {name: tuple(names) for name, names in table()["labels"].items()}


@cache
def known_models() -> dict[str, KnownModel]:
    """All models of the table by their short names.

    >>> known_models()["lenet"].size
    (28, 28)
    """
    result = {}
    for row in table()["models"]:
        values = {**row, "code": row["layers"]}
        del values["layers"]
        for name in ("mean", "size", "labels", "anchors"):
            if isinstance(values.get(name), list):
                values[name] = tuple(values[name])
        result[values["name"]] = KnownModel(**values)
    return result


def recognise(source: Net | Weights | str | os.PathLike[str]) -> Recognition | None:
    """Which known model a net or a file of weights is.

    Parameters
    ----------
    source
        A Net, what `read_weights` gives, or the path of a .caffemodel or .h5.

    Returns
    -------
    Recognition or None
        None where no model of the table has enough of its layers.

    Raises
    ------
    ModelError
        For a path that is not a file of weights.
    """
    layers = layers_of(source)
    hashes = {hashed(name, shape): name for name, shape in layers}
    if not hashes:
        return None
    nearest_model = max(known_models().values(), key=lambda model: likeness(model, hashes.keys()))
    common = nearest_model.layers & hashes.keys()
    others = [name for key, name in hashes.items() if key not in common]
    missing = len(nearest_model.layers) - len(common)
    matching = tuple(name for key, name in hashes.items() if key in common)
    if not missing and len(others) <= EXTRA * len(nearest_model.layers):
        return Recognition(nearest_model, "same", matching, 0, tuple(others))
    if likeness(nearest_model, hashes.keys())[0] >= VARIANT:
        return Recognition(nearest_model, "variant", matching, missing, tuple(others))
    digest = digest_of_shapes(shape for _, shape in layers)
    renamed = next((model for model in known_models().values() if model.shapes == digest), None)
    if renamed is not None:
        return Recognition(renamed, "renamed", (), 0, ())
    if isinstance(source, Net):
        return None
    whole = max(known_models().values(), key=lambda model: len(model.layers) * (model.layers <= hashes.keys()))
    if not whole.layers <= hashes.keys():
        return None
    matching = tuple(name for key, name in hashes.items() if key in whole.layers)
    return Recognition(whole, "part", matching, 0, tuple(n for key, n in hashes.items() if key not in whole.layers))


def likeness(model: KnownModel, hashes: Iterable[str]) -> tuple[float, float]:
    """The share of common layers among all of a model and a net, and among the model's own."""
    own = set(hashes)
    if not any(each in model.code for each in own):  # of most models
        return 0.0, 0.0
    common = len(model.layers & own)
    return common / len(model.layers | own), common / len(model.layers)


def layers_of(source: Union[Net, Weights, str, os.PathLike[str]]) -> Layers:
    """The layers with weights of two or more dimensions, and the shapes of these without leading ones."""
    if isinstance(source, Net):
        rows = [(name, tuple(blobs[0].shape)) for name, blobs in source.params.items() if blobs]
    else:
        weights = source if isinstance(source, Weights) else read_weights(source)
        rows = [
            (layer.name, tuple(layer.blobs[0].shape))
            for layer in weights.layers
            if layer.blobs and layer.blobs[0] is not None
        ]
    return [(name, shape) for name, shape in ((name, bare(shape)) for name, shape in rows) if len(shape) > 1]


def bare(shape: Sequence[int]) -> tuple[int, ...]:
    """A shape without leading ones: old files store a matrix as (1, 1, rows, columns).

    >>> bare((1, 1, 10, 500)), bare((1, 1, 1, 20))
    ((10, 500), (20,))
    """
    start = next((i for i, size in enumerate(shape) if size != 1), len(shape))
    return tuple(int(size) for size in shape[start:])


def hashed(name: str, shape: Sequence[int]) -> str:
    """The hash of a layer.

    >>> hashed("conv1", (20, 1, 5, 5))
    '9adc91'
    """
    return digest(f"{name} {'x'.join(map(str, shape))}")


def digest_of_shapes(shapes: Iterable[Sequence[int]]) -> str:
    """One hash of the shapes of all weights, in any order."""
    return digest(str(sorted(Counter("x".join(map(str, shape)) for shape in shapes).items())), 12)


def digest(text: str, digits: int = DIGITS) -> str:
    """The first hexadecimal digits of the BLAKE2 hash of a text."""
    return hashlib.blake2b(text.encode()).hexdigest()[:digits]


def fingerprint(source: Net | Weights | str | os.PathLike[str]) -> dict[str, str]:
    """`layers` and `shapes` of an entry of the table, for a new one."""
    layers = layers_of(source)
    hashes = "".join(sorted({hashed(name, shape) for name, shape in layers}))
    return {"layers": hashes, "shapes": digest_of_shapes(shape for _, shape in layers)}
