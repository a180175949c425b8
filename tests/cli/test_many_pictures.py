"""Very many pictures: each result once, whatever is killed meanwhile; in parts, from folders and Parquet, by workers of Ray.

A picture of 96 x 96 pixels has 4 x 4 cells, of which those of the bits of its number are blue: what the small net finds in it.
"""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from places import ROOT
from served import png
from tiny_ssd import tiny_net, write_tiny

from boxpresso import BoxpressoError, Detector

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'boxpresso[dev]'")
import pyarrow.parquet as pq  # noqa: E402

from boxpresso.parts import Job, detected  # noqa: E402

BITS = 1 << np.arange(16)


def drawn(number: int) -> np.ndarray:
    pixels = np.zeros((4, 4, 3), np.uint8)
    pixels[..., 2] = 200 * ((number & BITS) > 0).reshape(4, 4)
    return pixels.repeat(24, 0).repeat(24, 1)


def cells_of(row: dict) -> int:
    """The number whose bits are the cells of a row's boxes, each of which is a whole cell."""
    boxes = np.array([each["box"] for each in row["detections"]]).reshape(-1, 4)
    assert (abs(boxes[:, 2:] - boxes[:, :2] - 24) < 0.02).all(), boxes
    columns, rows = np.round(boxes[:, :2] / 24).astype(int).T
    assert {(each["class_id"], each["class_name"]) for each in row["detections"]} <= {(1, None)}
    return int((1 << (4 * rows + columns)).sum())


def write_pictures(folder: Path, numbers) -> Path:
    folder.mkdir()
    for number in numbers:
        (folder / f"{number:06}.png").write_bytes(png(drawn(number)))
    return folder


def detector() -> Detector:
    return Detector(tiny_net())


def check(out: Path, count: int) -> None:
    """Each picture is there once, with its own detections."""
    rows = pq.read_table(out).to_pylist()
    assert sorted(int(Path(row["path"]).stem) for row in rows) == list(range(count))
    assert all(cells_of(row) == int(Path(row["path"]).stem) & 0xFFFF for row in rows)
    assert {(row["width"], row["height"], row["error"]) for row in rows} == {(96, 96, None)}


KILLED = """
import os, signal, sys
sys.path[:0] = {path!r}
import pyarrow.parquet
from boxpresso import Detector
from boxpresso.parts import Job
from tiny_ssd import tiny_net

def half(table, sink, **options):
    sink.write(b"PAR1, and no more")
    sink.flush()
    os.kill(os.getpid(), signal.SIGKILL)

pyarrow.parquet.write_table = half
Job({source!r}, {out!r}, {{"model": "tiny"}}).run(0, Detector(tiny_net()), 4)
"""


