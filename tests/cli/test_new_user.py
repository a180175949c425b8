"""The likeliest mistakes of somebody who has a model and no manual: what is said names the remedy."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from PIL import Image
from tiny_ssd import TINY, picture, write_tiny

from boxpresso import Detector, ModelError, Net, ops
from boxpresso.__main__ import main
from boxpresso.proto import parse_net

DATA = """
layer { name: "data" type: "Data" top: "data" top: "label" data_param { source: "%s" batch_size: 2 } }
layer { name: "fc" type: "InnerProduct" bottom: "data" top: "fc" inner_product_param { num_output: 2 } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "fc" bottom: "label" top: "loss" }
"""


@pytest.fixture(autouse=True)
def on_the_cpu(monkeypatch, tmp_path):
    monkeypatch.setenv("BOXPRESSO_DEVICE", "cpu")
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def model(tmp_path):
    Image.fromarray(picture()).save(tmp_path / "a.png")
    return write_tiny(tmp_path)


def call(capsys, *words: object) -> tuple[int, str, str]:
    status = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return status, out, err


def test_weights_in_the_place_of_the_prototxt(model, capsys):
    status, out, err = call(capsys, "detect", model[1], model[0], "a.png")
    assert (status, out) == (1, "")
    assert (
        "tiny.caffemodel is a binary file (a caffemodel, perhaps), not a prototxt; the prototxt is named first" in err
    )


def test_a_picture_is_missing(model, capsys):
    status, _, err = call(capsys, "detect", *model)
    assert status == 1
    assert f"no IMAGE is named after MODEL {model[0]} WEIGHTS {model[1]}" in err
    status, _, err = call(capsys, "detect", model[0], "a.png")
    assert (status, "needs WEIGHTS: give MODEL WEIGHTS IMAGE.." in err) == (1, True)


def test_the_prototxt_for_training(tmp_path, model, capsys):
    (tmp_path / "train.prototxt").write_text(DATA % "nowhere")
    status, _, err = call(capsys, "detect", "train.prototxt", model[1], "a.png")
    assert status == 1
    assert "train.prototxt reads data of its own, Data layer 'data', as prototxts for training" in err
    assert "deploy.prototxt" in err
    with pytest.raises(ModelError, match="detection takes the one for deployment"):
        Detector(tmp_path / "train.prototxt", model[1])
    text = (DATA % "nowhere").replace(
        'type: "Data"', 'type: "Data" include { phase: TRAIN }'
    )  # nothing is left at TEST
    (tmp_path / "train.prototxt").write_text(text)
    with pytest.raises(ModelError, match="reads data of its own, Data layer 'data'"):
        Detector(tmp_path / "train.prototxt", model[1])
    broken = TINY.replace('layer { name: "loc" type: "Convolution"', 'layer { name: "loc" type: "Convolutio"')
    (tmp_path / "broken.prototxt").write_text(broken)  # another mistake keeps its own message
    with pytest.raises(ModelError, match="'Convolutio'"):
        Detector(tmp_path / "broken.prototxt", model[1])


def test_the_prototxt_for_testing_with_its_data_there(tmp_path):
    h5py = pytest.importorskip("h5py", reason="writes the data of an HDF5Data layer")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["data"], file["label"] = np.zeros((2, 3, 4, 4), np.float32), np.zeros((2, 1), np.float32)
    (tmp_path / "list.txt").write_text(str(tmp_path / "a.h5"))
    text = DATA.replace('"Data"', '"HDF5Data"').replace("data_param", "hdf5_data_param") % (tmp_path / "list.txt")
    (tmp_path / "test.prototxt").write_text(text)
    Net(parse_net(text), device="cpu").save(tmp_path / "net.caffemodel")
    with pytest.raises(ModelError, match="reads data of its own, HDF5Data layer 'data'"):
        Detector(tmp_path / "test.prototxt", tmp_path / "net.caffemodel")


def test_the_folder_of_a_trained_model(tmp_path, model, capsys):
    """The prototxts for training, the solver and the label map beside it are no nets of a cascade."""
    (tmp_path / "test.prototxt").write_text(DATA % "nowhere")
    train = (DATA % "nowhere").replace('type: "Data"', 'type: "Data" include { phase: TRAIN }')
    (tmp_path / "train.prototxt").write_text(train)
    (tmp_path / "solver.prototxt").write_text('net: "train.prototxt" base_lr: 0.1 lr_policy: "fixed"')
    (tmp_path / "labelmap.prototxt").write_text('item { name: "blue" label: 1 display_name: "blue" }')
    status, out, _ = call(capsys, "detect", tmp_path, "a.png", "--no-drawing", "--labels", "labelmap.prototxt")
    assert status == 0
    assert out.splitlines()[0] == "a.png (32 x 32): 1 detection"
    assert out.splitlines()[2].startswith("  blue")


def test_the_folder_above_the_model(tmp_path, capsys):
    (tmp_path / "models" / "deep").mkdir(parents=True)
    write_tiny(tmp_path / "models" / "deep")
    status, _, err = call(capsys, "detect", "models", "a.png")
    assert (status, "there are weights in its folders deep; name the files one by one" in err) == (1, True)


def test_classes_have_no_boxes_in_the_table(tmp_path, capsys):
    text = """
    layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 4 dim: 4 } } }
    layer { name: "fc" type: "InnerProduct" bottom: "data" top: "fc" inner_product_param { num_output: 3 } }
    layer { name: "prob" type: "Softmax" bottom: "fc" top: "prob" }
    """
    (tmp_path / "deploy.prototxt").write_text(text)
    net = Net(parse_net(text), device="cpu")
    net.params["fc"][0].data[...] = 0
    net.params["fc"][1].data[...] = np.log([5, 3, 2])
    net.save(tmp_path / "net.caffemodel")
    Image.fromarray(picture()).save(tmp_path / "a.png")
    words = ["detect", "deploy.prototxt", "net.caffemodel", "a.png", "--no-drawing"]
    _, out, _ = call(capsys, *words)
    assert out.splitlines() == [
        "a.png (32 x 32): 3 classes",
        "  label  score",
        "  0      0.500",
        "  1      0.300",
        "  2      0.200",
    ]
    assert call(capsys, *words, "--threshold", "0.4")[1].startswith("a.png (32 x 32): 1 class\n")
    assert call(capsys, *words, "--threshold", "0.9")[1] == "a.png (32 x 32): no classes\n"


def test_a_torch_file_without_torch(model, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)  # importing it fails
    status, _, err = call(capsys, "export", *model, "a.pt2")
    assert (status, err) == (1, "boxpresso: error: a torch module needs torch: pip install torch\n")


def test_a_file_that_is_no_known_model(model, capsys):
    status, out, _ = call(capsys, "models", model[1])
    assert status == 1
    assert "none of the " in out
    assert "--mean M --scale S" in out


def test_a_misspelt_layer_type(capsys):
    _, _, err = call(capsys, "layers", "Permut")
    assert (
        err
        == "boxpresso: error: no layer has the type 'Permut'; did you mean 'Permute'? `boxpresso layers` lists all\n"
    )


def test_an_argument_of_an_operator_that_it_does_not_take():
    x, rois = np.ones((1, 1, 4, 4), np.float32), np.zeros((1, 5), np.float32)
    with pytest.raises(
        TypeError, match=r"roi_align\(\) got an unexpected keyword argument 'scale'; it takes .*spatial_scale"
    ):
        ops.roi_align(x, rois, 2, scale=0.5)
    with pytest.raises(TypeError, match=r"roi_align\(\) missing a required argument: 'rois'"):
        ops.roi_align(x)


def test_a_file_that_ends_before_the_last_layer(model, capsys):
    """--output names a blob in the middle: the file is compared there with the net."""
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    status, out, err = call(capsys, "export", *model, "a.onnx", "--output", "conf_flat", "--output", "feature")
    assert (status, err) == (0, "")
    assert [line.split(":")[0].strip() for line in out.splitlines()[2:]] == ["conf_flat", "feature"]
    assert [each.name for each in onnx.load("a.onnx").graph.output] == ["conf_flat", "feature"]
    x = np.random.default_rng(0).uniform(0, 255, (1, 3, 32, 32)).astype(np.float32)
    got = onnxruntime.InferenceSession("a.onnx", providers=["CPUExecutionProvider"]).run(["feature"], {"data": x})[0]
    np.testing.assert_allclose(got, Net(*model, device="cpu").forward(["feature"], data=x)["feature"], rtol=1e-5)
    status, _, err = call(capsys, "export", *model, "b.onnx", "--output", "feeture")
    assert (status, "feeture" in err, "feature" in err) == (1, True, True)
