"""benchmarks/gpu.py and tests/gpu_day.sh: run end to end, survive what fails, and put the worst first."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import stand_in
from places import ROOT

pytestmark = pytest.mark.later

sys.path.insert(0, str(ROOT))
from benchmarks import compile_all, counts, fetches, gpu, gpu_nets, gpu_operators  # noqa: E402
from boxpresso import Net  # noqa: E402
from boxpresso.proto import parse_net, read_net  # noqa: E402

DEVICE = "cuda" if stand_in.active() else "cpu"
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
once = pytest.mark.skipif(stand_in.active(), reason="needs no GPU: the tests of the CPU run it")
# A child that dies at one case, one that raises at another.
DYING = """
import os, sys, time
HANGS = {hangs!r}
sys.path.insert(0, {root!r})
from pathlib import Path
from benchmarks import gpu
gpu.PROGRAM, gpu.LEAST, gpu.PART = Path(__file__).resolve(), 1.0, 0.2
def rows(name, device, seconds, tiny):
    if name == "copy":
        os._exit(7)
    if name == HANGS:
        yield {{"name": name, "ms": 1.0, "rate": 1.0, "unit": "GB/s"}}
        time.sleep(100)
    if name == "torch GEMM float32":
        import pycuda_has_lost_a_part
    if "float32" in name:
        raise ValueError("on purpose")
    yield {{"name": name, "ms": 1.0, "rate": 1.0, "unit": "GB/s"}}
gpu.ROWS["ceilings"] = rows
sys.exit(gpu.main())
"""


def run(program: Path, *words: str, out: Path) -> tuple[subprocess.CompletedProcess[str], list[gpu.Row]]:
    command = [sys.executable, str(program), "--tiny", "--device", DEVICE, "--out", str(out), *words]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, cwd=ROOT)
    return done, json.loads(out.with_name(f"{out.name}.json").read_text()) if out.exists() else []


@pytest.mark.slow
def test_everything_runs_at_tiny_shapes(tmp_path):
    done, rows = run(ROOT / "benchmarks/gpu.py", out=tmp_path / "gpu.txt")
    assert done.returncode == 0, done.stdout + done.stderr
    assert not [row for row in rows if "failed" in row]
    for section in gpu.SHARES:
        mine = [row for row in rows if row["section"] == section and "missing" not in row]
        wanted = gpu.items(section, False, True)
        assert len(mine) >= (2 if section == "ceilings" else len(wanted)), f"{section} has {len(mine)} rows"
    text = (tmp_path / "gpu.txt").read_text()
    assert text in done.stdout
    ratios = [gpu.judged(row, *gpu.ceilings_of(rows, "")[:2]).get("ratio") for row in rows]
    first = next(row["name"] for row, ratio in zip(rows, ratios) if ratio == max(r for r in ratios if r is not None))
    assert text.split("ratio\n")[1].startswith(first)


def test_accuracy_runs(tmp_path):
    done, rows = run(ROOT / "benchmarks/gpu.py", "accuracy", out=tmp_path / "gpu.txt")
    assert done.returncode == 0, done.stdout + done.stderr
    assert {row["name"].removesuffix(" against float64") for row in rows} == set(gpu_operators.OPERATORS)
    assert all(0 < row["error"] < 1e-4 for row in rows)


def test_a_case_that_dies_takes_no_other_along(tmp_path):
    program = tmp_path / "dying.py"
    program.write_text(DYING.format(root=str(ROOT), hangs=""))
    done, rows = run(program, "ceilings", out=tmp_path / "gpu.txt")
    assert done.returncode == 1
    by_name = {row["name"]: row for row in rows}
    assert list(by_name) == gpu.items("ceilings", False, True)
    assert by_name["copy"]["failed"] == "its process ended with status 7"
    assert "ValueError: on purpose (dying.py:" in by_name["GEMM float32"]["failed"]
    assert (
        "No module named 'pycuda_has_lost_a_part'" in by_name["torch GEMM float32"]["failed"]
    )  # not a peer that is not here
    assert [row["name"] for row in rows if "failed" not in row] == ["torch GEMM TF32", "torch GEMM bf16"]
    assert "3 FAILED:" in (tmp_path / "gpu.txt").read_text()


@once
def test_a_case_that_hangs_takes_no_other_along(tmp_path):
    """It has a part of the section's time, and its first row stays."""
    program = tmp_path / "hanging.py"
    program.write_text(DYING.format(root=str(ROOT), hangs="torch GEMM TF32"))
    done, rows = run(program, "ceilings", "--minutes", "0.6", out=tmp_path / "gpu.txt")
    assert done.returncode == 1
    by_name = {row["name"]: row for row in rows}
    assert [row["name"] for row in rows].count("torch GEMM TF32") == 2
    assert "no end after" in by_name["torch GEMM TF32"]["failed"]
    assert by_name["torch GEMM bf16"]["ms"] == 1.0


