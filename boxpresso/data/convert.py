"""Folders of pictures into LMDBs of Caffe's records, and the mean of an LMDB."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..proto import AnnotatedDatum, BlobProto, Datum, LabelMap, to_text
from ..proto.files import replacing
from ..proto.signatures import JPEG, PNG, what_is
from .errors import BrokenRecord, DataError
from .folders import VOC_CLASSES, Scene, read_coco, read_images, read_voc, read_wider, read_yolo
from .picture import decode_annotated, encode, resize
from .records import make_annotated, make_datum, open_records, parse, picture_of, write_records

KEY = 511  # bytes of a key of an LMDB, at most
Tell = Callable[[int, int], None]  # (done, all)


@dataclass
class Report:
    """What was written, what was skipped and why, which boxes reached beyond their pictures and were clipped, and which had
    their corners in another order."""

    pictures: int = 0
    boxes: int = 0
    skipped: list[str] = field(default_factory=list)
    clipped: list[str] = field(default_factory=list)
    swapped: list[str] = field(default_factory=list)
    labels: dict[int, str] = field(default_factory=dict)


@dataclass
class Options:
    """How pictures are stored. size: (width, height) to resize to, or None. color: False stores grey. encoded: as JPEG or PNG
    files, else as plain bytes. shuffle: the seed of their order, or None. refuse: whether a broken one, or a box that reaches
    beyond its picture, is an error."""

    size: tuple[int, int] | None = None
    color: bool = True
    encoded: bool = True
    shuffle: int | None = None
    refuse: bool = False


def stored(path: Path, options: Options, expect: tuple[int, int] | None = None) -> Datum:
    """A picture file as a Datum. expect: the (width, height) of its annotation. Raises BrokenRecord that names the file.

    A JPEG or PNG that is neither resized nor turned is stored as it is.
    """
    # every file is decoded once, so that a broken one is seen now
    picture, turned = decode_annotated(path, options.color, expect)
    if options.encoded and options.size is None and options.color and not turned:
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
    """Writes the record `one(thing)`, (name, bytes, number of boxes), of each thing; the report names the broken ones."""
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
                yield f"{report.pictures:08d}_{ending(name, KEY - 9)}", data
                report.pictures, report.boxes = report.pictures + 1, report.boxes + boxes
            tell(done, len(order))
        if not report.pictures:
            raise DataError(f"none of {len(order)} pictures can be used; the last one: {report.skipped[-1]}")

    write_records(to, records())
    return report


def ending(name: str, most: int) -> str:
    """A name, or its last signs, which take so many bytes at most.

    >>> ending("bär.jpg", 6), ending("bär.jpg", 8)
    ('r.jpg', 'bär.jpg')
    """
    return os.fsencode(name)[-most:].decode("utf-8", "ignore")


def write_scenes(to: str | os.PathLike[str], scenes: Sequence[Scene], options: Options, tell: Tell) -> Report:
    """Scenes as AnnotatedDatum records, with the keys that create_annoset gives them."""

    def one(scene: Scene) -> tuple[str, bytes, int]:
        scene.check(options.refuse)
        datum = stored(scene.path, options, (scene.width, scene.height))
        clipped.extend(scene.clipped)
        swapped.extend(scene.swapped)
        return scene.path.name, make_annotated(datum, scene.boxes()).SerializeToString(), len(scene.labels)

    clipped: list[str] = []
    swapped: list[str] = []
    report = write(to, scenes, one, options, tell)
    report.clipped, report.swapped = clipped, swapped
    return report


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
    """Writes an LMDB from a folder of pictures; the names of labels go to TO_labelmap.prototxt.

    Parameters
    ----------
    kind : voc, coco, yolo, wider (AnnotatedDatum records) or images (Datum records, a folder per class).
    to : the LMDB's path.
    split : such as trainval; images have none.
    classes : of VOC, label 1 first.
    options : how pictures are stored, and whether a broken one is an error.
    tell : called with (records done, all records).

    Returns
    -------
    A Report, which names the pictures and annotations that were skipped.

    Raises
    ------
    DataError: a folder that is none of that kind, or holds no picture that can be used. BrokenRecord: with options.refuse,
    for the first picture or annotation that cannot be used.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("cat", "dog"):
    ...         Path(folder, "pictures", name).mkdir(parents=True)
    ...         _ = Path(folder, "pictures", name, "1.png").write_bytes(encode(np.zeros((2, 3, 3), np.uint8), "PNG"))
    ...     report = convert("images", f"{folder}/pictures", f"{folder}/lmdb")
    >>> report.pictures, report.labels
    (2, {0: 'cat', 1: 'dog'})
    """
    options, root = options or Options(), Path(folder)
    if kind == "images":
        if split:
            raise DataError(f"a folder of a class each has no splits, such as {split!r}: convert the folder of one")
        items, labels = read_images(root)

        def one(item: tuple[Path, int]) -> tuple[str, bytes, int]:
            datum = stored(item[0], options)
            datum.label = item[1]
            return item[0].relative_to(root).as_posix(), datum.SerializeToString(), 0

        report = write(to, items, one, options, tell)
    elif kind == "voc":
        labels = dict(enumerate(classes, 1))
        report = write_scenes(to, read_voc(root, split, classes), options, tell)
    elif kind in ("coco", "yolo", "wider"):
        scenes, labels = {"coco": read_coco, "yolo": read_yolo, "wider": read_wider}[kind](root, split)
        report = write_scenes(to, scenes, options, tell)
    else:
        raise DataError(f"the kind of a folder is voc, coco, yolo, wider or images, not {kind!r}")
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
    with replacing(path) as part:
        part.write_text(to_text(message), encoding="utf-8")


def mean_of(source: str, tell: Tell = lambda done, all: None) -> np.ndarray:
    """The mean picture of an LMDB of Datum or AnnotatedDatum records.

    Parameters
    ----------
    tell : called with (records done, all records).

    Returns
    -------
    (C, H, W), float64.

    Raises
    ------
    DataError that names the record, for one that cannot be read or has another size than the first.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> pictures = [np.full((1, 1, 1), value, np.uint8) for value in (1, 2)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rows = [(str(i), make_datum(picture).SerializeToString()) for i, picture in enumerate(pictures)]
    ...     _ = write_records(f"{folder}/lmdb", rows)
    ...     mean_of(f"{folder}/lmdb").tolist()
    [[[1.5]]]
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
    return np.asarray((total / len(records)).transpose(2, 0, 1))


def is_annotated(data: bytes) -> bool:
    """Whether a record is an AnnotatedDatum: its first field is a message, a Datum's is a number or field 4 and on."""
    return data[:1] == b"\x0a"


def datum_in(data: bytes, annotated: bool, name: str) -> Datum:
    return parse(AnnotatedDatum(), data, name).datum if annotated else parse(Datum(), data, name)


def write_mean(path: str | os.PathLike[str], mean: np.ndarray) -> None:
    """Writes a mean (C, H, W) as .npy or .binaryproto, (1, C, H, W) as Caffe's compute_image_mean writes it.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from boxpresso.proto.binary import read_mean
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_mean(f"{folder}/mean.binaryproto", np.ones((3, 2, 2)))
    ...     read_mean(f"{folder}/mean.binaryproto").shape
    (3, 2, 2)
    """
    values = mean.astype(np.float32)
    blob = BlobProto(num=1, channels=mean.shape[0], height=mean.shape[1], width=mean.shape[2])
    blob.data.extend(values.ravel().tolist())
    with replacing(path) as part, open(part, "wb") as file:
        if Path(path).suffix == ".npy":
            np.save(file, values)
        else:
            file.write(blob.SerializeToString())
