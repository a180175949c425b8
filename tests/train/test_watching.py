"""Watching a training: its log in a file, a line of progress, plot --follow, and the page of train --web."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import re
import shutil
import socket
import sys
import threading
import time
from pathlib import Path

import pytest

from boxpresso import Solver
from boxpresso.__main__ import main
from boxpresso.proto import BoxpressoError, BoxpressoWarning
from boxpresso.train import curves, rows, web
from boxpresso.train.progress import Watch
from boxpresso.train.web import page, policy, state

NET = """
name: "line"
layer { name: "x" type: "DummyData" top: "x" top: "y"
        dummy_data_param { shape { dim: 4 dim: 3 } shape { dim: 4 dim: 2 }
                           data_filler { type: "gaussian" } data_filler { type: "constant" value: 1 } } }
layer { name: "fc" type: "InnerProduct" bottom: "x" top: "fc" inner_product_param { num_output: 2 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "EuclideanLoss" bottom: "fc" bottom: "y" top: "loss" }
layer { name: "score" type: "Reduction" bottom: "fc" top: "score" include { phase: TEST } }
"""
SOLVER = """
net: "net.prototxt" base_lr: 0.1 lr_policy: "fixed" max_iter: 40 display: 10 random_seed: 1 solver_mode: CPU
snapshot_prefix: "FOLDER/snap" test_iter: 2 test_interval: 20
"""
CHROMIUM = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)


@pytest.fixture(autouse=True)
def errors_are_lines(monkeypatch):
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)


@pytest.fixture
def solver(tmp_path):
    (tmp_path / "net.prototxt").write_text(NET)
    path = tmp_path / "solver.prototxt"
    path.write_text(SOLVER.replace("FOLDER", str(tmp_path)))
    return path


@pytest.fixture
def watch(solver):
    """A Watch of a training of which 20 iterations are done."""
    lines: list[str] = []
    made = Solver(solver, log=lines.append)
    watch = Watch(made)
    made.step(20)
    return watch


# The log


def test_the_log_in_a_file_has_lines_of_progress(solver, tmp_path, capsys):
    log = tmp_path / "train.log"
    assert main(["train", "--solver", str(solver), "--log", str(log)]) == 0
    printed, written = capsys.readouterr().err, log.read_text()
    assert "\x1b" not in printed
    assert [line.partition("] ")[2] for line in printed.splitlines()] == [
        line.partition("] ")[2] for line in written.splitlines()
    ]
    wanted = r"^I\d{4} [\d:.]+ +\d+ solver\.py:1\] Progress: %d of 40 iterations, [\d.e+]+ images/s, \d:\d\d:\d\d left, score "
    for at in (10, 20, 30):
        assert re.search(wanted % at, written, re.M), at
    read = curves.read_curves(written.splitlines())
    assert [at for at, _ in read.loss] == [0, 10, 20, 30, 40]  # lines of progress are none of Caffe's
    assert [at for at, _ in read.speed] == [0, 10, 20, 30]
    assert [at for at, _ in read.scores["score"]] == [0, 20, 40]
    assert read.end == "Optimization Done."

    solver.write_text(solver.read_text().replace("max_iter: 40", "max_iter: 50"))
    assert main(["train", "--solver", str(solver), "--log", str(log), "--resume", "auto"]) == 0
    assert log.read_text().startswith(written)  # a resumed training continues its log
    assert main(["train", "--solver", str(solver), "--log", str(tmp_path / "no" / "log")]) == 1
    assert "cannot write the log" in capsys.readouterr().err


def test_a_full_disk_ends_the_file_alone(watch, capsys):
    watch.file = open("/dev/full", "w") if os.path.exists("/dev/full") else pytest.skip("no /dev/full")  # noqa: SIM115
    watch("one")
    watch("two")
    assert capsys.readouterr().err.count("the log file ends here") == 1
    assert watch.lines[-1].endswith("] two")


def test_a_line_of_a_signals_handler_comes_behind_the_one_that_is_written(watch, monkeypatch):
    """The handler runs in the thread that writes, at any line: while it holds the lock, too."""
    original, seen = watch.reader.feed, []

    def interrupted(line):
        if not seen:
            seen.append(1)
            watch("of the handler")
        original(line)

    monkeypatch.setattr(watch.reader, "feed", interrupted)
    done = []
    thread = threading.Thread(target=lambda: done.append(watch("Iteration 1, lr = 0.5")), daemon=True)
    thread.start()
    thread.join(20)
    assert done, "it waits for itself"
    lines = [line.partition("] ")[2] for line in watch.lines]
    assert lines.index("Iteration 1, lr = 0.5") < lines.index("of the handler")


def test_the_best_score_is_named(watch):
    watch.reader.curves.tests = {"loss": [(0, 1.0)], "eval": [(0, 0.5), (20, 0.75), (40, 0.625)]}
    watch.name = "mAP"
    assert watch.score() == ["mAP 0.625 at 40 (best 0.75 at 20)"]
    assert Watch(watch.solver).score() == []


# plot --follow


def test_beyond_max_iter_no_time_is_left(watch):
    watch.started = 0, time.perf_counter() - 10
    watch.solver.iter = watch.total + 5
    assert watch.seconds_left() == 0


def test_follow_draws_as_the_log_grows(tmp_path):
    log, seen, script = tmp_path / "log", [], iter(
        ["Iteration 0, loss = 4\n", "Iteration 10, lo", "ss = 2\nIteration 10, lr = 0.1\n", "", "Optimization Done.\n"]
    )  # fmt: skip

    def wait() -> bool:
        with log.open("a") as file:
            file.write(next(script))
        return True

    end = curves.follow(str(log), lambda read: seen.append(list(read.loss)), wait)
    assert end == "Optimization Done."
    assert seen == [[(0, 4)], [(0, 4)], [(0, 4), (10, 2)], [(0, 4), (10, 2)]]
    log.write_text("Iteration 5, loss = 1\n")  # shorter: another training
    tail = curves.Tail(str(log))
    tail.at = 1000
    assert tail.read()
    assert tail.curves.loss == [(5, 1)]
    assert curves.follow(str(log), lambda read: None, lambda: False) == ""


def test_the_command_follows_to_the_end(tmp_path, capsys, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.delenv("DISPLAY", raising=False)
    log, out = tmp_path / "log", tmp_path / "log.png"
    log.write_text("I1122 03:28:20.1 7 solver.py:1] Iteration 0, loss = 4\n")
    naps = []

    def nap(seconds: float) -> None:
        naps.append((seconds, out.stat().st_ino))
        with log.open("a") as file:
            file.write(f"I1122 03:28:2{len(naps)}.1 7 solver.py:1] Iteration {len(naps)}, loss = 4\n")
            if len(naps) == 3:
                file.write("I1122 03:28:29.1 7 solver.py:1] Training ends early (loss = nan): nothing was learned\n")

    monkeypatch.setattr(time, "sleep", nap)
    assert main(["plot", str(log), "--follow", "--every", "0.5", "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert f"{out} is drawn, and drawn anew as {log} grows (each 0.5 s); Ctrl-C ends" in said
    assert f"Training ends early (loss = nan): nothing was learned {out} was drawn 4 times" in said
    assert [seconds for seconds, _ in naps] == [0.5] * 3
    assert len({inode for _, inode in naps}) > 1  # each picture is a new file, renamed when it is whole
    assert sorted(p.name for p in tmp_path.iterdir()) == ["log", "log.png"]

    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", interrupt)
    log.write_text("Iteration 0, loss = 4\n")
    assert main(["plot", str(log), "--follow", "--out", str(out)]) == 0
    assert f"{out} was drawn 1 time" in capsys.readouterr().out
    assert main(["plot", str(log), "--follow", "--every", "0"]) == 2
    with pytest.raises(BoxpressoError, match="cannot write the picture"):
        curves.plot(str(log), str(tmp_path / "no" / "log.png"))


# --web


def test_a_page_in_use_does_not_end_training(solver, capsys):
    pytest.importorskip("fastapi")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["train", "--solver", str(solver), "--web", str(port)]) == 0
    err = capsys.readouterr().err
    assert f"warning: the page of --web is not there: port {port} cannot be used" in err
    assert "Optimization Done." in err
    assert main(["train", "--solver", str(solver), "--web", "70000"]) == 2


def test_the_page(watch):
    pytest.importorskip("fastapi")
    httpx = pytest.importorskip("httpx")
    with page(watch, 0) as address, httpx.Client(base_url=address, trust_env=False) as client:
        answer = client.get("/")
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/html")
        rules = answer.headers["content-security-policy"]
        assert rules == policy(answer.text)
        assert "default-src 'none'" in rules
        assert "unsafe" not in rules
        assert not re.findall(r"https?://(?!www\.w3\.org/2000/svg)", answer.text)  # nothing from elsewhere
        served = client.get("/state").json()
        assert served == json.loads(json.dumps({**state(watch), "time": served["time"]}))
        assert (served["iteration"], served["total"]) == (20, 40)
        titles = {panel["title"]: panel["curves"] for panel in served["panels"]}
        assert [at for at, _ in titles["loss"][0]["points"]] == [0, 10]
        assert list(titles) == ["loss", "score", "learning rate", "images a second"]
        assert any("Progress: 10 of 40" in line for line in served["lines"])
        for host, status in (("evil.example", 403), ("localhost:1", 200), ("[::1]:80", 200), ("127.0.0.1.evil", 403)):
            assert client.get("/state", headers={"Host": host}).status_code == status, host
        assert client.get("/other").status_code == 404
        assert client.get("/docs").status_code == 404
        assert client.post("/state").status_code == 405
        assert "content-security-policy" in client.get("/other").headers
        watch.reader.curves.loss.append((30, float("nan")))
        assert client.get("/state").json()["panels"][0]["curves"][0]["points"][-1] == [30, None]
    with pytest.raises(httpx.ConnectError):
        httpx.get(address, trust_env=False)


def test_a_page_that_cannot_be_served_warns(watch, monkeypatch):
    pytest.importorskip("fastapi")
    with page(watch, 0) as address:
        port = int(re.findall(r":(\d+)/", address)[0])
        with pytest.warns(BoxpressoWarning, match=f"port {port} cannot be used"), page(watch, port) as second:
            assert second is None
    monkeypatch.setattr(web, "FILE", Path("nowhere.html"))
    with pytest.warns(BoxpressoWarning, match=r"cannot read nowhere\.html"), page(watch, 0) as second:
        assert second is None


def test_the_page_in_a_browser(watch):
    pytest.importorskip("fastapi")
    api = pytest.importorskip("playwright.sync_api", reason="the page is opened by playwright")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no chromium on this machine")
    watch.reader.curves.tests["score"] = [(0, 0.25), (20, 0.5)]
    said = []
    with contextlib.ExitStack() as stack:
        address = stack.enter_context(page(watch, 0))
        browser = stack.enter_context(api.sync_playwright()).chromium.launch(
            executable_path=chromium, args=CHROMIUM.split()
        )
        stack.callback(browser.close)
        tab = browser.new_page(viewport={"width": 900, "height": 700})
        tab.on("console", lambda message: said.append(message.text))
        tab.on("pageerror", lambda error: said.append(str(error)))
        tab.goto(address)
        tab.wait_for_selector("section[data-panel=score] path")
        assert tab.text_content("#count").startswith("iteration 20 of 40")
        assert tab.text_content("section[data-panel=score] .value") == "0.5"
        watch("Iteration 30, loss = 0.125")
        api.expect(tab.locator("section[data-panel=loss] .value")).to_have_text("0.125")
        assert "loss = 0.125" in tab.text_content("#log")
        assert tab.evaluate("() => document.documentElement.scrollWidth") <= 900
    assert said == []


def test_the_state_is_small_and_finite(watch):
    watch.reader.curves.loss = [(i, float(i)) for i in range(50_000)]
    text = json.dumps(state(watch), allow_nan=False)
    assert len(text) < 60_000
    assert state(watch)["panels"][0]["curves"][0]["points"][-1] == (49_999, 49_999.0)


def test_the_window_is_for_a_display(monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setenv("MPLBACKEND", "agg")
    assert curves.window("log") is None
    from matplotlib import pyplot

    monkeypatch.setattr(
        pyplot, "get_backend", lambda: "QtAgg"
    )  # whose canvas is Agg's here, which has an event loop too
    figure, alive = curves.window("log")
    curves.draw(curves.read_curves(["Iteration 0, loss = 4", "Iteration 0, lr = 1"]), "log", figure)
    assert [axes.get_ylabel() for axes in figure.axes] == ["loss", "learning rate"]
    assert [axes.lines[0].get_marker() for axes in figure.axes] == ["o", "o"]  # a line has no length yet
    figure.set_size_inches(5, 4)
    curves.draw(curves.read_curves(["Iteration 0, loss = 4", "Iteration 9, lr = 1"]), "log", figure)
    assert tuple(figure.get_size_inches()) == (5, 4)
    assert alive(0.15)
    pyplot.close(figure)
    assert not alive(0.15)
    pyplot.ioff()


# The numbers as rows


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_log_has_a_table_beside_it(solver, tmp_path, capsys):
    """Trained to 40, then again from the snapshot at 20, by hand: the rows after it are replaced."""
    solver.write_text(solver.read_text() + " snapshot: 20")
    log = tmp_path / "train.log"
    assert main(["train", "--solver", str(solver), "--log", str(log)]) == 0
    before = table(tmp_path / "train.csv")
    assert [int(row["iteration"]) for row in before] == [0, 10, 20, 30, 40]
    read = curves.read_curves(log.read_text().splitlines())
    for name, points in {
        "loss": read.loss,
        "lr": read.rate,
        **{f"test {name}": points for name, points in read.tests.items()},
    }.items():
        by = {int(row["iteration"]): float(row[name]) for row in before if row[name]}
        assert by == dict(points)
    seconds = [float(row["seconds"]) for row in before]
    assert seconds == sorted(seconds)

    (tmp_path / "snap_iter_40.solverstate").unlink()
    assert main(["train", "--solver", str(solver), "--log", str(log), "--resume", "auto"]) == 0
    again = table(tmp_path / "train.csv")
    assert [int(row["iteration"]) for row in again] == [0, 10, 20, 30, 40]
    assert again[:2] == before[:2]
    assert float(again[2]["seconds"]) >= float(before[1]["seconds"])
    assert [row["loss"] for row in again[3:]] == [row["loss"] for row in before[3:]]

    (tmp_path / "train.csv").write_text("name,age\n")
    assert main(["train", "--solver", str(solver), "--log", str(log), "--resume", "auto"]) == 1
    assert "cannot continue" in capsys.readouterr().err
    assert table(tmp_path / "train.csv") == []  # another's file stays as it is


def test_a_full_disk_ends_the_table_alone(solver, tmp_path, capsys, monkeypatch):
    def full(self: rows.CsvFile, iteration: int, numbers: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(rows.CsvFile, "write", full)
    assert main(["train", "--solver", str(solver), "--log", str(tmp_path / "train.log")]) == 0
    err = capsys.readouterr().err
    assert err.count("train.csv ends here: No space left on device") == 1
    assert "Optimization Done." in err


def test_tensorboard_has_the_same_numbers(solver, tmp_path):
    pytest.importorskip("tensorboardX", reason="it writes TensorBoard's files")
    from tensorboardX import proto
    from tensorboardX.record_writer import masked_crc32c

    folder = tmp_path / "board"
    assert (
        main(["train", "--solver", str(solver), "--log", str(tmp_path / "train.log"), "--tensorboard", str(folder)])
        == 0
    )
    (file,) = folder.iterdir()
    data, scalars = file.read_bytes(), {}
    while data:  # a TFRecord: length, its checksum, an Event, its checksum
        size = int.from_bytes(data[:8], "little")
        event = data[12 : 12 + size]
        assert int.from_bytes(data[12 + size : 16 + size], "little") == masked_crc32c(event)
        message = proto.event_pb2.Event.FromString(event)
        scalars.update({(value.tag, message.step): value.simple_value for value in message.summary.value})
        data = data[16 + size :]
    wanted = {}
    for row in table(tmp_path / "train.csv"):
        for name in set(row) - {"iteration", "seconds"}:
            if row[name]:
                tag = f"train/{name}" if name in rows.FIRST else name.replace("test ", "test/")
                wanted[tag, int(row["iteration"])] = pytest.approx(float(row[name]), rel=1e-6)
    assert scalars == wanted


def test_tensorboard_is_said_to_be_missing(solver, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    assert main(["train", "--solver", str(solver), "--tensorboard", "board"]) == 1
    assert "pip install 'boxpresso[tensorboard]'" in capsys.readouterr().err
