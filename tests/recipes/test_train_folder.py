"""`boxpresso train FOLDER`: what is made, gone on from, tested and refused; `boxpresso test --data` of any format."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from argparse import Namespace
from pathlib import Path

import pytest
from PIL import Image
from places import ROOT

from boxpresso.__main__ import main
from boxpresso.cli.test import folder_scenes
from boxpresso.proto import read_net, read_solver
from boxpresso.proto.errors import BoxpressoError
from boxpresso.recipes import training

sys.path.insert(0, str(ROOT))

from examples.own_pictures.draw import draw

pytest.importorskip("lmdb", reason="records are LMDBs")
pytest.importorskip("matplotlib", reason="the report has curves")


@pytest.fixture
def photos(monkeypatch, tmp_path):
    """A folder of 16 drawn pictures in the working directory."""
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)
    monkeypatch.setenv("BOXPRESSO_DEVICE", "cpu")
    monkeypatch.chdir(tmp_path)
    return draw(Path("photos"), "yolo", 16, workers=0)


def measured_as(monkeypatch, *seconds: float) -> None:
    monkeypatch.setattr(training, "measured", lambda path, device, clock, least, precision=None, tests=True: seconds)


def test_from_pictures_to_a_report(photos, monkeypatch, capsys):
    measured_as(monkeypatch, 2.0, 0.1)
    assert main(["train", "photos", "--minutes", "1"]) == 0
    out, err = capsys.readouterr()
    assert "photos: yolo, drawn by seed 1" in out
    assert "1 minutes: 20 iterations, a test every" in out  # 54 s for some tests and 2 s an iteration
    assert "Optimization Done." in err
    assert "mAP of test net #0: by MaxIntegral at an overlap of 0.5; difficult objects" in err
    assert re.search(r"mAP by +rules\nVOC ", out)
    folder = Path("photos_ssd_small")
    assert f"report in {folder / 'report.html'}" in out
    assert (folder / "report.html").stat().st_size > 10_000
    assert f"boxpresso detect {folder / 'deploy.prototxt'} {folder}/snapshots/small_best.caffemodel PICTURE" in out
    assert read_solver(folder / "solver.prototxt").max_iter == 20
    assert len(list(Path().iterdir())) == 2  # nothing is left beside them

    for place in ("photos", str(folder)):  # it is over: tested again, on files and on records
        assert main(["train", place]) == 0
        out, err = capsys.readouterr()
        assert "its newest snapshot is gone on from" in out
        assert "Iteration 10 " not in err
        assert "report in" in out
    assert "--minutes is for the first training" not in err
    assert main(["train", "photos", "--minutes", "1"]) == 0
    assert "--minutes is for the first training of a folder" in capsys.readouterr().err


def test_pictures_of_another_folder_and_pictures_that_are_newer(photos, monkeypatch, tmp_path):
    """A project is not trained for another folder of the same name, and files that came after it are counted."""
    made = Path("photos_ssd_small")
    made.mkdir()
    pictures = sorted(photos.rglob("*.jpg"))
    for name, text in {
        "README.md": training.MARK, "solver.prototxt": "", "labels.txt": "box", "test.txt": str(pictures[0]),
        "train.txt": "\n".join(map(str, pictures[1:])),
    }.items():  # fmt: skip
        (made / name).write_text(text)
    assert training.project_of(photos).newer() == 0
    later = (made / "labels.txt").stat().st_mtime + 9
    for name in ("new.jpg", "new.txt", "notes.md"):
        (photos / name).write_bytes(b"")
        os.utime(photos / name, (later, later))
    assert training.project_of(photos).newer() == 2
    shutil.copytree(photos, "other/photos")
    with pytest.raises(
        BoxpressoError, match="photos_ssd_small was made of other pictures than those of other/photos, such as"
    ):
        training.project_of(Path("other/photos"))
    shutil.rmtree(photos)  # it was moved
    assert training.project_of(Path("other/photos")).folder == made


def test_the_time_is_measured(photos):
    project = training.project_of(photos)
    iteration, test = training.measured(project.solver, "cpu")
    assert 0 < iteration < 60
    assert 0 < test < 600
    assert not any((project.folder / "snapshots").iterdir())  # nothing is left of it


def test_the_faster_precision_is_measured(monkeypatch):
    times = {None: 2.0, "bf16": 1.0}
    monkeypatch.setattr(training, "bf16_available", lambda device: True)
    monkeypatch.setattr(
        training, "measured", lambda path, device, clock, least, precision, tests: (times[precision], 0.0)
    )
    assert training.faster(Path("x"), "cpu") == ("bf16", 0.5)
    times["bf16"] = 1.96
    assert training.faster(Path("x"), "cpu") == (None, 0.98)
    monkeypatch.setattr(training, "bf16_available", lambda device: False)
    assert training.faster(Path("x"), "cpu") == (None, 1.0)


def test_what_is_taken_is_said(photos, monkeypatch, capsys):
    """A folder learns in the precision that was faster, --precision takes another, and so does --reproducible."""
    learned: list[str | None] = []

    def solver(source, *, precision=None, **options):
        learned.append(precision)
        raise BoxpressoError("far enough")

    monkeypatch.setattr("boxpresso.train.Solver", solver)
    for share, words, chosen, line in (
        (0.6, [], "bf16", "convolutions in bfloat16: an iteration takes 60% of its time in float32"),
        (0.97, [], None, "convolutions in float32: bfloat16 would take 97% of the time"),
        (0.6, ["--precision", "float32"], "float32", ""),
        (0.6, ["--precision", "bf16"], "bf16", ""),
        (0.6, ["--reproducible"], None, ""),
    ):
        monkeypatch.setattr(
            training, "faster", lambda path, device, share=share: ("bf16" if share < 0.9 else None, share)
        )
        assert main(["train", "photos", *words]) == 1
        out = capsys.readouterr().out
        assert learned[-1] == chosen
        assert line in out
        assert ("bfloat16" in out) == bool(line)


def side_of(folder: Path) -> tuple[int, bool]:
    """Of a project's input, and whether it learns from mosaics."""
    data = read_net(folder / "train.prototxt").layer[0]
    return data.transform_param.resize_param[0].width, data.annotated_data_param.mosaic_prob > 0


