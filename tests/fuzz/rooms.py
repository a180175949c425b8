"""Kinds of the rooms above nets: data layers with their lists, `finish`, merging, curves, reports, cv2.dnn's and pycaffe's surface."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import lists
import numpy as np
from mutate import Draw, mutate_bytes, mutate_text
from PIL import Image

from boxpresso import Net
from boxpresso.dnn import DetectionModel, readNetFromCaffe
from boxpresso.exports.merging import merge
from boxpresso.layers.core.param_str import read_param_str
from boxpresso.net.weights import save_weights
from boxpresso.proto import ModelError, parse_net
from boxpresso.recipes.finishing import finish

MEMORY = 64 * 2**20  # of a net that is run
FRAMED = "# 0\na.png\n3\n12\n9\n2\n1 0 %s1 2 6 9\n2 0 %s2 2 5 8\n1\n3 3 7 7\n# 1\na.png\n3 12 9\n1\n1 0 %s0 0 8 11\n0\n"
FIELDS = "fg_threshold: 0.5\n batch_size: 1\n coord_num: 4\n field_w: 4\n field_h: 4\n"
PYTHON = """'voc_dir': '.', 'sbdd_dir': '.', 'split': 'train',\n 'mean': (1.5, 2, 3),\n 'seed': 7, 'randomize': True"""
READERS = [  # a list, and the layer that reads it
    ("a.png b.png\na.png b.png\n", 'type: "ImageSegData" top: "a" top: "b" top: "c" image_data_param {\n source: "list"\n batch_size: 1\n label_type: PIXEL\n new_height: 6\n new_width: 5 }\n'
     "transform_param {\n scale_factors: 0.5\n scale_factors: 1.5\n crop_size: 7\n mirror: true\n mean_value: 104 }"),
    ("a.png 3\na.png -1\n", 'type: "ImageSegData" top: "a" top: "b" image_data_param {\n source: "list"\n batch_size: 1\n label_type: IMAGE }'),
    ("a.png b.png\n", 'type: "ImageLabelmapData" top: "a" top: "b" image_data_param {\n source: "list"\n batch_size: 1\n new_height: 6\n new_width: 5 }\n'
     "transform_param {\n crop_size: 4\n mirror: true }\n python_param { param_str: \"'labels': 'rcf'\" }"),
    ("a.png b.png\n", 'type: "DenseImageData" top: "a" top: "b" dense_image_data_param {\n source: "list"\n batch_size: 1\n new_height: 6\n new_width: 5\n label_divide_factor: 2\n crop_height: 4\n crop_width: 4\n mirror: true }'),
    (FRAMED % ("", "", ""), f'type: "ImageGtData" top: "a" top: "b" image_gt_data_param {{\n source: "list"\n {FIELDS} downsample_rate: 2\n resize_width: 16\n resize_height: 12\n crop_width: 8\n crop_height: 8\n'
     " do_multiple_scale: true\n min_scale: 2\n max_scale: 8\n min_whaspect: 0.5\n max_whaspect: 2\n shuffle: true }"),
    (FRAMED % ("0 ", "1 ", "0 "), f'type: "DetectionData" top: "a" top: "b" detection_data_param {{\n source: "list"\n {FIELDS} stride: 2\n short_size: 32\n long_size: 64\n low_scale_ratio: 0.5\n'
     " high_scale_ratio: 2\n multiscale_prob: 0.9\n min_whaspect: 0.5\n max_whaspect: 2\n shuffle: \"random_aspect\"\n template_ratio: 1 }"),
    (FRAMED % ("0 ", "1 ", "0 "), f'type: "DetectionData" top: "a" top: "b" detection_data_param {{\n source: "list"\n {FIELDS} stride: 2\n resize_ratio: 1.5\n crop_width: 8\n crop_height: 8\n min_scale: 2\n max_scale: 9\n multiscale_prob: 1 }}'),
    (FRAMED % ("0 ", "1 ", "0 "), 'type: "EvalData" top: "a" top: "b" top: "c" eval_data_param {\n source: "list"\n batch_size: 1\n short_size: 32\n long_size: 64 }\n transform_param {\n scale: 0.5\n mean_value: 3 }'),
    ("a.png [1, 2, 3, 4] 1 [2.5, 1e0, 3, 4] 0\na.png\n", 'type: "YoloData" top: "a" top: "b" yolo_data_param {\n source: "list"\n batch_size: 2\n new_height: 8\n new_width: 8\n num_sides: 3 }'),
    (lists.WINDOWS.replace("picture", "a"), 'type: "WindowData" top: "a" top: "b" window_data_param {\n source: "list"\n batch_size: 4\n fg_fraction: 0.5\n context_pad: 1\n crop_mode: "square"\n fg_threshold: 0.5\n bg_threshold: 0.5 }\n transform_param {\n crop_size: 6\n mirror: true\n scale: 2 }'),
    ("a\na\n", f'type: "VOCSegData" top: "a" top: "b" python_param {{ param_str: "{PYTHON}" }}'.replace("\n", " ")),
    ("a.png 3\na.png 1\n", 'type: "ImageData" top: "a" top: "b" image_data_param {\n source: "list"\n batch_size: 2\n new_height: 8\n new_width: 8\n shuffle: true\n rand_skip: 3 }\n transform_param {\n crop_size: 5\n mean_value: 3\n scale: 2 }'),
    ("x.h5\nx.h5\n", 'type: "HDF5Data" top: "data" top: "label" hdf5_data_param {\n source: "list"\n batch_size: 3\n shuffle: true }'),
]  # fmt: skip
TRAIN = """name: "net"
layer { name: "x" type: "Input" top: "x" }
layer { name: "regions" type: "Input" top: "regions" }
layer { name: "targets" type: "ProposalTarget" bottom: "regions" bottom: "x" top: "rois" top: "labels" top: "targets" top: "in" top: "out"
python_param { param_str: "'num_classes': 2, 'bbox_normalize_targets_precomputed': True, 'bbox_normalize_stds': [0.1, 0.2, 0.3, 0.4]" } }
layer { name: "box" type: "Convolution" bottom: "x" top: "box" convolution_param { num_output: 72 kernel_size: 1 } }
layer { name: "bins" type: "PSROIPooling" bottom: "box" bottom: "rois" top: "bins" psroi_pooling_param { output_dim: 8 group_size: 3 } }
layer { name: "both" type: "Concat" bottom: "bins" bottom: "bins" top: "both" concat_param { axis: 0 } }
layer { name: "flat" type: "Reshape" bottom: "both" top: "flat" }
layer { name: "decode" type: "DecodeBBox" bottom: "x" bottom: "rois" top: "decoded" bbox_reg_param { bbox_mean: 0 bbox_std: 0.1 } }
layer { name: "loss" type: "SmoothL1Loss" bottom: "flat" bottom: "targets" top: "loss" }
"""
FOLDED = """name: "net"
layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 3 dim: 8 dim: 8 } } }
layer { name: "c" type: "Convolution" bottom: "x" top: "c" convolution_param { num_output: 4 kernel_size: 3 pad: 1 } }
layer { name: "b" type: "BatchNorm" bottom: "c" top: "c" batch_norm_param { eps: 0.001 } }
layer { name: "s" type: "Scale" bottom: "c" top: "c" scale_param { bias_term: true } }
layer { name: "r" type: "ReLU" bottom: "c" top: "c" }
layer { name: "p" type: "Pooling" bottom: "c" top: "p" pooling_param { pool: AVE kernel_size: 2 stride: 2 } }
layer { name: "both" type: "Concat" bottom: "p" bottom: "p" top: "both" }
layer { name: "f" type: "InnerProduct" bottom: "both" top: "f" inner_product_param { num_output: 5 } }
layer { name: "prob" type: "Softmax" bottom: "f" top: "prob" }
"""
BOXES = """name: "net"
layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 3 dim: 8 dim: 8 } } }
layer { name: "loc" type: "Input" top: "loc" input_param { shape { dim: 1 dim: 16 } } }
layer { name: "conf" type: "Input" top: "conf" input_param { shape { dim: 1 dim: 8 } } }
layer { name: "prior" type: "PriorBox" bottom: "map" bottom: "x" top: "prior" prior_box_param { min_size: 4 variance: 0.1 } }
layer { name: "out" type: "DetectionOutput" bottom: "loc" bottom: "conf" bottom: "prior" top: "out" detection_output_param {
num_classes: 2
keep_top_k: 7
background_label_id: 0
confidence_threshold: 0.1
nms_param {
nms_threshold: 0.5
top_k: 9 } } }
""".replace('layer { name: "prior"', 'layer { name: "map" type: "Input" top: "map" input_param { shape { dim: 1 dim: 3 dim: 2 dim: 2 } } }\nlayer { name: "prior"')  # fmt: skip
SETTINGS = [
    "'feat_stride': 16, 'scales': [8, 16]\n",
    'feat_stride: 16\nscales: !!python/tuple [4, 8, 16]\nmeans:\n  - 1.5\n  - -2\nname: "a: b" # c\n',
    "{'a': (1, 2, [3, {'b': None}]), \"c\": True}\n",
    "- 1248\n- 352\n",
    "{layer: conv, rates: [1, 2.5,], deep: {x: yes, y: 'it''s'}}\n",
]
NOTEBOOK = json.dumps({"cells": [
    {"cell_type": "code", "source": ["%matplotlib inline\n", "import os\n", "x = !ls\n", "!cd a && \\\n", " ls {x}\n"]},
    {"cell_type": "markdown", "source": "text"}, {"cell_type": "code", "input": "%%time\nprint(x)\nos?\n"},
]}, indent=1)  # fmt: skip
LOG = (
    lists.LOG + lists.LOG.replace("Iteration 0", "Iteration 40").replace("detection_eval", "loss_b") + "class1: 0.25\n"
)


@cache
def pictures() -> dict[str, bytes]:
    """The files beside each list."""
    with TemporaryDirectory() as folder:
        rng = np.random.default_rng(4)
        for name, shape in (("a.png", (12, 9, 3)), ("b.png", (12, 9)), ("a.jpg", (12, 9, 3))):
            Image.fromarray(rng.integers(0, 20, shape, np.uint8)).save(Path(folder) / name)
        files = {path.name: path.read_bytes() for path in Path(folder).iterdir()}
    return {
        **files,
        "JPEGImages/a.jpg": files["a.jpg"],
        "SegmentationClass/a.png": files["b.png"],
        "x.h5": lists.archive(),
    }


def text(seed: str) -> Callable[[Draw], bytes]:
    return lambda draw: mutate_text(seed, [seed], draw).encode("utf-8", "surrogatepass")


def reader_case(draw: Draw) -> bytes:
    """A layer on the first line, a list after it, one of the two mutated, or both."""
    listed, layer = READERS[int(draw.integers(len(READERS)))]
    which = int(draw.integers(3))
    if which != 1:
        layer = mutate_text(layer, [each for _, each in READERS], draw)
    data = listed.encode()
    if which != 0:
        mutated = mutate_text(listed, [each for each, _ in READERS], draw).encode("utf-8", "surrogatepass")
        data = mutate_bytes(data, draw) if draw.integers(3) == 0 else mutated
    return layer.replace("\n", " ").encode("utf-8", "surrogatepass") + b"\n" + data


def run_reader(data: bytes, folder: Path) -> None:
    layer, _, listed = data.partition(b"\n")
    for name, content in {**pictures(), "list": listed, "ImageSets/Segmentation/train.txt": listed}.items():
        lists.put(folder, name, content)
    os.chdir(folder)
    os.environ["BOXPRESSO_WORKERS"] = "0"  # in this process, whose memory is looked at
    text = b'layer { name: "data" ' + layer + b" }"
    net = Net(parse_net(text), device="cpu", memory_limit=2**20, seed=1, phase="TRAIN", write_below=str(folder))
    for _ in range(3):
        net.forward()


def weights(folder: Path, model: str) -> str:
    """The weights of a whole net."""
    path = str(folder / "whole.caffemodel")
    if model == TRAIN:
        save_weights(path, [("box", "Convolution", ["x"], ["box"], [np.ones((72, 2, 1, 1)), np.ones(72)])])
    else:
        Net(parse_net(model), device="cpu", seed=1).save(path)
    return path


@cache
def weights_of(model: str) -> bytes:
    with TemporaryDirectory() as folder:
        return Path(weights(Path(folder), model)).read_bytes()


def run_finish(data: bytes, folder: Path) -> None:
    path = str(lists.put(folder, "whole.caffemodel", weights_of(TRAIN)))
    finish(parse_net(data), path, folder / "out.caffemodel", deploy=parse_net(TRAIN) if len(data) % 2 else None)


def run_merge(data: bytes, folder: Path) -> None:
    path = str(lists.put(folder, "whole.caffemodel", weights_of(FOLDED)))
    merge(parse_net(data), path, folder / "out.prototxt", folder / "out.caffemodel")


def run_report(data: bytes, folder: Path) -> None:
    from boxpresso.reports import write_net_report

    net = Net(parse_net(data), device="cpu", memory_limit=MEMORY, seed=1)
    write_net_report(folder / "a.html", net, model="net", weights="those of the seed")


def run_onnx(data: bytes, folder: Path) -> None:
    try:
        import onnx  # noqa: F401
    except ImportError as error:
        raise ModelError("onnx is not installed") from error
    from boxpresso.exports import export_onnx

    net = Net(parse_net(data), device="cpu", memory_limit=MEMORY, seed=1)
    export_onnx(net, folder / "a.onnx", check=False)


def run_plot(data: bytes, folder: Path) -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ModelError("matplotlib is not installed") from error
    from boxpresso.train.curves import plot

    plot(str(lists.put(folder, "log", data)), str(folder / "a.png"))


def run_dnn(data: bytes, folder: Path) -> None:
    net = readNetFromCaffe(data)
    rng = np.random.default_rng(0)
    for name, shape in net.inputs().items():
        if np.prod(shape) < 10**5:
            net.setInput(rng.random(shape, np.float32), name)
    net.forward()
    DetectionModel(net).setInputSize(8, 8).detect(np.zeros((8, 8, 3), np.uint8), 0.0)


def run_draw(data: bytes, folder: Path) -> None:
    from boxpresso.caffe.draw import dot_text, get_graph
    from boxpresso.caffe.net_spec import caffe_message

    graph = get_graph(caffe_message(parse_net(data)), "LR")
    for line in dot_text(graph).splitlines():
        quotes = line.replace("\\\\", "").replace('\\"', "").count('"')
        if quotes % 2:
            raise AssertionError(f"a quote is open: {line}")


def run_notebook(data: bytes, folder: Path) -> None:
    from boxpresso.caffe.notebook import script

    script(data, "it")


def run_settings(data: bytes, folder: Path) -> None:
    read_param_str(data.decode("utf-8", "replace"))


@cache
def tensors() -> bytes:
    table = json.dumps([{"name": "c", "type": "Convolution", "blobs": ["c.weight", "c.bias"]}])
    header = {
        "__metadata__": {"format": "pt", "net": "n", "layers": table},
        "c.weight": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
        "c.bias": {"dtype": "F32", "shape": [2], "data_offsets": [16, 24]},
    }
    packed = json.dumps(header).encode()
    return struct.pack("<Q", len(packed)) + packed + bytes(24)


def safetensors_case(draw: Draw) -> bytes:
    """Its header mutated as a text, with the length that belongs to it, or all of it as bytes."""
    data = tensors()
    if draw.integers(2):
        return mutate_bytes(data, draw)
    size = struct.unpack("<Q", data[:8])[0]
    header = mutate_text(data[8 : 8 + size].decode(), [SETTINGS[0]], draw).encode("utf-8", "surrogatepass")
    return struct.pack("<Q", len(header)) + header + data[8 + size :]


def run_safetensors(data: bytes, folder: Path) -> None:
    from boxpresso.exports import convert_weights

    convert_weights(lists.put(folder, "a.safetensors", data), folder / "b.caffemodel")


KINDS: dict[str, tuple[Callable[[Draw], bytes], Callable[[bytes, Path], None]]] = {
    "reader": (reader_case, run_reader),
    "finish": (text(TRAIN), run_finish),
    "merge": (text(FOLDED), run_merge),
    "report": (text(FOLDED), run_report),
    "onnx": (text(FOLDED), run_onnx),
    "plot": (lists.text(LOG), run_plot),
    "dnn": (text(BOXES), run_dnn),
    "draw": (text(FOLDED), run_draw),
    "notebook": (lists.text(NOTEBOOK), run_notebook),
    "param_str": (lists.text(*SETTINGS), run_settings),
    "safetensors": (safetensors_case, run_safetensors),
}
NETS = ("reader", "finish", "merge", "report", "onnx", "dnn")  # they run nets, which say themselves how large they are
