"""`boxpresso new`: from a folder of pictures to a folder with everything that training takes."""

from __future__ import annotations

import glob
import os
import shlex
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..data.boxes import iou
from ..data.convert import Options, Report, stored, write, write_labels
from ..data.errors import DataError
from ..data.folders import Scene
from ..data.records import make_annotated
from ..net import Net
from ..net.weights import Weights, read_weights
from ..net_spec import NetSpec
from ..proto import NetParameter, files
from ..proto.errors import BoxpressoError, nearest, storable
from . import folders, pretrained, regions, schedule, ssd, texts
from .options import AUGMENTATIONS, options_text

FRESH = "_new"  # the end of the names of layers that depend on the classes, as in chuanqi305's prototxts
FITTED = 2000  # objects that anchors are fitted to
SMALLER = 0.02  # the share of objects smaller than all priors from which on smaller priors are added
MARK = "boxpresso new"  # in the README.md of a folder that was written here
Tell = Callable[[str, int, int], None]  # (what, done, all)


@dataclass(frozen=True)
class Backbone:
    """A net: its writer, the size of its input, the smallest that it works with, how `detect` must prepare pictures, what it
    is, what its `Task` says; and, if it has anchors, which are fitted to the objects, the pixels between their places.
    """

    net: Callable[..., NetSpec]
    size: int
    smallest: int
    options: str
    title: str
    task: dict[str, Any]
    stride: int = 0


@dataclass(frozen=True)
class Architecture:
    """A kind of detector.

    Attributes
    ----------
    title
        Its name.
    shape
        What it compares objects with: "prior" or "anchor".
    shapes
        The priors or anchors of a net: corners (P, 4) as parts of the input.
    notes
        The comments of a net's prototxt.
    backbones
        By name, the default first.
    """

    title: str
    shape: str
    shapes: Callable[[Net], np.ndarray]
    notes: Callable[[NetParameter, float, str], dict[str, str]]
    backbones: dict[str, Backbone]


MOBILE, VGG = " --mean 127.5 --scale 0.007843", " --mean 104,117,123"
SMALL_PATCHES = {"expand": 1.5, "patches": 0.5}  # a small input has no pixels for small objects
ARCHITECTURES = {
    "ssd": Architecture("SSD", "prior", ssd.priors_of, ssd.notes, {
        "mobilenet": Backbone(
            ssd.mobile, 300, 96, MOBILE, "MobileNet-SSD (names of chuanqi305's models)", {"average": 0.98}
        ),
        "resnet18": Backbone(
            ssd.resnet, 300, 96, VGG, "SSD over ResNet-18 (names of HolmesShuan's model)", {"average": 0.98}
        ),
        "vgg": Backbone(ssd.vgg, 300, 257, VGG, "SSD over VGG16 (names of the paper's models)", {}),
        "small": Backbone(
            ssd.small, 128, 64, "", "a small SSD, which learns from scratch", {"average": 0.98, **SMALL_PATCHES}
        ),
    }),
    **{
        kind: Architecture(title, "anchor", regions.anchors_of, regions.notes, {
            "small": Backbone(
                partial(net, trunk=regions.SMALL), 160, 64, "", f"a small {title}, which learns from scratch",
                SMALL_PATCHES, regions.SMALL.stride,
            ),
            "mobilenet": Backbone(
                partial(net, trunk=regions.MOBILE), 320, 96, MOBILE, f"{title} over MobileNet (names of chuanqi305's models)",
                {"average": 0.98}, regions.MOBILE.stride,
            ),
            "resnet18": Backbone(
                partial(net, trunk=regions.RESNET), 320, 96, VGG, f"{title} over ResNet-18 (names of HolmesShuan's model)",
                {"average": 0.98}, regions.RESNET.stride,
            ),
            "vgg": Backbone(
                partial(net, trunk=regions.VGG), 448, 128, VGG, f"{title} over VGG16 (names of py-faster-rcnn's models)", {},
                regions.VGG.stride,
            ),
        })
        for kind, title, net in (
            ("faster_rcnn", "Faster R-CNN", regions.faster_rcnn), ("rfcn", "R-FCN", regions.rfcn)
        )
    },
}  # fmt: skip


