"""Detections of very many pictures, in parts: each part is a Parquet file, which is written as a whole, once, or not at all.

A `Job` lists the pictures of a source once, and divides them into parts. Whoever works on it, in whichever process, writes
`part-00042.parquet` under a temporary name and renames it when it is complete: that file is what says that the part is done. So
a part that is begun again, because its process was killed, is there once, and a job that is begun again goes on where it was.

    OUT/part-00000.parquet ..    a row a picture: `path`, `width`, `height`, `detections`, `error`
    OUT/_boxpresso/job.json      the source, the settings, how many pictures and parts
    OUT/_boxpresso/plan.parquet  the pictures of each part

Source and OUT are paths, or addresses that pyarrow knows: `s3://bucket/folder`, `gs://..`. It needs pyarrow.
"""

from __future__ import annotations

import io
import json
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .data.image import as_pixels
from .data.sources import PICTURES
from .decoders.detections import Detections, extra_package
from .decoders.saving import run_lengths
from .detection import Detector
from .proto.errors import BoxpressoError
from .proto.files import replacing, sweep

Numpy = np.ndarray[Any, Any]
FORMAT = 1  # of job.json
Make = Callable[[], Detector]
OWN = "_boxpresso"  # the folder in OUT; readers of Parquet pass over what begins with _
PER_PART = 1000  # pictures
COLUMNS = ("image", "bytes", "path")  # of a table, those that may hold the pictures: the first that is there
READERS, A_READER = 8, 8  # threads that read files ahead of the net, and pictures that one reads at a time


def detection_type() -> Any:
    """The Arrow type of a detection: what `Detections.to_json` has; null for what a decoder does not give."""
    pa = arrow()
    numbers = pa.list_(pa.float32())
    return pa.struct([
        ("class_id", pa.int64()), ("class_name", pa.string()), ("score", pa.float32()), ("box", pa.list_(pa.float32(), 4)),
        ("rotated", numbers), ("angle", pa.float32()), ("quadrilateral", pa.list_(numbers)),
        ("landmarks", pa.list_(numbers)), ("landmark_scores", numbers),
        ("mask", pa.struct([("size", pa.list_(pa.int32())), ("counts", pa.list_(pa.int32()))])),
    ])  # fmt: skip


def arrow() -> Any:
    """pyarrow, with its parts for files and Parquet. Raises BoxpressoError that says how to get it."""
    extra_package("pyarrow", "this")
    import pyarrow.compute
    import pyarrow.fs
    import pyarrow.parquet

    return pyarrow


def detected(detector: Detector, pictures: Sequence[Any], beside: Any = None) -> Any:
    """The detections of pictures as an Arrow table, a row a picture.

    Parameters
    ----------
    detector
        The Detector; pictures that can be read go through it together.
    pictures
        Of each what `image.as_image` takes, or a BoxpressoError for one that could not be read; None, too, is an error.
    beside
        A table with a row for each picture, whose columns come first in the result.

    Returns
    -------
    pyarrow.Table
        `width`, `height` (int32; null where the picture cannot be read), `detections` (a list of `detection_type`, best first)
        and `error` (null, or what is wrong with the picture).
    """
    return table_of(rows_of_pictures(detector, pictures), beside)


class Row(NamedTuple):
    """What came of a picture: its size and detections, or why it could not be read."""

    width: int | None
    height: int | None
    detections: Detections
    error: str | None


def rows_of_pictures(detector: Detector, pictures: Sequence[Any]) -> list[Row]:
    """What comes of pictures; see `detected`."""
    read: dict[int, Numpy] = {}
    rows: list[Any] = [None] * len(pictures)
    for i, picture in enumerate(pictures):
        try:
            if isinstance(picture, BoxpressoError):
                raise picture
            if picture is None:
                raise BoxpressoError("there is no picture: it is null")
            read[i] = as_pixels(picture)
        except BoxpressoError as error:
            rows[i] = Row(None, None, Detections.none(), str(error))
    for (i, pixels), detections in zip(read.items(), detector.batch(list(read.values()))):
        height, width = pixels.shape[:2]
        rows[i] = Row(width, height, replace(detections, image=None), None)  # the pixels are not held
    return rows


