"""The digits of examples/: drawn from a seed, and in miniature LeNet learns to read them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from places import ROOT

from boxpresso.proto import read_net, read_solver

pytest.importorskip("lmdb")
HERE = ROOT / "examples" / "digits"
sys.path.insert(0, str(ROOT))

from examples.digits.digits import FORMS, HELD_OUT, SIZE, TRAINING, draw, records  # noqa: E402
from examples.digits.train import recipe  # noqa: E402


def test_digits_come_from_their_seed():
    for label in range(10):
        seen = [draw(label, np.random.default_rng([3, label, i])) for i in range(4)]
        assert all(picture.shape == (SIZE, SIZE, 1) and picture.dtype == np.uint8 for picture in seen)
        assert all(0.02 < (picture > 90).mean() < 0.4 for picture in seen)  # ink, and room around it
        np.testing.assert_array_equal(seen[1], draw(label, np.random.default_rng([3, label, 1])))
        assert (seen[0] != seen[1]).any()
    assert list(records(1, TRAINING, 12)) == list(records(1, TRAINING, 12))
    assert not {r for _, r in records(1, TRAINING, 12)} & {r for _, r in records(1, HELD_OUT, 12)}


def test_strokes_stay_in_their_square():
    assert len(FORMS) == 10
    for form in (form for forms in FORMS for form in forms):
        points = np.concatenate(form)
        assert (points > -0.01).all()
        assert (points < 1.01).all()


def test_the_command_line_trains_what_train_py_trains(tmp_path):
    made, solver = recipe(HERE / "work", 1), read_solver(HERE / "solver.prototxt")
    assert ROOT / solver.net == HERE / "train_test.prototxt"
    assert ROOT / solver.snapshot_prefix == Path(made.snapshot_prefix)
    assert [ROOT / layer.data_param.source for layer in read_net(ROOT / solver.net).layer[:2]] == [
        Path(layer.data_param.source) for layer in made.net_param.layer[:2]
    ]
    for message in (made, solver):
        for field in ("net", "net_param", "snapshot_prefix"):
            message.ClearField(field)
    assert made == solver
    small = recipe(tmp_path, 7, 20, 300)
    assert (small.max_iter, small.random_seed, list(small.test_iter)) == (20, 7, [3])


@pytest.mark.slow
def test_it_learns_in_miniature(tmp_path):
    command = [sys.executable, str(HERE / "train.py"), "--iterations", "120", "--digits", "1000", "--held-out", "200"]
    result = subprocess.run([*command, "--out", str(tmp_path), "--device", "cpu"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    accuracy = float(result.stdout.split("accuracy ")[1].split()[0])
    assert accuracy > 0.7  # one in ten is chance
    assert "Iteration 0, Testing net (#0)" in (tmp_path / "lenet.log").read_text()
    assert (tmp_path / "lenet.caffemodel").stat().st_size > 1_600_000
    with Image.open(tmp_path / "read.png") as sheet:
        assert sheet.size == (12 * 60 - 4, 8 * 74 - 4)
