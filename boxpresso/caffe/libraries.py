"""What other packages have dropped or made stricter since scripts for pycaffe were written: cv2, Pillow, matplotlib,
scikit-image, scikit-learn, scipy, pandas, lmdb and yaml. Each function patches one module once it is imported (legacy.py)."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from . import scipy_misc

FLAG = "BOXPRESSO_OLD_NAMES"
CV2 = {
    "CV_AA": 16, "CV_FILLED": -1, "CV_LOAD_IMAGE_COLOR": 1, "CV_LOAD_IMAGE_GRAYSCALE": 0, "CV_LOAD_IMAGE_UNCHANGED": -1,
    "CV_FONT_HERSHEY_SIMPLEX": 0, "CV_INTER_NN": 0, "CV_INTER_LINEAR": 1, "CV_INTER_CUBIC": 2, "CV_INTER_AREA": 3,
}  # fmt: skip
# Of OpenCV's functions: the places of arguments that are whole numbers or points of them, and of a colour
DRAWN = {
    "rectangle": ((1, 2, 4), 3), "line": ((1, 2, 4), 3), "arrowedLine": ((1, 2, 4), 3), "circle": ((1, 2, 4), 3),
    "ellipse": ((1, 2, 7), 6), "putText": ((2, 6), 5), "drawMarker": ((1, 4, 5), 2), "resize": ((1,), None),
}  # fmt: skip
WHOLE = {"pt1", "pt2", "center", "radius", "axes", "org", "position", "markerSize", "dsize", "thickness"}  # by name
_said: set[str] = set()


def say(message: str) -> None:
    """Says once, on stderr, that something of old libraries is emulated."""
    if message not in _said:
        _said.add(message)
        print(f"boxpresso.caffe: {message} as it was in old versions ({FLAG}=0 turns it off)", file=sys.stderr)


def alias(module: Any, names: dict[str, str], of: Any = None) -> None:
    """Gives a module names that it lacks: {old name: name today}, in the module itself or in `of`."""
    for old, today in names.items():
        if not hasattr(module, old) and hasattr(of or module, today):
            setattr(module, old, getattr(of or module, today))


def patch_yaml(yaml: Any) -> None:
    """yaml.load without a Loader, which PyYAML 6 asks for: the safe one."""
    load = yaml.load
    if "Loader" not in inspect.signature(load).parameters:
        return

    def load_old(stream: Any, Loader: Any = yaml.SafeLoader) -> Any:
        return load(stream, Loader)

    yaml.load = load_old


def patch_lmdb(lmdb: Any) -> None:
    """lmdb.open with a map_size such as 1e12, as it was taken before Python 3.10."""
    begin = lmdb.open

    @functools.wraps(begin)
    def open_old(path: Any, map_size: Any = 10485760, *args: Any, **options: Any) -> Any:
        return begin(path, int(map_size), *args, **options)

    lmdb.open = open_old


def patch_pandas(pandas: Any) -> None:
    """What pandas dropped: sort, order, as_matrix, append and ix, and to_hdf(path, key) by position."""
    frame, series = pandas.DataFrame, pandas.Series
    write = frame.to_hdf

    def to_hdf(table: Any, path: Any, *key: Any, **options: Any) -> Any:
        return write(table, path, **dict(zip(["key", "mode"], key)), **options)

    def sort(table: Any, columns: Any = None, axis: Any = 0, ascending: Any = True, inplace: bool = False) -> Any:
        options = {"axis": axis, "ascending": ascending, **({"inplace": True} if inplace else {})}
        return table.sort_index(**options) if columns is None else table.sort_values(columns, **options)

    def order(values: Any, ascending: bool = True) -> Any:
        return values.sort_values(ascending=ascending)

    def as_matrix(values: Any, columns: Any = None) -> Any:
        return (values if columns is None else values[columns]).values

    def append(values: Any, other: Any, ignore_index: bool = False) -> Any:
        if isinstance(other, (list, tuple)) and all(isinstance(one, type(values)) for one in other):
            return pandas.concat([values, *other], ignore_index=ignore_index)
        if isinstance(values, frame) and isinstance(other, dict):
            if not ignore_index:
                raise TypeError("Can only append a dict if ignore_index=True")
            other = frame([other])
        elif isinstance(values, frame) and isinstance(other, series):
            if other.name is None and not ignore_index:
                raise TypeError("Can only append a Series if ignore_index=True or if the Series has a name")
            other = frame([other.to_dict()], index=[other.name])
        elif isinstance(values, frame) and isinstance(other, list):
            other = frame(other)
        return pandas.concat([values, other], ignore_index=ignore_index)

    frame.to_hdf = to_hdf
    dropped = {"as_matrix": as_matrix, "append": append, "ix": property(LabelsOrPlaces)}
    for kind, names in ((frame, {"sort": sort, **dropped}), (series, {"order": order, **dropped})):
        for name, function in names.items():
            if not hasattr(kind, name):
                setattr(kind, name, function)


class LabelsOrPlaces:
    """ix of pandas: by label, or by place where whole numbers cannot be labels of an axis."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def key(self, asked: Any, axis: Any) -> Any:
        """What loc takes for one axis: labels for places."""
        if axis.dtype.kind in "iu" or (isinstance(asked, slice) and asked == slice(None)):
            return asked
        ends = (asked.start, asked.stop) if isinstance(asked, slice) else asked
        numbers = [end for end in np.ravel(np.asarray(ends, object)) if end is not None]
        if not numbers or not all(
            isinstance(n, (int, np.integer)) and not isinstance(n, (bool, np.bool_)) for n in numbers
        ):
            return asked
        if not axis.is_unique:
            raise ValueError("ix of places on an axis with labels that occur twice: use iloc")
        return axis[asked]

    def places(self, key: Any) -> Any:
        """A key of ix as one of loc."""
        axes = self.values.axes
        if isinstance(key, tuple) and len(axes) == 2:
            return tuple(self.key(one, axis) for one, axis in zip(key, axes))
        return self.key(key, axes[0])

    def __getitem__(self, key: Any) -> Any:
        return self.values.loc[self.places(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.values.loc[self.places(key)] = value


def patch_cv2(cv2: Any) -> None:
    """Constants of OpenCV 2.4, its module cv, and functions that take floats for whole numbers."""
    for name, value in CV2.items():
        if not hasattr(cv2, name):
            setattr(cv2, name, value)
    if not hasattr(cv2, "cv"):
        cv2.cv = sys.modules["cv2.cv"] = OldConstants(cv2)
    for name, (whole, colour) in DRAWN.items():
        if hasattr(cv2, name):
            setattr(cv2, name, with_floats(getattr(cv2, name), whole, colour))


class OldConstants(ModuleType):
    """cv2.cv: constants of OpenCV 2.4 under the names of its C interface, such as CV_CAP_PROP_FPS and CV_BGR2GRAY."""

    def __init__(self, cv2: Any) -> None:
        super().__init__("cv2.cv")
        self.cv2 = cv2
        self.CV_AA, self.CV_FILLED = CV2["CV_AA"], CV2["CV_FILLED"]

    def __getattr__(self, name: str) -> Any:
        bare = name.removeprefix("CV_")
        known = {"FOURCC": "VideoWriter_fourcc", "HAAR_SCALE_IMAGE": "CASCADE_SCALE_IMAGE"}
        for today in (known.get(bare, bare), f"COLOR_{bare}", f"IMREAD_{bare.removeprefix('LOAD_IMAGE_')}"):
            if bare != name and today in vars(self.cv2):
                return getattr(self.cv2, today)
        raise AttributeError(f"module 'cv2.cv' has no attribute {name!r}")


def with_floats(function: Callable[..., Any], places: Sequence[int], colour: int | None) -> Callable[..., Any]:
    """A function of OpenCV that cuts the fractions off floats for whole numbers, as it did under Python 2, and takes
    numpy's numbers as a colour.

    >>> place = with_floats(lambda image, pt: [i.bit_length() for i in pt], (1,), None)  # which an int alone has
    >>> place(None, (3.7, 8.0))
    [2, 4]
    """

    @functools.wraps(function)
    def wrapped(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except Exception:
            values = list(args)
            for i in places:
                values[i : i + 1] = map(truncated, values[i : i + 1])
            if colour is not None:
                values[colour : colour + 1] = map(plain, values[colour : colour + 1])
            named = {
                name: truncated(v) if name in WHOLE else plain(v) if name == "color" else v
                for name, v in options.items()
            }
            pairs = [*zip(values, args), *zip(named.values(), options.values())]
            if all(value is before for value, before in pairs):
                raise
        say("OpenCV's functions take floats for whole numbers")
        return function(*values, **named)

    return wrapped


def truncated(value: Any) -> Any:
    """A number, or a point or size of two, with its fractions cut off; all else is left as it is.

    >>> truncated(2.9), truncated(np.array([1.5, -1.5])), truncated((3, 4))
    (2, (1, -1), (3, 4))
    """
    if isinstance(value, (float, np.floating)):
        return int(value)
    numbers = isinstance(value, (tuple, list, np.ndarray)) and len(value) == 2 and all(map(is_number, value))
    if not numbers or all(isinstance(v, int) for v in value):
        return value
    return tuple(int(v) for v in value)


def is_number(value: Any) -> bool:
    """Whether a value is one real number."""
    return isinstance(value, (int, float, np.integer, np.floating))


def plain(colour: Any) -> Any:
    """A colour of Python's numbers.

    >>> plain(np.array([1, 2, 3])), plain((np.int64(1), 2.5, 3))
    ((1, 2, 3), (1, 2.5, 3))
    """
    if isinstance(colour, np.ndarray) and colour.ndim == 1:
        return tuple(colour.tolist())
    if isinstance(colour, (tuple, list)):
        return tuple(v.item() if isinstance(v, np.generic) else v for v in colour)
    return colour


def patch_image(image: Any) -> None:
    """Pillow's names of resampling before version 10, and fromstring of the Python Imaging Library."""
    alias(image, {"ANTIALIAS": "LANCZOS", "LINEAR": "BILINEAR", "CUBIC": "BICUBIC", "fromstring": "frombytes"})
    alias(image.Image, {"tostring": "tobytes"})


def patch_font(fonts: Any) -> None:
    """getsize of Pillow's fonts: the width of a text, and the height from the top of the line."""

    def getsize(font: Any, text: Any, *args: Any, **options: Any) -> tuple[int, int]:
        left, _, right, bottom = font.getbbox(text, *args, **options)
        return round(right - left), round(bottom)

    for kind in (fonts.FreeTypeFont, fonts.ImageFont):
        if not hasattr(kind, "getsize"):
            kind.getsize = getsize


def patch_drawing(drawing: Any) -> None:
    """textsize of Pillow's ImageDraw."""

    def textsize(draw: Any, text: Any, font: Any = None, spacing: float = 4, **options: Any) -> tuple[int, int]:
        left, _, right, bottom = draw.textbbox((0, 0), text, font=font, spacing=spacing, **options)
        return round(right - left), round(bottom)

    if not hasattr(drawing.ImageDraw, "textsize"):
        drawing.ImageDraw.textsize = textsize


def patch_colours(cm: Any) -> None:
    """matplotlib.cm.get_cmap, and the map `spectral`."""
    import matplotlib

    def get_cmap(name: Any = None, lut: int | None = None) -> Any:
        if isinstance(name, matplotlib.colors.Colormap):
            return name
        colours = matplotlib.colormaps[matplotlib.rcParams["image.cmap"] if name is None else name]
        return colours if lut is None else colours.resampled(lut)

    if not hasattr(cm, "get_cmap"):
        cm.get_cmap = get_cmap
    alias(cm, {"spectral": "nipy_spectral"})


def patch_styles(style: Any) -> None:
    """matplotlib's styles `seaborn-...`, which have its version in their names today."""
    for name in list(style.library):
        style.library.setdefault(name.replace("seaborn-v0_8", "seaborn"), style.library[name])


def patch_pyplot(pyplot: Any) -> None:
    """hold of matplotlib.pyplot, which is always on today."""
    if not hasattr(pyplot, "hold"):
        pyplot.hold = lambda on=None: None


def patch_measure(measure: Any) -> None:
    """scikit-image's compare_ssim and its like, which are in skimage.metrics today."""
    from skimage import metrics

    names = {"ssim": "structural_similarity", "psnr": "peak_signal_noise_ratio", "mse": "mean_squared_error"}
    alias(measure, {f"compare_{old}": today for old, today in names.items()}, metrics)


def patch_morphology(morphology: Any) -> None:
    """scikit-image's watershed, which is in skimage.segmentation today."""
    if not hasattr(morphology, "watershed"):

        def watershed(*args: Any, **options: Any) -> Any:
            from skimage.segmentation import watershed as function

            return function(*args, **options)

        morphology.watershed = watershed


def patch_image_io(io: Any) -> None:
    """scikit-image's imread with `as_grey`."""
    read = io.imread

    @functools.wraps(read)
    def imread(fname: Any, as_gray: bool = False, *args: Any, as_grey: bool = False, **options: Any) -> Any:
        return read(fname, as_gray or as_grey, *args, **options)

    io.imread = imread


def patch_signal(signal: Any) -> None:
    """scipy.signal's windows."""
    alias(signal, {name: name for name in signal.windows.__all__}, signal.windows)


def patch_integrate(integrate: Any) -> None:
    """scipy.integrate's old names."""
    alias(integrate, {"trapz": "trapezoid", "simps": "simpson", "cumtrapz": "cumulative_trapezoid"})


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
    "cv2": patch_cv2, "lmdb": patch_lmdb, "pandas": patch_pandas, "yaml": patch_yaml,
    "PIL.Image": patch_image, "PIL.ImageFont": patch_font, "PIL.ImageDraw": patch_drawing,
    "matplotlib.cm": patch_colours, "matplotlib.style": patch_styles, "matplotlib.pyplot": patch_pyplot,
    "scipy.misc": patch_scipy_misc, "scipy.signal": patch_signal, "scipy.integrate": patch_integrate,
    "skimage.io": patch_image_io, "skimage.measure": patch_measure, "skimage.morphology": patch_morphology,
    "skimage.transform": patch_transform,
}  # fmt: skip
