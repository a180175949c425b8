"""Nets that are built without their data: shapes that fields give, values that a forward can use, info and time."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import survey
from shared import SHARED, need

from boxpresso import BoxpressoError, LayerError, ModelError, Net
from boxpresso.layers.core.data_tops import data_tops
from boxpresso.layers.core.registry import layer_class
from boxpresso.proto import parse_net, read_net

DATA = {  # the fields of a data layer, and the shapes of its tops
    'type: "Data" top: "a" top: "b" data_param { batch_size: 4 } transform_param { crop_size: 99 }': [(4, 3, 99, 99), (4,)],
    'type: "Data" top: "labeled_data" top: "label" data_param { batch_size: 4 } transform_param { crop_size: 57 }': [
        (4, 3, 57, 57), (4,)],
    'type: "Data" top: "a" data_param { source: "mnist_train_lmdb" batch_size: 64 }': [(64, 1, 28, 28)],
    'type: "ImageData" top: "a" top: "b" image_data_param { batch_size: 2 new_height: 40 new_width: 60 is_color: false }': [
        (2, 1, 40, 60), (2,)],
    'type: "WindowData" top: "a" top: "b" window_data_param { batch_size: 8 crop_size: 50 }': [(8, 3, 50, 50), (8,)],
    'type: "MemoryData" top: "a" top: "b" memory_data_param { batch_size: 3 channels: 2 height: 5 width: 6 }': [
        (3, 2, 5, 6), (3,)],
    'type: "AnnotatedData" top: "a" top: "b" data_param { batch_size: 2 } transform_param { resize_param { height: 30 width: 40 } }': [
        (2, 3, 30, 40), (1, 1, 3, 8)],
    'type: "DenseImageData" top: "a" top: "b" dense_image_data_param { batch_size: 2 new_height: 64 new_width: 96 label_divide_factor: 8 }': [
        (2, 3, 64, 96), (2, 1, 8, 12)],
    'type: "VideoData" top: "a" top: "b" video_data_param { batch_size: 2 new_length: 5 modality: FLOW } transform_param { crop_size: 20 }': [
        (2, 10, 20, 20), (2,)],
    'type: "FrcnnRoiData" top: "data" top: "im_info" top: "gt_boxes" window_data_param { source: "x" }': [
        (1, 3, 576, 960), (1, 3), (3, 5)],
    'type: "YoloData" top: "a" top: "b" yolo_data_param { batch_size: 2 new_height: 56 new_width: 56 num_sides: 7 }': [
        (2, 3, 56, 56), (2, 5, 7, 7)],
    'type: "ImageGtData" top: "a" top: "b" top: "c" image_gt_data_param { batch_size: 2 resize_width: 640 resize_height: 480 '
    "crop_width: 448 crop_height: 440 downsample_rate: 8 downsample_rate: 64 }": [(2, 3, 440, 448), (2, 6, 55, 56), (2, 6, 7, 7)],
    'type: "EvalData" top: "a" top: "b" top: "c" eval_data_param { short_size: 60 long_size: 100 }': [
        (1, 3, 100, 60), (3, 8, 1, 1), (1, 2, 1, 1)],
    'type: "CPMData" top: "data" top: "label" cpmdata_param { batch_size: 2 } transform_param { stride: 8 crop_size_x: 48 '
    "crop_size_y: 32 num_parts: 14 put_gaussian: true }": [(2, 4, 32, 48), (2, 30, 4, 6)],
    'type: "CPMData" top: "data" top: "label" data_param { batch_size: 2 } cpm_transform_param { stride: 8 crop_size_x: 48 '
    "crop_size_y: 32 num_parts: 56 np_in_lmdb: 17 }": [(2, 3, 32, 48), (2, 114, 4, 6)],
    'type: "DatumData" top: "data" top: "label" datum_data_param { batch_size: 5 } transform_param { crop_size: 41 }': [
        (5, 3, 41, 41), (5,)],
    'type: "DataHeatmap" top: "data" top: "label" top: "kind" heatmap_data_param { batchsize: 2 outsize: 64 label_width: 8 '
    "label_height: 6 }": [(2, 3, 64, 64), (2, 1, 6, 8), (2,)],
    'type: "BoxData" top: "data" top: "label" top: "fine" data_param { batch_size: 2 side: 7 side: 13 } transform_param { crop_size: 64 }': [
        (2, 3, 64, 64), (2, 343), (2, 1183)],
    'type: "FlowVideoData" top: "data" top: "label" image_data_param { batch_size: 2 new_height: 256 new_width: 340 is_color: false '
    "frame_num: 5 pair_size_sub: 2 } transform_param { crop_size: 32 }": [(2, 10, 32, 32), (2, 2, 1, 1)],
    'type: "VideoDataSeg" top: "data" top: "label" video_data_param { batch_size: 2 new_length: 5 }': [
        (2, 3, 5, 64, 64), (2, 1, 5, 64, 64)],
    'type: "VideoDataSeg" top: "a" video_data_param { batch_size: 2 new_length: 5 new_height: 9 new_width: 8 is_color: false }': [
        (2, 1, 5, 9, 8)],
    'type: "RgbVideoData" top: "data" top: "label" image_data_param { batch_size: 2 new_height: 30 new_width: 40 }': [
        (2, 3, 30, 40), (2, 2, 1, 1)],
    'type: "DriveData" top: "data" top: "label" top: "kind" data_param { batch_size: 2 } drive_data_param { cropped_height: 48 '
    "cropped_width: 64 tiling_height: 3 tiling_width: 4 label_resolution: 8 catalog_resolution: 2 }": [
        (2, 3, 48, 64), (2, 8, 24, 32), (2, 1, 6, 8)],
    'type: "Python" top: "data" top: "im_info" top: "gt_boxes" python_param { module: "rotation.rlayer" layer: "RoIDataLayer" }': [
        (1, 3, 576, 960), (1, 3), (3, 6)],
    'type: "Python" top: "data" top: "label" python_param { module: "voc_layers" layer: "SBDDSegDataLayer" }': [
        (1, 3, 224, 224), (1, 1, 224, 224)],
}  # fmt: skip


@pytest.mark.parametrize(("fields", "shapes"), DATA.items(), ids=[text.split('"')[1] for text in DATA])
def test_fields_give_the_shapes(fields, shapes):
    net = parse_net(f'layer {{ name: "data" {fields} }}')
    assert [top.shape for top in data_tops(net.layer[0])] == shapes
    built = Net(net, device="cpu", data="shapes")
    assert [built.blobs[name].shape for name in built.inputs] == shapes
    assert built.sources.types == {"data": net.layer[0].type}
    assert all(np.isfinite(value).all() for value in built.forward().values())


@pytest.mark.parametrize(("layer", "shape"), [
    ('type: "GuidedDropout" bottom: "rows" bottom: "y"', (4, 9)),
    ('type: "ContrastiveLoss" bottom: "rows" bottom: "rows" bottom: "y"', (4,)),
])  # fmt: skip
def test_the_layer_that_reads_a_top_tells_its_shape(layer, shape):
    net = parse_net(f"""layer {{ name: "rows" type: "Input" top: "rows" input_param {{ shape {{ dim: 4 dim: 9 }} }} }}
        layer {{ name: "data" type: "Data" top: "y" data_param {{ batch_size: 4 }} }}
        layer {{ name: "z" {layer} top: "z" }}""")
    built = Net(net, device="cpu", data="shapes")
    assert built.blobs["y"].shape == shape
    assert all(np.isfinite(value).all() for value in built.forward().values())


def test_labels_that_a_slice_parts():
    tops = " ".join(f'top: "l{i}"' for i in range(9))
    points = " ".join(f"slice_point: {i}" for i in range(1, 9))
    net = parse_net(f"""layer {{ name: "data" type: "ImageData" top: "x" top: "y" image_data_param {{ batch_size: 4 }} }}
        layer {{ name: "s" type: "Slice" bottom: "y" {tops} slice_param {{ axis: 1 {points} }} }}""")
    built = Net(net, device="cpu", data="shapes")
    assert built.blobs["y"].shape == (4, 9)
    assert built.blobs["l8"].shape == (4, 1)


NET = """layer { name: "data" type: "%s" top: "data" top: "label" top: "weight" include { phase: TRAIN }
    data_param { source: "nowhere" batch_size: 4 } image_data_param { batch_size: 4 } transform_param { crop_size: 8 } }
    layer { name: "fc" type: "Convolution" bottom: "data" top: "fc" convolution_param { num_output: 5 kernel_size: 3
    weight_filler { type: "xavier" } } }
    layer { name: "loss" type: "%s" bottom: "fc" bottom: "label" top: "loss" }
    layer { name: "again" type: "Silence" bottom: "label" }"""


def test_a_label_takes_the_shape_that_its_loss_asks_for():
    text = NET.replace(' top: "weight"', "")
    for kind in ("Data", "ImageData", "SomebodysData"):
        net = Net(parse_net(text % (kind, "SoftmaxWithLoss")), phase="TRAIN", device="cpu", data="shapes")
        assert net.blobs["label"].shape == (4, 1, 6, 6)
        assert net.sources.unknown.classes == {"label": 5}
        labels = np.array(net.blobs["label"].data)
        assert set(np.unique(labels)) <= set(range(5))
        assert labels.max() > 1
        net.forward()
        net.backward()
        assert net.loss() > 0
    net = Net(parse_net(text % ("Data", "EuclideanLoss")), phase="TRAIN", device="cpu", data="shapes")
    assert net.blobs["label"].shape == (4, 5, 6, 6)
    assert np.isfinite(net.forward()["loss"])


def test_shapes_of_the_caller():
    text = NET.replace(' top: "weight"', "") % ("Data", "SoftmaxWithLoss")
    net = Net(parse_net(text), phase="TRAIN", device="cpu", data={"data": (2, 3, 20, 10)})
    assert net.blobs["data"].shape == (2, 3, 20, 10)
    assert net.blobs["label"].shape == (2, 1, 18, 8)
    with pytest.raises(ModelError, match="'dat', which is not a top of a data layer; did you mean 'data'"):
        Net(parse_net(text), phase="TRAIN", device="cpu", data={"dat": (1,)})
    with pytest.raises(ModelError, match="data is 'shapes'"):
        Net(parse_net(text), phase="TRAIN", device="cpu", data="random")


def test_a_data_layer_whose_files_are_not_read_says_so():
    text = 'layer { name: "d" type: "FrcnnRoiData" top: "data" top: "im_info" top: "gt_boxes" }'
    net = Net(parse_net(text), device="cpu")
    assert net.blobs["data"].shape == (1, 3, 576, 960)
    with pytest.raises(LayerError, match=r"FrcnnRoiData are not read here.*data=\"shapes\""):
        net.forward()


def test_info_and_time_need_neither_data_nor_compiler(tmp_path):
    model = tmp_path / "train_val.prototxt"
    model.write_text(NET.replace(' top: "weight"', "") % ("Data", "SoftmaxWithLoss"))
    environment = dict(os.environ, CXX="/no/compiler", XDG_CACHE_HOME=str(tmp_path), BOXPRESSO_CACHE=str(tmp_path))
    command = [sys.executable, "-m", "boxpresso", "info", "--phase", "TRAIN", str(model)]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert ran.returncode == 0, ran.stderr
    assert "without data: data (--data read opens it)" in ran.stdout
    assert "4 x 3 x 8 x 8" in ran.stdout
    assert ran.stdout.count("Data ") == 1
    process = subprocess.run(
        [*command, "--json", "--shape", "data=1x3x9x9"], capture_output=True, text=True, env=environment
    )
    assert json.loads(process.stdout)["layers"][0]["tops"]["data"] == [1, 3, 9, 9]
    timed = subprocess.run(
        [sys.executable, "-m", "boxpresso", "time", "--phase", "TRAIN", "--iterations", "1", str(model)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert timed.returncode == 0, timed.stderr
    assert "Without data: data" in timed.stdout
    refused = subprocess.run(
        [sys.executable, "-m", "boxpresso", "time", "--phase", "TRAIN", "--data", "read", str(model)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert refused.returncode != 0
    assert "nowhere" in refused.stderr


TRAINED = ["train", "train_test"]
REFUSED = r"unknown type|which was not allowed|SigmoidCrossEntropyLoss layer 'loss_mask'|Flatten layer 'flat1_mask'|is not a top of an earlier"


def train_nets() -> list[str]:
    path = SHARED / "corpus" / "manifest.json"
    if not path.exists():
        return []
    entries = [entry for entry in json.loads(path.read_text()) if entry["kind"] in TRAINED]
    return [entry["file"] for entry in entries]


@pytest.mark.slow
def test_train_nets_of_the_corpus_build_without_data():
    """Every tenth of them; `python tests/survey.py` runs all of them forward."""
    need("corpus/manifest.json")
    built, wrong = 0, []
    for file in train_nets()[::10]:
        param = survey.unfilled(read_net(Path(SHARED) / "corpus" / file))
        reason = ""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                survey.built(param, "TRAIN", "cpu", lazy=True)
            except BoxpressoError as error:
                reason = str(error)
        built += not reason
        if reason and not re.search(REFUSED, reason):
            wrong.append(f"{file}: {reason}")
    assert not wrong
    assert built >= 10


def test_a_matrix_that_is_not_there_is_an_input():
    """InfogainLoss without its file: H is the identity, of as many classes as the scores have."""
    net = Net(
        parse_net("""
        layer { name: "d" type: "Data" top: "data" top: "label" data_param { batch_size: 2 } transform_param { crop_size: 4 } }
        layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip" inner_product_param { num_output: 5 } }
        layer { name: "loss" type: "InfogainLoss" bottom: "ip" bottom: "label" top: "loss" propagate_down: 1 propagate_down: 0
          infogain_loss_param { source: "nowhere.binaryproto" axis: 1 } }"""),
        phase="TRAIN",
        device="cpu",
        data="shapes",
    )
    assert net.blobs["loss_H"].data.tolist() == np.eye(5).tolist()
    assert net.forward()["loss"].item() == pytest.approx(np.log(5), rel=1e-5)


def test_a_matrix_of_a_data_layer_is_the_identity():
    """H comes as a third bottom: a row for each class, whatever the batch."""
    text = """layer { name: "d" type: "Data" top: "data" top: "label" data_param { batch_size: 6 } transform_param { crop_size: 4 } }
        layer { name: "H" type: "HDF5Data" top: "H" hdf5_data_param { batch_size: 1 } }
        layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip" inner_product_param { num_output: 3 } }
        layer { name: "p" type: "Softmax" bottom: "ip" top: "p" }
        layer { name: "loss" type: "InfogainLoss" bottom: "p" bottom: "label" bottom: "H" top: "loss" }"""
    net = Net(parse_net(text), data="shapes", device="cpu")
    assert net.blobs["H"].data.tolist() == np.eye(3).tolist()
    assert net.blobs["label"].shape == (6,)
    assert np.isfinite(net.forward()["loss"])


def test_a_reshape_that_parts_features_makes_them_as_many():
    text = """layer { name: "d" type: "HDF5Data" top: "data" top: "label" hdf5_data_param { batch_size: 4 } }
        layer { name: "r" type: "Reshape" bottom: "data" top: "r" reshape_param { shape { dim: 0 dim: 1 dim: 5 dim: -1 } } }
        layer { name: "ip" type: "InnerProduct" bottom: "r" top: "ip" inner_product_param { num_output: 2 } }
        layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }"""
    net = Net(parse_net(text), data="shapes", device="cpu")
    assert net.blobs["data"].shape == (4, 20)
    assert net.blobs["r"].shape == (4, 1, 5, 4)


@pytest.mark.parametrize(
    ("loss", "outputs", "channels"),
    [("SigmoidCrossEntropyLoss", 2, 2), ("EuclideanLoss", 5, 5), ("SoftmaxWithLoss", 4, 1)],
)
def test_a_mask_that_is_cut_to_its_scores_has_their_channels(loss, outputs, channels):
    """U-Net's: the mask of a Python layer, of which no field tells a thing, is cropped to what convolutions leave."""
    text = f"""layer {{ name: "d" type: "Python" top: "img" top: "mask" python_param {{ module: "own" layer: "Data" }} }}
        layer {{ name: "c" type: "Convolution" bottom: "img" top: "c" convolution_param {{ num_output: {outputs} kernel_size: 5 }} }}
        layer {{ name: "crop" type: "Crop" bottom: "mask" bottom: "c" top: "cut" crop_param {{ axis: 2 offset: 2 }} }}
        layer {{ name: "loss" type: "{loss}" bottom: "c" bottom: "cut" top: "loss" }}"""
    net = Net(parse_net(text), data="shapes", device="cpu", phase="TRAIN")
    assert net.blobs["mask"].shape == (1, channels, 224, 224)
    assert np.isfinite(net.forward()["loss"]).all()


