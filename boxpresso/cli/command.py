"""What each verb of the command line does: files in, lines out. The words themselves are explained in __main__.py."""

from __future__ import annotations

import json
import os
import sys
import warnings
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..proto.errors import BoxpressoError, BoxpressoWarning, DeviceError, ModelError
from ..tables import table

PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".webp", ".tif", ".tiff")  # endings that make --out a file

# detect


def detect(args: Namespace) -> int:
    """Finds objects in pictures, prints and draws them. 1 when a picture could not be read or written."""
    from ..detection import classes, no_detections, picture_input, recognise, run
    from ..detection import detect as find
    from ..drawing import draw_detections
    from ..image import mean_array, read_image
    from ..labels import read_labels

    net = load(args.model, args.weights, device=args.device, python_layers=args.python_layers)
    names = read_labels(args.labels, classes(net)) if args.labels else {}
    finds = recognise(net) is not None
    if not finds and any("bbox_pred" in name for name in net.outputs):
        raise ModelError(no_detections(net))
    inputs = {"mean": args.mean, "scale": args.scale, "swap_rb": args.swap_rb, "size": args.size}
    channels, width, height = picture_input(net, args.size)[1:]
    if args.mean is not None:
        mean_array(args.mean, channels, width, height)  # a wrong one is one error, not one for each picture
    outs = pictures_to_write(args.images, args.out) if finds and not args.no_drawing else [None] * len(args.images)
    results = []
    for path, out in zip(args.images, outs):
        try:
            image = read_image(path)
        except BoxpressoError as error:
            complain(error)
            results.append({"file": path, "error": str(error)})
            continue
        result: dict[str, Any] = {"file": path, "width": image.width, "height": image.height}
        if finds:
            found = find(net, image, threshold=args.threshold, **inputs)
            result["detections"] = [as_json(detection, names) for detection in found]
            if out is not None:
                result.update(save(draw_detections(image, found, names), out))
        else:
            result["outputs"] = {name: list(array.shape) for name, array in run(net, image, **inputs).items()}
        results.append(result)
        if not args.json:
            print("\n".join(describe(result)), flush=True)
    if not finds:
        print(f"{no_detections(net)}: these are its outputs", file=sys.stderr)
    if args.json:
        print(json.dumps(results, indent=2, ensure_ascii=False))
    return 1 if any("error" in result for result in results) else 0


def load(model: str, weights: str, **options: Any) -> Any:
    """A Net with its weights; warns of layers that the weights do not have, and refuses when these are all."""
    from ..net import Net

    net = Net(model, **options)
    report = net.copy_from(weights)
    if report.missing and not report.matched:
        raise ModelError(f"{model} and {weights} do not belong together: no layer of one is in the other")
    if report.missing:
        message = f"{weights} has no weights for {listed(report.missing)} of {model}: results will be wrong"
        warnings.warn(message, BoxpressoWarning, stacklevel=2)
    return net


def as_json(detection: Any, names: dict[int, str]) -> dict[str, Any]:
    box = [round(value, 2) for value in detection.box]
    made = {
        "label": detection.label,
        "name": names.get(detection.label),
        "score": round(detection.score, 6),
        "box": box,
    }
    if hasattr(detection, "rotated"):
        made["rotated"] = [round(value, 2) for value in detection.rotated]
    return made


def save(picture: Any, path: Path) -> dict[str, str]:
    """Writes a drawing; what to add to the result: where it is, or why it is not."""
    try:
        picture.save(path)
    except (OSError, ValueError) as error:
        why = f"cannot write {path}: {getattr(error, 'strerror', None) or error}; choose another place with --out"
        complain(why)
        return {"error": why}
    return {"drawn": str(path)}


