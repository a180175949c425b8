"""The harness is tested too: planted faults make the gradient check and the comparison fail, and nothing else does."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient, close

RNG = np.random.default_rng(3)
X = RNG.standard_normal((2, 3, 4))
POWER = 'type: "Power" power_param { scale: 1e-5 shift: 1 }'
SOFTMAX = 'type: "SoftmaxWithLoss"'
PERMUTE = 'type: "Permute" permute_param { order: 0 order: 2 order: 1 }'
SCALE = 'type: "Scale" scale_param { bias_term: true filler { type: "gaussian" } }'
ELTWISE = 'type: "Eltwise" eltwise_param { operation: PROD }'
EUCLIDEAN = 'type: "EuclideanLoss"'
BOTTOMS = {
    POWER: [X],
    SOFTMAX: [RNG.standard_normal((6, 5)), RNG.integers(0, 5, 6)],
    PERMUTE: [X],
    SCALE: [X],
    ELTWISE: [X, RNG.standard_normal(X.shape)],
    EUCLIDEAN: [X, RNG.standard_normal(X.shape)],
}


def rig(text: str) -> Rig:
    return Rig(text, BOTTOMS[text], dtype=np.float64)


def check(r: Rig) -> None:
    losses = {"EuclideanLoss", "Eltwise"}
    check_gradient(r, bottoms=(0, 1) if r.layer.type in losses else (0,), params=bool(r.layer.blobs))


@pytest.mark.parametrize("text", BOTTOMS, ids=lambda text: text.split('"')[1])
def test_no_fault(text):
    check(rig(text))


class Fault:
    """A layer's own backward, then what is wrong with it. Diffs are numpy arrays here."""

    text: str

    def __init__(self, r: Rig) -> None:
        self.layer, self.right = r.layer, r.layer.backward

    def __call__(self, top, propagate_down, bottom) -> None:
        self.right(top, propagate_down, bottom)
        if propagate_down[0]:
            self.spoil(top, bottom)

    def spoil(self, top, bottom) -> None:
        raise NotImplementedError


class ZeroOfASmallGradient(Fault):
    text, match = POWER, "backward 0.0, differences"

    def spoil(self, top, bottom):
        bottom[0].diff[...] = 0


class OnePercent(Fault):
    text, match = SOFTMAX, "backward .*, differences"

    def spoil(self, top, bottom):
        bottom[0].diff[...] *= 1.01


class DoesNotPermute(Fault):
    text, match = PERMUTE, "backward .*, differences"

    def spoil(self, top, bottom):
        bottom[0].diff[...] = top[0].diff.reshape(bottom[0].shape)


class OverwritesAParameter(Fault):
    text, match = SCALE, "not added to: parameter 0"

    def __call__(self, top, propagate_down, bottom):
        self.layer.blobs[0].diff[...] = 0
        self.right(top, propagate_down, bottom)


class OverwritesALargeParameter(OverwritesAParameter):
    """A gradient beside which the 1 that was there before is nothing."""

    match = "not added to: parameter 0"

    def __init__(self, r):
        super().__init__(r)
        r.set_bottom(0, 1e9 * X)


class AddsToABottom(Fault):
    text, match = ELTWISE, "backward left NaN"

    def __call__(self, top, propagate_down, bottom):
        before = [b.diff.copy() for b in bottom]
        self.right(top, propagate_down, bottom)
        for blob, diff, asked in zip(bottom, before, propagate_down):
            if asked:
                blob.diff[...] += diff


class AddsToABottomThatItClearedOnce(AddsToABottom):
    """It first clears the NaN of a diff that was never written."""

    match = "added to, not overwritten: bottom 0"

    def __call__(self, top, propagate_down, bottom):
        for blob in bottom:
            np.nan_to_num(blob.diff, copy=False)
        super().__call__(top, propagate_down, bottom)


class WritesUnasked(Fault):
    text, match = ELTWISE, "written although propagate_down is false"

    def __call__(self, top, propagate_down, bottom):
        self.right(top, [True, True], bottom)


class WritesTheOnlyBottomUnasked(Fault):
    text, match = POWER, "written although propagate_down is false"

    def __call__(self, top, propagate_down, bottom):
        self.right(top, [True], bottom)


class WritesAParameterUnasked(Fault):
    text, match = SCALE, "without parameter 0: parameter 0"

    def __call__(self, top, propagate_down, bottom):
        asked = self.layer.param_propagate_down
        self.layer.param_propagate_down = [True, True]
        self.right(top, propagate_down, bottom)
        self.layer.param_propagate_down = asked


class LeavesOneElement(Fault):
    text, match = SCALE, "backward left NaN"

    def spoil(self, top, bottom):
        bottom[0].diff[1, 2, 3] = np.nan


class FlipsOneChannel(Fault):
    text, match = SCALE, "bottom 0.*backward .*, differences"

    def spoil(self, top, bottom):
        bottom[0].diff[:, 1] *= -1


class IgnoresTheTop(Fault):
    text, match = POWER, "backward .*, differences"

    def __call__(self, top, propagate_down, bottom):
        top[0].diff[...] = 1
        self.right(top, propagate_down, bottom)


class IgnoresTheLossWeight(IgnoresTheTop):
    text = SOFTMAX


class WrongByTheBatch(Fault):
    text, match = EUCLIDEAN, "backward .*, differences"

    def __call__(self, top, propagate_down, bottom):
        self.right(top, propagate_down, bottom)
        for blob in bottom:
            blob.diff[...] *= len(X)  # one that is not asked for holds NaN and stays so


