"""The options of `boxpresso new` as a TOML file: read, checked, and written so that a folder can be made again."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..decoders.detections import extra_package
from ..proto.errors import BoxpressoError, nearest
from ..proto.reading import read_file

AUGMENTATION, CLASS_WEIGHTS = "augmentation", "class_weights"  # tables: of the options below, and of a net's classes


def whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def real(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


Check = tuple[str, Callable[[Any], bool]]  # what a value is, in words, and whether one is
OPTIONS: dict[str, Check] = {
    "size": ("a whole number above 0", whole),
    "batch": ("a whole number above 0", whole),
    "iterations": ("a whole number above 0", whole),
    "rate": ("a number above 0", lambda value: real(value) and value > 0),
}
AUGMENTATIONS: dict[str, Check] = {
    "mirror": ("true or false", lambda value: isinstance(value, bool)),
    "distort": ("true or false", lambda value: isinstance(value, bool)),
    "expand": ("a number from 1", lambda value: real(value) and value >= 1),
    "patches": ("a number above 0 and at most 1", lambda value: real(value) and 0 < value <= 1),
    "mosaic": ("a number from 0 to 1", lambda value: real(value) and 0 <= value <= 1),
    "mixup": ("a number from 0 to 1", lambda value: real(value) and 0 <= value <= 1),
}


def read_options(path: str | Path) -> tuple[dict[str, Any], dict[str, Any], dict[str, float]]:
    """The options of a file, those of augmentation, and the weights of classes.

    size, batch, iterations, rate
        As those of the command line.
    [augmentation] mirror, distort
        Whether pictures are mirrored, and their colours changed.
    [augmentation] expand, patches
        How much pictures are shrunk at most, and the smallest part of one that is cut out.
    [augmentation] mosaic, mixup
        How often a picture is made of parts of four, and how often another one lies over it.
    [class_weights] CLASS, ...
        What the loss of objects of a class counts for; of the others 1.

    Raises
    ------
    BoxpressoError
        Where the file cannot be read, for an option that there is not, and for a value of another kind.
    """
    table = parsed(path)
    augmentation, weights = (table.pop(name, {}) for name in (AUGMENTATION, CLASS_WEIGHTS))
    for name, value in ((AUGMENTATION, augmentation), (CLASS_WEIGHTS, weights)):
        if not isinstance(value, dict):
            raise BoxpressoError(f"{path}: {name} is a table, [{name}]; got {value!r}")
    check(path, "", table, OPTIONS)
    check(path, f"{AUGMENTATION}.", augmentation, AUGMENTATIONS)
    check(path, f"{CLASS_WEIGHTS}.", weights, dict.fromkeys(weights, OPTIONS["rate"]))
    return table, augmentation, weights


def parsed(path: str | Path) -> dict[str, Any]:
    """The tables of a TOML file."""
    reader = extra_package("tomllib" if sys.version_info >= (3, 11) else "tomli", "--options")
    try:
        tables: dict[str, Any] = reader.loads(read_file(path).decode("utf-8-sig"))
    except ValueError as error:  # of either, and of a text that is not UTF-8
        raise BoxpressoError(f"{path} is not TOML: {error}") from error
    return tables


def check(path: str | Path, where: str, table: Mapping[str, Any], known: Mapping[str, Check]) -> None:
    """Raises BoxpressoError for a name that is not known, or a value of another kind."""
    for name, value in table.items():
        if name not in known:
            moved = name in AUGMENTATIONS and not where
            there = f"; it belongs into [{AUGMENTATION}]" if moved else nearest(name, known)
            raise BoxpressoError(f"{path}: there is no option {where}{name}{there}")
        meaning, right = known[name]
        if not right(value):
            raise BoxpressoError(f"{path}: {where}{name} is {meaning}, got {value!r}")


def options_text(
    command: str,
    options: Mapping[str, Any],
    augmentation: Mapping[str, Any],
    weights: Mapping[str, float] | None = None,
) -> str:
    """The file of these options; weights: of classes.

    >>> print(options_text("boxpresso new ssd --options options.toml", {"size": 128}, {"mirror": True}), end="")
    # boxpresso new ssd --options options.toml
    size = 128
    <BLANKLINE>
    [augmentation]
    mirror = true
    """

    def lines(table: Mapping[str, Any]) -> str:
        return "".join(f"{name} = {str(value).lower()}\n" for name, value in table.items())

    text = f"# {command}\n{lines(options)}\n[{AUGMENTATION}]\n{lines(augmentation)}"
    if weights:
        quoted = {json.dumps(name, ensure_ascii=False): value for name, value in weights.items()}
        text += f"\n[{CLASS_WEIGHTS}]\n{lines(quoted)}"
    return text
