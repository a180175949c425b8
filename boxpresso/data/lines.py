"""The texts that say what a data set holds: lists, tables of JSON, and the names in them."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..proto.errors import ModelError
from ..proto.reading import FilePath, read_file
from .errors import DataError


def read_lines(source: str, subject: str, form: str) -> list[str]:
    """The lines of a text file.

    Parameters
    ----------
    what, form : what the file is and what must be in it, for errors.

    Raises
    ------
    DataError: the file cannot be read, or is not a text in UTF-8.
    """
    try:
        return read_file(source).decode("utf-8-sig").splitlines()  # Windows puts a mark before a text
    except ModelError as error:
        why = str(error).removeprefix(f"cannot read {source}: ")
        raise DataError(f"cannot read {subject} {source!r}: {why}") from error
    except UnicodeDecodeError:
        raise DataError(f"{source!r} is not a text; it must {form}") from None


def words_of(text: str) -> str:
    """How a text that cannot be read looks, for errors: not what is in it, as any file may have been named by mistake.

    >>> words_of("root:x:0 a")
    '2 words of 10 letters'
    """
    words = len(text.split())
    return f"{words} word{'s' * (words != 1)} of {len(text.strip())} letters"


def read_text(path: FilePath) -> str:
    """A text of a data set. Raises DataError where it cannot be read, or is not in UTF-8."""
    try:
        return read_file(path).decode("utf-8-sig")
    except ModelError as error:
        raise DataError(str(error)) from error
    except UnicodeDecodeError as error:
        raise DataError(f"{os.fspath(path)} is not a text in UTF-8: {error.reason} at byte {error.start}") from None


def read_json(path: FilePath, subject: str) -> Any:
    """The value of a file of JSON. Raises DataError, which says that it is not `subject`."""
    try:
        return json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{os.fspath(path)} is not {subject}: {type(error).__name__} {error}") from error


def below(folder: Path, files: Sequence[Path], name: str) -> list[Path]:
    """Those of some files that lie below a folder. Raises DataError where none does: the name leads out of it.

    >>> below(Path("voc"), [Path("voc/../secret.png")], "../secret.png")
    Traceback (most recent call last):
        ...
    boxpresso.data.errors.DataError: the picture's name '../secret.png' leads out of the folder voc
    """
    home = os.path.abspath(folder)
    inside = [file for file in files if Path(os.path.abspath(file)).is_relative_to(home)]
    if not inside:
        raise DataError(f"the picture's name {name!r} leads out of the folder {folder}")
    return inside