@dataclass(frozen=True)
class Wish:
    """What `boxpresso new` is asked for; None leaves a choice to the rules.

    Attributes
    ----------
    data, out
        The folder of pictures, and the one to write.
    kind, backbone, size
        A key of `ARCHITECTURES`, one of its `backbones`, and the sides of its input.
    classes, source
        The classes, or none for those that occur; the file that they are from, for messages.
    format, train, test, share, seed
        How the folder is read and split, as in `folders`.
    leave_out
        Whether objects of other classes are left out.
    weights
        A .caffemodel to start from.
    batch, iterations, rate
        In place of those of `schedule`.
    strict
        Whether a picture that cannot be used is an error.
    force
        Whether a folder that was written here before is replaced.
    augmentation
        In place of those of the backbone: mirror, distort, expand, patches, mosaic and mixup of `ssd.Task`.
    class_weights
        {class: what the loss of its objects counts for}; of the others 1.
    """

    data: Path
    out: Path
    backbone: str = "mobilenet"
    size: int | None = None
    classes: Sequence[str] = ()
    source: str = ""
    format: str = ""
    train: str = ""
    test: str = ""
    share: float | None = None
    seed: int = 1
    leave_out: bool = False
    weights: str = ""
    batch: int | None = None
    iterations: int | None = None
    rate: float | None = None
    strict: bool = False
    force: bool = False
    kind: str = "ssd"
    augmentation: dict[str, Any] = field(default_factory=dict)
    class_weights: dict[str, float] = field(default_factory=dict)

    @property
    def choice(self) -> Backbone:
        """The backbone that is asked for."""
        return ARCHITECTURES[self.kind].backbones[self.backbone]


@dataclass
class Made:
    """What was written: for the user to read."""

    wish: Wish
    format: str
    origin: str
    classes: list[str]
    size: int
    counts: dict[str, Counter[int]] = field(default_factory=dict)  # {split: objects by label}
    pictures: dict[str, int] = field(default_factory=dict)
    without: int = 0  # pictures to learn from that have no object
    unannotated: int = 0  # pictures beside these that no annotation names
    difficult: int = 0
    skipped: list[str] = field(default_factory=list)
    clipped: list[str] = field(
        default_factory=list
    )  # boxes to learn from or to test on that reached beyond their pictures
    thin: list[str] = field(default_factory=list)  # boxes of at most one pixel in a direction
    swapped: list[str] = field(default_factory=list)  # boxes whose corners were put in order
    shared: int = 0  # pictures in both splits
    dropped: list[str] = field(default_factory=list)  # classes that only the test has
    matched: float = 1.0  # the share of objects that overlap a prior by 0.5
    unmatched: dict[str, float] = field(default_factory=dict)  # why the others do not, as shares of them; see `reasons`
    sides: tuple[float, float, float] = (
        0.0,
        0.0,
        0.0,
    )  # of objects in pixels of the input: 10 %, half, 90 % are smaller
    parameters: int = 0
    fit: pretrained.Fit | None = None
    old_folder: str = ""  # where the folder of before is now
    plan: schedule.Schedule | None = None

    @property
    def architecture(self) -> Architecture:
        """Of the net."""
        return ARCHITECTURES[self.wish.kind]


def create(wish: Wish, tell: Tell = lambda step, done, all: None) -> Made:
    """Writes the folder, as a whole or not at all.

    Parameters
    ----------
    wish
        What is asked for.
    tell
        Called with ("train" or "test", records done, all).

    Returns
    -------
    Made
        What was written.

    Raises
    ------
    BoxpressoError
        For a folder that cannot be used or that exists, classes that do not fit, and weights of another net.
    """
    backbone = wish.choice
    size = wish.size or backbone.size
    if size < backbone.smallest:
        raise BoxpressoError(f"--size {size} is too small for {wish.backbone}: give {backbone.smallest} or more")
    if storable(str(wish.out)) != str(wish.out):
        raise BoxpressoError(
            f"the name {str(wish.out)!r} is not UTF-8, and no prototxt can hold it; name another with --out"
        )
    check_out(wish)
    weights = read_weights(wish.weights) if wish.weights else None
    format = wish.format or folders.recognise(wish.data)
    pictures = folders.read(wish.data, format, (wish.train, wish.test))
    split = folders.choose(pictures, wish.share, wish.seed, wish.train, wish.test)
    classes = folders.settle(pictures, split, wish.classes, wish.source, wish.leave_out)
    made = Made(wish, format, split.origin, classes, size, dropped=split.dropped)
    made.unannotated = len(pictures.without)
    train = {str(picture.scene.path) for picture in split.train}
    made.shared = sum(str(picture.scene.path) in train for picture in split.test)
    wish.out.parent.mkdir(parents=True, exist_ok=True)
    files.sweep(wish.out.parent.glob(f"{glob.escape(wish.out.name)}.*.partial"))
    partial_folder = files.beside(wish.out, ".partial")
    try:
        partial_folder.mkdir()
        (partial_folder / "snapshots").mkdir()
        boxes = write_pictures(made, split, partial_folder, tell)
        write_texts(made, weights, partial_folder, boxes)
        put_in_place(made, partial_folder)
    except BaseException as error:
        shutil.rmtree(partial_folder, ignore_errors=True)
        if isinstance(error, OSError):
            raise BoxpressoError(f"cannot write {wish.out}: {error.strerror or error}") from error
        raise
    return made


