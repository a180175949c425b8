"""Names that Python and numpy have dropped since scripts for pycaffe were written; libraries.py has those of other packages."""

from __future__ import annotations

import base64
import collections
import collections.abc
import errno
import fractions
import functools
import importlib
import importlib.util
import inspect
import io
import itertools
import math
import os
import string
import sys
import time
import types
import unittest
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import numpy as np

from . import text2
from .libraries import FLAG, PATCHES, say

NUMPY = {
    "bool": bool, "int": int, "float": float, "complex": complex, "object": object, "str": str, "long": int, "unicode": str,
    "float_": np.float64, "Inf": np.inf, "NaN": np.nan, "infty": np.inf, "product": np.prod, "cumproduct": np.cumprod,
    "alltrue": np.all, "sometrue": np.any, "row_stack": np.vstack, "asscalar": lambda array: np.asarray(array).item(),
    "string_": np.bytes_, "unicode_": np.str_, "complex_": np.complex128, "bool8": np.bool_, "object0": np.object_,
    "int0": np.intp, "uint0": np.uintp, "cfloat": np.complex128, "singlecomplex": np.complex64, "longfloat": np.longdouble,
    "PINF": np.inf, "NINF": -np.inf, "Infinity": np.inf, "NAN": np.nan, "round_": np.round, "rank": np.ndim, "mat": np.asmatrix,
    "msort": lambda a: np.sort(a, axis=0), "trapz": getattr(np, "trapezoid", None),
    "asfarray": lambda a, dtype=np.float64: np.asarray(a, dtype if np.issubdtype(dtype, np.inexact) else np.float64),
    "in1d": lambda a, b, assume_unique=False, invert=False: np.isin(np.ravel(a), b, assume_unique, invert),
    "sctypes": {"int": [np.int8, np.int16, np.int32, np.int64], "uint": [np.uint8, np.uint16, np.uint32, np.uint64],
                "float": [np.float16, np.float32, np.float64, np.longdouble], "complex": [np.complex64, np.complex128],
                "others": [bool, object, bytes, str, np.void]},
    **{name: getattr(getattr(np, "exceptions", np), name, None) for name in ("AxisError", "ComplexWarning", "RankWarning",
                                                                             "VisibleDeprecationWarning")},
}  # fmt: skip
STRING = {
    "letters": string.ascii_letters, "lowercase": string.ascii_lowercase, "uppercase": string.ascii_uppercase,
    "maketrans": str.maketrans, "join": lambda words, between=" ": between.join(words), "atoi": int, "atof": float,
    "atol": int, "joinfields": lambda words, between=" ": between.join(words), "splitfields": str.split,
    **{name: getattr(str, name) for name in (
        "capitalize", "center", "count", "expandtabs", "find", "index", "ljust", "lower", "lstrip", "replace", "rfind",
        "rindex", "rjust", "rsplit", "rstrip", "split", "strip", "swapcase", "upper", "zfill",
    )},
}  # fmt: skip
TYPES = {
    "StringType": str, "UnicodeType": str, "StringTypes": (str,), "IntType": int, "LongType": int, "FloatType": float,
    "ComplexType": complex, "BooleanType": bool, "ListType": list, "TupleType": tuple, "DictType": dict, "DictionaryType": dict,
    "TypeType": type, "ClassType": type, "ObjectType": object, "NoneType": type(None), "SliceType": slice,
    "FileType": io.IOBase, "UnboundMethodType": types.FunctionType, "InstanceType": object,
    "XRangeType": range, "BufferType": memoryview,
}  # fmt: skip
ITERTOOLS = {
    "izip": zip, "imap": map, "ifilter": filter, "izip_longest": itertools.zip_longest, "ifilterfalse": itertools.filterfalse,
}  # fmt: skip


def walk(top: str, visit: Callable[[Any, str, list[str]], object], arg: Any) -> None:
    """os.path.walk: visit(arg, folder, names) for `top` and each folder below it; it may take names out of the list."""
    try:
        names = os.listdir(top)
    except OSError:
        return
    visit(arg, top, names)
    for name in names:
        path = os.path.join(top, name)
        if os.path.isdir(path) and not os.path.islink(path):
            walk(path, visit, arg)