def test_minutes_that_hold_many_rounds_take_a_larger_input_and_mosaics(photos, monkeypatch, capsys):
    """14 pictures to learn from in a batch: an iteration is a round. 54 s hold 500 of 0.108 s, or of 0.069 s at 160 pixels."""
    for seconds, side in (
        (2.0, 0),
        (0.11, 0),
        (0.1, 128),
        (0.07, 128),
        (0.068, 160),
        (0.05, 160),
        (0.045, 192),
        (0.01, 192),
    ):
        measured_as(monkeypatch, seconds, 0.1)
        project = training.sized(training.project_of(photos), 1)
        assert side_of(project.folder) == ((side, True) if side else (128, False))
        assert project.made.size == (side or 128)
        assert training.usual_plan(project)[0] is not None  # so that it can be fitted
        shutil.rmtree(project.folder)
    measured_as(monkeypatch, 0.1, 0.1)
    monkeypatch.setattr(training, "SHARE", 0.09)  # so that it ends soon: 5.4 s hold 54 rounds
    monkeypatch.setattr(training, "ROUNDS", 50)
    assert main(["train", "photos", "--minutes", "1"]) == 0
    told = r"1 minutes: \d+ iterations, a test every \d+; 50% of the pictures are mosaics of four\n"
    assert re.search(told, capsys.readouterr().out)
    shutil.rmtree("photos_ssd_small")
    assert main(["train", "photos", "--minutes", "0.01"]) == 1  # of one that is not made now the input stays
    capsys.readouterr()
    again = training.project_of(photos)
    assert training.sized(again, 1) is again
    assert side_of(again.folder) == (128, False)


def test_too_little_time(photos, monkeypatch):
    measured_as(monkeypatch, 1.0, 20.0)
    project = training.project_of(photos)
    with pytest.raises(
        BoxpressoError, match=r"1 minutes hold 0 iterations of 1.00 s .*--minutes \d+ would hold a tenth"
    ):
        training.fit(project, 1)
    measured_as(monkeypatch, 1.0, 1.0)  # the next run, for more minutes: nothing was trained, so that these count
    again = training.project_of(photos)
    assert again.made is None
    assert training.fit(again, 2).iterations == read_solver(again.solver).max_iter == 90
    with pytest.raises(BoxpressoError, match="has its own schedule"):
        training.fit(again, 3)