@once
def test_what_was_measured_stays_when_it_is_ended(tmp_path):
    """As by `timeout`: the table has the rows until then, and the process that measures ends with it."""
    program, out = tmp_path / "hanging.py", tmp_path / "gpu.txt"
    program.write_text(DYING.format(root=str(ROOT), hangs="torch GEMM TF32"))
    command = [sys.executable, str(program), "--tiny", "--device", DEVICE, "--out", str(out), "ceilings"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, env=ENVIRONMENT, cwd=ROOT, text=True)
    assert any("torch GEMM TF32: 1.0000 ms" in line for line in running.stdout)
    time.sleep(0.2)
    running.terminate()
    assert running.wait(20) == 143
    rows = json.loads((tmp_path / "gpu.txt.json").read_text())
    assert rows[-1]["name"] == "torch GEMM TF32"
    assert "torch GEMM TF32" in out.read_text()
    running.stdout.read()  # ends, so that nobody holds it any more
    running.stdout.close()


def test_a_section_out_of_time_says_so(tmp_path):
    done, rows = run(ROOT / "benchmarks/gpu.py", "steps", "--minutes", "0.1667", out=tmp_path / "gpu.txt")
    assert done.returncode == 1
    assert "not measured: out of the" in rows[0]["failed"]


def test_the_worst_ratio_comes_first():
    rows = [
        {"section": "operators", "name": "good", "ms": 0.5, "peers": {"torchvision": 2.0}, "bytes": 1, "operations": 0},
        {"section": "operators", "name": "bad", "ms": 3.0, "peers": {}, "bytes": 10**9, "operations": 1},
        {"section": "operators", "name": "computes", "ms": 4.0, "peers": {}, "bytes": 1, "operations": 2 * 10**9},
        {"section": "nets", "name": "net", "ms": 4.0, "peers": {"torch float32": 2.0, "torch TF32": 1.0}},
        {"section": "accuracy", "name": "right", "error": 1e-6},
        {"section": "steps", "name": "broken", "failed": "why"},
    ]
    judged = {row["name"]: gpu.judged(row, 1000, 1000) for row in rows}
    assert {name: row.get("ratio") for name, row in judged.items()} == {
        "good": 0.5, "bad": 1.5, "computes": 1.0, "net": 2.0, "right": None, "broken": None,
    }  # fmt: skip
    lines = gpu.table(rows, 1000, 1000)
    assert [line.split()[0] for line in lines[1:6]] == ["net", "bad", "computes", "good", "right"]
    assert lines[-1] == "  steps: broken: why"


def test_bytes_and_operations_by_hand():
    case = gpu_operators.Case("ROIAlign", (2, 8, 20, 30), 6, 0.25)
    assert gpu_operators.samples(case) == 6 * 49 * 4
    assert gpu_operators.operations(case) == 8 * 8 * 6 * 49 * 4
    assert gpu_operators.moved(case) == 4 * (2 * 8 * 20 * 30 + 6 * 8 * 49 + 6 * 5)  # every pixel: fewer than named
    back = gpu_operators.Case("ROIAlign", (2, 8, 20, 30), 6, 0.25, backward=True)
    assert gpu_operators.moved(back) == 4 * (2 * 8 * 20 * 30 + 6 * 8 * 49 + 6 * 5)
    one = np.array([1.0, 2.0])
    assert gpu_operators.difference([one], [one]) == 0
    assert gpu_operators.difference([one + np.array([0, 0.3])], [one]) == pytest.approx(0.1)
    assert gpu_operators.difference([one * np.nan], [one]) == np.inf