@pytest.mark.parametrize("loss", ["SoftmaxWithLoss", "SigmoidCrossEntropyLoss"])
def test_attributes_that_a_slice_parts_are_one_for_each_row(loss):
    """Of faces: a Python layer gives all labels of an image as one top, by a name that tells nothing."""
    text = """layer { name: "d" type: "Python" top: "data" top: "attrs" python_param { module: "own" layer: "Data" } }
        layer { name: "parts" type: "Slice" bottom: "attrs" top: "bald" top: "male" top: "young" slice_param { slice_point: [1, 2] } }
        layer { name: "pool" type: "Pooling" bottom: "data" top: "p" pooling_param { global_pooling: true pool: AVE } }"""
    outputs = 2 if loss == "SoftmaxWithLoss" else 1
    for name in ("bald", "male", "young"):
        text += f"""layer {{ name: "{name}_ip" type: "InnerProduct" bottom: "p" top: "{name}_ip"
            inner_product_param {{ num_output: {outputs} }} }}
            layer {{ name: "{name}_loss" type: "{loss}" bottom: "{name}_ip" bottom: "{name}" top: "{name}_loss" }}"""
    net = Net(parse_net(text), data="shapes", device="cpu", phase="TRAIN")
    assert net.blobs["attrs"].shape == (1, 3, 1, 1)
    assert set(np.unique(net.blobs["attrs"].data)) <= (
        {0.0, 1.0} if outputs == 2 else set(net.blobs["attrs"].data.ravel())
    )
    assert np.isfinite(net.forward()["male_loss"])


