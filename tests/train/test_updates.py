"""The solvers' updates: all parameters in one launch, each as if it were alone."""

from __future__ import annotations

import numpy as np
import pytest

from boxpresso import Blob, KernelError
from boxpresso.device import open_device
from boxpresso.proto import SolverParameter
from boxpresso.train.updates import METHODS, PIECE, Parameters, UpdateStep

SHAPES = [(2 * PIECE + 7,), (3, 5), (1,), (0, 4), (64, 33), (PIECE,)]
RATES = [0.1, 0.02, None, 0.3, 0.0, 0.05]  # one does not learn; one learns at a rate that has come to 0
DECAYS = [0.0, 0.01, 0.02, 0.0, 0.1, 0.005]


def solver(name: str) -> SolverParameter:
    momentum = 0.0 if name in ("AdaGrad", "RMSProp") else 0.9
    return SolverParameter(type=name, momentum=momentum, rms_decay=0.97, momentum2=0.99, delta=1e-6)


def blobs_of(device, dtype=np.float32, seed: int = 0) -> list[Blob]:
    rng = np.random.default_rng(seed)
    blobs = [Blob(shape, dtype, device) for shape in SHAPES]
    for blob in blobs:
        blob.data[...], blob.diff[...] = rng.standard_normal((2, *blob.shape))
    return blobs


def launches(device, monkeypatch) -> list[str]:
    """The names of the kernels that will be launched, without the one that a process starts its threads by."""
    names: list[str] = []
    launch = type(device).launch

    def noted(self, kernel, real, args):
        if kernel.name != "address_of_threads":
            names.append(kernel.name)
        launch(self, kernel, real, args)

    monkeypatch.setattr(type(device), "launch", noted)
    return names


@pytest.mark.parametrize("name", METHODS)
def test_one_launch_does_what_one_for_each_would(name, device, monkeypatch):
    device = open_device(device)
    together, apart = blobs_of(device), blobs_of(device)
    parameters = Parameters(solver(name), together)
    single = [Parameters(solver(name), [blob]) for blob in apart]
    names = launches(device, monkeypatch)
    for iteration in range(3):
        for l1 in (0, 1):
            names.clear()
            parameters.update(UpdateStep(0.5, l1, iteration, RATES, DECAYS))
            assert len(names) == 1
            for one, rate, decay in zip(single, RATES, DECAYS):
                one.update(UpdateStep(0.5, l1, iteration, [rate], [decay]))
    for i, (a, b) in enumerate(zip(together, apart)):
        assert np.array_equal(a.data, b.data)
        assert all(np.array_equal(x, y) for x, y in zip(parameters.history[i], single[i].history[0], strict=True))


def test_the_formula_in_each_piece():
    blobs = blobs_of(open_device("cpu"), np.float64)
    before, momentum = [blob.data.copy() for blob in blobs], solver("SGD").momentum
    parameters = Parameters(solver("SGD"), blobs)
    for arrays in parameters.history:
        arrays[0][...] = 0.25
    parameters.update(UpdateStep(0.5, 0, 0, RATES, DECAYS))
    for blob, w, rate, decay in zip(blobs, before, RATES, DECAYS):
        step = 0 if rate is None else momentum * 0.25 + rate * (0.5 * blob.diff + decay * w)
        np.testing.assert_allclose(blob.data, w - step, rtol=1e-12, atol=1e-15)


def test_the_norm_is_that_of_all_diffs(device):
    blobs = blobs_of(open_device(device), np.float64)
    wanted = np.sqrt(sum((np.asarray(blob.diff) ** 2).sum() for blob in blobs))
    assert Parameters(solver("SGD"), blobs).norm() == pytest.approx(wanted, rel=1e-13)
    assert Parameters(solver("SGD"), [Blob((0,))]).norm() == 0


def test_memory_that_has_moved_is_found_again(device):
    device = open_device(device)
    blobs = blobs_of(device)
    parameters = Parameters(solver("SGD"), blobs)
    step = UpdateStep(1.0, 0, 0, [0.1] * len(blobs), [0.0] * len(blobs))
    parameters.update(step)
    others = blobs_of(device, seed=1)
    for blob, other in zip(blobs, others):
        blob.share(other)
    wanted = [np.array(b.data) - 0.1 * np.array(b.diff) for b in others]
    for arrays in parameters.history:
        arrays[0].fill(0)
    parameters.update(step)
    for blob, new in zip(blobs, wanted):
        np.testing.assert_allclose(np.asarray(blob.data), new, rtol=1e-5, atol=1e-6)


def test_memory_that_cannot_be_written_is_refused():
    blobs = blobs_of(open_device("cpu"))
    fixed = np.zeros(SHAPES[1], np.float32)
    fixed.flags.writeable = False
    blobs[1].borrow(fixed)
    with pytest.raises(KernelError, match=r"shape \(3, 5\).*not writable"):
        Parameters(solver("SGD"), blobs).update(UpdateStep(1.0, 0, 0, RATES, DECAYS))


def test_nothing_to_learn_launches_nothing(monkeypatch):
    device = open_device("cpu")
    names = launches(device, monkeypatch)
    Parameters(solver("SGD"), []).update(UpdateStep(1.0, 0, 0, [], []))
    Parameters(solver("SGD"), blobs_of(device)).update(UpdateStep(1.0, 0, 0, [None] * 6, [0.0] * 6))
    assert not names


def test_bitwise_identical_for_any_number_of_workers(monkeypatch, always_all):
    device, results = open_device("cpu"), []
    for workers in (1, 2, 5):
        monkeypatch.setattr(device, "workers", workers)
        blobs = blobs_of(device)
        parameters = Parameters(solver("Adam"), blobs)
        for iteration in range(3):
            parameters.update(UpdateStep(0.5, 0, iteration, RATES, DECAYS))
        results.append([parameters.norm(), *(blob.data.tobytes() for blob in blobs)])
    assert results[0] == results[1] == results[2]