bash = pytest.mark.skipif(sys.platform == "win32", reason="a script of bash")
SCRIPT = ROOT / "tests/gpu_day.sh"


def day(
    folder: Path, *words: str, python: str = "", sanitizer: str = "", **more: str
) -> subprocess.CompletedProcess[str]:
    """Runs tests/gpu_day.sh with scripts in the place of Python and of the sanitizer."""
    for name, text in (("python", python), ("sanitizer", sanitizer)):
        (folder / name).write_text(f"#!/usr/bin/env bash\n{text}\n")
        (folder / name).chmod(0o755)
    environment = {**os.environ, "OUT": str(folder / "out"), "PYTHON": str(folder / "python"),
                   "SANITIZER": str(folder / "sanitizer"), **more}  # fmt: skip
    return subprocess.run(["bash", str(SCRIPT), *words], capture_output=True, text=True, env=environment, cwd=folder)


@bash
def test_the_script_of_the_day(tmp_path):
    """Each step runs whatever became of the one before, in the order of the script; logs lie in $OUT; the status counts what
    failed."""
    python = 'echo "python $*"; case "$*" in *"-m pytest"*) exit 3;; esac'
    sanitizer = 'echo "sanitizer $*"; [ "$2" != racecheck ]'
    done = day(tmp_path, "sanitise", "time", "prove", python=python, sanitizer=sanitizer, TIME="--quick")
    assert done.returncode == 2, done.stdout + done.stderr  # the suite and racecheck
    steps = [
        line.split()[1].rstrip(":,") for line in done.stdout.splitlines() if line.startswith("== ") and "status" in line
    ]
    assert steps == ["compile", "prove", "time", "memcheck", "racecheck", "initcheck"]
    logs = {path.stem: path.read_text() for path in (tmp_path / "out").glob("*.log")}
    assert set(logs) == {"prove", "memcheck", "racecheck", "initcheck", "time"}
    assert "python benchmarks/compile_all.py" in (tmp_path / "out/versions.txt").read_text()
    assert "-m pytest -m cuda" in logs["prove"]
    assert "--timeout=120" in logs["prove"]
    assert "sanitizer --tool memcheck" in logs["memcheck"]
    assert "--maxfail=5 -m cuda" in logs["memcheck"]
    assert "tests/layers/regions/test_tiles.py" in logs["racecheck"]
    assert f"--out {tmp_path}/out/gpu.txt --quick" in logs["time"]
    assert day(tmp_path, "nonsense", python=python).returncode == 64
    for word in logs["racecheck"].split():
        assert not word.startswith("tests/") or (ROOT / word).exists()
    limits = [
        int(line.partition(" s at most")[0].split()[-1]) for line in done.stdout.splitlines() if " s at most" in line
    ]
    proof, timing, *checks = limits[0] + limits[1], *limits[2:]
    assert max(proof, timing, sum(checks)) < 600  # what may be asked of such a machine at once


@bash
@pytest.mark.parametrize("library", ["", "int cuInit(int f) { return 100; } int cuDeviceGetCount(int *n) { return 100; }",
                                     "int cuInit(int f) { return 0; } int cuDeviceGetCount(int *n) { *n = 0; return 0; }"])  # fmt: skip
def test_without_a_device_the_day_ends_at_once(tmp_path, library):
    """The driver's library is missing, does not start, or counts no device: nothing is installed, written or run."""
    (tmp_path / "empty").mkdir()
    environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"} | {
        "OUT": str(tmp_path / "out"),
        "PYTHON": sys.executable,
    }
    if library:
        (tmp_path / "driver.c").write_text(library)
        built = [
            os.environ.get("CC", "cc"),
            "-shared",
            "-fPIC",
            "-o",
            str(tmp_path / "libcuda.so.1"),
            str(tmp_path / "driver.c"),
        ]
        subprocess.run(built, check=True)
    else:
        (tmp_path / "libcuda.so.1").write_text("not a library")
    environment["LD_LIBRARY_PATH"] = str(tmp_path)
    start = time.monotonic()
    done = subprocess.run(["bash", str(SCRIPT)], capture_output=True, text=True, env=environment)
    assert done.returncode == 69
    assert "no device answers" in done.stderr
    assert time.monotonic() - start < 20
    assert not (tmp_path / "out").exists()


