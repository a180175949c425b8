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
from pathlib import Path
from typing import NamedTuple

import corpus
import numpy as np

from boxpresso import BoxpressoError, Net
from boxpresso.net.prepare import select
from boxpresso.net.sources import Sources
from boxpresso.proto import NetParameter, read_net

SECONDS, BYTES = 60.0, 8 << 30
BATCH = 2
BROKEN = {  # prototxts that are themselves wrong, by a part of their name
    "template": "a template whose numbers are filled in by a script",
    "googlenet_v1__test.proto": "the file ends inside a layer",
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


def small(net: NetParameter, phase: str) -> dict[str, tuple[int, ...]]:
    """The shapes of the tops of data layers, with fewer images where a batch is large."""
    tops = Sources(select(net, phase, stages=corpus.stages(net, phase))).tops
    image = next((top.shape for top in tops.values() if top.role == "image" and len(top.shape) > 1), (1,))
    if image[0] <= BATCH:
        return {}
    return {name: (BATCH, *top.shape[1:]) for name, top in tops.items() if top.shape[:1] == image[:1]}


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
    for name, blobs in net.params.items():
        kind, weights = net.layer_dict[name].type, blobs[0]
        if kind in ("Convolution", "InnerProduct", "Deconvolution", "DeformableConvolution", "ConvolutionDepthwise"):
            fan = max(1, int(np.prod(weights.shape[1:])))
            block = rng.standard_normal(min(weights.count, 1 << 16)).astype(np.float32) * np.float32(np.sqrt(1.0 / fan))
            weights.data[...] = np.resize(block, weights.shape)
        elif kind == "BatchNorm":
            blobs[1].data[...] = blobs[2].data[...] = 1


def check(path: Path, phase: str, forward: bool = True, device: str = "cpu") -> Result:
    """Builds one net without its data, in one phase, and runs it forward with random weights."""
    start, stage, reason = time.perf_counter(), "read", ""
    try:
        with corpus.at_most(SECONDS), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            given = unfilled(read_net(path))
            stage = "build"
            net = built(given, phase, device, not forward)
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


def built(given: NetParameter, phase: str, device: str, lazy: bool) -> Net:
    """The net on few images, or on those of its prototxt where it counts on them."""
    options = {"phase": phase, "stages": corpus.stages(given, phase), "device": device, "seed": 1}
    try:
        return Net(given, data=small(given, phase), memory_limit=BYTES, lazy=lazy, **options)
    except BoxpressoError:
        return Net(given, data="shapes", memory_limit=BYTES, lazy=lazy, **options)


def files(folder: Path) -> list[Path]:
    """The prototxts below a folder that hold a net."""
    if folder == corpus.CORPUS:
        return [folder / entry["file"] for entry in corpus.entries()]
    return sorted(path for path in folder.rglob("*") if path.suffix in (".prototxt", ".proto", ".pt"))


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
        broken = next((why for part, why in BROKEN.items() if part in str(path)), "")
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
            if args.phase in (None, phase):
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
