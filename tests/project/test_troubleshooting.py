"""docs/troubleshooting.md quotes messages; each is produced here, and must read as it is quoted."""

from __future__ import annotations

import builtins
import functools
import importlib.util
import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from places import ROOT

from boxpresso import Detector, Net, Solver
from boxpresso.data.records import write_records
from boxpresso.device import cache, compiler, context
from boxpresso.proto import BoxpressoError, parse_net, parse_solver, read_net
from boxpresso.proto.limits import LIMITS

PAGE = ROOT / "docs" / "troubleshooting.md"
SHAPES = ROOT / "examples" / "shapes"
DATA = 'layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 8 dim: 8 } } }\n'
FC = DATA + (
    'layer { name: "fc" type: "InnerProduct" bottom: "data" top: "fc" inner_product_param { num_output: 4 } }\n'
)
Case = Callable[[Path, pytest.MonkeyPatch], Any]
CASES: dict[str, Case] = {}


def case(function: Case) -> Case:
    """A way to a message: its name is the heading in the page, with underscores in place of blanks."""
    CASES[function.__name__] = function
    return function


def net(text: str, *weights: Any, **options: Any) -> Net:
    """A Net of a text, on the CPU."""
    return Net(parse_net(text), *weights, device="cpu", **options)


def written(path: Path, data: bytes | str) -> Path:
    """A file with these contents."""
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def hide(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Makes the import of packages fail, as where they are not installed."""
    real, spec = builtins.__import__, importlib.util.find_spec

    def refuse(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.split(".")[0] in names:
            raise ModuleNotFoundError(f"No module named {name.split('.')[0]!r}", name=name)
        return real(name, *args, **kwargs)

    for name in names:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(builtins, "__import__", refuse)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name in names else spec(name, *a))


@case
def no_compiler(tmp, monkeypatch):
    hide(monkeypatch, "ziglang")
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp))
    compiler.compiler.__wrapped__()


@case
def wrong_cxx(tmp, monkeypatch):
    monkeypatch.setenv("CXX", "g++-99")
    compiler.compiler.__wrapped__()


@case
def cache_not_writable(tmp, monkeypatch):
    monkeypatch.setenv("BOXPRESSO_CACHE", str(written(tmp / "file", "") / "kernels"))
    cache.folder.__wrapped__()


@case
def no_pycuda(tmp, monkeypatch):
    hide(monkeypatch, "pycuda")
    context.driver.__wrapped__()


@case
def no_nvcc(tmp, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp))
    for name in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(context, "TOOLKIT", str(tmp))
    monkeypatch.setattr(context, "nvcc_of_wheels", lambda: [])
    context.nvcc()


@case
def unknown_device(tmp, monkeypatch):
    Net(parse_net(DATA), device="gpu")


@case
def weights_as_model(tmp, monkeypatch):
    read_net(SHAPES / "shapes.caffemodel")


@case
def model_as_weights(tmp, monkeypatch):
    net(FC, SHAPES / "deploy.prototxt")


@case
def lfs_pointer(tmp, monkeypatch):
    net(FC, written(tmp / "net.caffemodel", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"))


@case
def html_page(tmp, monkeypatch):
    net(FC, written(tmp / "net.caffemodel", "<!DOCTYPE html><html><head><title>Sign in</title>"))


@case
def truncated(tmp, monkeypatch):
    data = (SHAPES / "shapes.caffemodel").read_bytes()
    net(FC, written(tmp / "net.caffemodel", data[: len(data) // 2]))


@case
def file_missing(tmp, monkeypatch):
    Net(SHAPES / "deploy.prototxt", tmp / "shapes.caffemodel", device="cpu")


@case
def prototxt_error(tmp, monkeypatch):
    read_net(written(tmp / "net.prototxt", 'name: "net"\nlayer { name: "data" type: "Input" top: data" }\n'))


@case
def unknown_field(tmp, monkeypatch):
    parse_net(FC.replace("num_output: 4", "num_output: 4 num_outputs: 4"))


@case
def unknown_type(tmp, monkeypatch):
    net(FC.replace('"InnerProduct"', '"InerProduct"'))


@case
def unknown_bottom(tmp, monkeypatch):
    net(FC.replace('bottom: "data"', 'bottom: "dat"'))


@case
def python_layer(tmp, monkeypatch):
    net(
        DATA
        + 'layer { name: "mine" type: "Python" bottom: "data" top: "t" python_param { module: "mine" layer: "Mine" } }'
    )


@case
def shape_mismatch(tmp, monkeypatch):
    net(FC).save(tmp / "net.caffemodel")
    net(FC.replace("num_output: 4", "num_output: 5"), tmp / "net.caffemodel")


@case
def no_common_layer(tmp, monkeypatch):
    net(FC).save(tmp / "net.caffemodel")
    net(FC.replace('"fc"', '"other"'), tmp / "net.caffemodel")


@case
def data_source_missing(tmp, monkeypatch):
    net(
        'layer { name: "data" type: "Data" top: "data" data_param { source: "train_lmdb" batch_size: 4 backend: LMDB } }'
    )


@case
def no_lmdb_package(tmp, monkeypatch):
    hide(monkeypatch, "lmdb")
    write_records(tmp / "train_lmdb", [])


@case
def leveldb(tmp, monkeypatch):
    (tmp / "train_leveldb").mkdir()
    written(tmp / "train_leveldb" / "CURRENT", "MANIFEST")
    net(
        'layer { name: "data" type: "Data" top: "data" '
        f'data_param {{ source: "{tmp}/train_leveldb" batch_size: 4 backend: LMDB }} }}'
    )


@case
def memory_limit(tmp, monkeypatch):
    net(FC.replace("dim: 8 dim: 8", "dim: 800 dim: 800"), memory_limit=10_000_000)


@case
def limit_layers(tmp, monkeypatch):
    monkeypatch.setattr(LIMITS, "layers", 1)
    parse_net(FC)


@case
def picture_too_large(tmp, monkeypatch):
    from boxpresso.image import read_image

    monkeypatch.setattr(LIMITS, "picture_pixels", 1000)
    read_image(SHAPES / "scene.png")


@case
def wrong_input_shape(tmp, monkeypatch):
    net(FC).forward(data=np.zeros((1, 3, 9, 9), np.float32))


@case
def input_missing(tmp, monkeypatch):
    net(FC).forward(image=np.zeros((1, 3, 8, 8), np.float32))


@case
def not_allowed_to_write(tmp, monkeypatch):
    net(
        'layer { name: "l" type: "DummyData" top: "l" dummy_data_param { shape { dim: 2 } } }\n'
        'layer { name: "d" type: "DummyData" top: "d" dummy_data_param { shape { dim: 2 } } }\n'
        'layer { name: "out" type: "HDF5Output" bottom: "d" bottom: "l" hdf5_output_param { file_name: "out.h5" } }'
    )


@case
def too_many_labels(tmp, monkeypatch):
    labels = written(tmp / "names.txt", "\n".join("abcdefgh"))
    Detector(SHAPES / "deploy.prototxt", SHAPES / "shapes.caffemodel", labels=labels, device="cpu")


@case
def no_matplotlib(tmp, monkeypatch):
    from boxpresso.train.curves import plot

    hide(monkeypatch, "matplotlib")
    plot(str(written(tmp / "train.log", "Iteration 0, loss = 1\n")), str(tmp / "curves.png"))


@case
def no_onnx(tmp, monkeypatch):
    from boxpresso.exports import onnx_model

    hide(monkeypatch, "onnx")
    onnx_model(net(FC))


@case
def no_torch(tmp, monkeypatch):
    from boxpresso import to_torch

    hide(monkeypatch, "torch")
    to_torch(net(FC))


@case
def no_video(tmp, monkeypatch):
    from boxpresso.data.video import open_video

    hide(monkeypatch, "av", "cv2")
    open_video(written(tmp / "street.mp4", b"\0\0\0\x18ftypmp42"))


@case
def no_decoder(tmp, monkeypatch):
    Detector(net(DATA + 'layer { name: "relu" type: "ReLU" bottom: "data" top: "relu" }'))


@case
def not_an_image(tmp, monkeypatch):
    from boxpresso.image import read_image

    read_image(written(tmp / "street.jpg", "not found"))


@case
def diverged(tmp, monkeypatch):
    train(tmp, monkeypatch, "base_lr: 1e30")


@case
def snapshot_folder(tmp, monkeypatch):
    train(tmp, monkeypatch, 'base_lr: 0.1 snapshot: 10 snapshot_prefix: "snapshots/net"')


def train(tmp: Path, monkeypatch: pytest.MonkeyPatch, settings: str) -> None:
    """Some steps of a small net."""
    monkeypatch.chdir(tmp)
    param = parse_solver(f'{settings} lr_policy: "fixed" max_iter: 50 random_seed: 1 snapshot_after_train: false')
    data = "".join(
        f'layer {{ name: "{name}" type: "DummyData" top: "{name}" dummy_data_param {{ shape {{ dim: 2 dim: 4 }} '
        'data_filler { type: "gaussian" } } }'
        for name in ("data", "label")
    )
    param.net_param.CopyFrom(
        parse_net(
            data
            + FC.removeprefix(DATA)
            + 'layer { name: "loss" type: "EuclideanLoss" bottom: "fc" bottom: "label" top: "loss" }'
        )
    )
    Solver(param, device="cpu").solve()


@case
def wrong_solverstate(tmp, monkeypatch):
    from boxpresso.train.state import read_state

    read_state(SHAPES / "shapes.caffemodel")


@case
def no_mpi(tmp, monkeypatch):
    from boxpresso.train.ranks import open_ranks

    hide(monkeypatch, "mpi4py")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    open_ranks()


@case
def no_python2_converter(tmp, monkeypatch):
    from boxpresso.caffe import python2

    hide(monkeypatch, "fissix", "lib2to3")
    python2.refactor("print 'loss', 1\n", "old.py")


@case
def other_caffe(tmp, monkeypatch):
    import types

    from boxpresso import caffe

    monkeypatch.setitem(sys.modules, "caffe", types.ModuleType("caffe"))
    caffe.install()


def said(name: str, tmp: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The error, or else the warning, of a case."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            CASES[name](tmp, monkeypatch)
        except (BoxpressoError, SystemExit) as error:
            return str(error)
    return "\n".join(str(each.message) for each in caught)


# What pages quote of other programs, which is not ours to produce
OTHER_PROGRAMS = (
    "ModuleNotFoundError: No module named 'caffe'",
    "SyntaxError: Missing parentheses in call to 'print'. Did you mean print(...)?",
    "AttributeError: module 'cv2.dnn' has no attribute 'readNetFromCaffe'. Did you mean: 'readNetFromONNX'?",
    "Caffe importer has been removed. Please use ONNX-converted models or use an older OpenCV version.",
    "fatal error: cuda.h: No such file or directory",
)


@functools.cache
def quoted() -> tuple[str, ...]:
    """The messages of the page: its blocks of text."""
    blocks = re.findall(r"(?ms)^```text\n(.*?)\n```$", PAGE.read_text(encoding="utf-8"))
    return tuple(" ".join(block.split()) for block in blocks)


def reads_as(quote: str, message: str) -> bool:
    """Whether a message is the quoted one, in which three dots stand for anything."""
    pattern = ".*".join(map(re.escape, quote.split("...")))
    return re.fullmatch(pattern, " ".join(message.split()), re.DOTALL) is not None


@pytest.fixture(scope="module")
def message(tmp_path_factory) -> Callable[[str], str]:
    """What a case says, which is found out once."""

    @functools.cache
    def find(name: str) -> str:
        with pytest.MonkeyPatch.context() as monkeypatch:
            return said(name, tmp_path_factory.mktemp(name), monkeypatch)

    return find


@pytest.mark.parametrize("name", CASES)
def test_message_is_quoted(name, message):
    assert message(name), f"{name} says nothing"
    assert any(reads_as(quote, message(name)) for quote in quoted()), f"{PAGE} does not quote: {message(name)}"


def test_every_quoted_message_is_produced(message):
    messages = [message(name) for name in CASES]
    for quote in quoted():
        own = quote in OTHER_PROGRAMS or any(reads_as(quote, text) for text in messages)
        assert own, f"{PAGE} quotes what nothing here produces: {quote}"


def test_a_changed_message_is_seen():
    assert reads_as("layer ... has the unknown type", "layer 'fc' has the unknown type")
    assert not reads_as("layer ... has the unknown type", "layer 'fc' has an unknown type")
    assert not reads_as("layer has the type", "a layer has the type")
    assert len(quoted()) > 40
