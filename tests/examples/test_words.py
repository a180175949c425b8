"""The example that reads words: its files, its scenes, which way its regions turn, and its training in miniature."""

from __future__ import annotations

import importlib
import subprocess
import sys
from itertools import islice
from types import ModuleType

import numpy as np
import pytest
from PIL import Image, features
from places import ROOT

from boxpresso import Net, ops
from boxpresso.proto import read_solver

WORDS = ROOT / "examples" / "words"

pytestmark = pytest.mark.skipif(not features.check("freetype2"), reason="this Pillow cannot draw letters: no FreeType")


def module(name: str) -> ModuleType:
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    return importlib.import_module(f"examples.words.{name}")


def test_the_prototxts_are_what_model_py_writes():
    for name, text in module("model").FILES.items():
        assert (WORDS / name).read_text() == text, f"python -m examples.words.model writes another {name}"
    assert read_solver(WORDS / "solver.prototxt").type == "Adam"


def test_scenes_follow_from_their_seed():
    scenes = module("scenes")
    image, words = scenes.scene([1, 2])
    again, _ = scenes.scene([1, 2])
    other, _ = scenes.scene([1, 3])
    assert image.tobytes() == again.tobytes() != other.tobytes()
    assert [len(text) for text, _ in words] == [scenes.LENGTH] * scenes.WORDS
    for _, region in words:
        assert scenes.corners(region).min() > 0
        assert scenes.corners(region).max() < scenes.SIZE


def test_held_out_words_are_not_among_those_to_learn_from():
    scenes, rng = module("scenes"), np.random.default_rng(0)
    learned = {scenes.spell(rng, False) for _ in range(3000)}
    held_out = {scenes.spell(rng, True) for _ in range(3000)}
    assert not learned & held_out
    assert len(learned | held_out) > 5500
    assert set("".join(held_out)) == set(scenes.LETTERS)


@pytest.mark.parametrize("theta", [0.0, 0.5, 1.9, 3.0, -0.8, -2.3])
def test_a_region_is_read_upright(theta):
    """What ROIAlignRotated takes out of a turned word is the word as it was before it was turned."""
    scenes = module("scenes")
    size, pooled = 160, (12, 48)

    def taken(angle: float, clockwise: bool = False) -> np.ndarray:
        region = np.array([80, 80, 80, 24, angle])
        cover, left, top = scenes.written("FLGJ", region, bold=0)
        whole = np.zeros((1, 1, size, size), np.float32)
        whole[0, 0, top : top + cover.shape[0], left : left + cover.shape[1]] = cover[..., 0]
        rows = np.insert(region, 0, 0)[None].astype(np.float32)
        return ops.roi_align_rotated(
            whole, rows, pooled, spatial_scale=1.0, sampling_ratio=2, clockwise=clockwise
        ).ravel()

    upright = taken(0.0)
    assert np.corrcoef(taken(theta), upright)[0, 1] > 0.95
    if theta:
        assert np.corrcoef(taken(theta, clockwise=True), upright)[0, 1] < 0.8


def test_regions_survive_the_way_to_maps_and_back():
    scenes, regions = module("scenes"), module("regions")
    for number in range(10):
        _, words = scenes.scene([7, number])
        score, geometry = regions.encode(words, scenes.SIZE // regions.STRIDE)
        decoded = regions.decode(np.maximum(score, 0), geometry)
        assert len(decoded) == len(words)
        for _, region in words:
            nearest = decoded[np.hypot(*(decoded[:, :2] - region[:2]).T).argmin()]
            np.testing.assert_allclose(nearest[:4], region[:4], atol=1e-3)
            assert abs(np.sin(nearest[4] - region[4])) < 1e-4  # upright or on its head


def test_every_weight_gets_a_gradient(device):
    model, train = module("model"), module("train")
    net = Net(model.net("train", scenes=1).to_proto(), phase="TRAIN", device=device, seed=1)
    for name, values in train.batch(train.LEARN, 1, 0).items():
        net.blobs[name].data[...] = values[: net.blobs[name].shape[0]].astype(np.float32)
    loss = net.forward()
    assert 2 < float(loss["loss_letters"]) < 8  # at random it is log 26
    net.clear_param_diffs()
    net.backward()
    for name, blobs in net.params.items():
        if not name.endswith("/bn"):
            for blob in blobs:
                assert np.isfinite(np.asarray(blob.diff)).all(), name
                assert np.asarray(blob.diff).any(), name


@pytest.mark.parametrize("workers", [0, 1])
def test_batches_come_in_order(workers):
    batches = module("train").ahead(hex, workers, depth=2)
    assert list(islice(batches, 5)) == ["0x0", "0x1", "0x2", "0x3", "0x4"]
    batches.close()


@pytest.mark.later
def test_training_runs_and_its_weights_load(tmp_path):
    command = [sys.executable, str(WORDS / "train.py"), "--iterations", "3", "--workers", "0", "--device", "cpu"]
    result = subprocess.run([*command, "--held-out", "8", "--out", str(tmp_path)], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "of 40 held-out words are read right" in result.stdout
    assert "Iteration 0" in (tmp_path / "words.log").read_text()
    with Image.open(tmp_path / "found.png") as picture:
        assert picture.width > 1000
    report = Net(WORDS / "deploy.prototxt", tmp_path / "words.caffemodel", device="cpu").copied[0]
    assert not report.missing
    assert not report.unused
