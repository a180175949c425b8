"""What other packages have dropped since scripts for pycaffe were written (caffe/libraries.py), beside those packages where they
are installed, and beside stand-ins of them."""

from __future__ import annotations

import importlib
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from boxpresso.caffe import legacy, libraries


def test_numpys_dropped_names():
    """Each name that is given back means what numpy 1 meant by it."""
    names = legacy.NUMPY
    assert names["in1d"]([[1, 2], [3, 1]], [1]).tolist() == [True, False, False, True]
    assert names["in1d"]([1, 2], [1], invert=True).tolist() == [False, True]
    assert names["msort"]([[3, 1], [2, 5]]).tolist() == [[2, 1], [3, 5]]
    assert names["asfarray"]([1, 2]).dtype == names["asfarray"]([1], int).dtype == np.float64
    assert names["asfarray"]([1], np.float32).dtype == np.float32
    assert names["rank"]([[1]]) == 2
    assert names["NINF"] < 0 < names["PINF"]
    assert np.float32 in names["sctypes"]["float"]
    assert issubclass(names["VisibleDeprecationWarning"], UserWarning)


def test_pythons_dropped_names():
    for module, names in legacy.PYTHON.items():
        for name, value in names.items():
            assert getattr(module, name, value) is not None
    inspect = next(names for module, names in legacy.PYTHON.items() if module.__name__ == "inspect")
    assert inspect["getargspec"](lambda a, b=1: None) == (["a", "b"], None, None, (1,))


def test_modules_under_old_names(monkeypatch, capsys):
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, legacy.Moved()])
    monkeypatch.setitem(legacy.MOVED, "json.old_name", "json.decoder")
    assert importlib.import_module("json.old_name").JSONDecoder().decode("[1]") == [1]
    monkeypatch.delitem(sys.modules, "json.old_name")
    assert "import json.old_name takes json.decoder" in capsys.readouterr().err


def test_a_module_is_patched_once(monkeypatch):
    """Whether it was imported before or afterwards, and however often names are given back."""
    module, calls = type(sys)("old_one"), []
    monkeypatch.setitem(legacy.PATCHES, "old_one", calls.append)
    legacy.patch(module)
    legacy.patch(module)
    assert calls == [module]


class Picky:
    """Stands in for cv2: it takes whole numbers of Python alone, as OpenCV's binding does."""

    COLOR_BGR2GRAY, CAP_PROP_FPS, IMREAD_COLOR = 6, 5, 1

    def __init__(self):
        self.seen = []

    def rectangle(self, image, pt1, pt2, color, thickness=1):
        for value in (*pt1, *pt2, thickness):
            if type(value) is not int:
                raise TypeError("Can't parse 'pt1'")
        if any(isinstance(value, np.generic) for value in color):
            raise TypeError("Scalar value for argument 'color' is not numeric")
        self.seen.append((pt1, pt2, tuple(color), thickness))
        return image


def test_opencv_takes_floats(capsys):
    cv2 = Picky()
    libraries.patch_cv2(cv2)
    sys.modules.pop("cv2.cv")
    box = np.array([1.9, 2.0, -3.5, 4.0], np.float32)
    libraries._said.clear()
    cv2.rectangle("image", (1, 2), (3, 4), (0, 0, 0))
    assert "floats" not in capsys.readouterr().err
    cv2.rectangle("image", (box[0], box[1]), box[2:], np.array([1, 2, 3]), 2.0)
    cv2.rectangle("image", pt1=(1.0, 2), pt2=(3, 4), color=[np.int64(7), 8, 9], thickness=1.0)
    assert cv2.seen == [
        ((1, 2), (3, 4), (0, 0, 0), 1), ((1, 2), (-3, 4), (1, 2, 3), 2), ((1, 2), (3, 4), (7, 8, 9), 1)
    ]  # fmt: skip
    assert "OpenCV's functions take floats" in capsys.readouterr().err
    with pytest.raises(TypeError, match="pt1"):  # what is no number stays an error
        cv2.rectangle("image", ("1", 2), (3, 4), (0, 0, 0))


def test_opencv_2_constants():
    cv = libraries.OldConstants(Picky)
    assert (cv.CV_BGR2GRAY, cv.CV_CAP_PROP_FPS, cv.CV_LOAD_IMAGE_COLOR, cv.CV_AA, cv.CV_FILLED) == (6, 5, 1, 16, -1)
    with pytest.raises(AttributeError, match="CV_SUCH"):
        _ = cv.CV_SUCH


def test_opencv_itself_takes_floats():
    cv2 = pytest.importorskip("cv2")
    drawn, floats = np.zeros((2, 40, 40, 3), np.uint8)
    cv2.rectangle(drawn, (3, 4), (20, 30), (0, 255, 0), 2)
    function = libraries.with_floats(cv2.rectangle, *libraries.DRAWN["rectangle"])
    function(floats, (3.9, 4.0), np.array([20.2, 30.7]), np.array([0, 255, 0]), 2)
    np.testing.assert_array_equal(floats, drawn)


