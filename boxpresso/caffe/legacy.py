"""Names that libraries have dropped since scripts for pycaffe were written: numpy, scipy, cv2, pandas, yaml and others."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import os
import string
import sys
import time
import unittest
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import numpy as np

from . import scipy_misc, text2

FLAG = "BOXPRESSO_OLD_NAMES"
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
CV2 = {
    "CV_AA": 16, "CV_FILLED": -1, "CV_LOAD_IMAGE_COLOR": 1, "CV_LOAD_IMAGE_GRAYSCALE": 0, "CV_LOAD_IMAGE_UNCHANGED": -1,
    "CV_FONT_HERSHEY_SIMPLEX": 0, "CV_INTER_NN": 0, "CV_INTER_LINEAR": 1, "CV_INTER_CUBIC": 2, "CV_INTER_AREA": 3,
}  # fmt: skip


# functions whose size might be a float such as 3.0 until 2016, and where they take it
SIZES: list[tuple[Any, str, int, str]] = [
    (np, "zeros", 0, "shape"), (np, "ones", 0, "shape"), (np, "empty", 0, "shape"), (np, "linspace", 2, "num"),
    (np.random, "choice", 1, "size"), (np.random, "permutation", 0, "x"),
]  # fmt: skip


STRING = {
    "letters": string.ascii_letters, "lowercase": string.ascii_lowercase, "uppercase": string.ascii_uppercase,
    "maketrans": str.maketrans, "join": lambda words, between=" ": between.join(words), "atoi": int, "atof": float,
    **{name: getattr(str, name) for name in ("split", "strip", "replace", "lower", "upper", "find", "zfill")},
}  # fmt: skip
PIL = ("Image", "ImageDraw", "ImageFont", "ImageFilter", "ImageOps")  # modules of their own before Pillow
_said: set[str] = set()


def say(message: str) -> None:
    """Says once, on stderr, that something of old libraries is emulated."""
    if message not in _said:
        _said.add(message)
        print(f"boxpresso.caffe: {message} as it was in old versions ({FLAG}=0 turns it off)", file=sys.stderr)


def wanted() -> bool:
    """Whether old versions are emulated: unless BOXPRESSO_OLD_NAMES=0."""
    return os.environ.get(FLAG) != "0"


def install() -> None:
    """Gives the names back that are missing; whatever is there is left alone. BOXPRESSO_OLD_NAMES=0: it does nothing."""
    if not wanted():
        return
    for name, old in STRING.items():
        if not hasattr(string, name):
            setattr(string, name, old)
    if not any(isinstance(finder, OldPil) for finder in sys.meta_path):
        sys.meta_path.append(OldPil())  # last: a script's own module of that name goes before it
    wrap_lists()
    for name, value in NUMPY.items():
        if name not in vars(np):
            setattr(np, name, value)
    wrap_fromstring()
    for module, name, place, key in SIZES:
        wrap_size(module, name, place, key)
    if not hasattr(time, "clock"):
        time.clock = time.perf_counter  # type: ignore[attr-defined]
    for old, new in UNITTEST.items():
        if old not in vars(unittest.TestCase):
            setattr(unittest.TestCase, old, getattr(unittest.TestCase, new))
    if not any(isinstance(finder, Patches) for finder in sys.meta_path):
        sys.meta_path.insert(0, Patches())


def wrap_fromstring() -> None:
    """numpy.fromstring of bytes, which is frombuffer today."""
    parse: Any = np.fromstring

    def fromstring(string: Any, dtype: Any = float, count: int = -1, *, sep: str = "", **options: Any) -> Any:
        if sep == "":
            return np.frombuffer(text2.as_bytes(string), dtype, count).copy()
        return parse(string, dtype, count, sep=sep, **options)

    np.fromstring = fromstring  # type: ignore[assignment]


def wrap_lists() -> None:
    """What numpy took of lists and files: lines that a newline cuts, lists of different lengths, a threshold of NaN."""
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
        if isinstance(threshold, float) and threshold != threshold:
            say("numpy.set_printoptions takes a threshold of NaN")
            threshold = sys.maxsize
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


def patch_yaml(yaml: Any) -> None:
    """yaml.load without a Loader, which PyYAML 6 asks for: the safe one."""
    load = yaml.load
    if "Loader" not in inspect.signature(load).parameters:
        return

    def load_old(stream: Any, Loader: Any = yaml.SafeLoader) -> Any:
        return load(stream, Loader)

    yaml.load = load_old


def patch_pandas(pandas: Any) -> None:
    """DataFrame.to_hdf(path, key) by position, which pandas 3 asks for by name."""
    write = pandas.DataFrame.to_hdf

    def to_hdf(frame: Any, path: Any, *key: Any, **options: Any) -> Any:
        return write(frame, path, **dict(zip(["key", "mode"], key)), **options)

    pandas.DataFrame.to_hdf = to_hdf


def patch_cv2(cv2: Any) -> None:
    """Constants of OpenCV 2.4."""
    for name, value in CV2.items():
        if not hasattr(cv2, name):
            setattr(cv2, name, value)


def patch_scipy_misc(misc: Any) -> None:
    """scipy.misc's functions for images."""
    for name in scipy_misc.__all__:
        if name not in vars(misc):
            setattr(misc, name, getattr(scipy_misc, name))


def patch_transform(transform: Any) -> None:
    """scikit-image's `multichannel`, which is channel_axis today."""
    for name in ("rescale", "resize", "pyramid_gaussian", "pyramid_laplacian", "pyramid_reduce", "pyramid_expand"):
        function = getattr(transform, name, None)
        if function is not None and "multichannel" not in inspect.signature(function).parameters:
            setattr(transform, name, with_multichannel(function))


def with_multichannel(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of scikit-image that takes multichannel=True for channel_axis=-1."""

    @functools.wraps(function)
    def wrapped(*args: Any, multichannel: bool | None = None, **options: Any) -> Any:
        if multichannel is not None:
            say("scikit-image's functions take multichannel")
            if "channel_axis" in inspect.signature(function).parameters:
                options.setdefault("channel_axis", -1 if multichannel else None)
        return function(*args, **options)

    return wrapped


PATCHES: dict[str, Callable[[Any], None]] = {
    "cv2": patch_cv2, "pandas": patch_pandas, "scipy.misc": patch_scipy_misc, "skimage.transform": patch_transform,
    "yaml": patch_yaml,
}  # fmt: skip


class Empty(Loader):
    """Loads a module that holds what its patch puts there."""

    def exec_module(self, module: ModuleType) -> None:
        PATCHES[module.__name__](module)


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
            PATCHES[fullname](sys.modules.get(fullname, module))

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


class OldPil(Loader, MetaPathFinder):
    """`import Image` of the Python Imaging Library: the module of Pillow."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname in PIL else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        say(f"import {spec.name} takes PIL.{spec.name}")
        return ModuleType(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = importlib.import_module(f"PIL.{module.__name__}")