def test_an_image_that_an_autoencoder_makes_anew_has_as_many_numbers():
    text = """layer { name: "d" type: "Data" top: "data" top: "label" data_param { batch_size: 2 } }
        layer { name: "rows" type: "Flatten" bottom: "data" top: "rows" }
        layer { name: "code" type: "Convolution" bottom: "data" top: "code" convolution_param { num_output: 2 kernel_size: 5 } }
        layer { name: "ip" type: "InnerProduct" bottom: "code" top: "ip" inner_product_param { num_output: 360 } }
        layer { name: "bent" type: "Sigmoid" bottom: "ip" top: "bent" }
        layer { name: "loss" type: "EuclideanLoss" bottom: "bent" bottom: "rows" top: "loss" }"""
    net = Net(parse_net(text), data="shapes", device="cpu")
    assert net.blobs["data"].shape == (2, 3, 10, 12)
    assert np.isfinite(net.forward()["loss"])


def test_the_last_part_of_a_label_is_as_wide_as_what_it_is_compared_with():
    """PoseNet's: a place and a quaternion."""
    text = """layer { name: "d" type: "Data" top: "data" top: "label" data_param { batch_size: 2 } transform_param { crop_size: 8 } }
        layer { name: "s" type: "Slice" bottom: "label" top: "xyz" top: "wpqr" slice_param { slice_dim: 1 slice_point: 3 } }
        layer { name: "a" type: "InnerProduct" bottom: "data" top: "a" inner_product_param { num_output: 3 } }
        layer { name: "b" type: "InnerProduct" bottom: "data" top: "b" inner_product_param { num_output: 4 } }
        layer { name: "place" type: "EuclideanLoss" bottom: "a" bottom: "xyz" top: "place" }
        layer { name: "turn" type: "EuclideanLoss" bottom: "b" bottom: "wpqr" top: "turn" }
        layer { name: "again" type: "EuclideanLoss" bottom: "b" bottom: "wpqr" top: "again" }"""
    net = Net(parse_net(text), data="shapes", device="cpu", phase="TRAIN")
    assert net.blobs["label"].shape == (2, 7)
    assert net.blobs["wpqr"].shape == (2, 4)
    assert np.isfinite(net.forward()["turn"])