def test_pillow(monkeypatch):
    from PIL import Image, ImageDraw, ImageFont

    draw, font = ImageDraw.Draw(Image.new("L", (60, 30))), ImageFont.load_default()
    for module, patch in (
        (Image, libraries.patch_image), (ImageFont, libraries.patch_font), (ImageDraw, libraries.patch_drawing)
    ):  # fmt: skip
        patch(module)
    try:
        assert Image.new("L", (4, 4)).resize((2, 2), Image.ANTIALIAS).tostring() == b"\0" * 4
        assert Image.fromstring("L", (1, 2), b"\1\2").getpixel((0, 1)) == 2
        left, _, right, bottom = font.getbbox("hello")
        assert font.getsize("hello") == draw.textsize("hello", font) == (right - left, bottom)
        assert draw.textsize("a\nb", font)[1] > draw.textsize("a", font)[1]
    finally:
        for owner, name in (
            (Image, "ANTIALIAS"), (Image, "LINEAR"), (Image, "CUBIC"), (Image, "fromstring"), (Image.Image, "tostring"),
            (ImageFont.FreeTypeFont, "getsize"), (ImageFont.ImageFont, "getsize"), (ImageDraw.ImageDraw, "textsize"),
        ):  # fmt: skip
            delattr(owner, name)


def test_matplotlib():
    matplotlib = pytest.importorskip("matplotlib")
    cm = SimpleNamespace(nipy_spectral="a map")
    libraries.patch_colours(cm)
    assert cm.spectral == "a map"
    assert cm.get_cmap("jet", 4).N == 4
    assert cm.get_cmap().name == matplotlib.rcParams["image.cmap"]
    assert cm.get_cmap(cm.get_cmap("jet")).name == "jet"
    style = SimpleNamespace(library={"seaborn-v0_8-white": 1, "ggplot": 2})
    libraries.patch_styles(style)
    assert style.library == {"seaborn-v0_8-white": 1, "seaborn-white": 1, "ggplot": 2}
    pyplot = SimpleNamespace()
    libraries.patch_pyplot(pyplot)
    assert pyplot.hold(True) is None


def test_functions_under_old_names():
    integrate = SimpleNamespace(trapezoid="t", simpson="s", cumulative_trapezoid="c", simps="kept")
    libraries.patch_integrate(integrate)
    assert (integrate.trapz, integrate.simps, integrate.cumtrapz) == ("t", "kept", "c")
    signal = SimpleNamespace(windows=SimpleNamespace(__all__=["gaussian"], gaussian="g"))
    libraries.patch_signal(signal)
    assert signal.gaussian == "g"
    io = SimpleNamespace(imread=lambda fname, as_gray=False, plugin=None: (fname, as_gray, plugin))
    libraries.patch_image_io(io)
    assert io.imread("a") == ("a", False, None)
    assert io.imread("a", as_grey=True, plugin="p") == io.imread("a", True, "p") == ("a", True, "p")


def test_scikit_image():
    pytest.importorskip("skimage")
    measure, morphology, image = SimpleNamespace(), SimpleNamespace(), np.arange(64.0).reshape(8, 8)
    libraries.patch_measure(measure)
    assert measure.compare_mse(image, image + 2) == 4
    assert measure.compare_ssim(image, image, data_range=64) == 1
    libraries.patch_morphology(morphology)
    assert morphology.watershed(image, image == 0).max() == 1


def test_pandas_dropped_names():
    """What pandas 0.16 gave by its documentation."""
    pandas = pytest.importorskip("pandas")
    frame, series = type("Frame", (pandas.DataFrame,), {}), type("Row", (pandas.Series,), {})
    libraries.patch_pandas(SimpleNamespace(DataFrame=frame, Series=series, concat=pandas.concat))
    table = frame({"id": ["b", "c", "a"], "n": [2, 1, 3]}, index=["x", "y", "z"])
    assert table.sort("id")["n"].tolist() == [3, 2, 1]
    assert table.sort(["n"], ascending=False).index.tolist() == ["z", "x", "y"]
    assert table.sort(ascending=False).index.tolist() == ["z", "y", "x"]
    assert series([3, 1, 2]).order().tolist() == [1, 2, 3]
    assert table.as_matrix(["n"]).tolist() == [[2], [1], [3]]
    assert table.append({"id": "d", "n": 4}, ignore_index=True)["n"].tolist() == [2, 1, 3, 4]
    assert table.append(series({"id": "d", "n": 4}, name="w")).index.tolist() == ["x", "y", "z", "w"]
    assert table.append([{"id": "d", "n": 4}, {"id": "e", "n": 5}])["n"].tolist() == [2, 1, 3, 4, 5]
    with pytest.raises(TypeError):
        table.append({"id": "d"})
    assert table.ix[0, "n"] == table.ix["x", 1] == table.ix[0, 1] == 2
    assert table.ix[0:2]["n"].tolist() == [2, 1]
    assert table.ix["x":"y", "n"].tolist() == [2, 1]
    assert table.ix[:, 0].tolist() == ["b", "c", "a"]
    assert table.ix[-1].tolist() == ["a", 3]
    numbers = frame({"n": [5, 6, 7]}, index=[2, 1, 0])
    assert numbers.ix[2, "n"] == 5
    table.ix[1, "n"] = 9
    assert table["n"].tolist() == [2, 9, 3]
    with pytest.raises(ValueError, match="iloc"):
        frame({"n": [1, 2]}, index=["a", "a"]).ix[0]


def test_lmdb_takes_a_float_for_its_size(tmp_path):
    lmdb = pytest.importorskip("lmdb")
    old = SimpleNamespace(open=lmdb.open)
    libraries.patch_lmdb(old)
    with old.open(str(tmp_path / "one"), 1e6) as one, old.open(str(tmp_path / "two"), map_size=2e6, lock=False) as two:
        assert (one.info()["map_size"], two.info()["map_size"]) == (1_000_000, 2_000_000)
    with old.open(str(tmp_path / "three")) as three:
        assert three.info()["map_size"] == 10485760
