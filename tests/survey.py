"""Which published nets build and run forward without their data, with random weights, and why the others do not.

    python tests/survey.py                       # the nets of ../shared/corpus: deploy, and train and test without data
    python tests/survey.py FOLDER                # any folder of prototxts
    python tests/survey.py --build               # only build them
    python tests/survey.py --match fpn --phase TRAIN

A net runs on at most two images of its own size, or on the batch of its prototxt where it counts on that, within SECONDS and BYTES.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import corpus
import numpy as np

from boxpresso import BoxpressoError, Net
from boxpresso.graph.prepare import select
from boxpresso.graph.sources import Sources
from boxpresso.layers.core.data_tops import messages
from boxpresso.proto import NetParameter, read_net
from boxpresso.proto.errors import DeviceError

SECONDS, BYTES = 60.0, 8 << 30
BATCH = 2
BROKEN = {  # prototxts that are themselves wrong, by a part of their path; with a phase after a colon only in that phase
    "template": "a template whose numbers are filled in by a script",
    "googlenet_v1/test.proto": "the file ends inside a layer",
    "NVIDIA+caffe/classification/model/train_val.prototxt": "its TEST phase has no layer that makes 'scaled'",
    "NVIDIA+caffe/examples/TensorRT/trt.prototxt": "names the file of a TensorRT engine in the place of layers",
    "sanghoon+pva-faster-rcnn/models/pvanet/example_train/test.prototxt:TRAIN": "a test net with layers of TRAIN left in",
    "sanghoon+pva-faster-rcnn/models/pvanet/example_train/train.prototxt:TEST": "its TEST phase lacks the layer of regions",
    "pva-mobilenet-v2/mobilenet-test.prototxt:TRAIN": "a test net with layers of TRAIN left in",
    "pva-mobilenet-v2/mobilenet-v1.prototxt:TEST": "its TEST phase lacks the layer that makes 'rois'",
    "pva-mobilenet-v2/mobilenet.prototxt:TEST": "its TEST phase lacks the layer that makes 'rois'",
    "pva-mobilenet-v2/train_ohem.prototxt:TEST": "its TEST phase lacks the layer that makes 'rois'",
    "py-mask-rcnn/lib/utils/ResNet_50": "a window of 7 x 7 over an image of 4 x 4, which Caffe refuses too",
    "mask_rcnn_alt_opt/mask_rcnn_test.pt": "a window of 7 x 7 over an image of 4 x 4, which Caffe refuses too",
    "mask_rcnn_alt_opt/stage2_mask_rcnn_train.pt": "a window of 7 x 7 over an image of 4 x 4, which Caffe refuses too",
    "mask_rcnn_alt_opt/mask_rcnn_mask_test.pt": "regions of four numbers; its script gives them the fifth",
    "fpn-res50/test_merged-dcn.proto": "layer 'res5b_branch2b' has the top of another layer, so that its own is missing",
    "fpn-res50/train_val_merged-dcn-ohem.proto": "layer 'res5b_branch2b' has the top of another layer",
    "fpn-res50/test_merged.proto:TRAIN": "a test net with layers of TRAIN left in",
    "fpn/fpn-vgg16-train.proto": "anchor_param, which no schema of its program has, holds the strides of its levels",
    "FRCNN/res152/train.proto": "layer 'scale5a_branch2c' gives its top the name of another layer's",
    "RES101/faster_rcnn_end2end/train": "plain ROIPooling of rotated regions; and rpn.hard_sample_layer is not published",
    "Deformable-ConvNets-caffe/caffe/examples/mnist/lenet_train_test": "offsets of 4 x 4 places for a map of 8 x 8",
    "R2CNN/model/prototxt/train/RRCNN5-v4.prototxt": "a layer with weights of 25088 x 58880, 5.9 GB and as much again to train",
}


class Result(NamedTuple):
    """What became of one net in one phase; `reason` is empty when all went well."""

    file: str
    phase: str
    stage: str  # "read", "build" or "forward": where it stopped, or the last one that it passed
    reason: str
    seconds: float


def phases(net: NetParameter) -> tuple[str, ...]:
    """The phases that a net has layers for: TEST for deploy nets, whose inputs are Inputs; else those that rules or data name."""
    named = {rule.phase for layer in net.layer for rule in layer.include if rule.HasField("phase")}
    sources = any(not layer.bottom and layer.type not in ("Input", "DummyData") for layer in net.layer)
    if not sources and not named:
        return ("TEST",)
    if sources and not named:
        losses = any("loss" in layer.type.lower() for layer in net.layer)
        return ("TRAIN",) if losses else ("TEST",)
    return tuple(name for number, name in ((0, "TRAIN"), (1, "TEST")) if number in named) or ("TEST",)


class State(NamedTuple):
    """What a solver says beside the phase: the level and the stages of a net."""

    level: int = 0
    stages: tuple[str, ...] = ()


def state_of(net: NetParameter, phase: str) -> State:
    """The state of a net that no solver names: the first stage that its data layers ask for."""
    return State(stages=tuple(corpus.stages(net, phase)))


def small(net: NetParameter, phase: str, state: State | None = None) -> tuple[NetParameter, dict[str, tuple[int, ...]]]:
    """The net with fewer images where a batch is large, and the shapes of the tops of data layers that have no batch_size."""
    state = state or state_of(net, phase)
    tops = Sources(select(net, phase, level=state.level, stages=state.stages)).tops
    image = next((top.shape for top in tops.values() if top.role == "image" and len(top.shape) > 1), (1,))
    if image[0] <= BATCH:
        return net, {}
    fewer, sized = NetParameter(), set()
    fewer.CopyFrom(net)
    for layer in fewer.layer:
        for each in messages(layer) if not layer.bottom else ():
            if getattr(each, "batch_size", 0) == image[0]:
                each.batch_size = BATCH
                sized.update(layer.top)  # shapes that no field tells are left to the layers that read them
    shapes = {
        name: (BATCH, *top.shape[1:])
        for name, top in tops.items()
        if top.shape[:1] == image[:1] and (top.certain or top.role == "image")
    }
    return fewer, {name: shape for name, shape in shapes.items() if name not in sized}


def unfilled(net: NetParameter) -> NetParameter:
    """The net without fillers, which take longer than all else."""
    result = NetParameter()
    result.CopyFrom(net)
    for layer in result.layer:
        for name in ("convolution_param", "inner_product_param"):
            if layer.HasField(name):
                getattr(layer, name).ClearField("weight_filler")
    return result


def randomise(net: Net) -> None:
    """Small random weights in the place of the zeros that `unfilled` leaves."""
    rng = np.random.default_rng(1)
    summed = {name for layer in net.layers if layer.type == "Eltwise" for name in layer.param.bottom}
    for name, blobs in net.params.items():
        kind, weights = net.layer_dict[name].type, blobs[0]
        if kind in ("Convolution", "InnerProduct", "Deconvolution", "DeformableConvolution", "ConvolutionDepthwise"):
            fan = max(1, int(np.prod(weights.shape[1:])))
            block = rng.standard_normal(min(weights.count, 1 << 16)).astype(np.float32) * np.float32(np.sqrt(1.0 / fan))
            weights.data[...] = np.resize(block, weights.shape)
        elif kind == "BatchNorm":
            blobs[1].data[...] = blobs[2].data[...] = 1
        elif kind == "Scale" and summed.intersection(net.layer_dict[name].param.top):
            # Branches of residual blocks are small: else their sums grow from block to block until an exp of them overflows.
            blobs[0].data[...] = 0.1


def check(
    path: Path, phase: str, forward: bool = True, device: str = "cpu", python_layers: Sequence[str] = (),
    state: State | None = None,
) -> Result:  # fmt: skip
    """Builds one net without its data, in one phase, and runs it forward with random weights. Without a state it has that
    of `state_of`."""
    start, stage, reason = time.perf_counter(), "read", ""
    try:
        with corpus.at_most(SECONDS), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            param = unfilled(read_net(path))
            stage = "build"
            net = built(param, phase, device, not forward, python_layers, state)
            if forward:
                stage = "forward"
                randomise(net)
                outputs = net.forward()
                corpus.refuse_non_finite("forward", outputs)
    except (BoxpressoError, ArithmeticError, TimeoutError) as error:
        reason = " ".join(str(error).split())
    except Exception as error:
        reason = f"FAULT {type(error).__name__}: {error}"
    return Result(str(path), phase, stage, reason, time.perf_counter() - start)


def built(
    param: NetParameter, phase: str, device: str, lazy: bool, python_layers: Sequence[str] = (),
    state: State | None = None,
) -> Net:  # fmt: skip
    """The net on few images, or on those of its prototxt where it counts on them."""
    state = state or state_of(param, phase)
    options = {"phase": phase, "device": device, "seed": 1, "lazy": lazy, "level": state.level}
    options |= {"stages": state.stages, "python_layers": python_layers}
    options["memory_limit"] = BYTES if phase == "TEST" else None  # in TRAIN it counts gradients, which no forward makes
    try:
        fewer, shapes = small(param, phase, state)
        net = Net(fewer, data=shapes, **options)
    except (TimeoutError, MemoryError):
        raise
    except Exception:  # of Python layers of the project, too, which may count on its batch
        net = Net(param, data="shapes", **options)
    taken = net.memory.total - net.memory.diffs
    if taken > BYTES:
        raise DeviceError(f"a forward takes {taken} bytes, {BYTES} are allowed")
    return net


def files(folder: Path) -> list[Path]:
    """The prototxts below a folder that hold a net."""
    if folder == corpus.CORPUS:
        return [folder / entry["file"] for entry in corpus.entries()]
    return sorted(path for path in folder.rglob("*") if path.suffix in (".prototxt", ".proto", ".pt"))


def wrong(path: Path, phase: str = "") -> str:
    """Why a file is broken, in all phases or in one; empty where it is not. A path may have its folders joined by __."""
    name = str(path).replace("__", "/")
    for part, why in BROKEN.items():
        file, _, only = part.partition(":")
        if file in name and only == phase:
            return why
    return ""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=corpus.CORPUS)
    parser.add_argument("--build", action="store_true", help="only build the nets")
    parser.add_argument("--match", default="", help="only files with this in their name")
    parser.add_argument("--phase", choices=("TRAIN", "TEST"))
    args = parser.parse_args(arguments)
    counts: dict[str, list[int]] = {}
    for path in files(args.folder):
        if args.match not in str(path):
            continue
        broken = wrong(path)
        try:
            wanted = phases(read_net(path))
        except BoxpressoError as error:
            print(f"{'broken' if broken else 'unread':8} {path}: {broken or error}", flush=True)
            if not broken:
                counts.setdefault("deploy", [0, 0])[1] += 1
            continue
        if broken:
            print(f"broken   {path}: {broken}", flush=True)
            continue
        for phase in wanted:
            if args.phase not in (None, phase):
                continue
            if why := wrong(path, phase):
                print(f"broken   {path} {phase}: {why}", flush=True)
            else:
                result = check(path, phase, not args.build)
                kind = "train" if phase == "TRAIN" else "test" if len(wanted) > 1 else "deploy"
                counts.setdefault(kind, [0, 0])[0] += not result.reason
                counts[kind][1] += 1
                if result.reason:
                    print(
                        f"{result.stage:8} {path} {phase} ({result.seconds:.0f} s): {result.reason[:300]}", flush=True
                    )
    for kind, (good, whole) in sorted(counts.items()):
        print(f"{kind}: {good} of {whole} ({100 * good / whole:.1f} %)")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
