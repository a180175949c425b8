"""The lines of a text file that lists what a data set holds."""

from __future__ import annotations

from ..proto.errors import ModelError
from ..proto.reading import read_file
from .errors import DataError


def read_lines(source: str, what: str, form: str) -> list[str]:
    """The lines of a text file.

    Parameters
    ----------
    what, form : what the file is and what must be in it, for errors.

    Raises
    ------
    DataError: the file cannot be read, or is not a text in UTF-8.
    """
    try:
        return read_file(source).decode("utf-8").splitlines()
    except ModelError as error:
        why = str(error).removeprefix(f"cannot read {source}: ")
        raise DataError(f"cannot read {what} {source!r}: {why}") from error
    except UnicodeDecodeError:
        raise DataError(f"{source!r} is not a text; it must {form}") from None
