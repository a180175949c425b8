"""Anchors that a prototxt does not say: from the caller, or from a file beside the model."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Union

import numpy as np

from ..proto import ModelError, NetParameter
from ..proto.binary import read_blob
from ..proto.reading import FilePath, read_file

Numpy = np.ndarray[Any, Any]
Anchors = Union[FilePath, Sequence[Sequence[float]], Numpy, None]

MARK, SIGN = (
    re.compile(r'"|//'),
    re.compile(r'["\\]'),
)  # what begins a quote or a comment; what ends a quote, or escapes


def read_anchors(anchors: Anchors, model: FilePath | NetParameter | None = None) -> Numpy | None:
    """The anchors (A, 4) or (A, 5) that a caller gives, or those of a file beside the model.

    Parameters
    ----------
    anchors
        Rows of numbers; or the path of a .npy file, or of a JSON file: a list of rows, or an object whose "anchors" are such
        a list or a text of numbers with commas, as in the configuration files of makefile/frcnn.
    model
        The path of the net. Without `anchors`, MODEL.anchors.json or MODEL.anchors.npy beside it is read where there is one
        (deploy.anchors.json for deploy.prototxt).

    Returns
    -------
    array or None
        None where there are none.

    Raises
    ------
    ModelError
        For a file that cannot be read, or numbers that are not rows of four (corners) or five (rotated boxes).

    Examples
    --------
    >>> read_anchors([[-84, -40, 99, 55], [-176, -88, 191, 103]]).shape
    (2, 4)
    """
    subject = "anchors"
    if anchors is None:
        if model is None or isinstance(model, (NetParameter, bytes)):
            return None
        stem = Path(os.fspath(model)).with_suffix("")
        paths = [Path(f"{stem}.anchors{suffix}") for suffix in (".json", ".npy")]
        anchors = next((path for path in paths if path.exists()), None)
        if anchors is None:
            return None
    values: Any = anchors
    if isinstance(anchors, (str, os.PathLike)):
        subject = f"the anchors of {os.fspath(anchors)!r}"
        values = read_npy(anchors) if os.fspath(anchors).endswith(".npy") else read_json(anchors)
    try:
        rows = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise ModelError(f"{subject} must be rows of numbers, got {str(values)[:60]}") from None
    if rows.ndim != 2 or rows.shape[1] not in (4, 5) or not len(rows) or not np.isfinite(rows).all():
        raise ModelError(
            f"{subject} must be rows of 4 finite numbers, or 5 for rotated boxes; got the shape {rows.shape}"
        )
    return rows


def read_npy(path: FilePath) -> Numpy:
    """The array of a .npy file; objects are refused."""
    try:
        return read_blob(path)
    except ModelError as error:
        raise ModelError(f"{os.fspath(path)!r} cannot be read as a .npy file: {error}") from None


def without_comments(text: str) -> str:
    """A JSON text without what // begins, but for inside of quotes.

    >>> without_comments('["//", 1] // two')
    '["//", 1] '
    """
    parts, start, at = [], 0, 0
    while mark := MARK.search(text, at):
        if mark[0] == "//":
            parts.append(text[start : mark.start()])
            start = at = len(text) if (end := text.find("\n", mark.end())) < 0 else end
            continue
        at = mark.end()
        while (sign := SIGN.search(text, at)) and sign[0] == "\\":
            at = sign.end() + 1
        at = sign.end() if sign else len(text)
    return "".join([*parts, text[start:]])


def read_json(path: FilePath) -> Any:
    """The anchors of a JSON file, in which // may start a comment and texts may span lines, as makefile/frcnn's do."""
    text = without_comments(read_file(os.fspath(path), "text_bytes").decode("utf-8", "replace"))
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{os.fspath(path)!r} cannot be read as JSON: {error}") from None
    if isinstance(value, dict):
        if "anchors" not in value:
            raise ModelError(f"{os.fspath(path)!r} has no 'anchors'")
        value = value["anchors"]
    if isinstance(value, str):
        numbers = [part for part in re.split(r"[,\s]+", value) if part]
        try:
            flat = [float(number) for number in numbers]
        except ValueError:
            raise ModelError(f"the anchors of {os.fspath(path)!r} are not numbers: {value[:60]!r}") from None
        if len(flat) % 4:
            raise ModelError(f"the anchors of {os.fspath(path)!r} are {len(flat)} numbers, which is no multiple of 4")
        return np.reshape(flat, (-1, 4))
    return value