def test_what_is_refused(photos, capsys):
    def error(*words: str, status: int = 1) -> str:
        assert main(["train", *words]) == status
        return capsys.readouterr().err

    assert "give a FOLDER, or --solver" in error(status=2)
    assert "give a FOLDER, or --solver and not both" in error("photos", "--solver", "x", status=2)
    assert "--minutes is for a FOLDER" in error("--solver", "x", "--minutes", "3")
    assert "boxpresso new ssd --weights" in error("photos", "--weights", "x.caffemodel")
    assert "there is no folder nowhere" in error("nowhere")
    Path("photos/solver.prototxt").write_text("base_lr: 1")
    assert "did not write: train it with --solver" in error("photos")
    Path("photos/solver.prototxt").unlink()
    Path("photos_ssd_small").mkdir()
    assert "photos_ssd_small exists already" in error("photos")
    assert main(["train", "photos", "--minutes", "-1"]) == 2
    assert "'-1' is not a number of minutes" in capsys.readouterr().err


def test_a_picture_that_cannot_be_used_is_left_out_of_a_test(tmp_path):
    """Its classes are not asked for, and its objects, read in part, have no corners."""
    rows = "a.png,cat,1,1,5,5\nb.png,cat,1,1,5,5\nb.png,dog,30,30,40,40\n"
    (tmp_path / "a.csv").write_text("filename,class,xmin,ymin,xmax,ymax\n" + rows)
    for name in ("a", "b"):
        Image.new("RGB", (8, 8)).save(tmp_path / f"{name}.png")
    args = Namespace(data=str(tmp_path), set="", labels="names")
    first, second = folder_scenes(args, {1: "cat"})[0]
    assert first.labels == [1]
    assert "lies outside the picture" in second.wrong


def test_average_precision_on_any_folder(photos, monkeypatch, capsys):
    """The same pictures as YOLO's texts and as COCO's table give the same mean."""
    measured_as(monkeypatch, 2.0, 0.1)
    assert main(["train", "photos", "--minutes", "1"]) == 0
    shutil.move(draw(Path("other"), "coco", 16, workers=0), "coco")
    folder = "photos_ssd_small"
    words = ["test", f"{folder}/deploy.prototxt", f"{folder}/snapshots/small_best.caffemodel", "--json", "--no-curves"]
    words += ["--labels", f"{folder}/labelmap.prototxt"]
    means = []
    for data in ("photos", "coco"):
        capsys.readouterr()
        assert main([*words, "--data", data]) == 0
        out, err = capsys.readouterr()
        means.append(json.loads(out)["mean"])
        assert ("were trained on" in err) == (data == "photos")
    assert means[0] == pytest.approx(means[1], abs=1e-6)
    assert main([*words, "--data", "photos", "--set", "nine"]) == 1
    assert "photos has no split 'nine'; there: none" in capsys.readouterr().err
    assert main([*words, "--data", "photos", "--voc", "x"]) == 1
    assert "exclude each other" in capsys.readouterr().err


def test_iterations_are_measured_until_their_seconds_are_over(tmp_path, monkeypatch):
    """Beside a clock that goes on by one second an iteration: first as long as is asked for, then again, then a test."""
    now, steps = [0.0], []

    class Clocked:
        def __init__(self, param, **how):
            assert param.max_iter < param.test_interval

        def step(self, count):
            now[0] += count
            steps.append(count)

        def test(self):
            now[0] += 7

    monkeypatch.setattr(training, "Solver", Clocked)
    (tmp_path / "solver.prototxt").write_text("max_iter: 5 snapshot_prefix: 'a'")
    assert training.measured(tmp_path / "solver.prototxt", "cpu", lambda: now[0]) == (1, 7)
    assert sum(steps) == training.WARM + training.TIMED
    steps.clear()
    assert training.measured(tmp_path / "solver.prototxt", "cpu", lambda: now[0], 50) == (1, 7)
    assert sum(steps) == 100
