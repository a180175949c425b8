"""Processes that are killed at random moments while they write: snapshots, kernels, records. Nothing that was whole may be lost.

    python tests/fuzz/kills.py --kills 1000

A warm process is forked for each, so a thousand take some minutes. The exit status is 1 where something was lost.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

from boxpresso import BoxpressoError, Solver
from boxpresso.data.records import open_records, write_records
from boxpresso.net.weights import read_weights
from boxpresso.proto import parse_net, parse_solver
from boxpresso.train.state import read_state

NET = """
    layer { name: "x" type: "DummyData" top: "x" top: "y"
            dummy_data_param { shape { dim: 4 dim: 300 } data_filler { type: "gaussian" } } }
    layer { name: "fc" type: "InnerProduct" bottom: "x" top: "fc" inner_product_param { num_output: 300 } }
    layer { name: "loss" type: "EuclideanLoss" bottom: "fc" bottom: "y" top: "loss" }"""


Ready = Callable[[], object]


def train(folder: Path, format: str, ready: Ready) -> None:
    """Trains, with a snapshot after each iteration, from the newest one that is there."""
    param = parse_solver(
        f'base_lr: 0.001 lr_policy: "fixed" max_iter: 1000000 snapshot: 1 snapshot_format: {format} random_seed: 1 '
        f'solver_mode: CPU snapshot_prefix: "{folder / "s"}"'
    )
    param.net_param.CopyFrom(parse_net(NET))
    solver = Solver(param, log=lambda line: ready() if "Snapshotting" in line else None)
    solver.solve("auto")


def check_training(folder: Path, reached: int) -> tuple[int, str]:
    """The iteration of the newest snapshot, and what is wrong. Older snapshots are removed, all but two."""
    paths = [path for path in folder.glob("s_iter_*.solverstate*") if not path.name.endswith(".part")]
    paths.sort(key=lambda path: int(path.name.split("_")[2].split(".")[0]))
    newest = 0
    for path in paths:
        try:
            newest = read_state(path).iter
            blob = read_weights(Path(str(path).replace(".solverstate", ".caffemodel")))["fc"].blobs[0]
        except (BoxpressoError, OSError, KeyError) as error:
            return newest, f"{path.name}: {error}"
        if blob.shape != (300, 300) or not np.isfinite(blob).all():
            return newest, f"{path.name}: weights of shape {blob.shape}"
    for path in paths[:-2]:
        path.unlink()
        Path(str(path).replace(".solverstate", ".caffemodel")).unlink()
    return newest, "" if newest >= reached else f"snapshot {reached} was lost, the newest is {newest}"


def compile_kernels(folder: Path, ready: Ready) -> None:
    """Compiles layers into a cache of their own."""
    ready()
    os.environ["BOXPRESSO_CACHE"] = str(folder / "cache")
    os.execv(sys.executable, [sys.executable, "-c", COMPILE])


COMPILE = """
import numpy as np
from boxpresso.layers.core import run_layer
for kind in ("AbsVal", "ReLU", "Sigmoid", "TanH"):
    assert np.isfinite(run_layer('type: "%s"' % kind, [-1.0, 2.0])).all()
"""


def check_cache(folder: Path) -> str:
    """What is wrong with the cache: it must work for the next process."""
    pid = os.fork()
    if not pid:
        compile_kernels(folder, lambda: None)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return "" if status == 0 else f"the next process ended with {status}"


def write(folder: Path, ready: Ready) -> None:
    """Writes an LMDB over and over, each in the place of the one before."""
    round_ = 0
    while True:
        shutil.rmtree(folder / "old", ignore_errors=True)
        if (folder / "db").exists():
            (folder / "db").rename(folder / "old")
        write_records(str(folder / "db"), ((f"{i:05}", bytes([round_ % 251]) * 500) for i in range(400)))
        round_ += 1
        ready()


def check_records(folder: Path) -> str:
    """What is wrong with the LMDB: it is whole, or not there."""
    if not (folder / "db").exists():
        return ""
    try:
        count = len(open_records(str(folder / "db")))
    except BoxpressoError as error:
        return str(error)
    return "" if count == 400 else f"{count} records of 400"


def kill(work: Callable[[Ready], None], pause: float) -> None:
    """Runs `work` in a process that is killed `pause` seconds after it has said for the first time that it writes."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            work(lambda: os.write(writing, b"."))
        finally:
            os._exit(1)
    os.close(writing)
    if not os.read(reading, 1):
        raise SystemExit("the process that was to be killed ended by itself")
    time.sleep(pause)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(reading)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng, lost, counts, start = np.random.default_rng(args.seed), [], Counter[str](), time.monotonic()
    reached = {"BINARYPROTO": 0, "HDF5": 0}
    with tempfile.TemporaryDirectory() as name:
        folders = {kind: Path(name) / kind for kind in (*reached, "cache", "records")}
        for folder in folders.values():
            folder.mkdir()
        for number in range(args.kills):
            kind = ("BINARYPROTO", "HDF5", "records", "BINARYPROTO", "HDF5", "cache")[number % 6]
            folder = folders[kind]
            if kind in reached:
                kill(lambda ready: train(folder, kind, ready), rng.uniform(0, 0.2))  # noqa: B023 (called at once)
                reached[kind], wrong = check_training(folder, reached[kind])
            elif kind == "cache":
                kill(lambda ready: compile_kernels(folder, ready), rng.uniform(0.2, 2.5))  # noqa: B023
                wrong = check_cache(folder) if number % 60 == 59 else ""
                if number % 60 == 59:
                    shutil.rmtree(folder / "cache")
            else:
                kill(lambda ready: write(folder, ready), rng.uniform(0, 0.2))  # noqa: B023
                wrong = check_records(folder)
            counts[kind] += 1
            if wrong:
                lost.append(f"kill {number} of seed {args.seed} ({kind}): {wrong}")
                print(lost[-1], flush=True)
            if (number + 1) % 100 == 0:
                print(f"{number + 1} kills, snapshots reach iteration {max(reached.values())}", flush=True)
    listed = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    print(f"{args.kills} kills ({listed}) in {time.monotonic() - start:.0f} s, {len(lost)} losses")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
