"""The benchmarks: rows, comparison with the peers, table; one small run of each kind of process."""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from places import ROOT

pytestmark = pytest.mark.later

sys.path.insert(0, str(ROOT))
from benchmarks import __main__ as bench  # noqa: E402
from benchmarks import acceptance, anywhere, cases, efficiency, formulas, report, worker  # noqa: E402
from boxpresso import ops  # noqa: E402

NET = """
layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 4 dim: 3 dim: 8 dim: 9 } } }
layer { name: "c" type: "Convolution" bottom: "x" top: "c" convolution_param { num_output: 4 kernel_size: 3 } }
layer { name: "r" type: "ReLU" bottom: "c" top: "c" }
layer { name: "s" type: "Silence" bottom: "c" }
"""


def command(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    arguments = [sys.executable, "-m", "benchmarks", *words, "--out", str(folder), "--rounds", "1", "--seconds", "0.01"]
    return subprocess.run(
        arguments, capture_output=True, text=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )


def test_a_net_of_ones_own(tmp_path):
    """Its batch becomes 1; peers that are not here are named; the table is 80 columns wide and is kept."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "small.prototxt").write_text(NET)
    done = command("nets", "--peers", str(tmp_path / "a" / "small.prototxt"), folder=tmp_path / "out")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "out" / "nets.txt").read_text()
    assert text in done.stdout or text.strip() == done.stdout.strip()
    assert max(map(len, text.splitlines())) <= 80
    row = next(line for line in text.splitlines() if "small" in line and "random weights" in line)
    assert float(row.split("random weights")[1].split()[0]) > 0
    for name in ("cv2", "onnxruntime", "openvino"):
        installed = subprocess.run([sys.executable, "-c", f"import {name}"], capture_output=True).returncode == 0
        assert installed or f"No module named '{name}'" in " ".join(text.split())
    assert "Lower is better" in text


def test_regions_and_layers_run(tmp_path):
    done = command("regions", "roi_align", "25, 38", "adaptive", "backward", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "roi_align backward [2, 256, 25, 38] 2 regions, adaptive" in (tmp_path / "regions.txt").read_text()
    done = command("layers", "256->100", "weight", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "256->100 3x3 3x3 weight gradient" in (tmp_path / "layers.txt").read_text()


def test_what_is_asked_for_in_vain(tmp_path):
    for words, why in (
        (["nets", "nowhere.prototxt"], "no file nowhere.prototxt"),
        (["train", "nothing"], "no row has all of"),
        (["train", "--peers", "--python", "/no/python"], "is no program"),
    ):
        done = command(*words, folder=tmp_path)
        assert done.returncode
        assert why in done.stderr


@pytest.mark.parametrize("verb", ["nets", "train", "regions", "layers"])
def test_every_row_has_its_own_name_and_its_arrays(verb):
    rows = bench.cases_of(verb, [])
    assert len({case["name"] for case in rows}) == len(rows) > 1
    assert all(json.loads(json.dumps(case)) == case for case in rows)
    for case in rows:
        assert case["kind"] in bench.PROGRAMS
    if verb == "nets":
        assert any(name.endswith(".caffemodel") for name in (case["weights"] for case in rows))


def test_weights_and_tops_of_the_trunks_fit():
    from benchmarks.ours import trunk_of
    from boxpresso import Net
    from boxpresso.proto import parse_net

    for name in cases.TRUNKS:
        net = Net(parse_net(trunk_of(name)), phase="TRAIN")
        assert net.blobs["product"].shape == net.blobs["g"].shape == cases.top_of(name)
        shapes = [blob.shape for layer in net.layers if layer.type == "Convolution" for blob in layer.blobs]
        assert shapes == [w.shape for w in cases.weights_of(name)]


def test_difference():
    ours = {"a": np.array([1.0, -2.0]), "b": np.zeros((1, 0))}
    assert worker.difference(ours, ours) == 0
    assert worker.difference({**ours, "a": np.array([[1.0], [-2.5]])}, ours) == 0.25
    for wrong in ({"b": ours["b"]}, {**ours, "a": np.ones(3)}, {**ours, "a": np.array([1, np.nan])}):
        assert worker.difference(wrong, ours) == math.inf
    rows = np.zeros((1, 1, 40, 7))
    rows[0, 0, :, 1], rows[0, 0, :, 2] = 1, np.linspace(0.9, 0.1, 40)
    assert (
        worker.difference({"d": rows[:, :, 1::1][:, :, ::-1]}, {"d": rows}) == 0
    )  # another order, one at the threshold less
    assert worker.difference({"d": rows[:, :, :20]}, {"d": rows}) == 0.5
    none, filled = np.array([[[[0, -1, -1, -1, -1, -1, -1]]]]), np.zeros((1, 1, 50, 7))
    assert worker.difference({"d": filled}, {"d": none}) == 0  # no detection, as each writes it
    assert worker.difference({"d": rows}, {"d": none}) == 1


def test_table():
    def timed(ms: float, same: bool = True) -> dict[str, object]:
        return {"ms": ms, "same": same}

    table = report.Table(["boxpresso", "onnxruntime", "torchvision"], {"torchvision": True})
    lines = [table.head(), table.add("one", {"boxpresso": timed(2), "onnxruntime": timed(4), "torchvision": timed(8)})]
    lines.append(
        table.add("a name that is much longer than its column is", {"boxpresso": timed(3), "torchvision": timed(1)})
    )
    lines.append(
        table.add("wrong", {"boxpresso": timed(3), "onnxruntime": timed(1, False), "torchvision": {"cannot": "x"}})
    )
    table.missing = {"onnxruntime": "not here"}
    foot = table.foot()
    assert max(len(line) for text in (*lines, foot) for line in text.splitlines()) <= 80
    assert lines[1].split() == ["one", "2.000", "4.000", "8.000", "0.50"]
    assert lines[2].split()[-3:] == ["-", "1.000", "3.00"]
    assert lines[3].split() == ["wrong", "3.000", "1.000!", "-", "-"]
    assert "torchvis*" in lines[0]
    assert "one thread" in foot
    assert "without onnxruntime: not here" in foot
    assert "torchvision cannot run wrong: x" in foot
    assert foot.splitlines()[-1].endswith(f"over 2 rows: {math.sqrt(0.5 * 3):.2f}")


def test_picture(tmp_path):
    pytest.importorskip("matplotlib", reason="the picture needs matplotlib")
    table = report.Table(["boxpresso", "torch"], {})
    table.add("one", {"boxpresso": {"ms": 1, "same": True}, "torch": {"ms": 2, "same": True}})
    report.draw(tmp_path / "a.png", "title", table)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_the_acceptance_has_every_operator():
    names = {name.removesuffix("_backward") for name in ops.__all__} - {"forget", "roi_align_argmax", "roi_pool_argmax"}
    assert {name.partition(" ")[0] for name in acceptance.OPERATORS} | set(acceptance.PLACES) == names
    assert not {f"{name}_backward" for name in (*acceptance.FORWARD, *acceptance.PLACES)} & set(ops.__all__)


def test_errors_are_found_by_the_acceptance():
    """Accepted is ten times the peer's error, whatever that is; one that is all to one side is not, nor a peer of other numbers."""
    rng = np.random.default_rng(0)
    exact = rng.standard_normal(1000)
    noise = [rng.standard_normal(1000) for _ in range(2)]
    for ours, peer, said in (
        (1e-6, 1e-6, "accepted"), (9e-6, 1e-6, "accepted"), (1.2e-5, 1e-6, "FAILED"), (9e-3, 1e-3, "accepted"), (0, 0, "accepted"),
        (0, 1e-6, "accepted"), (1e-9, 0, "FAILED"), (1e-6, 2e-2, "FAILED"),
    ):  # fmt: skip
        errors = [acceptance.differences(exact + size * off, exact) for size, off in zip((ours, peer), noise)]
        ratio, result = acceptance.verdict(*errors)
        assert result == said
        assert ratio == pytest.approx(ours / peer if peer else (np.inf if ours else 0), rel=0.1)
    aside = acceptance.differences(exact + np.abs(noise[0]) * 1e-6, exact)
    assert acceptance.verdict(aside, acceptance.differences(exact + 1e-6 * noise[1], exact))[1] == "FAILED"
    with pytest.raises(ValueError, match="NaN"):
        acceptance.differences(np.where(exact > 0, exact, np.nan), exact)


def test_every_operator_has_a_peer():
    assert set(formulas.PEERS) == set(acceptance.OPERATORS)


@pytest.mark.parametrize("name", ["roi_align_rotated", "prroi_pool"])
def test_an_operator_is_accepted_and_a_wrong_one_is_not(monkeypatch, name):
    pytest.importorskip("torch", reason="torch is not installed")
    monkeypatch.setattr(acceptance, "SHAPES", acceptance.SHAPES[-1:])
    assert {said for _, said, _ in acceptance.rows_of(name, True)} == {"accepted"}
    right = acceptance.run

    def wrong(*args):
        return {key: value * np.float32(1.01) for key, value in right(*args).items()}

    monkeypatch.setattr(acceptance, "run", wrong)
    monkeypatch.setattr(acceptance, "NAMES", {np.dtype(np.float32): "float32"})
    assert {said for _, said, _ in acceptance.rows_of(name, True)} == {"FAILED"}


@pytest.mark.slow
@pytest.mark.parametrize("name", acceptance.OPERATORS)
def test_every_operator_is_accepted_on_a_small_map(monkeypatch, name):
    for module in ("torch", formulas.PEERS[name][0].lower().replace("opencv", "cv2").replace("formula", "torch")):
        try:
            __import__(module)
        except (ImportError, RuntimeError) as error:
            pytest.skip(f"{module}: {error}")
    monkeypatch.setattr(acceptance, "SHAPES", acceptance.SHAPES[-1:])
    rows = [(line, said) for line, said, _ in acceptance.rows_of(name, True) if said]
    assert {kind for kind in acceptance.NAMES.values() for line, _ in rows if f" {kind} " in line} == {
        "float32", "float16", "bfloat16",
    }  # fmt: skip
    assert not [line for line, said in rows if said == "FAILED"]


TRIED = """\
trixie, Python 3.13:
first boxes after 812 ms
first boxes after 640 ms
cpu: AMD EPYC, 2 threads, kernels of v4-bf16 compiled ahead; others cannot be compiled: no C++ compiler found
the same without /proc:
first boxes after 701 ms
cpu: x86_64, 2 threads, kernels of v2 compiled ahead; others cannot be compiled: no C++ compiler found
installed: 133 MB, of it ./numpy 43, ./boxpresso 31,
"""


def test_what_an_installation_weighs_and_takes(tmp_path):
    (row,) = anywhere.rows(TRIED)
    assert row.split() == [
        "trixie",
        "3.13",
        "0.81",
        "0.64",
        "0.70",
        "v4-bf16",
        "133",
        "numpy",
        "43,",
        "boxpresso",
        "31",
    ]
    assert len(anywhere.rows(TRIED + TRIED.replace("trixie", "forky"))) == 2
    with pytest.raises(ValueError, match="does not tell all of trixie"):
        anywhere.rows(TRIED.replace("first boxes after 701 ms", "killed"))
    wheels = [
        tmp_path / f"boxpresso-1-py3-none-{tag}.whl" for tag in ("win_amd64", "manylinux_2_28_x86_64.linux_x86_64")
    ]
    for wheel in wheels:
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("boxpresso/device/prebuilt/v3.so", bytes(2_000_000))
            archive.writestr("boxpresso/net.py", "pass")
    assert "2.0   kernels compiled ahead 2.00 (2.0), .py 0.00 (0.0)" in anywhere.weight(wheels[0])
    if sys.platform == "linux" and platform.machine() == "x86_64":
        assert anywhere.for_this_machine(wheels) == wheels[1]
    with pytest.raises(SystemExit, match="0 of the wheels are for this machine"):
        anywhere.for_this_machine(wheels[:1])


def test_the_bytes_and_multiply_adds_that_must_be():
    """Of one region of 7 x 7 bins of 2 x 2 pixels, one sample in each of these, in a map of 16 x 16 of 4 channels."""
    case = {
        "op": "roi_align_rotated", "shape": [1, 4, 16, 16], "ratio": 2, "scale": 1.0, "count": 1, "backward": False,
    }  # fmt: skip
    arrays = {
        "x": np.zeros((1, 4, 16, 16), np.float32), "rois": np.array([[0, 8, 8, 14, 14, 0]], np.float32),
        "g": np.zeros((1, 4, 7, 7), np.float32),
    }  # fmt: skip
    pixels, work = efficiency.touched(case, arrays)  # samples at 1, 2, .. 14, and the right and lower neighbour of each
    assert (pixels, work) == (15 * 15, 4 * 14 * 14)
    assert efficiency.needed(case, arrays) == (4 * (225 * 4 + 4 * 49), 4 * 4 * 14 * 14)
    assert efficiency.needed({**case, "backward": True}, arrays)[0] == 4 * (4 * 256 + 4 * 49)
    upright = {**arrays, "rois": np.array([[0, 1, 1, 15, 15]], np.float32)}
    same = efficiency.touched({**case, "op": "roi_align"}, upright)
    assert same[0] == 225
    assert same[1] == min(work, 15 * 7 * 4 + 49 * 4)  # rows and columns apart
    low = efficiency.touched({**case, "op": "roi_align", "shape": [1, 4, 8, 16]}, upright)
    assert low[0] == 7 * 15  # those below the map count not


def test_the_rates_of_a_machine_are_of_its_order():
    stream, peak, near = efficiency.rates(0.05)
    assert 1e8 < stream < 1e13
    assert 1e9 < peak < 1e14
    assert stream / 4 < near < 1e14