def test_captions_have_as_many_sequences_as_there_are_images():
    """LRCN's: words come from HDF5 files, which say neither how many sequences there are nor how long they are."""
    text = """layer { name: "d" type: "ImageData" top: "data" top: "label" image_data_param { batch_size: 6 } transform_param { crop_size: 8 } }
        layer { name: "h" type: "HDF5Data" top: "cont_sentence" top: "input_sentence" top: "target_sentence" hdf5_data_param { batch_size: 4 } }
        layer { name: "fc8" type: "InnerProduct" bottom: "data" top: "fc8" inner_product_param { num_output: 3 } }
        layer { name: "e" type: "Embed" bottom: "input_sentence" top: "e" embed_param { input_dim: 9 num_output: 2 bias_term: false } }
        layer { name: "lstm1" type: "LSTM" bottom: "e" bottom: "cont_sentence" top: "lstm1" recurrent_param { num_output: 5 } }
        layer { name: "lstm2" type: "LSTM" bottom: "lstm1" bottom: "cont_sentence" bottom: "fc8" top: "lstm2" recurrent_param { num_output: 5 } }
        layer { name: "predict" type: "InnerProduct" bottom: "lstm2" top: "predict" inner_product_param { num_output: 9 axis: 2 } }
        layer { name: "loss" type: "SoftmaxWithLoss" bottom: "predict" bottom: "target_sentence" top: "loss" softmax_param { axis: 2 } }
        layer { name: "s" type: "Silence" bottom: "label" }"""
    net = Net(parse_net(text), data="shapes", device="cpu", phase="TRAIN")
    assert [net.blobs[name].shape for name in ("cont_sentence", "input_sentence", "target_sentence")] == [(4, 6)] * 3
    assert np.isfinite(net.forward()["loss"])


def test_lines_of_text_make_maps_of_a_single_row():
    """caffe_ocr's: the scores have as many sequences as there are labels only where the pictures are as high as the kernel."""
    text = """layer { name: "d" type: "Data" top: "data" top: "label" data_param { source: "x" batch_size: 3 } }
        layer { name: "c" type: "Convolution" bottom: "data" top: "c" convolution_param { num_output: 5 kernel_h: 28 kernel_w: 4 stride: 8 } }
        layer { name: "p" type: "Permute" bottom: "c" top: "p" permute_param { order: 3 order: 2 order: 0 order: 1 } }
        layer { name: "r" type: "Reshape" bottom: "p" top: "r" reshape_param { shape { dim: -1 } axis: 1 num_axes: 2 } }
        layer { name: "loss" type: "WarpCTCLoss" bottom: "r" bottom: "label" top: "loss" }"""
    net = Net(parse_net(text), data="shapes", device="cpu", phase="TRAIN")
    assert [net.blobs[name].shape for name in ("data", "r", "label")] == [(3, 3, 32, 32), (4, 3, 5), (3,)]
    assert np.isfinite(net.forward()["loss"])


def test_pooling_in_place_gets_an_input_of_its_own():
    text = """layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 1 dim: 1 dim: 4 } } }
        layer { name: "double" type: "Power" bottom: "x" top: "y" power_param { scale: 2 } }
        layer { name: "relu" type: "ReLU" bottom: "y" top: "y" }
        layer { name: "pool" type: "Pooling" bottom: "y" top: "y" pooling_param { kernel_h: 1 kernel_w: 2 stride: 2 } }
        layer { name: "half" type: "Power" bottom: "y" top: "z" power_param { scale: 0.5 } }"""
    net = Net(parse_net(text), device="cpu", optimize=False)
    assert net.forward(x=[[[[1, -3, 2, 5]]]])["z"].tolist() == [[[[1, 5]]]]
    assert net.blobs["y"].shape == (1, 1, 1, 2)
    text = """layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 1 dim: 1 dim: 4 } } }
        layer { name: "pool" type: "Pooling" bottom: "x" top: "x" pooling_param { kernel_h: 1 kernel_w: 2 stride: 2 } }"""
    with pytest.raises(BoxpressoError, match="cannot work in place"):  # an input keeps its name
        Net(parse_net(text), device="cpu")


def test_a_reshape_in_place_gets_an_input_of_its_own():
    text = """layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 4 } } }
        layer { name: "double" type: "Power" bottom: "x" top: "y" power_param { scale: 2 } }
        layer { name: "as" type: "Reshape" bottom: "y" top: "y" reshape_param { shape { dim: 2 dim: 2 } } }"""
    net = Net(parse_net(text), device="cpu")
    assert net.forward(x=[[1, 2, 3, 4]])["y"].tolist() == [[2, 4], [6, 8]]


def test_what_is_joined_with_images_is_images():
    text = """layer { name: "d" type: "HDF5Data" top: "data" top: "trimap" top: "rough" top: "label"
            hdf5_data_param { batch_size: 2 } }
        layer { name: "j" type: "Concat" bottom: "trimap" bottom: "rough" bottom: "data" top: "j" }
        layer { name: "c" type: "Convolution" bottom: "j" top: "c" convolution_param { num_output: 1 kernel_size: 3 } }
        layer { name: "s" type: "Silence" bottom: "label" bottom: "c" }"""
    shapes = [blob.shape for blob in list(Net(parse_net(text), data="shapes").blobs.values())[:4]]
    assert shapes == [(2, 3, 224, 224)] * 3 + [(2,)]


def test_a_data_layer_names_the_nearest_that_reads():
    text = 'layer { name: "d" type: "LaneData" top: "data" data_param { batch_size: 1 } }'
    with pytest.raises(LayerError, match="AnnotatedData, which reads SSD's LMDBs"):
        Net(parse_net(text), device="cpu").forward()


def test_a_net_that_is_only_looked_at_draws_no_values():
    text = 'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 3 } } } layer { name: "y" type: "AbsVal" bottom: "x" top: "y" }'
    drawn, lazy = (
        Net(parse_net(text), device="cpu", data="shapes", lazy=lazy).blobs["x"].data for lazy in (False, True)
    )
    assert drawn.any()
    assert not lazy.any()


def test_a_loss_behind_a_view_tells_the_shape_of_labels():
    text = """layer { name: "d" type: "HDF5Data" top: "data" top: "label" hdf5_data_param { batch_size: 4 } }
        layer { name: "f" type: "Flatten" bottom: "label" top: "f" }
        layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip" inner_product_param { num_output: 7 } }
        layer { name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "f" top: "loss" }"""
    net = Net(parse_net(text), data="shapes", device="cpu")
    assert net.blobs["label"].shape == net.blobs["f"].shape == (4, 7)
    more = text.replace("batch_size: 4", "batch_size: 64").replace("InnerProduct", "Convolution")
    more = more.replace("inner_product_param { num_output: 7", "convolution_param { num_output: 7 kernel_size: 224")
    fewer, shapes = survey.small(parse_net(more), "TRAIN")
    net = Net(fewer, data=shapes, device="cpu")  # as many images as a survey takes
    assert net.blobs["data"].shape[0] == survey.BATCH
    assert net.blobs["label"].count == survey.BATCH * 7


