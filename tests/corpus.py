"""The nets of ../shared/corpus, fed with random data of a plausible shape: which of them build and run, and why others do not.

    python tests/corpus.py                    # all of them, some minutes; a table by family, then a line for each failure
    python tests/corpus.py --match pvanet     # those whose file name has that in it
    python tests/corpus.py --shard 0/2        # every second one

Layers that read data bases or files give way to Inputs. Nets run on one image and small ones where the net allows it, and with fully
connected layers of at most WIDTH outputs: they are built in their own size too, which costs memory but little time.
"""

from __future__ import annotations

import argparse
import json
import re
import signal
import sys
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from shared import SHARED

from boxpresso import BoxpressoError, Net
from boxpresso.proto import LayerParameter, NetParameter, read_net

CORPUS = SHARED / "corpus"
WIDTH, REGIONS, OBJECTS = 64, 8, 3
SIDE = 128  # of the images of nets that take any size
SOURCES = {"Data", "AnnotatedData", "ImageData", "HDF5Data", "WindowData", "MemoryData", "VideoData", "DenseImageData"}
SOURCES |= {"ImageLabelmapData", "McwindowData", "MCWindowData"}
SHAPES = (  # image shapes of nets that do not say, by file name
    (r"siamese", (2, 28, 28)),
    (r"mnist|lenet", (1, 28, 28)),
    (r"cifar", (3, 32, 32)),
    (r"hdf5_classification", (4,)),
    (r"ENet|hed", (3, SIDE, SIDE)),
    (r"NVIDIA\+caffe/classification", (1, 28, 28)),
    (r"", (3, SIDE, SIDE)),
)
REGION_IMAGE = (224, 256)  # of nets with regions, whose anchors of 128 pixels must fit
LIMIT = 600.0  # seconds after which a net counts as one that hangs


class Result(NamedTuple):
    """What became of one net in one phase. `reason` is empty when all went well; `stage` is where it stopped."""

    file: str
    family: str
    kind: str
    phase: str
    builds: bool
    forward: bool
    backward: bool | None  # None where there is nothing to do
    reason: str
    seconds: float


def entries() -> list[dict[str, Any]]:
    """The nets among the files of the manifest."""
    listed = json.loads((CORPUS / "manifest.json").read_text())
    return [entry for entry in listed if entry["kind"] not in ("solver", "labelmap")]


TRAIN_ONLY = ("pvanet/example_train/train.prototxt", "NVIDIA+caffe/classification/model/train_val.prototxt")


def phases(entry: dict[str, Any]) -> tuple[str, ...]:
    """What a net is for; two that the manifest has as train_test have layers without their bottoms in TEST."""
    if entry["file"].endswith(TRAIN_ONLY):
        return ("TRAIN",)
    return {"train": ("TRAIN",), "train_test": ("TRAIN", "TEST")}.get(entry["kind"], ("TEST",))


# -- feeding -----------------------------------------------------------------------------------------------------------


def stages(net: NetParameter, phase: str) -> list[str]:
    """The stage to test a net in whose data layers ask for one; the first if there are several."""
    number = {"TRAIN": 0, "TEST": 1}[phase]
    rules = [rule for layer in net.layer if not layer.bottom for rule in layer.include if rule.phase == number]
    return list(rules[0].stage) if rules and all(rule.stage for rule in rules) else []


def fed(net: NetParameter, file: str) -> NetParameter:
    """The net with an Input in the place of each layer that reads data."""
    result = NetParameter()
    result.CopyFrom(net)
    for layer in result.layer:
        layer.detection_evaluate_param.ClearField("name_size_file")  # of somebody's data set
        if not layer.bottom and (layer.type in SOURCES or (layer.type == "Python" and layer.top)):
            shapes = source_shapes(layer, file)
            rules = list(layer.include), list(layer.exclude)
            name, tops = layer.name, list(layer.top)
            layer.Clear()
            layer.name, layer.type = name, "Input"
            layer.top.extend(tops)
            layer.include.extend(rules[0])
            layer.exclude.extend(rules[1])
            for shape in shapes:
                layer.input_param.shape.add(dim=shape)
    return result


