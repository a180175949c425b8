"""Folders of pictures into LMDBs of Caffe's records, and the mean of an LMDB."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..proto import AnnotatedDatum, BlobProto, Datum, LabelMap, to_text
from ..proto.signatures import JPEG, PNG, what_is
from .errors import BrokenRecord, DataError
from .folders import VOC_CLASSES, Scene, read_coco, read_images, read_voc, read_yolo
from .picture import decode, encode, resize
from .records import make_annotated, make_datum, open_records, parse, picture_of, write_records

Tell = Callable[[int, int], None]  # (done, all)


@dataclass
class Report:
    """What was written, and what was left out and why."""

    pictures: int = 0
    boxes: int = 0
    skipped: list[str] = field(default_factory=list)
    labels: dict[int, str] = field(default_factory=dict)


@dataclass
class Options:
    """How pictures are stored. size: (width, height) to resize to, or None. color: False stores grey. encoded: as JPEG or PNG
    files, else as plain bytes. shuffle: the seed of their order, or None. refuse: whether a broken one is an error."""

    size: tuple[int, int] | None = None
    color: bool = True
    encoded: bool = True
    shuffle: int | None = None
    refuse: bool = False


def stored(path: Path, options: Options, expect: tuple[int, int] | None = None) -> Datum:
    """A picture file as a Datum. expect: the (width, height) of its annotation. Raises BrokenRecord that names the file.

    A JPEG or PNG that is not resized is stored as it is.
    """
    picture = decode(path, options.color)  # every file is decoded once, so that a broken one is found now
    found = picture.shape[1], picture.shape[0]
    if expect is not None and found != expect:
        raise BrokenRecord(f"{path} is {found[0]}x{found[1]}, its annotation says {expect[0]}x{expect[1]}")
    if options.encoded and options.size is None and options.color:
        data = path.read_bytes()
        if what_is(data) in (JPEG, PNG):
            return with_size(make_datum(data), picture)
    if options.size is not None:
        picture = resize(picture, *options.size)
    return with_size(make_datum(encode(picture)), picture) if options.encoded else make_datum(picture)


def with_size(datum: Datum, picture: np.ndarray) -> Datum:
    """An encoded Datum that also tells its size, as SSD's tools do."""
    datum.height, datum.width, datum.channels = picture.shape
    return datum


def write(
    to: str | os.PathLike[str], things: Sequence[Any], one: Callable[[Any], tuple[str, bytes, int]], options: Options,
    tell: Tell,
) -> Report:  # fmt: skip
    """Writes the records that `one` makes of things: (name, bytes, boxes). What it cannot make is named in the report."""
    report = Report()
    order = list(range(len(things)))
    if options.shuffle is not None:
        order = np.random.default_rng(options.shuffle).permutation(len(things)).tolist()

    def records() -> Iterator[tuple[str, bytes]]:
        for done, at in enumerate(order, 1):
            try:
                name, data, boxes = one(things[at])
            except BrokenRecord as error:
                if options.refuse:
                    raise
                report.skipped.append(str(error))
            else:
                yield f"{report.pictures:08d}_{name}", data
                report.pictures, report.boxes = report.pictures + 1, report.boxes + boxes
            tell(done, len(order))
        if not report.pictures:
            raise DataError(f"none of {len(order)} pictures can be used; the last one: {report.skipped[-1]}")

    write_records(to, records())
    return report


def write_scenes(to: str | os.PathLike[str], scenes: Sequence[Scene], options: Options, tell: Tell) -> Report:
    """Scenes as AnnotatedDatum records, with keys as create_annoset makes them."""

    def one(scene: Scene) -> tuple[str, bytes, int]:
        if scene.wrong:
            raise BrokenRecord(scene.wrong)
        datum = stored(scene.path, options, (scene.width, scene.height))
        return scene.path.name, make_annotated(datum, scene.boxes()).SerializeToString(), len(scene.labels)

    return write(to, scenes, one, options, tell)