@pytest.mark.parametrize(("transform", "sides"), [("", (224, 4096)), ("transform_param { crop_size: 40 }", (40, 40))])
def test_rows_of_features_are_as_wide_as_their_kernel(transform, sides):
    text = f"""layer {{ name: "d" type: "Data" top: "data" top: "label" data_param {{ batch_size: 2 }} {transform} }}
        layer {{ name: "c" type: "Convolution" bottom: "data" top: "c"
            convolution_param {{ num_output: 1 kernel_h: 7 kernel_w: 4096 pad_w: 4096 }} }}"""
    assert Net(parse_net(text), data="shapes", device="cpu", lazy=True).blobs["data"].shape[2:] == sides


def test_frames_that_are_channels_stay_so():
    """Clips of as many channels as there are means, which a Reshape makes volumes of."""
    text = f"""layer {{ name: "d" type: "Data" top: "data" data_param {{ batch_size: 2 }}
            transform_param {{ crop_size: 8 {"mean_value: 5 " * 12} }} }}
        layer {{ name: "r" type: "Reshape" bottom: "data" top: "r"
            reshape_param {{ shape {{ dim: 0 dim: 3 dim: 4 dim: 8 dim: 8 }} }} }}
        layer {{ name: "c" type: "Convolution" bottom: "r" top: "c"
            convolution_param {{ num_output: 1 kernel_size: 3 kernel_size: 3 kernel_size: 3 }} }}"""
    net = Net(parse_net(text), data="shapes", device="cpu", lazy=True)
    assert net.blobs["data"].shape == (2, 12, 8, 8)
    assert net.blobs["c"].shape == (2, 1, 2, 6, 6)


PAIR = """layer {{ name: "d" type: "Python" top: "image" top: "words" top: "label" python_param {{ module: "own" layer: "Own" }} }}
    layer {{ name: "a" type: "Convolution" bottom: "image" top: "a" convolution_param {{ num_output: 4 kernel_size: 3 stride: 4 }} }}
    layer {{ name: "b" type: "Convolution" bottom: "words" top: "b"
        convolution_param {{ num_output: 4 kernel_size: {kernel} stride: 2 }} }}
    layer {{ name: "j" type: "{type}" bottom: "{first}" bottom: "{second}" top: "j" }}"""


@pytest.mark.parametrize("type", ["Concat", "Eltwise"])
@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_images_take_the_size_with_which_they_join(type, order):
    text = PAIR.format(kernel=1, type=type, first=order[0], second=order[1])
    net = Net(parse_net(text), data="shapes", device="cpu", lazy=True)
    assert net.blobs["a"].shape[2:] == net.blobs["b"].shape[2:] == net.blobs["j"].shape[2:]


def test_images_that_no_size_joins_stay_as_they_are():
    text = PAIR.format(kernel=1, type="Concat", first="a", second="b")
    with pytest.raises(LayerError, match="may differ from bottom 0"):  # the image is the same
        Net(
            parse_net(text.replace("words", "image").replace('top: "image" top: "image"', 'top: "image"')),
            data="shapes",
        )
    shapes = {"image": (1, 3, 224, 224), "words": (1, 3, 224, 224)}
    with pytest.raises(LayerError, match="may differ from bottom 0"):  # a caller's word counts
        Net(parse_net(text), data=shapes, device="cpu", lazy=True)
    along = text.replace('top: "j"', 'top: "j" concat_param { axis: 2 }')
    with pytest.raises(LayerError, match="may differ from bottom 0"):
        Net(parse_net(along), data="shapes", device="cpu", lazy=True)


def test_labels_and_boxes_of_python_layers():
    """`labels` beside regions are theirs, else of images or pixels; rows that a Slice parts are rows."""
    text = """layer { name: "d" type: "Python" top: "data" top: "labels" top: "gt_body"
            python_param { module: "own" layer: "Own" param_str: "{'batch_size': 2}" } }
        layer { name: "s" type: "Slice" bottom: "gt_body" top: "box" top: "class" slice_param { axis: 1 slice_point: 4 } }
        layer { name: "c" type: "Convolution" bottom: "data" top: "c" convolution_param { num_output: 3 kernel_size: 1 } }
        layer { name: "l" type: "SoftmaxWithLoss" bottom: "c" bottom: "labels" top: "l" }"""
    net = Net(parse_net(text), data="shapes", device="cpu", lazy=True)
    assert net.blobs["labels"].shape == (2, 1, *net.blobs["data"].shape[2:])
    assert (net.blobs["box"].shape[1:], net.blobs["class"].shape[1:]) == ((4,), (1,))


def test_what_pools_regions_tells_them():
    text = """layer { name: "d" type: "Python" top: "data" top: "boxes" python_param { module: "own" layer: "Own" } }
        layer { name: "p" type: "ROIPooling" bottom: "data" bottom: "boxes" top: "p" roi_pooling_param { pooled_h: 2 pooled_w: 3 } }"""
    net = Net(parse_net(text), data="shapes", device="cpu")
    assert net.blobs["boxes"].shape[1:] == (5,)
    assert net.blobs["p"].shape[1:] == (3, 2, 3)
    assert np.isfinite(net.forward()["p"]).all()


def test_labels_in_a_file_of_their_own():
    text = """layer { name: "d" type: "Data" top: "data" data_param { batch_size: 4 } transform_param { crop_size: 8 } }
        layer { name: "l" type: "Data" top: "label" data_param { batch_size: 4 } }
        layer { name: "s" type: "Slice" bottom: "label" top: "a" top: "b" top: "c" slice_param { slice_point: 1 slice_point: 2 } }
        layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip" inner_product_param { num_output: 7 } }
        layer { name: "x" type: "SoftmaxWithLoss" bottom: "ip" bottom: "b" top: "x" }
        layer { name: "y" type: "Silence" bottom: "a" bottom: "c" }"""
    net = Net(parse_net(text), data="shapes", device="cpu")
    assert net.blobs["label"].shape == (4, 3, 1, 1)
    assert np.isfinite(net.forward()["x"]).all()


def test_poses_have_a_map_of_the_centre_where_a_slice_parts_it():
    text = """layer { name: "d" type: "CPMData" top: "data" top: "label" data_param { batch_size: 2 }
            cpm_transform_param { stride: 8 crop_size_x: 48 crop_size_y: 32 num_parts: 14 } }
        layer { name: "s" type: "Slice" bottom: "data" top: "image" top: "centre" slice_param { axis: 1 slice_point: 3 } }
        layer { name: "y" type: "Silence" bottom: "image" bottom: "centre" bottom: "label" }"""
    net = Net(parse_net(text), data="shapes", device="cpu", lazy=True)
    assert [net.blobs[name].shape for name in ("image", "centre")] == [(2, 3, 32, 48), (2, 1, 32, 48)]