def source_shapes(layer: LayerParameter, file: str) -> list[tuple[int, ...]]:
    """The shapes of the tops of one data layer, for one image (two where a batch normalisation would see one value)."""
    transform = layer.transform_param
    size: tuple[int, ...] = next(shape for name, shape in SHAPES if re.search(name, file))
    side = transform.crop_size or layer.window_data_param.crop_size or layer.image_data_param.new_height
    if side:
        size = (3, side, side)
    elif len(transform.resize_param):
        size = (3, transform.resize_param[0].height, transform.resize_param[0].width)
    elif layer.type == "Python":
        size = (3, *REGION_IMAGE)
    match = re.search(r"num_classes'?:\s*(\d+)", layer.python_param.param_str)
    classes = int(match[1]) if match else 2
    batch = 1 if layer.type == "Python" or max(size) > 400 else 2
    divisor = layer.dense_image_data_param.label_divide_factor
    if layer.annotated_data_param.yolo_data_type:  # true boxes as YOLO has them
        return [(batch, *size), (batch, OBJECTS, 5)]
    return [top_shape(layer.type, name, size, classes, batch, i, divisor) for i, name in enumerate(layer.top)]


def top_shape(
    kind: str, name: str, size: tuple[int, ...], classes: int, batch: int, index: int, divisor: int
) -> tuple[int, ...]:
    known = {
        "rois": (REGIONS, 5),
        "labels": (REGIONS, 1),
        "im_info": (1, 3),
        "gt_boxes": (OBJECTS, 5),
        "box_labels": (REGIONS, 1),
        "mask_labels": (REGIONS, 1),
        "masks": (REGIONS, 1, 14, 14),  # MNC's
        "mask_targets": (REGIONS, 21 * 21),
        "mask_weight": (REGIONS, 21 * 21),
        "mask": (batch, 1, SIDE, SIDE),
        "bbox_targets": (REGIONS, 4 * classes),
        "bbox_inside_weights": (REGIONS, 4 * classes),
        "bbox_outside_weights": (REGIONS, 4 * classes),
        "bbox_loss_weights": (REGIONS, 4 * classes),
    }
    if name in known:
        return known[name]
    if index == 0 and "label" not in name:
        return (batch, *size)
    if kind == "AnnotatedData" and name == "label":
        return (1, 1, OBJECTS, 8)
    if kind in ("DenseImageData", "ImageLabelmapData") or name == "seg_label":
        return (batch, 1, *(side // divisor for side in size[1:]))
    return (batch,)


def values(name: str, shape: tuple[int, ...], image: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Random values for an input of that name and shape; `image` is the shape of the images that they belong to."""
    height, width = image[-2:] if len(image) >= 2 else (1, 1)
    count = shape[0] if shape else 1
    low = rng.uniform(0, 0.4, (count, 2))
    boxes = np.concatenate([low, low + rng.uniform(0.25, 0.6, (count, 2))], 1)  # within the image
    pixels = np.floor(boxes * [width, height, width, height])
    if name == "rois" and shape[-1] == 5:
        return np.concatenate([np.zeros((count, 1)), pixels], 1).reshape(shape)
    if name == "gt_boxes":
        return np.concatenate([pixels, np.ones((count, 1))], 1)
    if name == "im_info":
        return np.tile([height, width, 1.0, 1.0, 1.0, 1.0][: shape[-1]], (count, 1))
    if len(shape) == 4 and shape[:2] == (1, 1) and shape[3] == 8:
        rows = [[0, 1, i, *box, 0] for i, box in enumerate(boxes_of(shape[2], rng))]
        return np.array(rows).reshape(shape)
    if len(shape) == 3 and shape[1:] == (OBJECTS, 5):
        low, high = np.split(np.stack([boxes_of(OBJECTS, rng) for _ in range(count)]), 2, axis=2)
        return np.concatenate([np.zeros((count, OBJECTS, 1)), (low + high) / 2, high - low], 2)
    if "weight" in name:
        return np.ones(shape)
    if "label" in name or name in ("sim", "cont", "clip", "masks", "mask_targets"):
        return rng.integers(0, 2, shape).astype(float)
    return rng.standard_normal(shape)


def boxes_of(count: int, rng: np.random.Generator) -> np.ndarray:
    low = rng.uniform(0, 0.4, (count, 2))
    return np.concatenate([low, low + rng.uniform(0.25, 0.6, (count, 2))], 1)


def feed(net: Net, seed: int = 0) -> None:
    """Fills all inputs, and gives normalisations statistics that keep values where they are."""
    rng = np.random.default_rng(seed)
    images = [
        net.blobs[name].shape for name in net.inputs if len(net.blobs[name].shape) == 4 and net.blobs[name].shape[1] > 1
    ]
    for name in net.inputs:
        blob = net.blobs[name]
        blob.data[...] = values(name, blob.shape, images[0] if images else blob.shape, rng)
    for layer in net.layers:
        if layer.type == "BatchNorm":
            for blob in layer.blobs[1:3]:
                blob.data[...] = 1


# -- making it cheap ---------------------------------------------------------------------------------------------------


def unfilled(net: NetParameter) -> NetParameter:
    """The net without fillers: its own sizes, and no time spent on random numbers."""
    result = NetParameter()
    result.CopyFrom(net)
    for layer in result.layer:
        layer.convolution_param.ClearField("weight_filler")
        layer.inner_product_param.ClearField("weight_filler")
    return result


def reduced(net: NetParameter, small: bool = True) -> NetParameter:
    """The net with narrow fully connected layers, random weights and, if `small`, few images of moderate size."""
    result = NetParameter()
    result.CopyFrom(net)
    for layer in result.layer:
        if layer.type == "Input" and small:
            for shape in layer.input_param.shape:
                if len(shape.dim) == 4 and shape.dim[1] > 1 and layer.top[0] == "data":
                    shape.dim[0] = min(shape.dim[0], 2)
                    if max(shape.dim[2:]) > 400:
                        shape.dim[2:] = [max(32, side // 64 * 32) for side in shape.dim[2:]]
        for kind, prefix in (("Yolov3DetectionOutput", "yolov3"), ("YoloDetectionOutput", "yolo")):
            if layer.type == kind:  # random scores leave half a million boxes to suppress
                getattr(layer, f"{prefix}_detection_output_param").confidence_threshold = 0.9
        for kind, param in (("InnerProduct", layer.inner_product_param), ("Convolution", layer.convolution_param)):
            if layer.type == kind and param.weight_filler.type in ("", "constant", "gaussian"):
                param.weight_filler.Clear()
                param.weight_filler.type = "xavier"
        wide = layer.inner_product_param
        if (
            layer.type == "InnerProduct"
            and wide.num_output >= 1024
            and wide.num_output % 4 == 0
            and "bbox" not in layer.name
        ):
            wide.num_output = WIDTH
    return result


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """TimeoutError when the block takes longer (in the main thread of a Unix machine; elsewhere no limit)."""

    def stop(*_: Any) -> None:
        raise TimeoutError(f"takes longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# -- running -----------------------------------------------------------------------------------------------------------


def check(
    entry: dict[str, Any], phase: str, own_size: bool = True, limit: float = LIMIT, device: str | None = "cpu"
) -> Result:
    """Builds one net in one phase and runs it: forward, and backward where it is for training."""
    start, reached, reason = time.perf_counter(), 0, ""
    backward = phase == "TRAIN"
    try:
        with at_most(limit), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            param = fed(read_net(CORPUS / entry["file"]), entry["file"])
            if own_size:
                Net(unfilled(param), phase=phase, stages=stages(param, phase), device=device)
            net = built(param, phase, device)
            reached = 1
            feed(net)
            forward(net)
            refuse_non_finite("forward", {name: net.blobs[name].data for name in net.outputs})
            reached = 2
            backward = backward and any(map(any, net.loss_weights))
            if backward:
                net.clear_param_diffs()
                net.backward()
                diffs = {f"{name}[{i}]": b.diff for name, blobs in net.params.items() for i, b in enumerate(blobs)}
                refuse_non_finite("backward", diffs)
                if diffs and not any(np.any(diff) for diff in diffs.values()):
                    raise ArithmeticError("backward: all gradients of parameters are 0")
                reached = 3
    except (BoxpressoError, ArithmeticError, TimeoutError) as error:
        reason = " ".join(str(error).split())
    except Exception as error:
        reason = f"FAULT {type(error).__name__}: {error}"
    took = time.perf_counter() - start
    done = reached >= 1, reached >= 2, (reached >= 3) if backward else None
    return Result(entry["file"], entry["family"], entry["kind"], phase, *done, reason, took)


def built(param: NetParameter, phase: str, device: str | None = "cpu") -> Net:
    """The reduced net; one whose layers count on its own batch or size keeps those."""
    options: dict[str, Any] = {"phase": phase, "stages": stages(param, phase), "device": device, "seed": 1}
    try:
        return Net(reduced(param), **options)
    except BoxpressoError:
        return Net(reduced(param, small=False), **options)


def forward(net: Net) -> None:
    """A forward pass in which weights are divided by what makes their layer's top of standard deviation 1, so that random
    weights do not overflow in deep nets."""
    for i, layer in enumerate(net.layers):
        net.forward_layer(i)
        if layer.type in ("Convolution", "InnerProduct", "Deconvolution", "DepthwiseConvolution"):
            scale = float(np.std(np.asarray(net.tops[i][0].data)))
            if np.isfinite(scale) and scale > 1e-6:
                layer.blobs[0].data[...] = np.asarray(layer.blobs[0].data) / scale
                net.tops[i][0].data[...] = np.asarray(net.tops[i][0].data) / scale


def refuse_non_finite(stage: str, arrays: dict[str, Any]) -> None:
    for name, array in arrays.items():
        if not np.isfinite(np.asarray(array)).all():
            raise ArithmeticError(f"{stage}: {name} is not finite")


def table(results: list[Result]) -> str:
    """Counts by family: nets, built, forward, backward of those that train."""
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    for r in results:
        for family in (r.family, "all"):
            rows[family].update({"nets": 1, "builds": r.builds, "forward": r.forward})
            rows[family].update({"train": r.backward is not None, "backward": bool(r.backward)})
    lines = [f"{'family':24} {'nets':>5} {'builds':>7} {'forward':>8} {'backward':>12}"]
    for family, c in sorted(rows.items(), key=lambda row: (row[0] == "all", -row[1]["nets"])):
        lines.append(f"{family:24} {c['nets']:5} {c['builds']:7} {c['forward']:8} {c['backward']:6} of {c['train']}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--match", default="")
    parser.add_argument("--shard", default="0/1")
    parser.add_argument("--reduced-only", action="store_true", help="do not build nets in their own size")
    parser.add_argument("--device", default="cpu")
    args = parser.parse_args()
    part, parts = map(int, args.shard.split("/"))
    results = []
    for entry in [e for e in entries() if args.match in e["file"]][part::parts]:
        for phase in phases(entry):
            results.append(r := check(entry, phase, own_size=not args.reduced_only, device=args.device))
            if r.reason or r.seconds > 20:
                print(f"{r.seconds:6.1f} s  {r.file} {r.phase}: {r.reason}", flush=True)
    print(table(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