@bash
@once
def test_the_archive_of_the_day(tmp_path):
    """It has what git has, and the wheels, and is refused where it is too large to be carried."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/gpu_day.sh").write_text(SCRIPT.read_text())
    (tmp_path / "with a space.py").write_text("1")
    (tmp_path / ".gitignore").write_text("/.wheels/\n/*.tar.gz\n")
    (tmp_path / ".wheels").mkdir()
    (tmp_path / ".wheels/pycuda.whl").write_bytes(b"wheel")
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    done = subprocess.run(["bash", "tests/gpu_day.sh", "archive"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with tarfile.open(tmp_path / "gpu_day.tar.gz") as file:
        assert set(file.getnames()) == {".gitignore", "tests/gpu_day.sh", "with a space.py", ".wheels/pycuda.whl"}
    (tmp_path / ".wheels/large.whl").write_bytes(os.urandom(65 << 20))
    done = subprocess.run(["bash", "tests/gpu_day.sh", "archive"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert "larger than 64 MiB" in done.stderr


@bash
def test_what_a_python_lacks_is_installed_for_it(tmp_path):
    """Only what it cannot import, from the folder of wheels and source archives, and without asking a network."""
    python = """
case "$*" in
*"import pycuda.driver"*) echo "PyCUDA 1" ;;
*"-c import pycuda" | *"-c import lmdb") exit 1 ;;
*"pip install"*) echo "installs $*" ;;
esac"""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/gpu_day.sh").write_text(SCRIPT.read_text())
    (tmp_path / ".wheels").mkdir()
    (tmp_path / "python").write_text(f"#!/usr/bin/env bash\n{python}\n")
    (tmp_path / "python").chmod(0o755)
    environment = {
        **os.environ,
        "OUT": str(tmp_path / "out"),
        "PYTHON": str(tmp_path / "python"),
        "SANITIZER": "missing-one",
    }
    done = subprocess.run(
        ["bash", "tests/gpu_day.sh", "memcheck"], cwd=tmp_path, capture_output=True, text=True, env=environment
    )
    assert done.returncode == 1, done.stdout + done.stderr  # the sanitizer is missing
    lines = [line for line in (tmp_path / "out/versions.txt").read_text().splitlines() if line.startswith("installs")]
    assert [line.split()[-1] for line in lines] == ["pycuda", "lmdb"]
    assert all(
        f"--no-index --no-deps --no-build-isolation --no-compile --no-cache-dir --upgrade --target {tmp_path}/.site"
        in line
        for line in lines
    )
    assert "missing-one is not on PATH" in done.stdout


@once
@bash
def test_the_script_of_the_day_keeps_to_its_minutes(tmp_path):
    """A step that hangs is interrupted, so that what it has found is told; what no time is left for is left out; a log that
    is too long keeps its ends."""
    python = """
case "$*" in
*"-m pytest"*) trap 'echo told; exit 1' INT; echo begun; while :; do sleep 0.1; done ;;
*gpu.py*) echo first; head -c 20000000 /dev/zero; echo last ;;
esac
"""
    start = time.monotonic()
    done = day(tmp_path, "prove", "memcheck", python=python, sanitizer="sleep 5", MINUTES="0.14", MINUTES_PROVE="0.09")
    assert time.monotonic() - start < 20
    assert done.returncode == 2, done.stdout
    assert day(tmp_path, "time", python=python, MINUTES="1").returncode == 0
    logs = {path.stem: path.read_bytes() for path in (tmp_path / "out").glob("*.log")}
    assert logs["prove"].split() == [b"begun", b"told"]
    assert logs["time"].startswith(b"first")
    assert logs["time"].endswith(b"last\n")
    assert 8 << 20 < len(logs["time"]) < 9 << 20
    assert logs["memcheck"] == b"== memcheck: left out, no time is left\n"


def test_torch_is_measured_beside_what_it_does_itself():
    """Layers of regions and detections, which a module of torch does by ours, are no part of a bar; what others read of them is an
    input, with the rows that Faster R-CNN's Proposal gives."""
    name = "Faster R-CNN VGG16"
    rest, shapes = gpu_nets.without_ours(read_net(ROOT / gpu_nets.NETS[name]))
    assert shapes == {"data": (1, 3, 600, 800), "roi_pool5": (300, 512, 7, 7)}
    assert not {"Proposal", "ROIPooling", "Python"} & {layer.type for layer in rest.layer}
    assert {"cls_prob", "bbox_pred"} <= set(Net(rest, device="cpu", lazy=True).outputs)
    whole = parse_net('layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 } } }')
    assert gpu_nets.without_ours(whole) == (whole, {})
    assert [item for item in gpu.items("nets", False, False) if name in item] == [
        f"{name}, batch 1",
        f"{name}, batch 8",
    ]


