"""The table of public models: that its entries are sound, that files are recognised by their layers, and the verb models."""

from __future__ import annotations

import json

import pytest
from places import ROOT
from shared import need

from boxpresso import Net
from boxpresso.__main__ import main
from boxpresso.cli.models import markdown
from boxpresso.decoders.known_models import fingerprint, known_models, label_sets, recognise
from boxpresso.net.weights import read_weights
from boxpresso.proto import parse_net

PAGE = ROOT / "docs" / "models.md"
LENET = """
name: "LeNet"
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 1 dim: 28 dim: 28 } } }
layer { name: "conv1" type: "Convolution" bottom: "data" top: "conv1" convolution_param { num_output: 20 kernel_size: 5 } }
layer { name: "pool1" type: "Pooling" bottom: "conv1" top: "pool1" pooling_param { pool: MAX kernel_size: 2 stride: 2 } }
layer { name: "conv2" type: "Convolution" bottom: "pool1" top: "conv2" convolution_param { num_output: 50 kernel_size: 5 } }
layer { name: "pool2" type: "Pooling" bottom: "conv2" top: "pool2" pooling_param { pool: MAX kernel_size: 2 stride: 2 } }
layer { name: "ip1" type: "InnerProduct" bottom: "pool2" top: "ip1" inner_product_param { num_output: 500 } }
layer { name: "relu1" type: "ReLU" bottom: "ip1" top: "ip1" }
layer { name: "ip2" type: "InnerProduct" bottom: "ip1" top: "ip2" inner_product_param { num_output: 10 } }
layer { name: "prob" type: "Softmax" bottom: "ip2" top: "prob" }"""
FILES = {  # a file of ../shared/models: the model that it is, and how it is recognised
    "ultralight_face/RFB-320.caffemodel": ("rfb-320", "same"),
    "retinaface_mnet25/mnet.caffemodel": ("retinaface-mnet25", "same"),
    "wechat_qrcode/detect.caffemodel": ("wechat-qr-detect", "same"),
    "mtcnn_kpzhang/det2.caffemodel": ("mtcnn-det2", "same"),
    "mtcnn_imistyrain/caffe/det1_half.caffemodel": ("mtcnn-det1", "same"),  # FP16
    "v1_everpeace/lenet_iter_10000.caffemodel": ("lenet", "same"),  # V1, with shapes of four dimensions
    "pcn/PCN-Tracking.caffemodel": ("pcn-tracking", "same"),
    "pcn/PCN.caffemodel": ("pcn-1", "part"),  # the layers of three nets
}


def lenet(*changes: tuple[str, str]) -> Net:
    text = LENET
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return Net(parse_net(text), device="cpu")


def test_the_page_is_that_of_the_table():
    assert PAGE.read_text(encoding="utf-8") == markdown(known_models().values()), (
        "boxpresso models --markdown > docs/models.md"
    )


def test_entries_are_sound():
    models = known_models()
    assert len(models) >= 50
    for model in models.values():
        assert model.layers, model.name
        assert len(model.shapes) == 12, model.name
        assert model.order in ("BGR", "RGB", "grey", None), model.name
        assert model.scale is None or 0 < model.scale <= 1, model.name
        assert model.mean is None or all(0 <= m < 256 for m in model.mean), model.name
        for url in (model.published, model.source):
            assert url is None or url.startswith("https://"), model.name
        if isinstance(model.labels, str) and model.labels in label_sets():
            assert len(set(model.class_names)) == len(model.class_names), model.labels
    assert len(label_sets()["voc"]) == 20
    assert len(label_sets()["coco"]) == 80
    alike = {model.name for model in models.values() if sum(m.layers == model.layers for m in models.values()) > 1}
    assert alike == {"bvlc-alexnet", "bvlc-caffenet"}  # the same layers in another order, for the same input


@pytest.mark.parametrize("file", FILES)
def test_files_are_recognised(file):
    known = recognise(need(f"models/{file}"))
    assert (known.model.name, known.kind) == FILES[file]