def describe(result: dict[str, Any]) -> list[str]:
    """The lines for one picture."""
    head = f"{result['file']} ({result['width']} x {result['height']})"
    if "outputs" in result:
        return [f"{head}:", *(f"  {name} {tuple(shape)}" for name, shape in result["outputs"].items())]
    found = result["detections"]
    lines = [f"{head}: {len(found) or 'no'} detection{'s' * (len(found) != 1)}"]
    if found:
        cells = [(d["name"] or str(d["label"]), f"{d['score']:.3f}", *(f"{v:.1f}" for v in d["box"])) for d in found]
        lines += ["  " + line for line in table(("label", "score", "left", "top", "right", "bottom"), cells, "<>>>>>")]
    if "drawn" in result:
        lines.append(f"  drawn in {result['drawn']}")
    return lines


def pictures_to_write(images: Sequence[str], out: str | None) -> list[Path]:
    """Where the drawing of each picture goes: beside it, into the folder --out, or to the file --out. No two go to
    one place, and none to a picture that is read.

    Raises BoxpressoError when --out is a file and there are several pictures, or when the folder cannot be made.
    """
    inputs = [Path(image) for image in images]
    if out is not None and Path(out).suffix.lower() in PICTURES and not os.path.isdir(out):
        if len(images) > 1:
            raise BoxpressoError(f"--out {out} is one file, but there are {len(images)} pictures; name a folder")
        if inputs[0].resolve() == Path(out).resolve():
            raise BoxpressoError(f"--out {out} is the picture itself; choose another name")
        return [Path(out)]
    if out is not None:
        try:
            os.makedirs(out, exist_ok=True)
        except OSError as error:
            raise BoxpressoError(f"cannot make the folder {out}: {error.strerror or error}") from error
    places: list[Path] = []
    for image in inputs:
        folder = image.parent if out is None else Path(out)
        stems = [image.stem, image.name, *(f"{image.stem}-{i}" for i in range(2, 2 * len(images) + 2))]
        wanted = (folder / f"{stem}.detections.png" for stem in stems)
        places.append(next(place for place in wanted if place not in places and place not in inputs))
    return places


# info


def info(args: Namespace) -> int:
    """Prints the layers of a net, their shapes, parameters and costs."""
    from ..net import Net
    from ..net.summary import summarise

    net = Net(
        args.model,
        phase=args.phase,
        level=args.level,
        stages=args.stage,
        device="cpu",
        python_layers=args.python_layers,
    )
    report = net.copy_from(args.weights) if args.weights else None
    summary = summarise(net)
    if args.json:
        whole = asdict(summary)
        if report:
            whole["weights"] = asdict(report)
        print(json.dumps(whole, indent=2))
        return 0
    shape = lambda s: " x ".join(map(str, s)) or "one number"  # noqa: E731
    cells = [
        (
            row.type,
            row.name,
            ", ".join(map(shape, row.tops.values())),
            f"{row.parameters:,}" if row.parameters else "",
            f"{row.macs:,}" if row.macs else "",
            size(row.bytes) if row.bytes else "",
        )
        for row in summary.layers
    ]
    print(f"{summary.name or args.model}: {len(summary.layers)} layers, phase {summary.phase}")
    print(f"inputs: {', '.join(net.inputs) or 'none'}; outputs: {', '.join(net.outputs) or 'none'}\n")
    total = ("total", "", "", f"{summary.parameters:,}", f"{summary.macs:,}", size(summary.bytes))
    lines = table(("type", "name", "top", "parameters", "multiply-adds", "memory"), [*cells, total], "<<<>>>")
    print("\n".join([*lines[:-1], "-" * max(map(len, lines)), lines[-1]]))
    print("\nmemory: of the tops' data; layers that work in place or share a bottom's memory add none")
    if report:
        print(f"\n{report.path}")
        print(f"  copied to {len(report.matched)} layers")
        print(f"  missing in the file: {', '.join(report.missing) or 'none'}")
        print(f"  unused from the file: {', '.join(report.unused) or 'none'}")
    return 0


# time


