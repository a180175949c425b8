"""What `boxpresso quantize` keeps of a net in its weights: ranges of values, and which layers run in 8 bits."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..layers.core import Layer
from ..layers.core.lowering import Same
from ..proto import LayerParameter
from ..proto.errors import ModelError
from .graph import Plan, Source, Value, plain
from .passes import in_int8

MARK = "boxpresso quantize"  # the layer of a .caffemodel, without blobs, whose type is the JSON of a Quantization
FORMAT = 1
INT8, FLOAT32 = "int8", "float32"
MOST = float(np.finfo(np.float32).max)
Range = tuple[float, float]
# Fields of a layer that decide neither what it computes nor from what.
OTHER = ("name", "bottom", "top", "param", "blobs", "include", "exclude", "phase", "loss_weight", "propagate_down")


@dataclass(frozen=True)
class LayerNote:
    """A layer that computes sums.

    Attributes
    ----------
    kind
        "int8" or "float32": how it runs.
    why
        Why it stays in float, in a few words; "" in 8 bits.
    error
        How far the net's outputs move when it alone is in 8 bits: the distance of the outputs over their size.
    times
        Its milliseconds in float and in 8 bits where it was measured.
    """

    kind: str
    why: str = ""
    error: float = math.nan
    times: tuple[float, float] | None = None


@dataclass(frozen=True)
class Quantization:
    """Ranges and choices for a net.

    Attributes
    ----------
    ranges
        {layer: the least and the largest number of each of its tops, as it writes them}.
    layers
        {layer: LayerNote} of those that can run in 8 bits.
    means
        {layer: the mean of each channel of each of its tops}, where biases are corrected by them; empty where they are not.
    maxima
        {layer: the largest number of each channel of each of its tops}, where channels have steps of their own; else empty.
    weights, fields
        {layer: a sum over its parameters, or over its fields}: by which another net, or a changed one, is seen.
    notes
        What else a reader may want to know: settings, accuracy and times of the whole.
    """

    ranges: Mapping[str, Sequence[Range]]
    layers: Mapping[str, LayerNote]
    weights: Mapping[str, int] = field(default_factory=dict)
    fields: Mapping[str, int] = field(default_factory=dict)
    notes: Mapping[str, Any] = field(default_factory=dict)
    means: Mapping[str, Sequence[Sequence[float]]] = field(default_factory=dict)
    maxima: Mapping[str, Sequence[Sequence[float]]] = field(default_factory=dict)

    @property
    def chosen(self) -> list[str]:
        """The layers that run in 8 bits."""
        return [name for name, note in self.layers.items() if note.kind == INT8]

    def with_kinds(self, float32: Mapping[str, str]) -> Quantization:
        """The same with some layers in float, for the reasons given, and the others in 8 bits."""
        notes = {
            name: replace(note, kind=FLOAT32 if name in float32 else INT8, why=float32.get(name, ""))
            for name, note in self.layers.items()
        }
        return replace(self, layers=notes)

    def narrow(self, source: Source, strict: bool = True) -> Callable[[Plan, Source], Plan]:
        """The pass that puts the chosen layers of a net in 8 bits. strict: as `in_int8` takes it."""
        steps = plain(source, ()).steps
        ranges: dict[Value, Any] = {}
        means: dict[Value, Any] = {}
        maxima: dict[Value, Any] = {}
        for i, step in enumerate(steps):
            layer = source.layers[i]
            ranges.update(zip(step.writes, self.ranges.get(layer.name, ())))
            means.update(zip(step.writes, map(tuple, self.means.get(layer.name, ()))))
            maxima.update(zip(step.writes, map(tuple, self.maxima.get(layer.name, ()))))
            same = step.reads and isinstance(layer.lower(source.bottoms[i], source.tops[i]), Same)
            for known in (ranges, means, maxima) if same else ():  # a later part of the net may read its tops
                known.update(dict.fromkeys(step.writes, known[step.reads[0]]) if step.reads[0] in known else {})
        chosen = set(self.chosen)
        numbers = {i for i, layer in enumerate(source.layers) if layer.name in chosen}
        return in_int8(ranges, numbers, means, maxima, strict)

    def check(self, layers: Sequence[Layer], path: str) -> None:
        """Raises ModelError, which names the layer, where this is not of these layers as they are."""
        by_name = {layer.name: layer for layer in layers}
        again = "make them anew with `boxpresso quantize`, or run it with precision='float32'"
        for name in self.chosen:
            if name not in by_name:
                raise ModelError(
                    f"the scales for 8 bits in {path} are of another net: its layer {name!r} is not in this one; {again}"
                )
        for part, sums, sum_of in (("fields", self.fields, fields_of), ("weights", self.weights, weights_of)):
            for layer in (
                by_name[name] for name, total in sums.items() if name in by_name and sum_of(by_name[name]) != total
            ):
                raise ModelError(
                    f"{layer.type} layer {layer.name!r} has other {part} than when the scales for 8 bits in {path} were made; "
                    f"{again}"
                )

    # As text

    def to_text(self) -> str:
        """The JSON that a file holds.

        >>> Quantization.of_text(Quantization({"x": [(0.0, 1.0)]}, {"c": LayerNote("int8")}).to_text(), "here").chosen
        ['c']
        """
        notes = {
            name: {
                "kind": note.kind,
                **({"why": note.why} if note.why else {}),
                **({"error": note.error} if math.isfinite(note.error) else {}),
                **({"ms": list(note.times)} if note.times else {}),
            }
            for name, note in self.layers.items()
        }
        whole = {
            "format": FORMAT, "layers": notes, "ranges": {name: [list(r) for r in each] for name, each in self.ranges.items()},
            "weights": dict(self.weights), "fields": dict(self.fields), "notes": dict(self.notes),
            **{
                key: {name: list(map(list, each)) for name, each in numbers.items()}
                for key, numbers in (("means", self.means), ("maxima", self.maxima))
                if numbers
            },
        }  # fmt: skip
        return json.dumps(whole, allow_nan=False)

    @classmethod
    def of_text(cls, text: str, path: str) -> Quantization:
        """Reads it; path: of the file that it is from, for errors. Raises ModelError for what is not one."""
        try:
            whole = json.loads(text)
            if whole["format"] != FORMAT:
                raise ModelError(
                    f"{path}: its scales for 8 bits are of format {whole['format']!r}, and this Boxpresso reads {FORMAT}; make "
                    "them anew with `boxpresso quantize`"
                )
            layers = {
                str(name): LayerNote(
                    kind(note["kind"]), str(note.get("why", "")), float(note.get("error", math.nan)),
                    (float(note["ms"][0]), float(note["ms"][1])) if "ms" in note else None,
                )
                for name, note in whole["layers"].items()
            }  # fmt: skip
            ranges = {str(name): [interval(*r) for r in each] for name, each in whole["ranges"].items()}
            weights, fields = ({str(n): int(v) for n, v in whole[which].items()} for which in ("weights", "fields"))
            means, maxima = (
                {str(name): [channels(*numbers) for numbers in each] for name, each in whole.get(key, {}).items()}
                for key in ("means", "maxima")
            )
            return cls(ranges, layers, weights, fields, dict(whole["notes"]), means, maxima)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
            raise ModelError(
                f"{path}: its scales for 8 bits cannot be read ({type(error).__name__}: {error}); make them anew with "
                "`boxpresso quantize`"
            ) from error


def kind(word: str) -> str:
    """A kind of running. Raises ValueError for another word."""
    if word not in (INT8, FLOAT32):
        raise ValueError(f"unknown kind {word!r}")
    return word


def interval(low: Any, high: Any) -> Range:
    """A range. Raises ValueError where it is none of numbers in float32."""
    low, high = float(low), float(high)
    if not -MOST <= low <= high <= MOST:
        raise ValueError(f"no range: from {low} to {high}")
    return low, high


def channels(*numbers: Any) -> list[float]:
    """A number of each channel. Raises ValueError where one is not finite."""
    result = [float(number) for number in numbers]
    if not all(map(math.isfinite, result)):
        raise ValueError("a number of a channel is not finite")
    return result


def weights_of(layer: Layer) -> int:
    """A sum over a layer's parameters and their shapes."""
    total = 0
    for blob in layer.blobs:
        values = np.ascontiguousarray(blob._view(False), "<f4")
        total = zlib.crc32(values.reshape(-1).view(np.uint8).data, zlib.crc32(repr(values.shape).encode(), total))
    return total


def fields_of(layer: Layer) -> int:
    """A sum over the fields that decide what a layer computes."""
    known = LayerParameter()
    known.CopyFrom(layer.param)
    for name in OTHER:
        known.ClearField(name)
    return zlib.crc32(known.SerializeToString(deterministic=True))