def table_of(rows: Sequence[Row], beside: Any = None) -> Any:
    """The columns of `detected`, after those of a table."""
    pa = arrow()
    columns = {
        "width": pa.array([row.width for row in rows], pa.int32()),
        "height": pa.array([row.height for row in rows], pa.int32()),
        "detections": detection_column([row.detections for row in rows]),
        "error": pa.array([row.error for row in rows], pa.string()),
    }
    table = pa.table(columns) if beside is None else beside
    for name, column in {} if beside is None else columns.items():
        at = table.schema.get_field_index(name)
        table = table.append_column(name, column) if at < 0 else table.set_column(at, name, column)
    return table


def detection_column(pictures: Sequence[Detections]) -> Any:
    """Of each picture the list of its detections, of `detection_type`."""
    pa = arrow()
    kind = detection_type()
    boxes = np.concatenate([np.zeros((0, 4), np.float32), *(detections.boxes for detections in pictures)])
    columns = {
        "class_id": pa.array(
            np.concatenate([np.zeros(0, np.int64), *(detections.class_ids for detections in pictures)])
        ),
        "class_name": pa.array([name for detections in pictures for name in detections.class_names], pa.string()),
        "score": pa.array(np.concatenate([np.zeros(0, np.float32), *(detections.scores for detections in pictures)])),
        "box": pa.FixedSizeListArray.from_arrays(boxes.reshape(-1), 4),
    }
    for name, values in OPTIONAL.items():
        each = [values(detections) or [None] * len(detections) for detections in pictures]
        columns[name] = pa.array([value for row_values in each for value in row_values], kind.field(name).type)
    ends = np.cumsum([0, *map(len, pictures)], dtype=np.int32)
    return pa.ListArray.from_arrays(ends, pa.StructArray.from_arrays(list(columns.values()), fields=list(kind)))


def landmarks_of(detections: Detections) -> list[Any] | None:
    """Of each detection its points; None for one that was not found."""
    if detections.landmarks is None:
        return None
    return [[point if np.isfinite(point).all() else None for point in points] for points in detections.landmarks]


OPTIONAL: Mapping[str, Callable[[Detections], list[Any] | None]] = {  # columns of what not all decoders give
    "rotated": lambda detections: (
        None if detections.angles is None or detections.quadrilaterals is None else list(detections.rotated)
    ),
    "angle": lambda detections: None if detections.angles is None else detections.angles.tolist(),
    "quadrilateral": lambda detections: (
        None if detections.quadrilaterals is None else detections.quadrilaterals.tolist()
    ),
    "landmarks": landmarks_of,
    "landmark_scores": lambda detections: (
        None if detections.landmark_scores is None else list(detections.landmark_scores)
    ),
    "mask": lambda detections: None if detections.masks is None else [run_lengths(mask) for mask in detections.masks],
}


def picture_column(names: Sequence[str], chosen: str | None = None) -> str:
    """The column that holds the pictures: the one that is chosen, or the first of `image`, `bytes` and `path`.

    >>> picture_column(["id", "path", "bytes"])
    'bytes'
    """
    for name in (chosen,) if chosen is not None else COLUMNS:
        if name in names:
            return name
    wanted = f"no column {chosen!r}" if chosen is not None else "none of the columns image, bytes and path"
    raise BoxpressoError(f"the table has {wanted}, but {', '.join(names)}; name the column that holds the pictures")


def unwrapped(value: Any) -> Any:
    """A picture of a table's cell: of a record with `bytes` and `path`, as data sets of pictures have them, the one that is
    there."""
    if isinstance(value, Mapping):
        return value.get("bytes") if value.get("bytes") is not None else value.get("path")
    return value


def place(address: str) -> tuple[Any, str, str]:
    """The file system of a path or an address, the path in it, and what comes before such a path in an address.

    >>> place("photos/")[1:]
    ('photos', '')
    """
    fs = arrow().fs
    if "://" not in address:
        return fs.LocalFileSystem(), os.path.normpath(address), ""
    try:
        system, path = fs.FileSystem.from_uri(address)
    except (OSError, ValueError) as error:
        raise BoxpressoError(f"{address} is no place that pyarrow can reach: {error}") from error
    return (
        system,
        path.rstrip("/"),
        "" if isinstance(system, fs.LocalFileSystem) else f"{address.partition('://')[0]}://",
    )