def time(args: Namespace) -> int:
    """Prints what `caffe time` prints: the average times of each layer, and of the net."""
    from ..net.timing import time_net, timing_net

    net = timing_net(
        args.model, args.weights, backward=args.backward, device=args.device, phase=args.phase, level=args.level,
        stages=args.stage, python_layers=args.python_layers,
    )  # fmt: skip
    kind = "forward-backward" if args.backward else "forward"
    print(f"*** Benchmark begins *** ({net.device.describe()})")
    print(f"Testing for {args.iterations} iterations.", flush=True)
    show = lambda i, seconds: print(f"Iteration: {i} {kind} time: {1000 * seconds:.4g} ms.", flush=True)  # noqa: E731
    times = time_net(net, args.iterations, backward=args.backward, report=show)
    each = 1000 / args.iterations
    width = max(map(len, times.names), default=0)
    print("Average time per layer:")
    for name, ahead, back in zip(times.names, times.forward, times.backward):
        print(f"{name:>{width}}\tforward: {ahead * each:.4g} ms.")
        if args.backward:
            print(f"{name:>{width}}\tbackward: {back * each:.4g} ms.")
    ahead, back = (sum(values) * each for values in zip(*times.passes))
    print(f"Average Forward pass: {ahead:.4g} ms.")
    if args.backward:
        print(f"Average Backward pass: {back:.4g} ms.")
        print(f"Average Forward-Backward: {times.total * each:.4g} ms.")
    print(f"Total Time: {1000 * times.total:.4g} ms.")
    print("*** Benchmark ends ***")
    return 0


# device_query


def device_query(args: Namespace) -> int:
    """Prints a line for each device, and why there is no GPU if there is none."""
    from ..device import devices, open_device

    answering = devices()
    for name in answering:
        print(open_device(name).describe())
    if len(answering) == 1:
        try:
            open_device("cuda")
        except DeviceError as error:
            print(f"cuda: not available: {error}")
    return 0


# layers


def layers(args: Namespace) -> int:
    """Prints a line for each layer type, or everything about one."""
    from ..layers.core.catalogue import describe as explain
    from ..layers.core.catalogue import table as all_types

    print(explain(args.type) if args.type else all_types())
    return 0


# upgrade


def upgrade(args: Namespace) -> int:
    """Writes today's form of a net, a solver or a file of weights."""
    from ..net.weights import read_weights, save_weights
    from ..proto import NetParameter, parse_text, read_solver, to_text, upgrade_net
    from ..proto.binary import read_bytes
    from ..proto.signatures import HDF5, what_is

    data = read_bytes(args.old)
    if args.solver:
        write(args.new, to_text(read_solver(args.old)))
        print(f"{args.new}: a solver in today's form")
        return 0
    if data.startswith(HDF5) or (what_is(data) is None and b"\0" in data):
        file = read_weights(args.old)
        weights = file.layers
        partial = [layer.name for layer in weights if any(blob is None for blob in layer.blobs)]
        if partial:
            raise ModelError(
                f"{args.old}: {listed(partial)} use blobs of other layers; load it into its Net and use Net.save"
            )
        rows = [(layer.name, layer.type or "", (), (), [b for b in layer.blobs if b is not None]) for layer in weights]
        save_weights(args.new, rows, file.name)
        print(
            f"{args.new}: the weights of {len(rows)} layers in today's form; parameters of layers are in the prototxt"
        )
        return 0
    old = parse_text(data, NetParameter(), source=args.old)
    new = upgrade_net(old, source=args.old)
    write(args.new, to_text(new))
    v0 = any(layer.HasField("layer") for layer in old.layers)
    ages = [(v0, "from V0"), (len(old.layers) and not v0, "from V1"), (len(old.input), "its `input` fields a layer")]
    done = [text for true, text in ages if true] or [
        "old fields renewed" if new != old else "it was in today's form already"
    ]
    print(f"{args.new}: {len(new.layer)} layers in today's form; {', '.join(done)}")
    return 0


def write(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise BoxpressoError(f"cannot write {path}: {error.strerror or error}") from error


# Lines


def complain(error: object) -> None:
    print(f"boxpresso: error: {error}", file=sys.stderr)


def listed(names: Sequence[str]) -> str:
    """A few names, and how many more there are."""
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def size(count: int) -> str:
    """Bytes as people read them."""
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count} B" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024  # type: ignore[assignment]
    return f"{count:.2f} GiB"