def convert(
    kind: str,
    folder: str | os.PathLike[str],
    to: str | os.PathLike[str],
    *,
    split: str = "",
    classes: Sequence[str] = VOC_CLASSES,
    options: Options | None = None,
    tell: Tell = lambda done, all: None,
) -> Report:
    """Writes an LMDB at `to` from a folder of a kind: voc, coco, yolo (AnnotatedDatum) or images (Datum, a folder per class).

    split: such as trainval. classes: of VOC, label 1 first. The names of labels go to TO_labelmap.prototxt. Pictures and
    annotations that cannot be used are named in the report, or raise BrokenRecord with options.refuse. Raises DataError.
    """
    options, root = options or Options(), Path(folder)
    if kind == "images":
        found, labels = read_images(root)

        def one(item: tuple[Path, int]) -> tuple[str, bytes, int]:
            datum = stored(item[0], options)
            datum.label = item[1]
            return item[0].relative_to(root).as_posix(), datum.SerializeToString(), 0

        report = write(to, found, one, options, tell)
    elif kind == "voc":
        labels = dict(enumerate(classes, 1))
        report = write_scenes(to, read_voc(root, split, classes), options, tell)
    elif kind in ("coco", "yolo"):
        scenes, labels = (read_coco if kind == "coco" else read_yolo)(root, split)
        report = write_scenes(to, scenes, options, tell)
    else:
        raise DataError(f"the kind of a folder is voc, coco, yolo or images, not {kind!r}")
    report.labels = labels
    if labels:
        background = {} if kind == "images" else {0: "background"}
        write_labels(f"{os.fspath(to)}_labelmap.prototxt", {**background, **labels})
    return report


def write_labels(path: str, labels: dict[int, str]) -> None:
    """A LabelMap as a text."""
    message = LabelMap()
    for label, name in labels.items():
        message.item.add(name="none_of_the_above" if name == "background" else name, label=label, display_name=name)
    Path(path).write_text(to_text(message), encoding="utf-8")


def mean_of(source: str, tell: Tell = lambda done, all: None) -> np.ndarray:
    """The mean picture of an LMDB of Datum or AnnotatedDatum records of one size, float64 (C, H, W).

    Raises DataError, naming the record, for one that cannot be read or has another size.
    """
    records = open_records(source)
    total, annotated = np.zeros((0, 0, 0)), is_annotated(records[0])
    for index in range(len(records)):
        name = records.name(index)
        picture = picture_of(datum_in(records[index], annotated, name), None, name)
        if not total.size:
            total = np.zeros(picture.shape)
        if picture.shape != total.shape:
            raise DataError(
                f"{name} is {picture.shape[1]}x{picture.shape[0]} with {picture.shape[2]} channels, the first one "
                f"{total.shape[1]}x{total.shape[0]} with {total.shape[2]}; a mean needs one size: convert with --size"
            )
        total += picture
        tell(index + 1, len(records))
    return (total / len(records)).transpose(2, 0, 1)


def is_annotated(data: bytes) -> bool:
    """Whether a record is an AnnotatedDatum: its first field is a message, a Datum's is a number or field 4 and on."""
    return data[:1] == b"\x0a"


def datum_in(data: bytes, annotated: bool, name: str) -> Datum:
    return parse(AnnotatedDatum(), data, name).datum if annotated else parse(Datum(), data, name)


def write_mean(path: str | os.PathLike[str], mean: np.ndarray) -> None:
    """A mean (C, H, W) as a .binaryproto, (1, C, H, W) as Caffe's compute_image_mean writes it, or as .npy."""
    if Path(path).suffix == ".npy":
        np.save(path, mean.astype(np.float32))
        return
    blob = BlobProto(num=1, channels=mean.shape[0], height=mean.shape[1], width=mean.shape[2])
    blob.data.extend(mean.astype(np.float32).ravel().tolist())
    Path(path).write_bytes(blob.SerializeToString())
