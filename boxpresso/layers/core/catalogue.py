"""The documentation of a layer type, from its class, its docstring and the schema: `boxpresso layers [TYPE]`."""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ...proto import LayerParameter, ModelError, nearest, parse_text
from .layer import REGISTRY, Arity, Layer
from .registry import discover
from .traits import Trait

SCHEMA = Path(__file__).parents[2] / "proto" / "boxpresso.proto"
_FIELD = re.compile(r"(optional|repeated) ([\w.]+) (\w+) = \d+ *(?:\[(.*?)\])?;(?: *// *(.*))?")


class Field(NamedTuple):
    """One field of a parameter message: `label` is optional or repeated, `default` and `about` may be empty."""

    label: str
    type: str
    name: str
    default: str
    about: str
    fork: bool  # not in BVLC Caffe or SSD


def parameter_names(type: str) -> tuple[str, ...]:
    """The messages of a LayerParameter that layers of a type read.

    The one that is named after the type comes first (PoolingParameter for Pooling), then those that the class of the
    layer declares. An unknown type has at most the first.

    >>> parameter_names("Deconvolution")
    ('convolution_param',)
    """
    discover()
    fields = LayerParameter.DESCRIPTOR.fields_by_name
    own = [name for name, f in fields.items() if f.message_type and is_named(f.message_type.name, type)]
    cls = REGISTRY.get(type.lower())
    return tuple(dict.fromkeys([*own, *(cls.messages if cls else ())]))


def is_named(message: str, type: str) -> bool:
    """Whether a message has the name of a layer type, in any case: PReLUParameter for "prelu"."""
    return message.lower() == f"{type}Parameter".lower()


@cache
def message_fields(message: str) -> tuple[str, tuple[Field, ...]]:
    """The comment of a message of the schema, and its fields with their comments, read from boxpresso.proto."""
    match = re.search(rf"((?:^//[^\n]*\n)*)^message {message} \{{\n(.*?)^\}}", schema(), re.DOTALL | re.MULTILINE)
    if match is None:
        raise ModelError(f"boxpresso.proto has no message {message!r}")
    fields, above, fork, depth = [], "", False, 0
    for line in match[2].splitlines():
        line = line.strip()
        if depth or re.match(r"(enum|message|oneof)\b", line):
            depth += line.count("{") - line.count("}")
            continue
        field = _FIELD.match(line)
        if field:
            default = re.search(r"\bdefault = (\"[^\"]*\"|[^,]+)", field[4] or "")
            about = "" if fork else field[5] or above
            fields.append(Field(field[1], field[2], field[3], default[1] if default else "", about, fork))
            above = ""
        elif line.startswith("// Added by forks"):
            fork = True
        elif line.startswith("//"):
            above = f"{above} {line[2:].strip()}".strip()
    return " ".join(line[2:].strip() for line in match[1].splitlines()), tuple(fields)


@cache
def schema() -> str:
    """The text of boxpresso.proto."""
    return SCHEMA.read_text(encoding="utf-8")


def layer_types() -> list[type[Layer]]:
    """Every registered layer class, sorted by name."""
    discover()
    return sorted(set(REGISTRY.values()), key=lambda cls: cls.type.lower())


def table() -> str:
    """All types, one line each."""
    rows = [(", ".join(cls.types), summary(cls)) for cls in layer_types()]
    width = max(len(names) for names, _ in rows if len(names) < 32)
    return "\n".join(f"{names:{width}}  {about}" for names, about in rows)


def summary(cls: type[Layer]) -> str:
    """The first sentence of the docstring of the layer's file, or else of its class."""
    text = sys.modules[cls.__module__].__doc__ or cls.__doc__ or ""
    text = " ".join(text.split("\n\n")[0].split())
    named = re.match(rf"(?:{'|'.join(cls.types)}): ", text, re.IGNORECASE)
    return re.split(r"(?<=\.) ", text[named.end() if named else 0 :])[0]


