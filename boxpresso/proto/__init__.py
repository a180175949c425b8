"""Prototxt and its messages: one schema for all dialects of Caffe, and the text reader that real files need.

    net = read_net("deploy.prototxt")      # any age, any fork; upgraded to today's form
    print(to_text(net))

`parse_text` reads a text as it is written; `parse_net`, `read_net`, `parse_solver`, `read_solver` also upgrade it.
"""

from __future__ import annotations

import os
from pathlib import Path

from .boxpresso_pb2 import (
    TEST,
    TRAIN,
    AnnotatedDatum,
    BlobProto,
    BlobProtoVector,
    BlobShape,
    Datum,
    FillerParameter,
    LabelMap,
    LayerParameter,
    NetParameter,
    NetState,
    NetStateRule,
    ParamSpec,
    SolverParameter,
    SolverState,
    TransformationParameter,
    V0LayerParameter,
    V1LayerParameter,
)
from .errors import (
    BoxpressoError,
    BoxpressoWarning,
    DeviceError,
    KernelError,
    LayerError,
    ModelError,
    nearest,
)
from .text import parse_text, to_text
from .upgrade import upgrade_net, upgrade_solver

__all__ = [
    "TEST",
    "TRAIN",
    "AnnotatedDatum",
    "BlobProto",
    "BlobProtoVector",
    "BlobShape",
    "BoxpressoError",
    "BoxpressoWarning",
    "Datum",
    "DeviceError",
    "FillerParameter",
    "KernelError",
    "LabelMap",
    "LayerError",
    "LayerParameter",
    "ModelError",
    "NetParameter",
    "NetState",
    "NetStateRule",
    "ParamSpec",
    "SolverParameter",
    "SolverState",
    "TransformationParameter",
    "V0LayerParameter",
    "V1LayerParameter",
    "nearest",
    "parse_net",
    "parse_solver",
    "parse_text",
    "read_net",
    "read_solver",
    "to_text",
    "upgrade_net",
    "upgrade_solver",
]


def parse_net(text: str | bytes, *, strict: bool = False, source: str = "<string>") -> NetParameter:
    """The net that a prototxt describes, upgraded to today's form; `source` names it in errors.

    ModelError: the text is no prototxt, or (`strict`) has fields that no known dialect has. Without `strict` those are
    skipped with one BoxpressoWarning.
    """
    return upgrade_net(parse_text(text, NetParameter(), strict=strict, source=source), source=source)


def read_net(path: str | os.PathLike[str], *, strict: bool = False) -> NetParameter:
    """`parse_net` of a file."""
    return parse_net(_read(path), strict=strict, source=os.fspath(path))


def parse_solver(text: str | bytes, *, strict: bool = False, source: str = "<string>") -> SolverParameter:
    """The solver that a prototxt describes, `solver_type` upgraded to `type`; nets inside it are upgraded too."""
    return upgrade_solver(parse_text(text, SolverParameter(), strict=strict, source=source), source=source)


def read_solver(path: str | os.PathLike[str], *, strict: bool = False) -> SolverParameter:
    """`parse_solver` of a file."""
    return parse_solver(_read(path), strict=strict, source=os.fspath(path))


def _read(path: str | os.PathLike[str]) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise ModelError(f"cannot read {os.fspath(path)}: {error.strerror or error}") from error