class Turns:
    """Stands in for the timers: a call of ours takes 0.1 ms by itself, and 0.02 ms as a graph; torch's as `theirs` says."""

    device, seconds = SimpleNamespace(kind="cuda"), 0.0

    def __init__(self, captured=True):
        self.captured = captured

    def ms(self, call):
        return call()

    def graph(self, call):
        return (lambda: 0.02) if self.captured else None


@pytest.mark.parametrize(
    ("ours", "graph", "theirs", "wanted"),
    [
        (True, True, 0.2, (0.02, 0.03, "as graphs; launched one by one: 0.1000, peer 0.2000")),
        (False, True, 0.2, (0.1, 0.2, "launched one by one: ours cannot be captured")),
        (True, False, 0.2, (0.1, 0.2, "launched one by one: peer cannot be captured")),
        (True, True, None, (0.02, None, "as graphs; launched one by one: 0.1000")),
    ],
)
def test_small_shapes_are_graphs_on_both_sides(monkeypatch, ours, graph, theirs, wanted):
    """Or on neither: a graph beside launches one by one would measure the host."""
    monkeypatch.setattr(gpu, "torch_ms", lambda call, seconds: call())
    monkeypatch.setattr(gpu, "torch_graph", lambda call: (lambda: 0.03, None) if graph else None)
    call = None if theirs is None else lambda: theirs
    row = gpu.beside(Turns(ours), lambda: 0.1, "peer", lambda: call)
    assert (row["ms"], row["peers"].get("peer"), row["note"]) == wanted


def test_large_shapes_are_measured_as_they_are(monkeypatch):
    monkeypatch.setattr(gpu, "torch_ms", lambda call, seconds: call())
    assert gpu.beside(Turns(), lambda: 5.0, "peer", lambda: lambda: 4.0) == {"ms": 5.0, "peers": {"peer": 4.0}}


def test_all_kernels_are_found_to_be_compiled():
    """In float and double each, and in 16 bits those whose arrays are stored so."""
    jobs = compile_all.wanted(list(compile_all.NAMED))
    files = set((ROOT / "boxpresso").rglob("*.cu"))
    for name in ("float", "double"):
        assert {file.path for file, dtype in jobs if dtype == compile_all.NAMED[name]} == files
    halves = {file.path.stem for file, dtype in jobs if dtype == compile_all.NAMED["half"]}
    assert "cast" in halves
    assert "relu" not in halves
    assert halves == {file.path.stem for file, dtype in jobs if dtype == compile_all.NAMED["bfloat16"]}


