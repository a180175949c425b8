"""Prototxt and its messages: one schema for all dialects of Caffe, and the text reader that real files need.

    net = read_net("deploy.prototxt")      # any age, any fork; upgraded to today's form
    print(to_text(net))

`parse_text` reads a text as it is written; `parse_net`, `read_net`, `parse_solver`, `read_solver` also upgrade it.
"""

from __future__ import annotations

import os

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
from .reading import read_file
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
    """The net that a prototxt describes, upgraded to today's form.

    Parameters
    ----------
    strict : whether a field that no known dialect has is an error; otherwise such fields are skipped with one
        BoxpressoWarning.
    source : the name of the text in errors.

    Raises
    ------
    ModelError: the text is not a prototxt of a net.

    Examples
    --------
    >>> net = parse_net('layers { name: "r" type: RELU bottom: "x" top: "y" }')
    >>> net.layer[0].type
    'ReLU'
    """
    return upgrade_net(parse_text(text, NetParameter(), strict=strict, source=source), source=source)


def read_net(path: str | os.PathLike[str], *, strict: bool = False) -> NetParameter:
    """The net that a prototxt file describes, upgraded to today's form.

    Parameters
    ----------
    strict : as `parse_net` has it.

    Raises
    ------
    ModelError: the file cannot be read or is not a prototxt of a net; the message says what it is.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "net.prototxt")
    ...     _ = path.write_text('name: "LeNet" layer { name: "relu" type: "ReLU" }')
    ...     read_net(path).name
    'LeNet'
    """
    return parse_net(read_file(path, "text_bytes"), strict=strict, source=os.fspath(path))


def parse_solver(text: str | bytes, *, strict: bool = False, source: str = "<string>") -> SolverParameter:
    """The solver that a prototxt describes, `solver_type` upgraded to `type`; nets inside it are upgraded too.

    Parameters
    ----------
    strict, source : as `parse_net` has them.

    Raises
    ------
    ModelError: the text is not a prototxt of a solver.

    Examples
    --------
    >>> solver = parse_solver("base_lr: 0.5 solver_type: ADAM")
    >>> solver.base_lr, solver.type
    (0.5, 'Adam')
    """
    return upgrade_solver(parse_text(text, SolverParameter(), strict=strict, source=source), source=source)


def read_solver(path: str | os.PathLike[str], *, strict: bool = False) -> SolverParameter:
    """The solver that a prototxt file describes; see `parse_solver`.

    Raises
    ------
    ModelError: the file cannot be read or is not a prototxt of a solver; the message says what it is.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "solver.prototxt")
    ...     _ = path.write_text('net: "net.prototxt" max_iter: 10')
    ...     read_solver(path).max_iter
    10
    """
    return parse_solver(read_file(path, "text_bytes"), strict=strict, source=os.fspath(path))