PYTHON: dict[ModuleType, dict[str, Any]] = {  # what modules of Python itself held
    collections: {name: getattr(collections.abc, name) for name in collections.abc.__all__},
    base64: {"encodestring": base64.encodebytes, "decodestring": base64.decodebytes},
    fractions: {"gcd": math.gcd},
    inspect: {"getargspec": lambda function: inspect.getfullargspec(function)[:4]},
    time: {"clock": time.perf_counter},
    string: STRING,
    types: TYPES,
    itertools: ITERTOOLS,
    os: {"errno": errno, "getcwdu": os.getcwd},
    os.path: {"walk": walk},
    sys: {"setdefaultencoding": lambda name: None, "exc_clear": lambda: None, "maxint": sys.maxsize},
}
UNITTEST = {
    "assertEquals": "assertEqual", "assertNotEquals": "assertNotEqual", "assertAlmostEquals": "assertAlmostEqual",
    "assertItemsEqual": "assertCountEqual", "assertRaisesRegexp": "assertRaisesRegex", "assertRegexpMatches": "assertRegex",
    "assert_": "assertTrue",
}  # fmt: skip

# functions whose size might be a float such as 3.0 until 2016, and where they take it
SIZES: list[tuple[Any, str, int, str]] = [
    (np, "zeros", 0, "shape"), (np, "ones", 0, "shape"), (np, "empty", 0, "shape"), (np, "linspace", 2, "num"),
    (np.random, "choice", 1, "size"), (np.random, "permutation", 0, "x"),
]  # fmt: skip


MOVED = {  # modules under their old names
    **{name: f"PIL.{name}" for name in ("Image", "ImageDraw", "ImageFont", "ImageFilter", "ImageOps")},
    "sklearn.cross_validation": "sklearn.model_selection",
    "sklearn.grid_search": "sklearn.model_selection", "sklearn.externals.joblib": "joblib", "skimage.filter": "skimage.filters",
}  # fmt: skip


def wanted() -> bool:
    """Whether old versions are emulated: unless BOXPRESSO_OLD_NAMES=0."""
    return os.environ.get(FLAG) != "0"


def install() -> None:
    """Gives the names back that are missing; whatever is there is left alone. BOXPRESSO_OLD_NAMES=0: it does nothing."""
    if not wanted():
        return
    for module, names in PYTHON.items():
        for name, old in names.items():
            if not hasattr(module, name):
                setattr(module, name, old)
                if name in TYPES:
                    types.__all__.append(name)
    if not any(isinstance(finder, Moved) for finder in sys.meta_path):
        sys.meta_path.append(Moved())  # last: a script's own module of that name goes before it
    wrap_lists()
    for name, value in NUMPY.items():
        if name not in vars(np) and value is not None:
            setattr(np, name, value)
    wrap_fromstring()
    for module, name, place, key in SIZES:
        wrap_size(module, name, place, key)
    for old, new in UNITTEST.items():
        if old not in vars(unittest.TestCase):
            setattr(unittest.TestCase, old, getattr(unittest.TestCase, new))
    if not any(isinstance(finder, Patches) for finder in sys.meta_path):
        sys.meta_path.insert(0, Patches())
    for name in PATCHES:
        if name in sys.modules:
            patch(sys.modules[name])


def patch(module: ModuleType) -> None:
    """Patches a module of PATCHES that is imported, once."""
    if "_patched_by_boxpresso" not in vars(module):
        module._patched_by_boxpresso = True  # type: ignore[attr-defined]
        PATCHES[module.__name__](module)


def wrap_fromstring() -> None:
    """numpy.fromstring of bytes, which is frombuffer today."""
    parse: Any = np.fromstring

    def fromstring(string: Any, dtype: Any = float, count: int = -1, *, sep: str = "", **options: Any) -> Any:
        if sep == "":
            return np.frombuffer(text2.as_bytes(string), dtype, count).copy()
        return parse(string, dtype, count, sep=sep, **options)

    np.fromstring = fromstring  # type: ignore[assignment]