def test_a_net_of_the_prototxt_is_recognised():
    known = recognise(Net(str(need("models/ultralight_face/slim-320.prototxt")), device="cpu"))
    assert (known.model.name, known.kind, known.missing) == ("slim-320", "same", 0)
    assert known.model.settings() == {"mean": (127, 127, 127), "scale": 1 / 128, "swap_rb": True, "size": (320, 240)}


def test_other_names_of_blobs_and_other_phases_are_the_same_model():
    renamed = lenet(
        ('top: "data"', 'top: "image"'), ('bottom: "data"', 'bottom: "image"'), ("dim: 1 dim: 1", "dim: 8 dim: 1")
    )
    training = lenet(
        ('layer { name: "prob" type: "Softmax" bottom: "ip2" top: "prob" }',
         'layer { name: "label" type: "Input" top: "label" input_param { shape { dim: 1 } } }'
         'layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip2" bottom: "label" top: "loss" }'),
    )  # fmt: skip
    for net in (lenet(), renamed, training):
        known = recognise(net)
        assert (known.model.name, known.kind, known.missing, known.others) == ("lenet", "same", 0, ())
        assert known.same
        assert known.matching == ("conv1", "conv2", "ip1", "ip2")


def test_a_net_for_other_classes_is_a_variant(tmp_path):
    net = lenet(('name: "ip2"', 'name: "ip2_letters"'), ("num_output: 10", "num_output: 26"))
    net.save(tmp_path / "letters.caffemodel")
    for source in (net, tmp_path / "letters.caffemodel", read_weights(tmp_path / "letters.caffemodel")):
        known = recognise(source)
        assert (known.model.name, known.kind, known.missing) == ("lenet", "variant", 1)
        assert not known.same
        assert "3 of 4 layers with weights match, 1 of the net are not in it" in known.explain()[0]
        assert "labels unknown" in known.explain()[1]


def test_other_names_of_layers_are_said():
    net = lenet(*((f'name: "{name}"', f'name: "a_{name}"') for name in ("conv1", "conv2", "ip1", "ip2")))
    known = recognise(net)
    assert (known.model.name, known.kind) == ("lenet", "renamed")
    assert "under other names" in known.evidence()


def test_other_nets_are_not_recognised():
    assert recognise(lenet(("num_output: 20", "num_output: 21"), ("num_output: 500", "num_output: 501"))) is None
    assert recognise(Net(parse_net(LENET[: LENET.index('layer { name: "conv1"')]), device="cpu")) is None


def test_the_fingerprint_of_a_net_is_that_of_its_entry():
    entry = fingerprint(lenet())
    assert len(entry["layers"]) == 4 * 6
    assert entry["shapes"] == known_models()["lenet"].shapes


def test_the_verb_models(tmp_path, capsys):
    (tmp_path / "lenet.prototxt").write_text(LENET)
    lenet(("num_output: 500", "num_output: 501"), ("num_output: 20", "num_output: 21")).save(
        tmp_path / "own.caffemodel"
    )
    assert main(["models"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(known_models()) + 1
    assert main(["models", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["mobilenet-ssd"]["mean"] == [127.5] * 3
    assert rows["resnet-50"]["mean"] is None
    assert rows["ssd300-voc"]["classes"][14] == "person"
    assert main(["models", "resnet-50"]) == 0
    out = capsys.readouterr().out
    assert "pixel - mean (unknown)" in out
    assert "licence    unknown" in out
    assert main(["models", str(tmp_path / "lenet.prototxt")]) == 0
    assert "recognised: LeNet of BVLC, MNIST (lenet), all 4 layers with weights match" in capsys.readouterr().out
    assert main(["models", str(tmp_path / "own.caffemodel"), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["model"] is None
    assert main(["models", "mobilenet-sdd"]) == 1
    assert "did you mean 'mobilenet-ssd'" in capsys.readouterr().err


def test_entries_name_decoders_that_there_are():
    from boxpresso.decoders import HOMES

    assert {model.decoder for model in known_models().values()} <= {None, *HOMES}
