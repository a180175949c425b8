"""AnnotatedData: SSD's batches of pictures and boxes from an LMDB of AnnotatedDatum records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...data import mixing
from ...data.boxes import CORNERS
from ...data.decoded import Decoded
from ...data.errors import BrokenRecord, DataError
from ...data.loader import Loader, RecordSource
from ...data.records import Records, boxes_of, open_records, parse, picture_of
from ...data.sampler import check_samplers, crops
from ...data.transform import Transform
from ...device import Blob
from ...proto import AnnotatedDatum
from .batches import BatchLayer, Numpy, stack

BBOX = AnnotatedDatum.BBOX


@dataclass
class AnnotatedSource(RecordSource):
    """Pictures and boxes of an LMDB of AnnotatedDatum records."""

    records: Records
    transform: Transform
    samplers: list[Any]  # BatchSamplers
    kind: int | None  # of annotations, where the prototxt says it
    layer: str
    tops: int
    mosaic: float = 0  # how often a picture is one of four
    mixup: float = 0  # and of two
    decoded: Decoded = field(default_factory=Decoded)

    def load(self, index: int, rng: np.random.Generator) -> tuple[Numpy, Numpy | None, int]:
        transform = self.transform
        picture, boxes, kind, label = self.read(index)
        if self.mosaic and rng.random() < self.mosaic:
            others = [self.other(rng) for _ in range(mixing.PICTURES - 1)]
            picture, boxes = mixing.mosaic([(picture, boxes), *others], rng, transform.emit, self.most)
        if self.mixup and rng.random() < self.mixup:
            picture, boxes = mixing.mixup([(picture, boxes), self.other(rng)], rng)
        canvas, boxes = transform.distort_expand(picture, boxes, rng)
        windows = crops(self.samplers, boxes[:, CORNERS], rng)
        if len(windows):
            canvas, boxes = transform.cut(canvas, boxes, windows[rng.integers(len(windows))])
        values, boxes = transform(canvas, rng, boxes)
        return values, None if kind is None else boxes, label

    @property
    def most(self) -> tuple[int, int] | None:
        """Twice the width and height that pictures are resized to, of which a crop shows a half or so; None: they are not."""
        resized = self.transform.resize
        return None if resized is None else (2 * resized.width, 2 * resized.height)

    def read(self, index: int) -> tuple[Numpy, Numpy, int | None, int]:
        """A record's picture, boxes, type of annotations and label. Raises BrokenRecord, and DataError for another type."""
        picture, (boxes, kind, label) = self.decoded.get(index, lambda: self.decode(index))
        return picture, boxes, kind, label

    def decode(self, index: int) -> tuple[Numpy, tuple[Numpy, int | None, int]]:
        """As `read`, from the LMDB."""
        name = self.name(index)
        record = parse(AnnotatedDatum(), self.records[index], name)
        if not record.HasField("datum"):
            raise BrokenRecord(f"{name} is not an AnnotatedDatum: it has no datum; a Datum is for the layer Data")
        kind = self.kind if self.kind is not None else record.type if record.HasField("type") else None
        if kind not in (None, BBOX):
            raise DataError(
                f"annotations of type {AnnotatedDatum.AnnotationType.Name(kind)} are not supported, only BBOX"
            )
        picture, boxes = picture_of(record.datum, self.transform.color, name), boxes_of(record)
        if not np.isfinite(boxes).all():
            raise BrokenRecord(f"{name} has a box that is not finite")
        return picture, (boxes, kind, record.datum.label)

    def other(self, rng: np.random.Generator) -> mixing.Annotated:
        """A picture that is drawn, and its boxes. Of a broken record the next one's; its own turn names it."""
        first, count = int(rng.integers(len(self.records))), len(self.records)
        for step in range(count):
            try:
                return self.read((first + step) % count)[:2]
            except BrokenRecord as error:
                broken = error
        raise broken

    def collate(self, samples: Sequence[tuple[Numpy, Numpy | None, int]]) -> list[Numpy]:
        pictures = stack([picture for picture, _, _ in samples], self.layer)
        annotated = {boxes is not None for _, boxes, _ in samples}
        if len(annotated) > 1:
            raise DataError(f"some records of {self.records.path!r} have an annotation type and some have none")
        if annotated == {False}:
            return [pictures, np.array([label for _, _, label in samples], np.float32)][: self.tops]
        return [pictures, label_rows([boxes for _, boxes, _ in samples if boxes is not None])][: self.tops]

    def name(self, index: int) -> str:
        return self.records.name(index)


