"""Names that libraries have dropped since scripts for pycaffe were written: of numpy, yaml, time and unittest."""

from __future__ import annotations

import importlib.util
import inspect
import time
import unittest
from typing import Any

import numpy as np

NUMPY = {
    "bool": bool, "int": int, "float": float, "complex": complex, "object": object, "str": str, "long": int, "unicode": str,
    "float_": np.float64, "Inf": np.inf, "NaN": np.nan, "infty": np.inf, "product": np.prod, "cumproduct": np.cumprod,
    "alltrue": np.all, "sometrue": np.any, "row_stack": np.vstack, "asscalar": lambda array: np.asarray(array).item(),
}  # fmt: skip
UNITTEST = {
    "assertEquals": "assertEqual", "assertNotEquals": "assertNotEqual", "assertAlmostEquals": "assertAlmostEqual",
    "assertItemsEqual": "assertCountEqual", "assertRaisesRegexp": "assertRaisesRegex", "assertRegexpMatches": "assertRegex",
    "assert_": "assertTrue",
}  # fmt: skip


def install() -> None:
    """Gives the names back that are missing; whatever is there is left alone."""
    for name, value in NUMPY.items():
        if name not in vars(np):
            setattr(np, name, value)
    wrap_fromstring()
    if not hasattr(time, "clock"):
        time.clock = time.perf_counter  # type: ignore[attr-defined]
    for old, new in UNITTEST.items():
        if old not in vars(unittest.TestCase):
            setattr(unittest.TestCase, old, getattr(unittest.TestCase, new))
    if importlib.util.find_spec("yaml") is not None:
        wrap_yaml()


def wrap_fromstring() -> None:
    """numpy.fromstring of bytes, which is frombuffer today."""
    parse: Any = np.fromstring

    def fromstring(string: Any, dtype: Any = float, count: int = -1, *, sep: str = "", **options: Any) -> Any:
        if sep == "":
            return np.frombuffer(string.encode("latin-1") if isinstance(string, str) else string, dtype, count).copy()
        return parse(string, dtype, count, sep=sep, **options)

    np.fromstring = fromstring  # type: ignore[assignment]


def wrap_yaml() -> None:
    """yaml.load without a Loader, which PyYAML 6 asks for: the safe one."""
    import yaml  # type: ignore[import-untyped]

    load = yaml.load
    if "Loader" not in inspect.signature(load).parameters:
        return

    def load_old(stream: Any, Loader: Any = yaml.SafeLoader) -> Any:
        return load(stream, Loader)

    yaml.load = load_old