def check_out(wish: Wish) -> None:
    """Raises BoxpressoError for a folder that exists, unless it may be replaced."""
    if not wish.out.exists() and not wish.out.is_symlink():
        return
    if not wish.force:
        raise BoxpressoError(f"{wish.out} exists already; name another with --out, or replace it with --force")
    readme = wish.out / "README.md"
    if not readme.is_file() or MARK not in readme.read_text(encoding="utf-8", errors="replace"):
        raise BoxpressoError(
            f"{wish.out} was not written by `{MARK}`, so --force does not replace it; name another with --out"
        )


# Pictures


def write_pictures(made: Made, split: folders.Split, folder: Path, tell: Tell) -> np.ndarray:
    """Writes both LMDBs and returns the corners of all objects to learn from as fractions, (N, 4)."""
    corners = []
    limit = 2 * made.size
    for kind, pictures in (("train", split.train), ("test", split.test)):
        scenes = [picture.scene for picture in pictures]
        if kind == "train":  # SSD learns nothing of a picture without an object
            made.without = sum(not (scene.labels or scene.wrong) for scene in scenes)
            scenes = [scene for scene in scenes if scene.labels or scene.wrong]
        used: list[Scene] = []
        options = Options(shuffle=made.wish.seed if kind == "train" else None, refuse=made.wish.strict)
        one = partial(record, options=options, limit=limit, used=used)
        try:
            report: Report = write(folder / f"{kind}_lmdb", scenes, one, options, partial(tell, kind))
        except DataError as error:
            raise type(error)(f"the pictures of {kind}: {error}") from error
        made.pictures[kind] = report.pictures
        made.skipped += report.skipped
        made.counts[kind] = Counter(label for scene in used for label in scene.labels)
        made.clipped += [line for scene in used for line in scene.clipped]
        made.thin += [line for scene in used for line in scene.thin]
        made.swapped += [line for scene in used for line in scene.swapped]
        lines = [storable(scene.path.as_posix()) for scene in sorted(used, key=lambda scene: str(scene.path))]
        (folder / f"{kind}.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        if kind == "train":
            made.difficult = sum(sum(scene.difficult) for scene in used)
            corners = [scene.boxes()[:, 2:6] for scene in used]
    (folder / "labels.txt").write_text("".join(f"{name}\n" for name in made.classes), encoding="utf-8")
    write_labels(str(folder / "labelmap.prototxt"), {0: "background", **dict(enumerate(made.classes, 1))})
    return np.concatenate(corners)


def record(scene: Scene, options: Options, limit: int, used: list[Scene]) -> tuple[str, bytes, int]:
    """A record of a scene, its picture at most `limit` pixels at the shorter side. Raises BrokenRecord."""
    scene.check(options.refuse)
    expect = scene.width, scene.height
    if min(expect) > limit:
        factor = limit / min(expect)
        options = replace(options, size=(round(expect[0] * factor), round(expect[1] * factor)))
    datum = stored(scene.path, options, expect)
    data = make_annotated(datum, scene.boxes()).SerializeToString()
    used.append(scene)
    return scene.path.name, data, len(scene.labels)


# Texts


def write_texts(made: Made, weights: Weights | None, folder: Path, boxes: np.ndarray) -> None:
    """Writes the prototxts, start.caffemodel, README.md and train.sh, and looks at the net: its parameters and priors."""
    wish, backbone = made.wish, made.wish.choice
    out = wish.out.as_posix()
    made.plan = schedule.plan(
        wish.kind, wish.backbone, made.pictures["train"], made.pictures["test"], weights is not None, batch=wish.batch,
        iterations=wish.iterations, rate=wish.rate,
    )  # fmt: skip
    task = ssd.Task(
        name="".join(c if c.isalnum() else "_" for c in wish.data.resolve().name) or "own", classes=len(made.classes) + 1,
        sources=(f"{out}/train_lmdb", f"{out}/test_lmdb"), label_map=f"{out}/labelmap.prototxt",
        batches=(made.plan.batch, made.plan.test_batch), fresh=FRESH, records=True,
        folded=weights is not None and pretrained.is_folded(weights, "conv0"),
        still=weights is not None and bool(backbone.stride), **(backbone.task | wish.augmentation),
        class_weights=class_weights(wish.class_weights, made.classes),
    )  # fmt: skip
    if backbone.stride:  # of at most some thousand objects
        sample = boxes[:: max(1, len(boxes) // FITTED)]
        anchors = regions.fit_anchors(
            sample, made.size, backbone.stride, lambda a: float((overlaps(sample, a) >= 0.5).mean())
        )
        task = replace(task, anchors=anchors)
    if backbone.net is ssd.small and weights is None:
        task = replace(task, smaller=smaller_priors(made, task, boxes))
    nets = {kind: backbone.net(kind, made.size, task=task).to_proto() for kind in ("train", "test", "deploy")}
    look(made, nets["deploy"], boxes, weights, folder)
    for kind, net in nets.items():
        (folder / f"{kind}.prototxt").write_text(prototxt(kind, net, made), encoding="utf-8")
    pictures = made.pictures["train"], made.pictures["test"]
    solver = texts.solver_text(out, wish.backbone, made.plan, pictures, wish.seed, made.fit is not None)
    (folder / "solver.prototxt").write_text(solver, encoding="utf-8")
    (folder / "options.toml").write_text(options_of(made, task), encoding="utf-8")
    final = f"{out}/snapshots/{wish.backbone}_best.caffemodel"
    title = backbone.title[0].upper() + backbone.title[1:]
    about = (
        f"{title}, {made.size}x{made.size}, for {pictures[0]} pictures of {storable(str(wish.data))} ({made.origin})."
    )
    text = texts.readme(
        out,
        f"{storable(wish.data.resolve().name)}: {made.architecture.title}",
        made.classes,
        made.plan,
        final,
        backbone.options,
        about,
    )
    (folder / "README.md").write_text(text, encoding="utf-8")
    back = os.path.relpath(Path.cwd(), wish.out.resolve()) if not wish.out.is_absolute() else "."
    (folder / "train.sh").write_text(texts.train_script(out, back), encoding="utf-8")
    (folder / "train.sh").chmod(0o755)


def smaller_priors(made: Made, task: ssd.Task, boxes: np.ndarray) -> tuple[tuple[float, float], ...]:
    """Sizes of priors that a small SSD has besides, as parts of the input's side: each half as large as the last, while more
    than SMALLER of the objects are smaller than all priors, down to the distance of their places."""
    first, distance = ssd.SMALL_128[0].small / ssd.SMALL_SIDE, ssd.SMALL_STEP / made.size
    sizes: list[tuple[float, float]] = []
    while (low := (sizes[-1][0] if sizes else first) / 2) >= distance:
        net = made.wish.choice.net("deploy", made.size, task=replace(task, smaller=tuple(sizes))).to_proto()
        priors = made.architecture.shapes(Net(net, device="cpu", optimize=False))
        unmatched = boxes[overlaps(boxes, priors) < 0.5]
        if len(unmatched) * reasons(unmatched, priors).get("small", 0) < SMALLER * len(boxes):
            break
        sizes.append((low, 2 * low))
    return tuple(sizes)


def class_weights(weights: Mapping[str, float], classes: Sequence[str]) -> tuple[float, ...]:
    """A number for each label, the background first, of {class: number}; none where none is given.

    Raises BoxpressoError for a class that there is not.

    >>> class_weights({"wheel": 4}, ["car", "wheel"])
    (1.0, 1.0, 4.0)
    """
    for name in weights:
        if name not in classes:
            there = nearest(name, classes) or f"; there are {', '.join(classes)}"
            raise BoxpressoError(f"class_weights: there is no class {name!r}{there}")
    return (1.0, *(float(weights.get(name, 1)) for name in classes)) if weights else ()


def options_of(made: Made, task: ssd.Task) -> str:
    """options.toml: what was chosen, by the user and by the rules."""
    wish, plan = made.wish, made.plan
    assert plan is not None
    chosen = {"size": made.size, "batch": plan.batch * plan.iter_size, "iterations": plan.iterations, "rate": plan.rate}
    command = ["boxpresso", "new", wish.kind, "--backbone", wish.backbone, "--data", storable(str(wish.data))]
    command += ["--options", f"{wish.out.as_posix()}/options.toml"]
    return options_text(
        shlex.join(command), chosen, {name: getattr(task, name) for name in AUGMENTATIONS}, wish.class_weights
    )


def look(made: Made, deploy: NetParameter, boxes: np.ndarray, weights: Weights | None, folder: Path) -> None:
    """Builds the net for detection: its priors or anchors against the objects, its parameters, and what fits of weights."""
    net = Net(deploy, device="cpu", optimize=False)
    made.parameters = sum(blob.count for layer in net.layers if layer.type != "BatchNorm" for blob in layer.blobs)
    priors = made.architecture.shapes(net)
    best = overlaps(boxes, priors)
    made.matched = float((best >= 0.5).mean())
    made.unmatched = reasons(boxes[best < 0.5], priors)
    sides = np.sqrt(np.prod(boxes[:, 2:] - boxes[:, :2], 1)) * made.size
    ten, half, ninety = np.quantile(sides, (0.1, 0.5, 0.9)).tolist()
    made.sides = (ten, half, ninety)
    if weights is not None:
        made.fit = pretrained.fit(weights, net, lambda name: name.endswith(FRESH))
        pretrained.save(net, made.fit.copied, folder / "start.caffemodel")


def overlaps(boxes: np.ndarray, priors: np.ndarray) -> np.ndarray:
    """The greatest intersection over union (N,) of each box (N, 4) with a prior (P, 4), both as corners.

    >>> overlaps(np.array([[0, 0, 2, 2.0]]), np.array([[0, 0, 1, 2], [5, 5, 6, 6.0]])).tolist()
    [0.5]
    """
    return np.concatenate([iou(boxes[i : i + 64, None], priors[None]).max(1) for i in range(0, len(boxes), 64)])


def reasons(boxes: np.ndarray, priors: np.ndarray) -> dict[str, float]:
    """Why boxes overlap no prior by 0.5, both as corners: the share of them for each reason.

    "place": a prior of their shape lies elsewhere; "small" and "large": their area is below that of the smallest or above that
    of the largest prior; "long": their shape is none of the priors'.

    >>> priors = np.array([[0.2, 0.2, 0.5, 0.5], [0, 0, 0.9, 0.9]])
    >>> reasons(np.array([[0, 0, 0.1, 0.1], [0, 0, 0.9, 0.2]]), priors)
    {'small': 0.5, 'long': 0.5}
    """
    sizes, shapes = boxes[:, 2:] - boxes[:, :2], np.unique((priors[:, 2:] - priors[:, :2]).round(4), axis=0)
    shared = np.minimum(sizes[:, None], shapes).prod(2)  # were they in one place
    areas, known = sizes.prod(1), shapes.prod(1)
    fits = (shared / (areas[:, None] + known - shared)).max(1, initial=0) >= 0.5
    reason = np.where(areas < known.min(), "small", np.where(areas > known.max(), "large", "long"))
    counts = Counter(np.where(fits, "place", reason).tolist())
    return {name: count / len(boxes) for name, count in counts.items()}


def prototxt(kind: str, net: NetParameter, made: Made) -> str:
    """A net's prototxt with comments."""
    purpose = {"train": "to learn from train_lmdb", "test": "to be tested on test_lmdb", "deploy": "for detection"}[
        kind
    ]
    names = ", ".join(f"{label} {name}" for label, name in enumerate(made.classes[:20], 1))
    title = made.wish.choice.title
    head = f"{title[0].upper()}{title[1:]}, {made.size}x{made.size}, {purpose}.\nLabels: 0 background, {names}"
    head += " .." if len(made.classes) > 20 else ""
    head += f"\nLayers whose names end in {FRESH} depend on the classes: weights of other classes do not fit them."
    notes = made.architecture.notes(net, made.matched, FRESH)
    batch = "lower it where memory is short" if kind == "train" else "a divisor of the number of pictures"
    if made.wish.choice.stride:
        batch = "layers of regions take one picture; iter_size in solver.prototxt sums several"
    fields = {
        "batch_size": batch,
        "max_expand_ratio": "shrinks pictures, for small objects",
        "batch_sampler": "the whole picture, or a part of it that overlaps an object",
    }  # fmt: skip
    return texts.commented(net, head, notes, fields if kind != "deploy" else None)


def put_in_place(made: Made, folder: Path) -> None:
    """Renames the folder to its name. One of before is removed, but kept under another name where it holds snapshots."""
    out = made.wish.out
    if not out.exists():
        folder.rename(out)
        return
    check_out(made.wish)
    old = files.beside(out, ".old.partial")
    if any((out / "snapshots").glob("*.caffemodel*")):
        old = next(p for p in (out.with_name(f"{out.name}.{n}") for n in range(1, 10**6)) if not p.exists())
        made.old_folder = str(old)
    out.rename(old)
    try:
        folder.rename(out)
    except OSError:
        old.rename(out)
        raise
    if not made.old_folder:
        shutil.rmtree(old, ignore_errors=True)
