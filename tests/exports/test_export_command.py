"""`boxpresso export` and `boxpresso convert weights`."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
import tiny_ssd
from PIL import Image

import boxpresso
from boxpresso import ModelError, Net
from boxpresso.cli.main import main
from boxpresso.exports.tensors import convert_weights, parameter_keys, rows_of_tensors


def call(capsys: pytest.CaptureFixture, *words: object) -> tuple[int, str, str]:
    status = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return status, out, err


@pytest.fixture(autouse=True)
def without_debugging(monkeypatch):
    """As a user's: with BOXPRESSO_DEBUG, which the stand-in sets, errors go through."""
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)


@pytest.fixture
def files(tmp_path):
    return tiny_ssd.write_tiny(tmp_path)


def test_export(capsys, files, tmp_path):
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    Image.fromarray(tiny_ssd.picture(2)).save(tmp_path / "one.png")
    (tmp_path / "names.txt").write_text("background\ncat\n")
    status, out, err = call(
        capsys, "export", *files, tmp_path / "net.onnx", "--dynamic-batch", "--preprocess", "mean,scale,swap", "--mean",
        "1,2,3", "--scale", "1/2", "--labels", tmp_path / "names.txt", "--picture", tmp_path / "one.png", "--opset", 19,
    )  # fmt: skip
    assert (status, err) == (0, "")
    assert "for onnxruntime, opset 19" in out
    assert "found: " in out
    written = onnx.load(tmp_path / "net.onnx")
    assert (written.producer_name, written.producer_version) == ("boxpresso", boxpresso.__version__)
    said = {p.key: p.value for p in written.metadata_props}
    assert json.loads(said["labels"]) == {"0": "background", "1": "cat"}
    assert (said["mean"], said["scale"], said["swap_rb"]) == ("1,2,3", "0.5", "true")
    assert json.loads(said["in_graph"]) == ["mean", "scale", "swap"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["net.txt"], "must end in .onnx, .pt2 or .safetensors"),
        (["net.onnx", "--preprocess", "mean"], "needs --mean"),
        (["net.onnx", "--preprocess", "scale"], "needs --scale"),
        (["net.pt2", "--dynamic-batch"], "are for .onnx"),
        (["net.pt2", "--fp16"], "are for .onnx"),
    ],
)
def test_what_export_refuses(capsys, files, tmp_path, words, message):
    status, _, err = call(capsys, "export", *files, tmp_path / words[0], *words[1:])
    assert status == 1
    assert message in err
    assert not (tmp_path / words[0]).exists()


def test_wrong_use(capsys, files, tmp_path):
    for words in (
        ["--preprocess", "mean,wap"],
        ["--preprocess", "scale=2,3"],
        ["--preprocess", ","],
        ["--target", "ort"],
        ["--opset", "x"],
    ):
        assert call(capsys, "export", *files, tmp_path / "net.onnx", *words)[0] == 2


def test_numbers_of_preprocess_itself(capsys, files, tmp_path):
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    words = ["--preprocess", "mean=1,2,3,scale=1/2,swap", "--no-check"]
    status, _, err = call(capsys, "export", *files, tmp_path / "net.onnx", *words)
    assert status == 0
    assert "not compared" in err
    said = {p.key: p.value for p in onnx.load(tmp_path / "net.onnx").metadata_props}
    assert (said["mean"], said["scale"], said["swap_rb"]) == ("1,2,3", "0.5", "true")
    assert json.loads(said["preprocess"]) == {"mean": [1, 2, 3], "scale": 0.5, "swap": True}
    status, _, err = call(capsys, "export", *files, tmp_path / "x.onnx", "--preprocess", "scale=a")
    assert (status, "'a' is not a number" in err) == (1, True)


