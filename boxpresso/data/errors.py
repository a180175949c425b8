"""DataError, for data that cannot be used, and BrokenRecord, for one record among others."""

from __future__ import annotations

from typing import Any

from ..proto.errors import BoxpressoError


class DataError(BoxpressoError):
    """Data are missing, broken, or do not fit what is asked of them; the message names file or parameter."""


class BrokenRecord(DataError):
    """One record, picture or annotation among others cannot be read; it may be left out."""


def extra(name: str, package: str = "") -> Any:
    """A module such as lmdb, which `pip install 'boxpresso[train]'` brings, with a package of that or another name.
    Raises DataError without it."""
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise DataError(
            f"this needs the package {package or name}: pip install 'boxpresso[train]' ({error})"
        ) from error