def test_a_part_is_there_as_a_whole_or_not_at_all(tmp_path, monkeypatch):
    """Whether its disk is full, its process is interrupted or killed while it is written: the others stay as they are, and
    the next run has it to do."""
    source, out = write_pictures(tmp_path / "pictures", range(25)), tmp_path / "out"
    job = Job(str(source), str(out), {"model": "tiny"}, per_part=10)
    assert (job.pictures, job.parts, job.begun_before, job.todo()) == (25, 3, False, [0, 1, 2])
    assert job.run(1, detector(), 4) == {
        "part": 1,
        "pictures": 10,
        "detections": sum(i.bit_count() for i in range(10, 20)),
        "errors": 0,
    }
    before = (out / "part-00001.parquet").read_bytes()

    def half_of(error):
        def write(table, sink, **options):
            sink.write(b"PAR1, and no more")
            assert not (out / "part-00000.parquet").exists()
            raise error

        return write

    for error, said in (
        (OSError(errno.ENOSPC, "No space left"), BoxpressoError),
        (KeyboardInterrupt(), KeyboardInterrupt),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(pq, "write_table", half_of(error))
            with pytest.raises(said):
                job.run(0, detector(), 4)
        assert job.todo() == [0, 2]
        assert not list(out.glob("part-00000*"))
    script = KILLED.format(path=[str(ROOT), str(ROOT / "tests")], source=str(source), out=str(out))
    killed = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    (left,) = out.glob("part-00000*")
    assert left.read_bytes() == b"PAR1, and no more"
    another = out / "part-00000.parquet.00000000-1.0.part"
    another.write_bytes(b"of another machine")

    again = Job(str(source), str(out), {"model": "tiny"}, per_part=7)  # the parts are those of the first
    assert (again.parts, again.begun_before, again.todo()) == (3, True, [0, 2])
    assert (left.exists(), another.exists()) == (False, True)
    for part in range(3):
        again.run(part, detector(), 4)
    assert (out / "part-00001.parquet").read_bytes() == before
    another.unlink()
    check(out, 25)


def test_what_cannot_be_read_is_a_row_with_the_reason(tmp_path):
    source = write_pictures(tmp_path / "pictures", [3])
    (source / "broken.jpg").write_bytes(b"no picture")
    (source / "deep").mkdir()
    (source / "deep" / "5.png").write_bytes(png(drawn(5)))
    job = Job(str(source), str(tmp_path / "out"), {})
    (source / "000003.png").unlink()  # after it was listed
    assert job.run(0, detector(), 16)["errors"] == 2
    rows = {Path(row["path"]).name: row for row in pq.read_table(tmp_path / "out").to_pylist()}
    assert cells_of(rows["5.png"]) == 5
    assert "cannot read" in rows["000003.png"]["error"]
    assert "not an image" in rows["broken.jpg"]["error"]
    assert (rows["broken.jpg"]["width"], rows["broken.jpg"]["detections"]) == (None, [])


@pytest.mark.parametrize("kind", [pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_paths_stay_beside_what_was_found_however_texts_are_stored(tmp_path, kind):
    """As polars and pandas write them; and results may be the source of the next run."""
    paths = [str(path) for path in write_pictures(tmp_path / "pictures", [3, 5]).iterdir()]
    (tmp_path / "in").mkdir()
    pq.write_table(pa.table({"path": pa.array(paths).cast(kind)}), tmp_path / "in" / "a.parquet")
    for source, out in (("in", "first"), ("first", "second")):
        job = Job(str(tmp_path / source), str(tmp_path / out), {})
        assert (job.pictures, job.parts) == (
            2,
            1,
        )  # _boxpresso/plan.parquet, which has paths too, is none of the source
        job.run(0, detector())
        rows = pq.read_table(tmp_path / out).to_pylist()
        assert {row["path"]: cells_of(row) for row in rows} == {path: int(Path(path).stem) for path in paths}


def test_paths_that_no_file_can_have_are_rows_with_the_reason(tmp_path):
    paths = ["s3://bucket/a.jpg", "a\0b.jpg", "", str(write_pictures(tmp_path / "pictures", [3]) / "000003.png")]
    pq.write_table(pa.table({"path": paths}), tmp_path / "a.parquet")
    job = Job(str(tmp_path / "a.parquet"), str(tmp_path / "out"), {})
    assert job.run(0, detector())["errors"] == 3
    rows = pq.read_table(tmp_path / "out").to_pylist()
    assert cells_of(rows[-1]) == 3
    assert all("cannot read" in row["error"] for row in rows[:3])


def test_hidden_files_are_no_pictures(tmp_path):
    source = write_pictures(tmp_path / ".pictures", [1])
    (source / "._000001.png").touch()
    (source / ".trash").mkdir()
    (source / ".trash" / "a.png").touch()
    (source / "_DSC0001.png").touch()
    assert Job(str(source), str(tmp_path / "out"), {}).pictures == 2


@pytest.mark.parametrize("kind", ["bytes", "record", "path"])
def test_pictures_of_parquet_with_the_columns_beside_them(tmp_path, kind):
    """In files of several row groups, which parts do not keep to."""
    folder = write_pictures(tmp_path / "pictures", range(30)) if kind == "path" else None
    (tmp_path / "in").mkdir()
    for name, numbers in (("a", range(17)), ("b", range(17, 30))):
        data = [png(drawn(i)) for i in numbers]
        columns = {
            "bytes": {"bytes": data},
            "record": {"image": [{"bytes": each, "path": None} for each in data]},
            "path": {"path": [f"{folder}/{i:06}.png" for i in numbers]},
        }[kind]
        pq.write_table(
            pa.table({"id": list(numbers), **columns}), tmp_path / "in" / f"{name}.parquet", row_group_size=4
        )
    job = Job(str(tmp_path / "in"), str(tmp_path / "out"), {}, per_part=7)
    assert (job.pictures, job.parts) == (30, 5)
    for part in range(job.parts):
        job.run(part, detector(), 3)
    table = pq.read_table(tmp_path / "out")
    own_columns = ["id", "path"] if kind == "path" else ["id"]
    assert table.column_names == [*own_columns, "width", "height", "detections", "error"]
    assert {row["id"]: cells_of(row) for row in table.to_pylist()} == {i: i for i in range(30)}
    assert len(table) == 30


def test_a_place_that_cannot_be_used_is_said(tmp_path):
    source = write_pictures(tmp_path / "pictures", [1])
    out = str(tmp_path / "out")

    def begin(source, settings=None, column=None, out=out):
        return Job(str(source), str(out), settings or {}, column)

    with pytest.raises(BoxpressoError, match="missing is not there"):
        begin(tmp_path / "missing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BoxpressoError, match="has no pictures"):
        begin(tmp_path / "empty")
    pq.write_table(pa.table({"text": ["a"]}), tmp_path / "empty" / "a.parquet")
    with pytest.raises(BoxpressoError, match=r"none of the columns image, bytes and path, but text"):
        begin(tmp_path / "empty")
    with pytest.raises(BoxpressoError, match=r"no column 'picture', but text"):
        begin(tmp_path / "empty", column="picture")
    (tmp_path / "empty" / "b.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(BoxpressoError, match=r"cannot read .*b.parquet"):
        begin(tmp_path / "empty", column="text")
    with pytest.raises(BoxpressoError, match="no place that pyarrow can reach"):
        begin("nowhere://bucket/folder")
    with pytest.raises(BoxpressoError, match="cannot begin in"):
        begin(source, out=source / "000001.png" / "out")
    begin(source, {"threshold": "0.5"})
    with pytest.raises(BoxpressoError, match=r"results of another run: its settings was .*0.5.* and is now .*0.6"):
        begin(source, {"threshold": "0.6"})
    Path(out, "_boxpresso", "job.json").write_text("{")
    with pytest.raises(BoxpressoError, match=r"job.json cannot be read"):
        begin(source)


def test_a_table_has_the_vocabulary_of_detections():
    table = detected(
        detector(), [drawn(6), None, "missing.png"], pa.table({"name": ["a", "b", "c"], "error": [1, 2, 3]})
    )
    assert table.column_names == ["name", "error", "width", "height", "detections"]
    assert list(table["detections"].type.value_type)[:4] == [
        pa.field("class_id", pa.int64()), pa.field("class_name", pa.string()), pa.field("score", pa.float32()),
        pa.field("box", pa.list_(pa.float32(), 4)),
    ]  # fmt: skip
    assert cells_of(table.to_pylist()[0]) == 6
    errors = table["error"].to_pylist()
    assert (errors[0], "null" in errors[1], "missing.png" in errors[2]) == (None, True, True)


# Ray


def test_the_class_for_ray_data_takes_its_batches(tmp_path):
    """Pixels, bytes, records and paths, as `map_batches` gives them: columns of numpy."""
    from boxpresso.ray import Detect

    files = write_pictures(tmp_path / "pictures", [5, 9])
    detect = Detect(*write_tiny(tmp_path), threshold=0.2)
    names = np.array(["5", "9"], object)
    for batch in (
        {"image": np.stack([drawn(5), drawn(9)]), "path": names},
        {"bytes": np.array([png(drawn(5)), png(drawn(9))], object), "path": names},
        {"image": np.array([{"bytes": png(drawn(n)), "path": None} for n in (5, 9)], object), "path": names},
        {"path": np.array([f"{files}/00000{n}.png" for n in (5, 9)], object)},
    ):
        table = detect(batch)
        assert table.column_names == ["path", "width", "height", "detections", "error"]
        assert [cells_of(row) for row in table.to_pylist()] == [5, 9]
    assert detect({"image": np.stack([drawn(5)])}).column_names == ["width", "height", "detections", "error"]
    assert detect({"path": np.array(["none.png", None], object)})["path"].to_pylist() == ["none.png", None]
    chosen = Detect(*write_tiny(tmp_path), column="shot")
    assert chosen({"shot": np.stack([drawn(6)]), "path": np.array(["a"], object)}).to_pylist()[0]["path"] == "a"
    with pytest.raises(BoxpressoError, match="no column 'shot', but path"):
        chosen({"path": names})


def test_what_the_engine_does_not_take_is_said(tmp_path, run):
    model = write_tiny(tmp_path)
    source = write_pictures(tmp_path / "pictures", [1])
    for more, said in (
        (["--json"], "--json is not for --engine ray, which writes Parquet into --out"),
        ([str(source)], "--engine ray takes one folder, or Parquet, but there are 2"),
        ([], "--engine ray needs --out FOLDER"),
    ):
        assert said in run("detect", *model, source, *more, "--engine", "ray")
    assert "--workers is for --engine ray" in run("detect", *model, source, "--workers", "2")
    assert "is not there: name a folder of pictures" in run(
        "detect", *model, tmp_path / "no", "--engine", "ray", "--out", tmp_path / "out"
    )


@pytest.fixture
def run(capsys):
    """The error of a command that fails."""
    from boxpresso.cli.main import main

    def of(*words) -> str:
        assert main([str(word) for word in words]) == 1
        return capsys.readouterr().err

    return of


def workers_of(pid: int) -> list[int]:
    """Ray's workers with a model, among the descendants of a process."""
    parents, names = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                names[int(entry.name)] = (entry / "cmdline").read_bytes()
            except OSError:
                continue
    below = {pid}
    while more := {child for child, parent in parents.items() if parent in below} - below:
        below |= more
    return [each for each in below if b"ray::Part" in names.get(each, b"")]


def begin(folder: Path, source: Path, out: Path, part: int, *more: str) -> subprocess.Popen:
    command = [
        "detect",
        *write_tiny(folder),
        str(source),
        "--engine",
        "ray",
        "--out",
        str(out),
        "--workers",
        "2",
        "--batch",
        "16",
        "--part",
        str(part),
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
    environment.pop("RAY_ADDRESS", None)
    return subprocess.Popen(
        [sys.executable, "-m", "boxpresso", *command, *more],
        cwd=folder,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def until(running: subprocess.Popen, holds) -> None:
    while not holds():
        assert running.poll() is None, running.communicate()
        time.sleep(0.02)


def done_in(out: Path) -> int:
    return len(list(out.glob("part-*.parquet")))


@pytest.mark.slow
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="Ray's workers are found in /proc")
def test_each_result_is_there_once_though_five_workers_and_the_run_are_killed(tmp_path):
    pytest.importorskip("ray", reason="ray is not installed: pip install 'boxpresso[ray]'")
    count, part, parts, kills, different = 100_000, 1000, 100, 5, 4096
    source, out, drawings = tmp_path / "pictures.parquet", tmp_path / "out", [png(drawn(i)) for i in range(different)]
    pictures = pa.table({"id": range(count), "bytes": [drawings[i % different] for i in range(count)]})
    pq.write_table(pictures, source, row_group_size=4 * part)
    running = begin(tmp_path, source, out, part)
    for kill in range(1, kills + 1):
        until(running, lambda n=kill * parts // (kills + 3): done_in(out) >= n and workers_of(running.pid))
        os.kill(workers_of(running.pid)[0], signal.SIGKILL)
    running.kill()  # and the whole run
    running.communicate()
    assert 0 < done_in(out) < parts
    running = begin(tmp_path, source, out, part)
    said, errors = running.communicate()
    assert running.returncode == 0, errors
    assert f"{count} pictures in {parts} parts" in said
    assert "an earlier run has done" in said
    rows = pq.read_table(out).to_pylist()
    assert sorted(row["id"] for row in rows) == list(range(count))
    assert all(cells_of(row) == row["id"] % different for row in rows)
    assert {(row["width"], row["height"], row["error"]) for row in rows} == {(96, 96, None)}
    assert f"{sum((i % different).bit_count() for i in range(count))} detections in {count} pictures" in said


FAILS = """
import sys
sys.path[:0] = {path!r}
from boxpresso.parts import Job
from boxpresso.proto.errors import BoxpressoError
from boxpresso.ray import run

def make():
    raise {error}

if __name__ == "__main__":
    try:
        run(Job({source!r}, {out!r}, {{}}), make, workers=1)
    except BoxpressoError as error:
        print(error)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("BoxpressoError('the model is gone')", "a worker has failed: the model is gone\n"),
        ("KeyError('x')", "a worker has failed: KeyError: 'x'\n"),
    ],
)
def test_the_error_of_a_worker_is_said(tmp_path, error, said):
    pytest.importorskip("ray", reason="ray is not installed: pip install 'boxpresso[ray]'")
    source, script = write_pictures(tmp_path / "pictures", [1]), tmp_path / "script.py"
    script.write_text(FAILS.format(path=[str(ROOT)], error=error, source=str(source), out=str(tmp_path / "out")))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
    environment.pop("RAY_ADDRESS", None)
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, said), done.stderr