POSES = """layer {{ name: "d" type: "CPMData" top: "data" top: "label" data_param {{ batch_size: 2 }}
        cpm_transform_param {{ stride: 8 crop_size_x: 48 crop_size_y: 32 {field} }} }}
    layer {{ name: "c" type: "Convolution" bottom: "data" top: "c" convolution_param {{ num_output: {maps} kernel_size: 8 stride: 8 }} }}
    {parts} layer {{ name: "y" type: "EuclideanLoss" bottom: "c" bottom: "{wanted}" top: "y" }}"""
MASKED = """layer { name: "s" type: "Slice" bottom: "label" top: "w" top: "wj" top: "v" top: "vj" slice_param { slice_point: 26 slice_point: 39 slice_point: 65 } }
    layer { name: "m" type: "Eltwise" bottom: "w" bottom: "v" top: "m" eltwise_param { operation: PROD } }
    layer { name: "j" type: "Eltwise" bottom: "wj" bottom: "vj" top: "j" eltwise_param { operation: PROD } }"""


@pytest.mark.parametrize(
    ("field", "maps", "parts", "wanted", "shape"),
    [
        ("", 13, MASKED, "j", (2, 78, 4, 6)),  # its program says the parts
        ("num_parts: 21", 22, "", "label", (2, 22, 4, 6)),
    ],
    ids=["masks", "maps alone"],
)
def test_poses_have_as_many_maps_as_parts_and_losses_say(field, maps, parts, wanted, shape):
    """As a fork of OpenPose's data layer has them (yfji/Multi-person-train-caffe): masks are as many as maps, or none."""
    text = POSES.format(field=field, maps=maps, parts=parts, wanted=wanted)
    net = Net(parse_net(text), data="shapes", device="cpu", lazy=True)
    assert net.blobs["label"].shape == shape


def test_what_a_loss_wants_may_stand_before_what_is_computed():
    text = """layer { name: "d" type: "HDF5Data" top: "data" top: "label" hdf5_data_param { batch_size: 2 } }
        layer { name: "c" type: "Convolution" bottom: "data" top: "c" convolution_param { num_output: 5 kernel_size: 3 pad: 1 } }
        layer { name: "y" type: "EuclideanLoss" bottom: "label" bottom: "c" top: "y" }"""
    net = Net(parse_net(text), data="shapes", device="cpu", lazy=True)
    assert net.blobs["label"].shape == net.blobs["c"].shape == (2, 5, 224, 224)
    assert net.blobs["data"].shape == (2, 3, 224, 224)


STEPS = """layer {{ name: "d" type: "Data" top: "data" data_param {{ batch_size: 2 }} {transform} }}
    layer {{ name: "t" type: "ContinuationIndicator" top: "cont" continuation_indicator_param {{ time_step: 19 batch_size: 2 }} }}
    layer {{ name: "c" type: "Convolution" bottom: "data" top: "c" convolution_param {{ num_output: 2 kernel_size: 3 pad: 1 stride: 8 }} }}
    layer {{ name: "p" type: "Permute" bottom: "c" top: "p" permute_param {{ order: 3 order: 0 order: 1 order: 2 }} }}
    layer {{ name: "l" type: "LSTM" bottom: "p" bottom: "cont" top: "l" recurrent_param {{ num_output: 3 }} }}"""


def test_images_are_as_wide_as_a_recurrent_layer_has_steps():
    net = Net(parse_net(STEPS.format(transform="")), data="shapes", device="cpu", lazy=True)
    assert net.blobs["l"].shape == (19, 2, 3)
    assert net.blobs["data"].shape == (2, 3, 224, 152)
    with pytest.raises(LayerError, match=r"cont must be \(T, N\) = \(28, 2\)"):  # a field's word counts
        Net(
            parse_net(STEPS.format(transform="transform_param { crop_size: 224 }")),
            data="shapes",
            device="cpu",
            lazy=True,
        )


READ = """layer {{ name: "d" type: "Python" top: "data" top: "label" python_param {{ module: "own" layer: "Own" }} }}
    layer {{ name: "i" type: "InnerProduct" bottom: "data" top: "i" inner_product_param {{ num_output: 32 }} }}
    layer {{ name: "r" type: "Reshape" bottom: "{bottom}" top: "r" reshape_param {{ shape {{ {dims} }} }} }}"""


@pytest.mark.parametrize(
    ("bottom", "dims", "top", "shape"),
    [
        ("label", "dim: 0 dim: 1 dim: 49 dim: 1", "label", (1, 1, 49, 1)),
        ("i", "dim: 5 dim: 4 dim: 32", "data", (20, 3, 224, 224)),
        ("i", "dim: -1 dim: 6 dim: 16", "data", (3, 3, 224, 224)),
    ],
)
def test_a_reshape_tells_how_many_numbers_it_takes(bottom, dims, top, shape):
    text = READ.format(bottom=bottom, dims=dims)
    net = Net(parse_net(text), data="shapes", device="cpu", lazy=True)
    assert net.blobs[top].shape == shape
    with pytest.raises(LayerError, match="elements"):  # a caller's word counts
        Net(parse_net(text), data={"data": (1, 3, 4, 4), "label": (1, 1, 2, 2)}, device="cpu", lazy=True)


def test_a_reshape_tells_the_sides_of_images():
    text = """layer { name: "d" type: "Data" top: "data" data_param { batch_size: 2 } }
        layer { name: "c" type: "Convolution" bottom: "data" top: "c" convolution_param { num_output: 2 kernel_size: 1 stride: 4 } }
        layer { name: "r" type: "Reshape" bottom: "c" top: "r" reshape_param { shape { dim: 2 dim: 1120 } } }"""
    net = Net(parse_net(text), data="shapes", device="cpu", lazy=True)
    assert net.blobs["c"].count == 2 * 1120
    assert net.blobs["data"].shape == (2, 3, 224, 40)


@pytest.mark.parametrize(
    "shape", ["axis: 1 shape { dim: 2450 }", "shape { dim: 0 dim: 2450 }", "shape { dim: 0 dim: -1 dim: 7 dim: 7 }"]
)
def test_a_reshape_of_each_image_tells_the_sides_of_images(shape):
    """YOLO's grid of 7 x 7 cells, which is a fourteenth of no image of 224 pixels in steps of 64; the batch stays."""
    text = f"""layer {{ name: "d" type: "BoxData" top: "data" top: "label" data_param {{ side: 7 }} }}
        layer {{ name: "c" type: "Convolution" bottom: "data" top: "c" convolution_param {{ num_output: 50 kernel_size: 1 stride: 64 }} }}
        layer {{ name: "r" type: "Reshape" bottom: "c" top: "r" reshape_param {{ {shape} }} }}
        layer {{ name: "s" type: "Silence" bottom: "label" }}"""
    net = Net(parse_net(text), data="shapes", device="cpu", lazy=True)
    assert net.blobs["c"].shape == (1, 50, 7, 7)
    assert net.blobs["label"].shape == (1, 343)


