"""The verb test: what a net gives on its own data, or how well it finds what a folder's annotations say."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from typing import Any

import numpy as np

from ..data.coco import read_dataset
from ..data.evaluation import curves_of_rows
from ..data.folders import VOC_CLASSES, read_coco, read_voc
from ..detection import classes, no_detections, recognise
from ..evaluation import Evaluation, evaluate, find
from ..labels import read_labels
from ..net import Net
from ..proto.errors import BoxpressoError, ModelError
from .command import complain, load
from .conversion import progress


def test(args: Namespace) -> int:
    """Tests a net on a folder of VOC or COCO, or on its own data. 1 when the curves cannot be written."""
    for name in ("model", "weights"):
        given = [value for value in (getattr(args, name), getattr(args, f"{name}_option")) if value]
        if len(given) != 1:
            raise BoxpressoError(
                f"test: {'give' if not given else 'name only once'} the {name}, see `boxpresso test --help`"
            )
        setattr(args, name, given[0])
    if args.voc and args.coco:
        raise BoxpressoError("--voc and --coco exclude each other")
    return test_on_folder(args) if args.voc or args.coco else test_on_own_data(args)


def test_on_own_data(args: Namespace) -> int:
    """Prints each output of some batches and their means, as `caffe test` does; a table of what DetectionEvaluate says."""
    net = Net(
        args.model, args.weights, phase=args.phase, level=args.level, stages=args.stage, device=args.device,
        python_layers=args.python_layers,
    )  # fmt: skip
    if not net.outputs:
        raise ModelError(f"net {net.name!r} has no outputs to report")
    judges = {tops[0]: layer for layer, (_, tops) in zip(net.layers, net.names) if layer.type == "DetectionEvaluate"}
    count = len(judges.keys() & set(net.outputs))
    if (args.json or args.curves) and count != 1:
        message = (
            f"--json and --curves write what one DetectionEvaluate says; net {net.name!r} has {count} such outputs"
        )
        raise ModelError(message)
    rows: dict[str, list[np.ndarray]] = {}
    means: dict[str, Any] = {}
    for batch in range(args.iterations):
        for name, value in net.forward().items():
            if name in judges:
                rows.setdefault(name, []).append(value.reshape(-1, 5).astype(np.float64))
                continue
            means[name] = means.get(name, 0) + value.astype(np.float64) / args.iterations
            if not args.json:
                print("\n".join(f"Batch {batch}, {name} = {one:.6g}" for one in value.ravel()[:20]))
    weights = net.blob_loss_weights
    for name, value in means.items() if not args.json else ():
        for one in value.ravel()[:20]:
            loss = f" (* {weights[name]:.6g} = {weights[name] * one:.6g} loss)" if weights[name] else ""
            print(f"{name} = {one:.6g}{loss}")
        if value.size > 20:
            print(f"{name}: {value.size - 20} more values")
    status = 0
    for name, kept in rows.items():
        param = judges[name].param.detection_evaluate_param
        names = read_labels(args.labels, param.num_classes) if args.labels else {}
        made = Evaluation(curves_of_rows(np.concatenate(kept)), names, round(param.overlap_threshold, 6), args.method)
        status |= report(args, made, {"output": name})
    return status


def test_on_folder(args: Namespace) -> int:
    """Detects in every picture and compares with the annotations."""
    net = load(args.model, args.weights, device=args.device, python_layers=args.python_layers)
    if recognise(net) is None:
        raise ModelError(f"{no_detections(net)}; for a net that reads its own data leave out --voc and --coco")
    count = classes(net)
    names = read_labels(args.labels, count) if args.labels else {}
    if args.voc:
        names = names or dict(enumerate(VOC_CLASSES, 1))
        scenes = read_voc(
            args.voc, args.set, [names.get(label, f"label {label}") for label in range(1, max(names) + 1)]
        )
    else:
        scenes, categories = read_coco(args.coco[1], pictures_in=args.coco[0])
        names = names or categories
        to_label = {name: label for label, name in names.items()}
        unknown = [name for name in categories.values() if name not in to_label]
        if unknown:
            raise ModelError(f"{args.labels} does not name the classes {', '.join(unknown[:4])} of {args.coco[1]}")
        labels = {old: to_label[name] for old, name in categories.items()}
        for scene in scenes:
            scene.labels = [labels[old] for old in scene.labels]
    if not args.labels and count != len(names) + 1:
        raise ModelError(
            f"the net has {count} classes with the background, the annotations are of {len(names)} without; name them with "
            "--labels, in the order that the net was trained with"
        )
    inputs = {"mean": args.mean, "scale": args.scale, "swap_rb": args.swap_rb, "size": args.size}
    found, wrong = find(net, scenes, threshold=args.threshold, strict=args.strict, tell=progress("test"), **inputs)
    for line in wrong:
        print(f"boxpresso: warning: skipped: {line}", file=sys.stderr)
    kept = [i for i, detections in enumerate(found) if detections is not None]
    if not kept:
        raise BoxpressoError(f"none of the {len(scenes)} pictures of {args.voc or args.coco[1]} can be used")
    tables: Any = False
    if args.coco:
        tables = read_dataset(args.coco[1], kept, labels)
    made = evaluate(
        [found[i] or [] for i in kept], [scenes[i] for i in kept], names,
        overlap=args.overlap, method=args.method, coco=tables,
    )  # fmt: skip
    return report(args, made, {"pictures": len(kept), "skipped": wrong})


def report(args: Namespace, made: Evaluation, about: dict[str, Any]) -> int:
    """Prints an evaluation and draws its curves, beside the weights where --curves names no place."""
    status = 0
    drawn: dict[str, str] = {}
    if not args.no_curves and not np.isnan(made.mean):
        try:
            part = f".{about['output']}" if "output" in about else ""
            drawn = {"curves": str(made.draw(args.curves or f"{args.weights}{part}.curves.png"))}
        except BoxpressoError as error:
            complain(error)
            status = 1
    if args.json:
        print(json.dumps({"model": args.model, "weights": args.weights, **about, **made.as_json(), **drawn}, indent=2))
        return status
    print("\n".join(made.table()))
    skipped = about.get("skipped")
    if "pictures" in about:
        print(f"\n{about['pictures']} pictures{f'; {len(skipped)} skipped' if skipped else ''}")
    if drawn:
        print(f"curves in {drawn['curves']}")
    return status