class LosesASmallChannel(Fault):
    """A parameter's gradient, wrong in one of three values."""

    text, match = SCALE, r"parameter 1\[2\]"

    def __call__(self, top, propagate_down, bottom):
        before = self.layer.blobs[1].diff[2]
        self.right(top, propagate_down, bottom)
        self.layer.blobs[1].diff[2] = before


def faults(base: type[Fault] = Fault) -> list[type[Fault]]:
    return [each for cls in base.__subclasses__() for each in (cls, *faults(cls))]


@pytest.mark.parametrize("fault", faults(), ids=lambda cls: cls.__name__)
def test_planted_faults_fail(fault, monkeypatch):
    r = rig(fault.text)
    monkeypatch.setattr(r.layer, "backward", fault(r))
    with pytest.raises(AssertionError, match=fault.match):
        check(r)


def test_zeros_must_be_announced():
    constant = 'type: "Power" power_param { scale: 0 shift: 2 }'
    r = Rig(constant, [X], dtype=np.float64)
    with pytest.raises(AssertionError, match="differences are 0 everywhere"):
        check_gradient(r)
    check_gradient(r, zero={"bottom 0": "the input is not looked at"})
    with pytest.raises(AssertionError, match="not all of them are checked"):
        check_gradient(r, zero={"bottom 1": "there is none"})
    with pytest.raises(AssertionError, match="backward is not 0, but it is said so"):
        check_gradient(rig(POWER), zero={"bottom 0": "it is said so"})


def test_a_gradient_where_there_is_none(monkeypatch):
    r = Rig('type: "Power" power_param { scale: 0 shift: 2 }', [X], dtype=np.float64)

    def backward(top, propagate_down, bottom):
        if propagate_down[0]:
            bottom[0].diff[...] = 1e-9

    monkeypatch.setattr(r.layer, "backward", backward)
    with pytest.raises(AssertionError, match="differences are 0 everywhere"):
        check_gradient(r)


def test_a_missing_gradient_is_no_announced_zero(monkeypatch):
    r = rig(POWER)

    def backward(top, propagate_down, bottom):
        if propagate_down[0]:
            bottom[0].diff[...] = 0

    monkeypatch.setattr(r.layer, "backward", backward)
    with pytest.raises(AssertionError, match="differences are not 0, but it is said so"):
        check_gradient(r, zero={"bottom 0": "it is said so"})


def test_nothing_to_compare_fails():
    r = Rig('type: "ReLU"', [np.zeros((0, 3))], dtype=np.float64)
    with pytest.raises(AssertionError, match="no elements"):
        check_gradient(r)


def test_too_many_kinks_fail():
    r = Rig('type: "ReLU"', [np.concatenate([np.zeros(5), np.ones(5)])], dtype=np.float64)
    r.bottom[0].data[...] += 3e-5  # the larger step crosses 0, the smaller does not
    with pytest.raises(AssertionError, match="5 of 10 points sit on a kink"):
        check_gradient(r)
    check_gradient(r, kinks=0.5)


def test_a_sparse_gradient_is_compared(monkeypatch):
    """One element of a thousand has a gradient: sixty drawn at random would hardly hit it."""
    r = Rig('type: "Pooling" pooling_param { pool: MAX global_pooling: true }', [np.arange(1000.0).reshape(1, 1, 25, 40)],
            dtype=np.float64)  # fmt: skip
    check_gradient(r)
    right = r.layer.backward

    def backward(top, propagate_down, bottom):
        right(top, propagate_down, bottom)
        bottom[0].diff[...] *= 1.001

    monkeypatch.setattr(r.layer, "backward", backward)
    with pytest.raises(AssertionError, match=r"backward .*, differences"):
        check_gradient(r)


def test_only_in_double():
    with pytest.raises(AssertionError, match="in double"):
        check_gradient(Rig(POWER, [X]))


def test_close_is_held_against_the_largest_wanted_value():
    tiny = np.array([1e-6, 2e-6])
    close(tiny * (1 + 1e-5), tiny)
    with pytest.raises(AssertionError):
        close(np.zeros(2), tiny)
    with pytest.raises(AssertionError):
        close(tiny * 1.01, tiny)
    close(np.array([1e-6, 1.0]), np.array([0, 1.0]))
    with pytest.raises(AssertionError):
        close(np.full(2, 1e-12), np.zeros(2))
    with pytest.raises(AssertionError, match="shape"):
        close(np.zeros(2), np.zeros((2, 1)))
    close(np.array([np.nan, np.inf]), np.array([np.nan, np.inf]))
    # The shares that two layers have in one bias cancel, but for the order in which a library adds them up.
    shares = np.array([0.96, 0.37, -0.81, -0.96, -0.37, 0.81], np.float32)
    left = np.array([np.float32(sum(shares[[5, 0, 4, 2, 1, 3]])) - np.float32(sum(shares))])
    assert left[0] != 0
    with pytest.raises(AssertionError):
        close(left, np.zeros(1))
    close(left, np.zeros(1), terms=0.96)
    with pytest.raises(AssertionError):
        close(np.array([1e-3]), np.zeros(1), terms=0.96)
    with pytest.raises(AssertionError):
        close(np.array([0, np.inf]), np.array([np.nan, np.inf]))