def test_pairs_of_python_layers():
    text = """layer { name: "d" type: "Python" top: "pair" top: "label" python_param { module: "own" layer: "Own" } }
        layer { name: "s" type: "Slice" bottom: "pair" top: "a" top: "b" slice_param { slice_dim: 1 slice_point: 3 } }
        layer { name: "y" type: "Silence" bottom: "a" bottom: "b" bottom: "label" }"""
    net = Net(parse_net(text), data="shapes", device="cpu", lazy=True)
    assert net.blobs["a"].shape == net.blobs["b"].shape == (1, 3, 224, 224)


def test_labels_that_are_multiplied_are_as_large_as_what_they_are_compared_with():
    text = """layer { name: "d" type: "Python" top: "data" top: "box-label" top: "size" python_param { module: "own" layer: "Own" } }
        layer { name: "e" type: "Eltwise" bottom: "box-label" bottom: "size" top: "e" eltwise_param { operation: PROD } }
        layer { name: "c" type: "Convolution" bottom: "data" top: "c" convolution_param { num_output: 4 kernel_size: 8 stride: 8 } }
        layer { name: "l" type: "EuclideanLoss" bottom: "c" bottom: "e" top: "l" }"""
    net = Net(parse_net(text), data="shapes", device="cpu", lazy=True)
    assert {net.blobs[name].shape for name in ("box-label", "size", "e", "c")} == {(1, 4, 28, 28)}


def test_a_mask_is_as_large_as_what_it_is_multiplied_with():
    text = """layer { name: "d" type: "Python" top: "data" top: "mask" python_param { module: "own" layer: "Own" } }
        layer { name: "c" type: "Convolution" bottom: "data" top: "c" convolution_param { num_output: 4 kernel_size: 8 stride: 8 } }
        layer { name: "e" type: "Eltwise" bottom: "c" bottom: "mask" top: "e" eltwise_param { operation: PROD } }"""
    net = Net(parse_net(text), data="shapes", device="cpu", lazy=True)
    assert net.blobs["mask"].shape == net.blobs["e"].shape == (1, 4, 28, 28)


def test_labels_that_are_joined_have_equal_parts():
    text = """layer { name: "d" type: "HDF5Data" top: "data" top: "x" top: "y" hdf5_data_param { batch_size: 2 } }
        layer { name: "j" type: "Concat" bottom: "x" bottom: "y" top: "j" }
        layer { name: "i" type: "InnerProduct" bottom: "data" top: "i" inner_product_param { num_output: 4 } }
        layer { name: "l" type: "EuclideanLoss" bottom: "i" bottom: "j" top: "l" }"""
    net = Net(parse_net(text), data="shapes", device="cpu", lazy=True)
    assert net.blobs["x"].shape == net.blobs["y"].shape == (2, 2)
    assert net.blobs["j"].shape == (2, 4)


@pytest.mark.parametrize("type", ["LSTM", "ConvLSTM"])
def test_marks_of_sequences_have_a_number_for_each_step(type):
    text = f"""layer {{ name: "d" type: "Data" top: "data" data_param {{ batch_size: 4 }} transform_param {{ crop_size: 6 }} }}
        layer {{ name: "m" type: "HDF5Data" top: "marks" hdf5_data_param {{ batch_size: 4 }} }}
        layer {{ name: "r" type: "Reshape" bottom: "data" top: "r"
            reshape_param {{ shape {{ dim: -1 dim: 2 dim: 3 dim: 6 dim: 6 }} }} }}
        layer {{ name: "l" type: "{type}" bottom: "r" bottom: "marks" top: "l" recurrent_param {{ num_output: 5 }}
            lstm_conv_param {{ num_output: 5 kernel_size: 3 pad: 1 }} }}"""
    net = Net(parse_net(text), data="shapes", device="cpu", lazy=True)
    assert net.blobs["marks"].shape == (2, 2)


def test_labels_alone_are_not_of_regions():
    text = """layer { name: "d" type: "Python" top: "data" top: "%s" python_param { module: "own" layer: "Own" } }
        layer { name: "y" type: "Silence" bottom: "data" bottom: "%s" }"""
    for name, sides in (("labels", (224, 224)), ("gt_boxes", (576, 960))):
        net = Net(parse_net(text % (name, name)), data="shapes", device="cpu", lazy=True)
        assert net.blobs["data"].shape[2:] == sides


@pytest.mark.parametrize("type", ["Concat", "Eltwise"])
def test_images_have_a_side_with_which_two_branches_agree(type):
    """224 pixels make 27 by pooling and 28 by a convolution, 227 make 28 by both."""
    text = """layer {{ name: "d" type: "Data" top: "data" data_param {{ batch_size: 2 }} {} }}
        layer {{ name: "a" type: "Convolution" bottom: "data" top: "a" convolution_param {{ num_output: 2 kernel_size: 3 stride: 2 }} }}
        layer {{ name: "b" type: "Pooling" bottom: "a" top: "b" pooling_param {{ kernel_size: 3 stride: 2 }} }}
        layer {{ name: "p" type: "Pooling" bottom: "b" top: "p" pooling_param {{ pool: AVE kernel_size: 3 stride: 2 }} }}
        layer {{ name: "c" type: "Convolution" bottom: "b" top: "c"
            convolution_param {{ num_output: 2 kernel_size: 3 stride: 2 pad: 1 }} }}
        layer {{ name: "j" type: "{}" bottom: "p" bottom: "c" top: "j" }}"""
    net = Net(parse_net(text.format("", type)), data="shapes", device="cpu", lazy=True)
    assert net.blobs["data"].shape == (2, 3, 227, 227)
    assert net.blobs["j"].shape[2:] == (28, 28)
    with pytest.raises(LayerError):  # a field's word counts
        Net(parse_net(text.format("transform_param { crop_size: 224 }", type)), data="shapes", device="cpu", lazy=True)