def test_without_onnx(files, tmp_path):
    """One line says what to install."""
    code = "import sys; sys.modules['onnx'] = None; from boxpresso.cli.main import main; sys.exit(main(sys.argv[1:]))"
    words = ["export", *files, str(tmp_path / "net.onnx")]
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'boxpresso[onnx]'" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_weights_as_safetensors_and_back(capsys, files, tmp_path):
    pytest.importorskip("safetensors", reason="safetensors is not installed")
    there, back = tmp_path / "w.safetensors", tmp_path / "w.caffemodel"
    status, out, err = call(capsys, "convert", "weights", files[1], there)
    assert (status, err) == (0, "")
    assert "the weights of 3 layers" in out
    assert call(capsys, "convert", "weights", there, back)[0] == 0
    first, second = (Net(files[0], path, device="cpu") for path in (files[1], back))
    for name, blobs in first.params.items():
        assert all(np.array_equal(a.data, b.data) for a, b in zip(blobs, second.params[name]))
    assert call(capsys, "export", *files, tmp_path / "n.safetensors")[0] == 0
    import safetensors.numpy

    tensors = safetensors.numpy.load_file(tmp_path / "n.safetensors")
    assert sorted(tensors) == [f"{n}.{k}" for n in ("conf", "feature", "loc") for k in ("bias", "weight")]
    assert np.array_equal(tensors["loc.weight"], first.params["loc"][0].data)


def test_broken_safetensors(capsys, tmp_path, files):
    pytest.importorskip("safetensors", reason="safetensors is not installed")
    whole = tmp_path / "w.safetensors"
    assert call(capsys, "convert", "weights", files[1], whole)[0] == 0
    (tmp_path / "cut.safetensors").write_bytes(whole.read_bytes()[:-8])
    (tmp_path / "no.safetensors").write_bytes(b"<html>")
    for name, words in (("cut", "not a complete"), ("no", "not a complete"), ("missing", "cannot read")):
        status, _, err = call(capsys, "convert", "weights", tmp_path / f"{name}.safetensors", tmp_path / "x.caffemodel")
        assert status == 1
        assert words in err
    assert not (tmp_path / "x.caffemodel").exists()


def test_kinds_of_weights(tmp_path, files):
    with pytest.raises(ModelError, match=r"written as \.caffemodel, \.h5 or \.safetensors"):
        convert_weights(files[1], tmp_path / "w.pth")
    assert convert_weights(files[1], tmp_path / "again.caffemodel") == 3


def test_names_of_parameters():
    x, bias, hidden = (20, 7), (20,), (20, 5)
    assert parameter_keys("LSTM", [x, bias, hidden]) == ["weight_x", "bias", "weight_h"]
    assert parameter_keys("LSTM", [x, hidden, bias]) == ["weight_x", "weight_h", "bias"]
    assert parameter_keys("LSTM", [x, bias, x, hidden]) == ["weight_x", "bias", "weight_static", "weight_h"]
    assert parameter_keys("BatchNorm", [(2,)] * 5)[3:] == ["weight", "bias"]
    assert parameter_keys("BN", [(1, 2)] * 4) == ["weight", "bias", "parameter_2", "parameter_3"]


def test_layers_of_named_arrays():
    """A file that torch wrote says no list of layers."""
    ones = np.ones(2, np.float32)
    tensors = {"a.bias": ones, "a.weight": 2 * ones, "b.c.running_mean": ones, "b.c.running_var": 3 * ones}
    rows = {row[0]: row for row in rows_of_tensors(tensors, None, "x")}
    assert [blob[0] for blob in rows["a"][4]] == [2, 1]
    assert rows["b.c"][1] == "BatchNorm"
    assert [blob[0] for blob in rows["b.c"][4]] == [1, 3, 1]
    with pytest.raises(ModelError, match="not the name of a parameter"):
        rows_of_tensors({"a.gamma": ones}, None, "x")
    with pytest.raises(ModelError, match="is not called"):
        rows_of_tensors({"gamma": ones}, None, "x")
    with pytest.raises(ModelError, match="cannot be read"):
        rows_of_tensors({"a.weight": ones}, "{", "x")