def wrap_lists() -> None:
    """What numpy took of lists and files: lines that a newline cuts, lists of different lengths, NaN for a threshold."""
    if hasattr(np.loadtxt, "takes_lines"):
        return
    load, options_of = np.loadtxt, np.set_printoptions

    @functools.wraps(load)
    def loadtxt(
        fname: Any, dtype: Any = float, comments: Any = "#", delimiter: Any = None, *rest: Any, **options: Any
    ) -> Any:
        if delimiter not in ("\n", "\r\n", b"\n"):
            return load(fname, dtype, comments, delimiter, *rest, **options)
        say("numpy.loadtxt with a newline as delimiter gives lines")
        if hasattr(fname, "read"):
            lines = list(fname)
        else:
            with open(fname, encoding="utf-8") as file:
                lines = list(file)
        texts = [line.decode() if isinstance(line, bytes) else str(line) for line in lines]
        stripped = [text.split(comments)[0].strip() if comments else text.strip() for text in texts]
        return np.array([text for text in stripped if text], dtype)

    @functools.wraps(options_of)
    def set_printoptions(precision: Any = None, threshold: Any = None, *rest: Any, **options: Any) -> None:
        if isinstance(threshold, str) or (isinstance(threshold, float) and threshold != threshold):
            say(f"numpy.set_printoptions takes a threshold of {threshold!r}")
            threshold = sys.maxsize  # no number is above NaN, nor, in Python 2, above a str
        options_of(precision, threshold, *rest, **options)

    loadtxt.takes_lines = True  # type: ignore[attr-defined]
    np.loadtxt, np.set_printoptions, np.load = loadtxt, set_printoptions, with_own_data(np.load)
    for name in ("savez", "savez_compressed"):
        setattr(np, name, of_any_lengths(getattr(np, name)))


def with_own_data(load: Callable[..., Any]) -> Callable[..., Any]:
    """numpy.load, whose arrays had their own data, so that `resize` took them; today's are views, which it refuses."""

    @functools.wraps(load)
    def wrapped(*args: Any, **options: Any) -> Any:
        result = load(*args, **options)
        return result.copy(order="K") if type(result) is np.ndarray and not result.flags.owndata else result

    return wrapped


def of_any_lengths(save: Callable[..., Any]) -> Callable[..., Any]:
    """numpy.savez, which made arrays of objects of lists of different lengths."""

    @functools.wraps(save)
    def wrapped(file: Any, *args: Any, **arrays: Any) -> Any:
        return save(file, *map(array_of, args), **{name: array_of(value) for name, value in arrays.items()})

    return wrapped


def array_of(value: Any) -> Any:
    """A list as numpy takes it: of objects, where its elements have different lengths.

    >>> array_of([[1], [2, 3]]).tolist(), array_of([1, 2])
    ([[1], [2, 3]], [1, 2])
    """
    if not isinstance(value, (list, tuple)):
        return value
    try:
        np.asarray(value)
    except ValueError:
        say("numpy.savez takes lists of different lengths")
        result = np.empty(len(value), object)
        result[:] = value
        return result
    return value


def wrap_size(module: Any, name: str, place: int, key: str) -> None:
    """Lets a function of numpy take 3.0 for the size 3."""
    function = getattr(module, name)
    if hasattr(function, "takes_floats"):
        return

    @functools.wraps(function)
    def wrapped(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except TypeError:
            values = [whole(value) if i == place else value for i, value in enumerate(args)]
            return function(*values, **{k: whole(v) if k == key else v for k, v in options.items()})

    wrapped.takes_floats = True  # type: ignore[attr-defined]
    setattr(module, name, wrapped)


def whole(value: Any) -> Any:
    """A size or a shape with floats such as 3.0 made whole."""
    if isinstance(value, (tuple, list)):
        return tuple(whole(each) for each in value)
    return int(value) if isinstance(value, (float, np.floating)) and value == int(value) else value


class Empty(Loader):
    """Loads a module that holds what its patch puts there."""

    def exec_module(self, module: ModuleType) -> None:
        patch(module)


class Patches(MetaPathFinder):
    """Patches the modules of PATCHES once they are imported."""

    def __init__(self) -> None:
        self.searching = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in PATCHES or self.searching:
            return None
        self.searching = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self.searching = False
        if spec is None and fullname == "scipy.misc":  # today's scipy has no such module
            return ModuleSpec(fullname, Empty())
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            patch(sys.modules.get(fullname, module))

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


class Moved(Loader, MetaPathFinder):
    """Finds the modules of MOVED, such as the Python Imaging Library's `import Image`: today's are taken."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname in MOVED else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        say(f"import {spec.name} takes {MOVED[spec.name]}")
        return ModuleType(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = importlib.import_module(MOVED[module.__name__])