def describe(type: str) -> str:
    """One layer type in full: its docstring, how many bottoms and tops, its parameters with defaults, and an example.

    Raises ModelError for an unknown type, with the nearest one.
    """
    discover()
    cls = REGISTRY.get(type.lower())
    if cls is None:
        names = [name for known in layer_types() for name in known.types]
        hint = nearest(type, names) or "."
        raise ModelError(f"no layer has the type {type!r}{hint} `boxpresso layers` lists all")
    parts = [", ".join(cls.types), "", textwrap.indent(inspect.cleandoc(cls.__doc__ or summary(cls)), "  "), ""]
    parts += [
        f"bottoms: {count(cls.bottoms)}",
        f"tops: {count(cls.tops)}{' (or none: one is added)' if Trait.LOSS in cls.traits else ''}",
    ]
    parts += ["may work in place"] if cls.in_place else []
    parts += (
        ["is a loss: its first top counts with a weight of 1 unless loss_weight says otherwise"]
        if Trait.LOSS in cls.traits
        else []
    )
    for name in parameter_names(cls.type):
        parts += ["", parameters(name)]
    return "\n".join([*parts, "", "example:", textwrap.indent(example(cls), "  ")])


def parameters(name: str) -> str:
    """The fields of one message: those of Caffe with their meaning, then the names of those that forks added."""
    message = LayerParameter.DESCRIPTOR.fields_by_name[name].message_type
    about, fields = message_fields(message.name)
    rows = []
    for f in fields:
        if not f.fork:
            enum = message.fields_by_name[f.name].enum_type
            notes = [f.about, "|".join(v.name for v in enum.values) if enum else ""]
            type = f"{f.type.rpartition('.')[2]}{' ..' if f.label == 'repeated' else ''}"
            rows.append((f.name, type, f.default and f"= {f.default}", "; ".join(filter(None, notes))))
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(3)]
    lines = [f"{name}{': ' if about else ''}{about}"]
    lines += ["  " + "  ".join([*(f"{cell:{w}}" for cell, w in zip(row, widths)), row[3]]).rstrip() for row in rows]
    forks = " ".join(f.name for f in fields if f.fork)
    if forks:
        lines += textwrap.wrap(
            f"of forks, not all of them supported: {forks}", 116, initial_indent="  ", subsequent_indent="    "
        )
    return "\n".join(lines)


def count(arity: Arity) -> str:
    """An arity in words.

    >>> count(2), count((1, 3)), count((1, None)), count(None)
    ('2', '1 to 3', '1 or more', 'any number')
    """
    if arity is None:
        return "any number"
    low, high = (arity, arity) if isinstance(arity, int) else arity
    return str(low) if low == high else f"{low} or more" if high is None else f"{low} to {high}"


def example(cls: type[Layer]) -> str:
    """A prototxt of one such layer, with the parameters that its docstring shows."""
    low, high = (arity if isinstance(arity, tuple) else (arity, arity) for arity in (cls.bottoms, cls.tops))
    bottoms, tops = low[0] or 0, max(high[0] or 0, int(high[0] is None or Trait.LOSS in cls.traits))
    lines = [f'name: "{cls.type.lower()}"', f'type: "{cls.type}"']
    lines += [f'bottom: "{name}"' for name in names("in", bottoms)] + [f'top: "{name}"' for name in names("out", tops)]
    shown = shown_parameters(cls)
    return "\n".join(["layer {", *(f"  {line}" for line in lines), *([f"  {shown}"] if shown else []), "}"])


def names(stem: str, number: int) -> list[str]:
    """Names of blobs for an example: in, or in1, in2 and so on."""
    return [stem] if number == 1 else [f"{stem}{i + 1}" for i in range(number)]


def shown_parameters(cls: type[Layer]) -> str:
    """The first `*_param { .. }` of the docstring that reads as prototxt, on one line, or nothing."""
    text = " ".join((cls.__doc__ or "").split())
    for match in re.finditer(r"\b\w+_param \{", text):
        depth, end = 1, match.end()
        while depth and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        try:
            parse_text(text[match.start() : end], LayerParameter(), strict=True)
        except ModelError:
            continue
        return text[match.start() : end]
    return ""
