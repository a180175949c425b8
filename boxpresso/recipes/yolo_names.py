"""The names of YOLO's classes, in classes.txt, obj.names or data.yaml, and how many key points its objects have."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from ..data.annotations import Files
from ..data.errors import DataError
from ..data.folders import read_names
from ..proto.reading import read_file


def names_files(files: Files) -> list[Path]:
    """The lists of the classes of YOLO, a name in each line."""
    return [path for path in files.ending(".txt", ".names") if path.name in ("classes.txt", "obj.names")]


def listed_names(paths: Iterable[Path]) -> list[str]:
    """The names in lists of classes, of which labelImg writes one into each folder: the longest, which begins as the others do.

    Raises DataError for lists that name a number differently.
    """
    lists = sorted(((read_names(path), path) for path in paths), key=lambda each: len(each[0]))
    for (short, one), (long, two) in pairwise(lists):
        number = next((number for number, (a, b) in enumerate(zip(short, long)) if a != b), None)
        if number is not None:
            raise DataError(
                f"class {number}, counted from 0, is {short[number]!r} in {one} and {long[number]!r} in {two}: the labels must "
                "be of one list; prepare the folders apart, or number them alike"
            )
    return lists[-1][0] if lists else []


QUOTED = r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\n]|'')*'"  # of YAML
FLOW = re.compile(
    rf"\s+|#[^\n]*|(?P<sign>[][{{}},]|:(?=[\s\"'\[{{]))|(?P<text>{QUOTED}|(?:[^][{{}},:\s]|:(?!\s)|[ \t](?![#\s]))+)"
)
ITEM = re.compile(rf"(?:-|(?P<number>\d+|'\d+'|\"\d+\")\s*:)(?:\s+(?P<text>{QUOTED}|[^\s#].*?))?\s*(?:(?<=\s)#.*)?")


def yaml_texts(files: Files) -> list[str]:
    """The files of YAML, those first that YOLO's programs write."""
    paths = sorted(files.ending(".yaml", ".yml"), key=lambda path: path.name not in ("data.yaml", "dataset.yaml"))
    return [read_file(path, "text_bytes").decode("utf-8-sig", "replace") for path in paths]


def yaml_value(text: str, key: str) -> str:
    """What stands behind a key that begins a line, to the end of the text; "" where none does."""
    match = re.search(rf"^(['\"]?){key}\1[ \t]*:(?=\s)", text, re.M)
    return text[match.end() :] if match else ""


def yaml_names(files: Files) -> list[str]:
    """The `names` of a data.yaml, as Ultralytics and Roboflow write it: a list or a table of numbers, in brackets or of lines.
    A number that has no name is ""."""
    for text in yaml_texts(files):
        value = yaml_value(text, "names")
        pairs = flow_names(value) if re.match(r"(\s|#[^\n]*\n)*[\[{]", value) else line_names(value)
        if pairs:
            return [pairs.get(number, "") for number in range(max(pairs) + 1)]
    return []


def flow_names(text: str) -> dict[int, str]:
    """The names in brackets, `[a, b]` or `{0: a, 1: b}`, by their numbers; empty where they are none."""
    items: list[list[str]] = [[]]
    for match in FLOW.finditer(text):
        if match["text"]:
            items[-1].append(unquoted(match["text"]))
        elif match["sign"] == ",":
            items.append([])
        elif match["sign"] in ("]", "}"):
            break
    items = [item for item in items if item]
    if all(len(item) == 1 for item in items):
        return {number: item[0] for number, item in enumerate(items)}
    if all(len(item) == 2 and item[0].isdecimal() and len(item[0]) < 7 for item in items):
        return {int(number): name for number, name in items}
    return {}


def line_names(text: str) -> dict[int, str]:
    """The names in lines, `- a` or `0: a`, by their numbers; empty where they are none."""
    first, *lines = text.splitlines() or [""]
    if first.strip() and not first.strip().startswith("#"):
        return {}
    names: dict[int, str] = {}
    for line in (each.strip() for each in lines):
        if not line or line.startswith("#"):
            continue
        item = ITEM.fullmatch(line)
        if item is None:
            break
        if not item["text"]:
            return {}
        number = unquoted(item["number"]) if item["number"] else str(len(names))
        if len(number) < 7:
            names[int(number)] = unquoted(item["text"])
    return names


def unquoted(text: str) -> str:
    """A scalar of YAML without its quotes.

    >>> unquoted("'it''s'"), unquoted('"a\\\\u0062"'), unquoted("a b ")
    ("it's", 'ab', 'a b')
    """
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'").strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        with suppress(ValueError):  # an escape that JSON has not
            return str(json.loads(text)).strip()
        return text[1:-1].strip()
    return text


def yaml_keypoints(files: Files) -> int:
    """How many numbers of key points follow each box, by `kpt_shape` of a data.yaml."""
    for text in yaml_texts(files):
        if match := re.match(r"\s*\[?\s*-?\s*(\d{1,4})\s*(?:,|\n\s*-)\s*([23])\b", yaml_value(text, "kpt_shape")):
            return int(match[1]) * int(match[2])
    return 0


# WIDER FACE
