"""The names of YOLO's classes, in classes.txt, obj.names or data.yaml, and how many key points its objects have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from ..data.annotations import Files
from ..data.errors import DataError, extra
from ..data.folders import read_names
from ..proto.reading import read_file

OF_YOLO = ("data.yaml", "dataset.yaml")  # the tables of Ultralytics and Roboflow


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


def yaml_tables(files: Files) -> Iterator[dict[str, object]]:
    """The tables in the files of YAML, those first that YOLO's programs write; every number in them is its text.

    Raises DataError for a data.yaml that cannot be read, and without PyYAML.
    """
    for path in sorted(files.ending(".yaml", ".yml"), key=lambda path: path.name not in OF_YOLO):
        yaml = extra("yaml", "pyyaml")
        text = read_file(path, "text_bytes").decode("utf-8-sig", "replace")
        try:
            table = yaml.load(
                yaml.reader.Reader.NON_PRINTABLE.sub("", text), getattr(yaml, "CBaseLoader", yaml.BaseLoader)
            )
        except (yaml.YAMLError, RecursionError) as error:
            if path.name in OF_YOLO:
                mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None) or error
                place = f"{path}, line {mark.line + 1}," if mark else path
                raise DataError(
                    f"{place} cannot be read as YAML: {problem}; it should name the classes, as in `names: [cat, dog]`"
                ) from error
            continue
        if isinstance(table, dict):
            yield table


def yaml_names(files: Files) -> list[str]:
    """The `names` of a data.yaml, as Ultralytics and Roboflow write it: a list, or a table of numbers.
    A number that has no name is ""."""
    for table in yaml_tables(files):
        names = table.get("names")
        if isinstance(names, list):
            names = {str(number): name for number, name in enumerate(names)}
        if isinstance(names, dict) and names and all(isinstance(name, str) for name in names.values()):
            pairs = {
                int(key): name.strip()
                for key, name in names.items()
                if isinstance(key, str) and key.isdecimal() and len(key) < 7
            }
            return [pairs.get(number, "") for number in range(max(pairs, default=-1) + 1)]
    return []


def yaml_keypoints(files: Files) -> int:
    """How many numbers of key points follow each box, by `kpt_shape` of a data.yaml."""
    for table in yaml_tables(files):
        match table.get("kpt_shape"):
            case [str(count), ("2" | "3") as each] if count.isdecimal() and len(count) < 5:
                return int(count) * int(each)
    return 0