class AnnotatedData(
    BatchLayer,
    type="AnnotatedData",
    param=("annotated_data_param", "data_param", "transform_param"),
    bottoms=0,
    tops=(1, 2),
):
    """Batches of pictures and boxes from an LMDB of AnnotatedDatum records.

    Where mosaic_prob or mixup_prob asks for it, other records of the LMDB, drawn at random, make one picture with it. Each
    goes through distort_param and expand_param of transform_param. Then the batch_samplers of
    annotated_data_param look for crops, of which one is drawn. Then follow resize_param, noise_param, crop, mean, scale
    and mirror. The boxes follow all of this, and emit_constraint says which boxes a crop keeps.

    A record that cannot be read is named in a warning and left out. The data are opened when the first batch is asked
    for, or when only they know a shape.

    Parameters
    ----------
    data_param
        As for Data: `source` (required), `batch_size` (required), `shuffle` (false), `rand_skip` (0), `prefetch` (4).
    annotated_data_param
        `batch_sampler`: any number of samplers of crops. `anno_type`: the type of the annotations, instead of what the
        records say; only BBOX is supported. `mosaic_prob` (0): how often a picture is made of parts of four, about a centre
        that is drawn. `mixup_prob` (0): how often another one lies over it, each about half transparent.
    transform_param
        `distort_param`, `expand_param`, `resize_param`, `noise_param`, `emit_constraint`, and as for Data `crop_size`,
        `mean_file`, `mean_value`, `scale` (1) and `mirror` (false).

    Returns
    -------
    top 0
        (batch, channels, height, width), the pictures.
    top 1
        Optional. (1, 1, boxes of the batch, 8), the boxes. A row is [picture in the batch, label, instance, xmin, ymin,
        xmax, ymax, difficult], the corners as fractions of the picture. A batch without a box has one row of -1.
        Records without an annotation type give (batch) labels instead.

    Raises
    ------
    LayerError
        For a missing source or batch_size, parameters that do not fit, annotations that are not BBOX, or an LMDB that
        cannot be read.

    Source
    ------
    SSD's Caffe; mosaic and mixup are here alone (`data/mixing.py`).

    Examples
    --------
    The shapes are known before the data are opened:

    >>> from boxpresso import Net
    >>> from boxpresso.proto import parse_net
    >>> net = Net(parse_net('''layer { name: "data" type: "AnnotatedData" top: "data" top: "label"
    ...     data_param { source: "train_lmdb" batch_size: 4 }
    ...     transform_param { force_color: true resize_param { height: 300 width: 300 } } }'''), device="cpu")
    >>> net.blobs["data"].shape, net.blobs["label"].shape
    ((4, 3, 300, 300), (1, 1, 1, 8))
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        param = self.param.data_param
        self.need(param.source, "give data_param { source: .. }, the LMDB to read")
        self.need(param.batch_size > 0, f"batch_size must be 1 or more, got {param.batch_size}")
        self.samplers = list(self.param.annotated_data_param.batch_sampler)
        own = self.param.annotated_data_param
        for name in ("mosaic_prob", "mixup_prob"):
            value = getattr(own, name)
            self.need(0 <= value <= 1, f"{name} must be from 0 to 1, got {value:g}")
        try:
            check_samplers(self.samplers)
        except DataError as error:
            self.need(False, str(error))
        self.transform = self.make_transform()
        self.count = len(top)
        shape, labels = self.transform.shape(), None
        if shape is None:
            picture, boxes, _ = self.first()  # its records tell
            shape, labels = picture.shape, None if boxes is not None else (param.batch_size,)
        top[0].reshape(param.batch_size, *shape)
        if len(top) > 1:
            top[1].reshape(*(labels or (1, 1, 1, 8)))

    def open(self) -> Loader:
        param = self.param.data_param
        own = self.param.annotated_data_param
        records = open_records(param.source)
        kind = own.anno_type if own.HasField("anno_type") else None
        mixed = own.mosaic_prob, own.mixup_prob
        source = AnnotatedSource(records, self.transform, self.samplers, kind, str(self), self.count, *mixed)
        order = self.make_order(len(records), param.shuffle, param.rand_skip)
        return self.make_loader(source, order, param.batch_size, param.prefetch)


def label_rows(boxes: list[Numpy]) -> Numpy:
    """The boxes (N, 7) of each picture as one blob (1, 1, sum of N, 8), by picture, then label, as Caffe groups them."""
    rows = []
    for item, own in enumerate(boxes):
        _, first = np.unique(own[:, 0], return_index=True)
        rank = {own[at, 0]: at for at in first}  # labels in the order of their first box
        own = own[np.argsort([rank[label] for label in own[:, 0]], kind="stable")] if len(own) else own
        rows.append(np.concatenate([np.full((len(own), 1), item, np.float32), own], 1))
    table = np.concatenate(rows)
    return (table if len(table) else np.full((1, 8), -1, np.float32))[None, None]