def test_images_have_a_side_with_which_all_of_several_joins_agree():
    """A net that halves its maps without padding joins its halves at 32 n + 4 pixels, of which no usual side is one."""
    text = """layer { name: "d" type: "Python" top: "data" python_param { module: "gan" layer: "Pictures" } }"""
    for i, pad in enumerate((1, 0, 1, 1)):
        text += f"""layer {{ name: "c{i}" type: "Convolution" bottom: "{f"c{i - 1}" if i else "data"}" top: "c{i}"
            convolution_param {{ num_output: 2 kernel_size: 4 stride: 2 pad: {pad} }} }}"""
    for i, pad, bottom in ((2, 1, "c3"), (1, 1, "j2"), (0, 0, "j1")):
        text += f"""layer {{ name: "u{i}" type: "Deconvolution" bottom: "{bottom}" top: "u{i}"
            convolution_param {{ num_output: 2 kernel_size: 4 stride: 2 pad: {pad} }} }}
            layer {{ name: "j{i}" type: "Concat" bottom: "u{i}" bottom: "c{i}" top: "j{i}" }}"""
    net = Net(parse_net(text), data="shapes", device="cpu", lazy=True)
    assert net.blobs["data"].shape[2] % 16 == 4
    assert net.blobs["j0"].shape[2:] == net.blobs["c0"].shape[2:]


@pytest.mark.parametrize("type", ["Pooling", "Convolution"])
@pytest.mark.parametrize("size", ["", "transform_param { crop_size: 28 }"])
def test_images_have_a_side_that_a_kernel_fits(type, size):
    """A data set may be named whose pictures are smaller than those that a net was trained on."""
    param = (
        "pooling_param { %s }" if type == "Pooling" else "convolution_param { num_output: 2 %s }"
    ) % "kernel_size: 30 pad: 0"
    text = f"""layer {{ name: "d" type: "Data" top: "data" {size} data_param {{ source: "mnist224_lmdb" batch_size: 2 }} }}
        layer {{ name: "p" type: "Pooling" bottom: "data" top: "p" pooling_param {{ kernel_size: 3 stride: 2 }} }}
        layer {{ name: "q" type: "{type}" bottom: "p" top: "q" {param} }}"""
    if size:  # a field's word counts
        with pytest.raises(LayerError, match="kernel"):
            Net(parse_net(text), data="shapes", device="cpu", lazy=True)
    else:
        net = Net(parse_net(text), data="shapes", device="cpu", lazy=True)
        assert net.blobs["data"].shape == (2, 1, 227, 227)


def test_boxes_of_a_data_layer_of_a_project():
    """A type that nobody knows reads annotations where SSD's loss reads its second top."""
    text = """layer { name: "d" type: "MyAnnotatedData" top: "data" top: "label" data_param { batch_size: 2 }
            transform_param { resize_param { height: 8 width: 8 } } }
        layer { name: "f" type: "Flatten" bottom: "data" top: "f" }
        layer { name: "l" type: "InnerProduct" bottom: "f" top: "l" inner_product_param { num_output: 8 } }
        layer { name: "c" type: "InnerProduct" bottom: "f" top: "c" inner_product_param { num_output: 6 } }
        layer { name: "g" type: "Pooling" bottom: "data" top: "g" pooling_param { kernel_size: 8 } }
        layer { name: "p" type: "PriorBox" bottom: "g" bottom: "data" top: "p"
            prior_box_param { min_size: 4 aspect_ratio: 2 flip: false variance: 0.1 } }
        layer { name: "m" type: "MultiBoxLoss" bottom: "l" bottom: "c" bottom: "p" bottom: "label" top: "m"
            multibox_loss_param { num_classes: 3 } }"""
    net = Net(parse_net(text), data="shapes", device="cpu")
    assert net.blobs["label"].shape == (1, 1, 3, 8)
    assert np.isfinite(net.forward()["m"])


def test_images_have_a_side_that_pools_and_grows_evenly():
    """SegNet's pairs of layers: a mask is as large as what it enlarges."""
    text = """layer { name: "d" type: "ImageData" top: "data" top: "label" image_data_param { batch_size: 2 } }
        layer { name: "a" type: "Pooling" bottom: "data" top: "a" top: "mask" pooling_param { kernel_size: 9 stride: 9 } }
        layer { name: "b" type: "Convolution" bottom: "a" top: "b" convolution_param { num_output: 3 kernel_size: 2 stride: 2 } }
        layer { name: "c" type: "Deconvolution" bottom: "b" top: "c" convolution_param { num_output: 3 kernel_size: 2 stride: 2 } }
        layer { name: "u" type: "Upsample" bottom: "c" bottom: "mask" top: "u" upsample_param { scale: 9 } }
        layer { name: "y" type: "Silence" bottom: "label" }"""
    net = Net(parse_net(text), data="shapes", device="cpu", lazy=True)
    assert net.blobs["mask"].shape == net.blobs["c"].shape
    assert net.blobs["data"].shape[2] != 224


def test_labels_that_are_computed_have_the_shape_of_what_they_are_compared_with():
    text = """layer { name: "d" type: "HDF5Data" top: "data" top: "label" hdf5_data_param { batch_size: 3 } }
        layer { name: "n" type: "Power" bottom: "label" top: "n" power_param { scale: -1 } }
        layer { name: "f" type: "Flatten" bottom: "n" top: "f" }
        layer { name: "i" type: "InnerProduct" bottom: "data" top: "i" inner_product_param { num_output: 4 } }
        layer { name: "e" type: "Eltwise" bottom: "i" bottom: "f" top: "e" }"""
    net = Net(parse_net(text), data="shapes", device="cpu", lazy=True)
    assert net.blobs["e"].shape == (3, 4)
    assert net.blobs["label"].count == 12


@pytest.mark.parametrize(
    ("loss", "maps", "shape"),
    [("SigmoidCrossEntropyLoss", 2, (3, 2, 80, 80)), ("EuclideanLoss", 1, (3, 1, 80, 80)), ("SoftmaxWithLoss", 4, (3, 1, 80, 80))],
)  # fmt: skip
def test_labels_that_are_pooled_are_as_large_as_what_they_are_compared_with(loss, maps, shape):
    text = f"""layer {{ name: "d" type: "HDF5Data" top: "data" top: "label_2" hdf5_data_param {{ batch_size: 3 }} }}
        layer {{ name: "i" type: "InnerProduct" bottom: "data" top: "i" inner_product_param {{ num_output: {1600 * maps} }} }}
        layer {{ name: "r" type: "Reshape" bottom: "i" top: "r" reshape_param {{ shape {{ dim: [0, {maps}, 40, 40] }} }} }}
        layer {{ name: "p" type: "Pooling" bottom: "label_2" top: "p" pooling_param {{ kernel_size: 2 stride: 2 }} }}
        layer {{ name: "l" type: "{loss}" bottom: "r" bottom: "p" top: "l" }}"""
    net = Net(parse_net(text), data="shapes", device="cpu")
    assert net.blobs["label_2"].shape == shape
    assert np.isfinite(net.forward()["l"])


def test_the_loss_of_ssd_under_another_name():
    assert layer_class("MultiBoxSSDLoss", "loss") is layer_class("MultiBoxLoss", "loss")
    data = parse_net('layer { name: "d" type: "ccpdData" top: "data" top: "label" }').layer[0]
    assert data_tops(data, [["Convolution"], ["MultiBoxSSDLoss"]])[1].shape == (1, 1, 3, 8)