class Job:
    """The pictures of a source, in parts, and the folder where their detections are written.

    Parameters
    ----------
    source
        A folder, with those in it; or a Parquet file, or a folder of them.
    out
        The folder of the results.
    settings
        What the detections depend on: a job that is begun again must have the same.
    column
        Of Parquet the column that holds the pictures; see `picture_column`.
    per_part
        Pictures in a part.

    Attributes
    ----------
    pictures, parts
        How many there are.
    begun_before
        Whether this job was begun by another process before.

    Raises
    ------
    BoxpressoError
        For a source without pictures, an OUT that belongs to another job, and places that cannot be read or written.
    """

    def __init__(
        self, source: str, out: str, settings: Mapping[str, Any], column: str | None = None, per_part: int = PER_PART
    ) -> None:
        self.source, self.out, self.column = source, out, column
        about = {"format": FORMAT, "source": source, "column": column, "settings": dict(settings)}
        try:
            system, folder, _ = place(out)
            system.create_dir(f"{folder}/{OWN}", recursive=True)
            known = self.read_about()
            self.begun_before = known is not None
            if known is None:
                rows = plan(source, column, per_part)
                with written(f"{out}/{OWN}/plan.parquet") as sink:
                    arrow().parquet.write_table(rows, sink, row_group_size=20_000)
                ends = rows["stop"].to_pylist()
                counted = sum(stop - start for start, stop in zip(rows["start"].to_pylist(), ends))
                known = {**about, "pictures": counted, "parts": rows["part"][-1].as_py() + 1}
                with written(f"{out}/{OWN}/job.json") as sink:  # after the plan, so that one that is there is whole
                    sink.write(json.dumps(known, indent=2).encode())
        except OSError as error:
            raise BoxpressoError(f"cannot begin in {out}: {error}") from error
        for name in ("format", "source", "column", "settings"):
            if known.get(name) != about[name]:
                was, now = (json.dumps(each)[:300] for each in (known.get(name), about[name]))
                raise BoxpressoError(
                    f"{out} holds the results of another run: its {name} was {was}, and is now {now}; choose another folder "
                    "with --out, or delete that one"
                )
        self.pictures, self.parts = int(known["pictures"]), int(known["parts"])
        self.sweep()

    def read_about(self) -> dict[str, Any] | None:
        """What job.json says, None where there is none. Raises BoxpressoError for one that is broken."""
        system, folder, _ = place(self.out)
        try:
            with system.open_input_stream(f"{folder}/{OWN}/job.json") as file:
                known = json.loads(file.read())
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise BoxpressoError(
                f"{self.out}/{OWN}/job.json cannot be read: {error}; delete the folder {self.out}"
            ) from None
        return known if isinstance(known, dict) else {}

    def sweep(self) -> None:
        """Removes what processes that were killed have left of parts."""
        if "://" not in self.out:
            sweep([*Path(self.out).glob("*.part"), *Path(self.out, OWN).glob("*.part")])

    def name(self, part: int) -> str:
        """The path or address of a part's file."""
        return f"{self.out}/part-{part:05}.parquet"

    def todo(self) -> list[int]:
        """The parts that are not done."""
        system, folder, _ = place(self.out)
        there = {info.base_name for info in system.get_file_info(arrow().fs.FileSelector(folder))}
        return [part for part in range(self.parts) if Path(self.name(part)).name not in there]

    def count(self, part: int) -> dict[str, int]:
        """Pictures, detections and errors of a part that is done, which its file says."""
        system, path, _ = place(self.name(part))
        with system.open_input_file(path) as file:
            said = arrow().parquet.read_metadata(file).metadata[b"boxpresso"]
        counted: dict[str, int] = json.loads(said)
        return counted

    def run(self, part: int, detector: Detector, batch: int = 1) -> dict[str, int]:
        """Does a part, where it is not done: pictures, detections and errors in it.

        Parameters
        ----------
        part
            From 0.
        detector
            The Detector.
        batch
            Pictures that go through the net together.
        """
        system, path, _ = place(self.name(part))
        pa = arrow()
        if system.get_file_info(path).type != pa.fs.FileType.NotFound:
            return self.count(part)
        rows: list[Row] = []
        beside = []
        for pictures, columns in self.read(part, batch):
            rows += rows_of_pictures(detector, pictures)
            beside.append(columns)
        if not rows:
            raise BoxpressoError(f"part {part} of {self.out} has no pictures: {OWN}/plan.parquet is broken")
        table = table_of(rows, pa.concat_tables(beside))
        counted = {
            "part": part,
            "pictures": len(table),
            "detections": pa.compute.sum(pa.compute.list_value_length(table["detections"])).as_py(),
            "errors": len(table) - table["error"].null_count,
        }
        said = {**(table.schema.metadata or {}), b"boxpresso": json.dumps(counted)}
        with written(self.name(part)) as sink:
            pa.parquet.write_table(table.replace_schema_metadata(said), sink, compression="zstd")
        return counted

    def read(self, part: int, batch: int) -> Iterator[tuple[list[Any], Any]]:
        """The pictures of a part in groups, each with the columns that are kept; files of the next ones are read meanwhile."""
        pa = arrow()
        group = batch * max(1, A_READER // batch)  # pictures whose files are read by few tasks, as each costs some time
        system, folder, _ = place(self.out)
        with system.open_input_file(f"{folder}/{OWN}/plan.parquet") as file:
            rows = pa.parquet.read_table(file, filters=[("part", "=", part)])
        source, _, prefix = place(self.source)

        def load(path: str) -> Any:
            try:
                with source.open_input_stream(path.removeprefix(prefix)) as file:
                    return file.read()
            # Arrow's own: of an address, or of a path that no system can have.
            except (OSError, pa.ArrowException) as error:
                return BoxpressoError(f"cannot read {path}: {error}")

        def load_several(pictures: Sequence[Any]) -> list[Any]:
            return [load(picture) if isinstance(picture, str) else picture for picture in pictures]

        def groups() -> Iterator[tuple[list[Any], Any]]:
            if rows["whole"][0].as_py():
                paths = rows.select(["path"])
                names = paths["path"].to_pylist()
                for start in range(0, len(names), group):
                    yield names[start : start + group], paths.slice(start, group)
                return
            for row in rows.to_pylist():
                with source.open_input_file(row["path"].removeprefix(prefix)) as file:
                    yield from rows_of(file, row["start"], row["stop"], group, self.column)

        def batches(tasks: Sequence[Future[list[Any]]], columns: Any) -> Iterator[tuple[list[Any], Any]]:
            pictures = [picture for task in tasks for picture in task.result()]
            for start in range(0, len(pictures), batch):
                yield pictures[start : start + batch], columns.slice(start, batch)

        with ThreadPoolExecutor(READERS) as readers:
            coming: deque[tuple[list[Future[list[Any]]], Any]] = deque()
            for pictures, columns in groups():
                tasks = [pictures[i : i + A_READER] for i in range(0, len(pictures), A_READER)]
                coming.append(([readers.submit(load_several, each) for each in tasks], columns))
                while len(coming) > 1 and sum(len(tasks) for tasks, _ in coming) > READERS:
                    yield from batches(*coming.popleft())
            while coming:
                yield from batches(*coming.popleft())


def rows_of(file: Any, start: int, stop: int, batch: int, column: str | None) -> Iterator[tuple[list[Any], Any]]:
    """The pictures of the rows from start to stop of a Parquet file, in groups, and the other columns."""
    pa = arrow()
    parquet = pa.parquet.ParquetFile(file)
    at, first = 0, 0
    groups: list[int] = []
    for number in range(parquet.num_row_groups):
        end = at + parquet.metadata.row_group(number).num_rows
        if at < stop and end > start:
            first = first if groups else at
            groups.append(number)
        at = end
    at = first
    for piece in parquet.iter_batches(batch_size=batch, row_groups=groups):
        table = pa.Table.from_batches([piece])
        from_row, to_row = max(start - at, 0), min(stop - at, len(table))
        at += len(table)
        if from_row >= to_row:
            continue
        table = table.slice(from_row, to_row - from_row)
        name = picture_column(table.column_names, column)
        pictures = [unwrapped(value) for value in table[name].to_pylist()]
        yield pictures, table if is_text(table.schema.field(name).type) else table.drop_columns([name])


def is_text(kind: Any) -> bool:
    """Whether a column of this Arrow type holds texts, in whichever of the ways in which writers store them.

    >>> from pyarrow import dictionary, int32, large_binary, large_string, string
    >>> [is_text(kind) for kind in (string(), large_string(), dictionary(int32(), string()), large_binary())]
    [True, True, True, False]
    """
    types = arrow().types
    if types.is_dictionary(kind):
        return is_text(kind.value_type)
    return any(is_kind(kind) for is_kind in (types.is_string, types.is_large_string, types.is_string_view))


def plan(source: str, column: str | None, per_part: int) -> Any:
    """The rows of plan.parquet: of which part each is, a path, and which rows of it; `whole`: it is a picture."""
    pa = arrow()
    system, path, prefix = place(source)
    try:
        info = system.get_file_info(path)
        there = [info] if info.is_file else []
        if info.type == pa.fs.FileType.Directory:
            there = [each for each in system.get_file_info(pa.fs.FileSelector(path, recursive=True)) if each.is_file]
    except OSError as error:
        raise BoxpressoError(f"cannot read {source}: {error}") from error
    if info.type == pa.fs.FileType.NotFound:
        raise BoxpressoError(f"{source} is not there: name a folder of pictures, or Parquet")
    names = sorted(each.path for each in there if not hidden(each.path, path, "."))
    tables = [name for name in names if name.lower().endswith((".parquet", ".pq")) and not hidden(name, path, "._")]
    pictures = [name for name in names if name.lower().endswith(PICTURES) and ".detections." not in name]
    if tables and pictures:
        raise BoxpressoError(f"{source} has pictures and Parquet files: name a folder with one of these")
    if not tables and not pictures:
        raise BoxpressoError(f"{source} has no pictures (.jpg, .png ..) and no Parquet files")
    rows: dict[str, Any] = {"part": [], "path": [], "start": [], "stop": [], "whole": []}

    def add(part: int, name: str, start: int, stop: int, whole: bool) -> None:
        for key, value in zip(rows, (part, prefix + name, start, stop, whole)):
            rows[key].append(value)

    for i, name in enumerate(pictures):
        add(i // per_part, name, 0, 1, True)
    part = 0
    for name in tables:
        try:
            with system.open_input_file(name) as file:
                parquet = pa.parquet.ParquetFile(file)
                picture_column(parquet.schema_arrow.names, column)
                count = parquet.metadata.num_rows
        except (OSError, pa.ArrowException) as error:
            raise BoxpressoError(f"cannot read {prefix}{name}: {error}") from error
        for start in range(0, count, per_part):
            add(part, name, start, min(count, start + per_part), False)
            part += 1
    if not rows["part"]:
        raise BoxpressoError(f"the Parquet files of {source} have no rows")
    kinds = {"part": pa.int32(), "path": pa.string(), "start": pa.int64(), "stop": pa.int64(), "whole": pa.bool_()}
    return pa.table({name: pa.array(rows[name], kind) for name, kind in kinds.items()})


def hidden(name: str, folder: str, signs: str) -> bool:
    """Whether a file, or a folder that it is in below `folder`, begins with one of these signs.

    >>> hidden("a/.b/c/d.jpg", "a", "."), hidden(".a/b.jpg", ".a", "."), hidden(".a.jpg", ".a.jpg", ".")
    (True, False, False)
    """
    return any(part.startswith(tuple(signs)) for part in name.removeprefix(folder).split("/"))


@contextmanager
def written(address: str) -> Iterator[Any]:
    """A stream to write a file: it is there when the block has ended well, as a whole.

    On a disk it is written beside its place and renamed; an object of a store such as S3, whose streams are closed after an
    error, too, is written at the end.
    """
    system, path, prefix = place(address)
    if not prefix:
        with replacing(path) as part, open(part, "wb") as file:
            yield file
        return
    whole = io.BytesIO()
    yield whole
    with system.open_output_stream(path) as sink:
        sink.write(whole.getbuffer())