def test_choices_are_counted_without_a_gpu():
    """Of 21 labels and 8732 priors: tiles of 512, 400 candidates of each, 13 words of pairs."""
    rows = [line.split() for line in counts.choice_lines()][1:]
    assert [(name, int(blocks)) for name, blocks in (row[-2:] for row in rows[:8])] == [
        ("detection_values", -(-21 * 8732 // 256)), ("order_tiles", 21 * 18), ("order_starts", 1),
        ("order_merge", 21 * 18 * 2), ("detection_boxes", -(-21 * 400 // 256)), ("suppress_words", -(-13 * 21 * 400 // 256)),
        ("suppress_chosen", 21), ("order_taken", 21),
    ]  # fmt: skip
    # DetectionOutputs, the two of one map, the pyramid, YOLO; MNC's and MS-CNN's regions, FrcnnOutput, NMS. For each further
    # tile of 1024 boxes, what lies behind the last one, and that tile's choice.
    behind = sum(row[-2] == "suppress_behind" for row in rows)
    assert behind > 0
    assert len(rows) == 3 * 10 + 2 * 9 + 22 + 12 + 10 + 12 + 11 + 8 + 2 * behind


def test_counts_without_a_gpu():
    """Launches and their blocks at a shape that can be counted by hand: 2 images of 2 x 2 tiles in one slab, 6 regions."""
    case = gpu_operators.Case("ROIAlign", (2, 16, 20, 30), 6, 0.25, backward=True)
    assert counts.launches_of(case) == [
        ("roi_align_lists", 6), ("separable_by_pixel", 6), ("region_tiles", 8), ("separable_prepare", 14), ("listed_add", 64),
        ("separable_unlisted", 8),
    ]  # fmt: skip
    moved, work = gpu_operators.moved(case), gpu_operators.operations(case)
    assert counts.least_ms(case, "T4") == pytest.approx(1000 * max(moved / 0.32e12, work / 8.1e12))
    assert counts.occupancy(32, 0) == 1
    assert counts.occupancy(64, 17536) == 0.5  # 4 blocks of 256 threads with 64 registers
    assert counts.occupancy(128, 0) == 0.25
    assert counts.occupancy(32, 100 << 10) == 0.25  # 2 blocks of that much memory


@pytest.mark.parametrize("operator", ["ROIWarping", "ROIPooling", "ROIAlignRotated"])
def test_sectors_are_counted_as_they_lie(operator):
    """Beside the addresses of all numbers: of 16 channels, which begin in a sector at every place alike."""
    case = gpu_operators.Case(operator, (2, 16, 20, 40), 5, 0.25, backward=True)
    touched = list((fetches.turned if operator == "ROIAlignRotated" else fetches.upright)(case))
    numbers, planes, packed = 0, 0, 0
    for k, tiles in enumerate(touched):
        assert tiles.shape == (2 * 3, 49)
        assert tiles.any(0).sum() > 40  # nearly all of a region lies on the map
        for bins in map(np.flatnonzero, tiles):
            numbers += 16 * len(bins)
            planes += sum(len({((k * 16 + c) * 49 + b) // 8 for b in bins}) for c in range(16))
            packed += len({(k * 49 + b) * 16 // 8 + half for b in bins for half in (0, 1)})
    assert fetches.fetched(case, False) == (4 * numbers, 32 * planes)
    assert fetches.fetched(case, True) == (4 * numbers, 32 * packed)
    row = counts.given(case, counts.passed(case)).split()  # what the kernels of these operators do
    places = 2 if operator == "ROIPooling" else 1
    assert [float(word) for word in row] == [
        pytest.approx(places * b / 1e6, abs=0.05) for b in (4 * numbers, 32 * packed)
    ]


def test_gradients_of_whole_maps_have_thousands_of_blocks():
    """The kernels that read whole maps or write them, also those of what lists have no room for."""
    case = next(c for c in gpu_operators.cases(quick=True) if c.operator == "PrROIPooling" and c.backward)
    launches = dict(counts.launches_of(case))
    assert launches["listed_both"] >= 2000
    assert launches["separable_moves"] == 998 * 16
    assert launches["separable_unlisted"] == 7904
    assert "separable_backward" not in launches


@pytest.mark.later(but=1)
@pytest.mark.parametrize("operator", ["DeformROIPooling", "ModulatedDeformROIPooling", "PrROIPooling"])
def test_gradients_read_the_maps_as_they_are(operator):
    """No map is turned or packed: of all arrays of all launches what must be moved is at least half, with packed gradients and the room
    of lists; with the room of PrROIPooling's, whose pixels are in many bins, a third."""
    case = next(c for c in gpu_operators.cases(quick=True) if c.operator == operator and c.backward)
    device = counts.passed(case)
    assert not any("turn" in name or "pack" in name for name, _ in device.launches)
    assert gpu_operators.moved(case) >= (0.35 if operator == "PrROIPooling" else 0.5) * device.bytes


def test_blocks_of_position_sensitive_forwards():
    for operator in ("PSROIPooling", "PSROIAlign", "DeformablePSROIPooling"):
        case = next(c for c in gpu_operators.cases(quick=True) if c.operator == operator and not c.backward)
        assert max(blocks for _, blocks in counts.launches_of(case)) >= 2000
