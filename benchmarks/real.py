"""Real folders of annotated pictures, learned from nothing in so many seconds of the processor: how well objects are found.

    BOXPRESSO_THREADS=1 python -m benchmarks.real FOLDER... [--seconds 500] [--program torchvision] [--into results/real.txt]

Pictures to test on are those of the folder's own test split, or a fifth, drawn by seed 1. The programs:

boxpresso    what `boxpresso train FOLDER` makes: SSD over the small backbone, with the schedule that fits into the seconds. Its
             best weights by these pictures are kept, as `train` keeps them, so the last weights stand beside.
caffe        MobileNet-SSD of 300 pixels as it was trained in Caffe, run here: batches of 24, SGD, momentum 0.9, weight decay
             5e-4, a rate of 1e-3 that falls to a tenth after two thirds and five sixths (Caffe's SSD, ssd_pascal.py).
torchvision  ssdlite320_mobilenet_v3_large by the recipe of its reference (SGD, momentum 0.9, weight decay 4e-5, cosine,
             RandomIoUCrop and flips; the rate of 0.15 for 192 pictures, in proportion to a batch of 16).
ultralytics  yolo11n of 320 pixels, with what its train() chooses by itself (AdamW, its own schedule and mosaic), in as many
             epochs as the seconds hold.

Nothing is fetched. Seconds are those of the process's threads; data is prepared in a thread of its own, which counts too, and
not in processes, as `boxpresso train` would. mAP@0.5 is VOC's (from 2010), COCO AP is pycocotools'. A line is added to the file
when it is done.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image, ImageFile

from boxpresso import Net, Solver
from boxpresso.data.folders import Scene
from boxpresso.evaluation import evaluate, find
from boxpresso.proto import SolverParameter, read_solver
from boxpresso.recipes import folders, project, training

os.environ["BOXPRESSO_WORKERS"] = "threads:1"  # processes of their own would not count
HERE = Path(__file__).resolve().parent
ImageFile.LOAD_TRUNCATED_IMAGES = True  # for all programs alike: kangaroo has one that ends 20 bytes early
SHARE = 0.2  # of the pictures, to test on, where the folder has no split of its own
BATCH, RATE = 16, 0.15 * 16 / 192  # of the peer
COLUMNS = "{:<18} {:<28} {:>6} {:>5} {:>11} {:>8} {:>8} {:>8} {:>8}"
HEAD = ("folder", "program", "learned", "tested", "iterations", "CPU s", "mAP@0.5", "COCO AP", "COCO@0.5")


def scenes_of(data: Path) -> tuple[list[Scene], list[Scene], list[str], float | None]:
    """The pictures to learn from and to test on, the classes, and the share that was drawn, if it was."""
    pictures = folders.read(data, folders.recognise(data))
    share = None if "test" in pictures.splits or "val" in pictures.splits else SHARE
    split = folders.choose(pictures, share, 1)
    classes = folders.settle(pictures, split, ())
    train = [picture.scene for picture in split.train if picture.scene.labels and not picture.scene.wrong]
    return train, [picture.scene for picture in split.test if not picture.scene.wrong], classes, share


def scores(detections: list[Any], scenes: list[Scene]) -> tuple[float, float, float]:
    """The mAP at 0.5 by VOC's rules, and COCO's AP and AP at 0.5."""
    result = evaluate(detections, scenes, coco=True)
    assert result.coco is not None
    return result.mean, result.coco.stats["AP"], result.coco.stats["AP50"]


def boxpresso(data: Path, seconds: float) -> list[list[Any]]:
    """The rows of `boxpresso train FOLDER`: its best weights and its last."""

    def plan(wish: project.Wish, made: project.Made) -> tuple[SolverParameter, str | None]:
        trained, minutes, clock = training.Project(wish.out, data, made), seconds / 60, time.process_time
        precision, _ = training.faster(trained.solver, "cpu", clock)
        trained = training.sized(trained, minutes, "cpu", clock, precision=precision)
        training.fit(trained, minutes, "cpu", clock, precision)
        return read_solver(wish.out / "solver.prototxt"), precision

    return solved(data, "boxpresso small", plan, backbone=training.BACKBONE)


def caffe(data: Path, seconds: float) -> list[list[Any]]:
    """The rows of MobileNet-SSD by Caffe's settings."""

    def plan(wish: project.Wish, made: project.Made) -> tuple[SolverParameter, str | None]:
        path = wish.out / "solver.prototxt"
        iteration, test = training.measured(path, "cpu", time.process_time)
        count = max(int((seconds - test) / iteration), 1)
        param = read_solver(path)
        for field in ("stepvalue", "warmup_iter", "warmup_start_lr"):
            param.ClearField(field)
        param.type, param.lr_policy, param.gamma = "SGD", "multistep", 0.1
        param.base_lr, param.momentum, param.weight_decay = 1e-3, 0.9, 5e-4
        param.max_iter = param.test_interval = param.snapshot = count
        param.stepvalue.extend([2 * count // 3, 5 * count // 6])
        return param, None

    return solved(data, "MobileNet-SSD, Caffe's", plan, backbone="mobilenet", size=300, batch=24)


def solved(
    data: Path,
    name: str,
    plan: Callable[[project.Wish, project.Made], tuple[SolverParameter, str | None]],
    **wishes: Any,
) -> list[list[Any]]:
    """The rows of a project that is made by `wishes` and solved by the solver, and in the precision, that `plan` gives."""
    train, test, _, share = scenes_of(data)
    back = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # names in the solver prototxt start there
        wish = project.Wish(data, Path(data.name), share=share, **wishes)
        param, precision = plan(wish, project.create(wish))
        solver = Solver(
            param,
            device="cpu",
            log=lambda line: print(data.name, line, file=sys.stderr),
            keep_best=True,
            precision=precision,
        )
        start = time.process_time()
        solver.solve()
        spent = time.process_time() - start
        rows = []
        for end in ("best", f"iter_{solver.iter}"):
            net = Net(wish.out / "deploy.prototxt", f"{param.snapshot_prefix}_{end}.caffemodel", device="cpu")
            detections, skipped = find(net, test)
            assert not skipped
            row = f"{name}{' in bf16' * bool(precision)}, {end.partition('_')[0].replace('iter', 'last')}"
            rows.append([row, len(train), len(test), solver.iter, spent, *scores(detections, test)])
        os.chdir(back)
    return rows


def ultralytics(data: Path, seconds: float) -> list[list[Any]]:
    """The row of ultralytics' smallest net."""
    import torch
    from ultralytics import YOLO

    torch.set_num_threads(int(os.environ.get("BOXPRESSO_THREADS", "1")))
    train, test, classes, _ = scenes_of(data)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for part, scenes in (("train", train), ("test", test)):
            (root / "images" / part).mkdir(parents=True)
            (root / "labels" / part).mkdir(parents=True)
            for i, scene in enumerate(scenes):
                shutil.copy(
                    scene.path, root / "images" / part / f"{i}{Path(scene.path).suffix}"
                )  # it mends files in place
                width, height = Image.open(scene.path).size
                lines = [
                    f"{label - 1} {(x1 + x2) / 2 / width} {(y1 + y2) / 2 / height} {(x2 - x1) / width} {(y2 - y1) / height}"
                    for label, (x1, y1, x2, y2) in zip(scene.labels, scene.corners)
                ]
                (root / "labels" / part / f"{i}.txt").write_text("\n".join(lines) + "\n")
        names = "".join(f"  {i}: {json.dumps(name)}\n" for i, name in enumerate(classes))
        described = root / "data.yaml"
        described.write_text(f"path: {root}\ntrain: images/train\nval: images/test\nnames:\n{names}")
        common = {
            "data": str(described), "imgsz": 320, "device": "cpu", "workers": 0, "batch": BATCH, "seed": 1, "val": False,
            "plots": False, "project": folder, "verbose": False,
        }  # fmt: skip
        ends: list[float] = []
        start = time.process_time()
        net = YOLO("yolo11n.yaml")
        net.add_callback("on_train_epoch_end", lambda _: ends.append(time.process_time() - start))
        net.train(epochs=3, **common)  # its first epoch takes longer
        epochs = 1 + max(int((seconds - ends[0]) / ((ends[2] - ends[0]) / 2)), 0)
        start = time.process_time()
        net = YOLO("yolo11n.yaml")
        net.train(epochs=epochs, **common)
        spent = time.process_time() - start
        detections = []
        for scene in test:
            (one,) = net.predict(str(scene.path), imgsz=320, conf=0.01, device="cpu", verbose=False)
            columns = (one.boxes.cls.int().tolist(), one.boxes.conf.tolist(), one.boxes.xyxy.tolist())
            detections.append([(label + 1, score, *box) for label, score, box in zip(*columns)])
    iterations = epochs * -(-len(train) // BATCH)
    return [["ultralytics yolo11n", len(train), len(test), iterations, spent, *scores(detections, test)]]


def torchvision(data: Path, seconds: float) -> list[list[Any]]:
    """The row of torchvision's ssdlite320 from nothing."""
    import torch
    from torchvision import tv_tensors
    from torchvision.models.detection import ssdlite320_mobilenet_v3_large
    from torchvision.transforms import v2
    from torchvision.transforms.v2.functional import pil_to_tensor

    torch.manual_seed(1)
    random.seed(1)
    torch.set_num_threads(int(os.environ.get("BOXPRESSO_THREADS", "1")))
    train, test, classes, _ = scenes_of(data)
    change = v2.Compose(
        [v2.RandomIoUCrop(), v2.RandomHorizontalFlip(), v2.SanitizeBoundingBoxes(), v2.ToDtype(torch.float, scale=True)]
    )

    def pixels(scene: Scene) -> Any:
        return pil_to_tensor(Image.open(scene.path).convert("RGB"))

    def sample(scene: Scene) -> tuple[Any, Any]:
        image = tv_tensors.Image(pixels(scene))
        boxes = tv_tensors.BoundingBoxes(
            torch.tensor(scene.corners, dtype=torch.float32), format="XYXY", canvas_size=image.shape[-2:]
        )
        result: tuple[Any, Any] = change(image, {"boxes": boxes, "labels": torch.tensor(scene.labels)})
        return result

    net = ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=len(classes) + 1)
    net.train()
    how = torch.optim.SGD(net.parameters(), RATE, momentum=0.9, weight_decay=4e-5)
    start, iterations = time.process_time(), 0
    waiting: list[Scene] = []
    while (spent := time.process_time() - start) < seconds:
        for group in how.param_groups:
            group["lr"] = RATE * (1 + math.cos(math.pi * spent / seconds)) / 2
        if len(waiting) < BATCH:
            waiting += random.sample(train, len(train))
        batch = [sample(waiting.pop()) for _ in range(BATCH)]
        losses = net([image for image, _ in batch], [target for _, target in batch])
        loss = sum(losses.values())
        how.zero_grad()
        loss.backward()
        how.step()
        iterations += 1
        if iterations % 10 == 0:
            print(data.name, f"{spent:.0f} s, {iterations} iterations, loss {loss.item():.3f}", file=sys.stderr)
    net.eval()
    detections = []
    with torch.no_grad():
        for scene in test:
            (one,) = net([pixels(scene) / 255])
            columns = (one["labels"].tolist(), one["scores"].tolist(), one["boxes"].tolist())
            detections.append([(label, score, *box) for label, score, box in zip(*columns) if score >= 0.01])
    row = ["torchvision ssdlite320", len(train), len(test), iterations, spent, *scores(detections, test)]
    return [row]


PROGRAMS = {program.__name__: program for program in (boxpresso, caffe, torchvision, ultralytics)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--seconds", type=float, default=500)
    parser.add_argument("--program", choices=PROGRAMS, default="boxpresso")
    parser.add_argument("--into", type=Path, default=HERE / "results" / "real.txt")
    args = parser.parse_args()
    for data in args.folders:
        for program, train, test, iterations, spent, *values in PROGRAMS[args.program](data.resolve(), args.seconds):
            numbers = (f"{value:.3f}" for value in values)
            line = COLUMNS.format(data.resolve().name, program, train, test, iterations, f"{spent:.0f}", *numbers)
            if not args.into.exists():
                args.into.write_text(COLUMNS.format(*HEAD) + "\n", encoding="utf-8")
            with args.into.open("a", encoding="utf-8") as file:
                print(line, file=file)
            print(line, flush=True)


if __name__ == "__main__":
    main()
