"""One layer without a Net, and what to ask of every layer.

A test's author writes a prototxt line, the bottoms, and what to expect; the rest is derived: forward, gradient, float and
double, each device, a smaller input afterwards and an empty one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from shared import recorded

from boxpresso.device import Blob, open_device
from boxpresso.layers.core import check_arity, make_layer
from boxpresso.proto import parse_net


class Rig:
    """A layer made from prototxt text (`layer { ... }`, or just `type: "ReLU" ...`) over given bottoms."""

    def __init__(
        self,
        text: str,
        bottoms: Sequence[np.ndarray],
        *,
        device: str = "cpu",
        dtype: type = np.float32,
        phase: str = "TEST",
        tops: int = 1,
        in_place: bool = False,
        params: Sequence[np.ndarray] = (),
        seed: int = 0,
        deterministic: bool = False,
    ) -> None:
        text = text if text.lstrip().startswith("layer") else f'layer {{ name: "layer" {text} }}'
        self.device, self.dtype = open_device(device, deterministic=deterministic), np.dtype(dtype)
        self.layer = make_layer(parse_net(text).layer[0], device=self.device, dtype=dtype, phase=phase, seed=seed)
        check_arity(self.layer, len(bottoms), tops)
        self.bottom = [self.blob(b) for b in bottoms]
        self.top = [Blob((), dtype, self.device) for _ in range(tops)]
        if in_place:
            self.top[0] = self.bottom[0]
        self.layer.setup(self.bottom, self.top)
        self.layer.reshape(self.bottom, self.top)
        for blob, value in zip(self.layer.blobs, params):
            blob.data[...] = np.asarray(value).reshape(blob.shape)

    def blob(self, value: np.ndarray) -> Blob:
        blob = Blob(np.shape(value), self.dtype, self.device)
        blob.data[...] = value
        return blob

    def set_bottom(self, index: int, value: np.ndarray) -> None:
        self.bottom[index].reshape(*np.shape(value))
        self.bottom[index].data[...] = value

    def forward(self) -> list[np.ndarray]:
        self.layer.reshape(self.bottom, self.top)
        self.layer.forward(self.bottom, self.top)
        return [np.array(t.data) for t in self.top]

    def backward(
        self, top_diffs: Sequence[np.ndarray], propagate_down: Sequence[bool] | None = None
    ) -> list[np.ndarray]:
        """Bottom diffs hold NaN before (they are overwritten), parameter diffs 1 (they are added to; 1 is taken off)."""
        down = [True] * len(self.bottom) if propagate_down is None else list(propagate_down)
        for blob in self.bottom:
            blob.diff[...] = np.nan
        for blob, value in zip(self.top, top_diffs):
            blob.diff[...] = value
        for blob in self.layer.blobs:
            blob.diff[...] = 1
        self.layer.backward(self.top, down, self.bottom)
        return [np.array(b.diff) for b in self.bottom]

    def param_diffs(self) -> list[np.ndarray]:
        return [np.array(b.diff) - 1 for b in self.layer.blobs]


def close(actual: np.ndarray, wanted: np.ndarray, rtol: float = 2e-4, atol: float = 2e-5, what: str = "") -> None:
    """Equal within rtol, or atol of the largest wanted value; NaN and infinity in the same places."""
    wanted = np.asarray(wanted)
    assert np.shape(actual) == wanted.shape, f"{what}: shape {np.shape(actual)}, wanted {wanted.shape}"
    finite = wanted[np.isfinite(wanted)]
    scale = float(np.abs(finite).max(initial=0))
    np.testing.assert_allclose(actual, wanted, rtol=rtol, atol=atol * scale, err_msg=what, equal_nan=True)


def check_golden(path: Path, device: str, tweak: Callable[[Rig], None] | None = None) -> None:
    """Runs one recorded case of golden/caffe: tops, bottom diffs and parameter diffs are Caffe's."""
    case = recorded(path)
    counted = {key: int(case[f"n_{key}"]) for key in ("bottom", "top", "param")}
    rig = Rig(
        str(case["layer"]),
        [case[f"bottom_{i}"] for i in range(counted["bottom"])],
        device=device,
        phase=str(case["phase"]),
        tops=counted["top"],
        in_place=bool(case["inplace"]),
        params=[case[f"param_{i}"] for i in range(counted["param"])],
    )
    assert len(rig.layer.blobs) == counted["param"], f"{len(rig.layer.blobs)} parameters, Caffe has {counted['param']}"
    for i, blob in enumerate(rig.layer.blobs):
        assert blob.shape == case[f"param_{i}"].shape, (
            f"parameter {i}: {blob.shape}, Caffe has {case[f'param_{i}'].shape}"
        )
    if tweak:
        tweak(rig)
    for i, top in enumerate(rig.forward()):
        close(top, case[f"top_{i}"], what=f"top {i}")
    for i in range(counted["param"]):
        if f"param_after_{i}" in case:
            close(np.array(rig.layer.blobs[i].data), case[f"param_after_{i}"], what=f"parameter {i} after forward")
    if not case["has_backward"]:
        return
    down = [f"bottom_diff_{i}" in case for i in range(counted["bottom"])]
    diffs = [case[f"top_diff_{i}"] if f"top_diff_{i}" in case else np.zeros(t.shape) for i, t in enumerate(rig.top)]
    bottoms = rig.backward(diffs, down)
    for i, wanted in enumerate(down):
        if wanted:
            close(bottoms[i], case[f"bottom_diff_{i}"], what=f"bottom diff {i}")
        elif not case["inplace"]:
            assert np.isnan(bottoms[i]).all(), f"bottom {i}: its diff was written although it was not asked for"
    for i, diff in enumerate(rig.param_diffs()):
        if f"param_diff_{i}" in case:
            close(diff, case[f"param_diff_{i}"], what=f"parameter diff {i}")


def check_gradient(
    rig: Rig,
    bottoms: Sequence[int] = (0,),
    params: bool = True,
    step: float = 1e-4,
    tolerance: float = 2e-5,
    samples: int = 60,
    kinks: float = 0.1,
    zero: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Backward against central differences of forward, in double, with a random upstream gradient.

    Differences: of each bottom in `bottoms`, and with `params` of each parameter, at most `samples` elements are moved by
    `step` and by `step` / 8 to either side: half of them drawn among those whose gradient is not 0, half among all. The slope
    is the sum over the tops of (top after - top before) times the upstream gradient, over the distance; the scale of a blob is
    the largest slope among the elements where both steps agree. At each element backward must be within `tolerance` times that
    scale of the slope of the smaller step. An element where the two steps differ by more than 10 * `tolerance` times the scale
    sits on a kink and is passed over; more than the share `kinks` of those fails.

    Zeros: a blob whose scale is 0 fails, unless `zero` names it ("bottom 1", "parameter 0") with the reason; then backward
    must be exactly 0 everywhere in it. A blob without elements fails: there is nothing to compare.

    The contract of backward, in all elements of all blobs:
    - bottom diffs hold NaN before, and none is left where one was asked for; all of them are left where none was;
    - with the same upstream gradient a second backward gives the same bottom diffs and twice the parameter diffs;
    - a bottom or parameter that is not asked for is not written, and the diffs of the others are the same (each in turn;
      not tried where a bottom shares its diff with a top).
    """
    assert rig.dtype == np.float64, "the gradient check runs in double"
    rng = np.random.default_rng(7)
    start = [np.array(b.data) for b in rig.bottom]
    upstream = [rng.uniform(0.5, 1.5, t.shape) * rng.choice([-1, 1], t.shape) for t in map(np.asarray, rig.forward())]
    down = [i in bottoms for i in range(len(rig.bottom))]

    def forward() -> list[np.ndarray]:
        for i, blob in enumerate(rig.bottom):
            blob.data[...] = start[i]  # a layer in place has overwritten it
        return rig.forward()

    forward()
    diffs = rig.backward(upstream, down)
    targets = [(f"bottom {i}", start[i], diffs[i]) for i in bottoms]
    if params:
        for i, diff in enumerate(rig.param_diffs()):
            targets.append((f"parameter {i}", rig.layer.blobs[i].data, diff))
    for i, asked in enumerate(down):
        if not asked:
            assert np.isnan(diffs[i]).all(), f"bottom {i}: its diff was written although it was not asked for"
    for name, _, analytic in targets:
        assert np.isfinite(analytic).all(), f"{name}: backward left NaN or infinity"
    assert not set(zero) - {name for name, *_ in targets}, f"{sorted(zero)}: not all of them are checked"
    check_contract(rig, upstream, down)

    for name, x, analytic in targets:
        assert analytic.size, f"{name}: it has no elements"
        places = [np.unravel_index(i, analytic.shape) for i in drawn(analytic, samples, rng)]
        slopes = np.array([[slope(forward, x, at, h, upstream) for h in (step, step / 8)] for at in places])
        off = np.abs(slopes[:, 0] - slopes[:, 1])
        smooth = off <= 10 * tolerance * np.abs(slopes).max(1)  # wherever it lies: a jump's slopes differ eightfold
        scale = float(np.abs(slopes[smooth, 1]).max(initial=0))
        if name in zero:
            assert not analytic.any(), f"{name}: backward is not 0, but {zero[name]}"
            assert not slopes[smooth].any(), f"{name}: differences are not 0, but {zero[name]}"
            continue
        assert scale, f"{name}: differences are 0 everywhere, so that nothing was compared (backward: {analytic.any()})"
        kink = off > 10 * tolerance * scale
        for at, wanted in zip(np.array(places)[~kink], slopes[~kink, 1]):
            got = analytic[tuple(at)]
            error = abs(got - wanted) / scale
            assert error < tolerance, f"{name}{at.tolist()}: backward {got}, differences {wanted}, largest {scale}"
        assert kink.sum() <= kinks * len(places), f"{name}: {kink.sum()} of {len(places)} points sit on a kink"
    forward()


def drawn(gradient: np.ndarray, samples: int, rng: np.random.Generator) -> np.ndarray:
    """Numbers of elements, each once: half of them where the gradient is not 0, so that a sparse one is compared too."""
    some = rng.permutation(np.flatnonzero(gradient))[: samples // 2]
    others = rng.permutation(np.setdiff1d(np.arange(gradient.size), some))
    return np.concatenate([some, others[: samples - some.size]])


def slope(
    forward: Callable[[], list[np.ndarray]], x: Any, at: tuple[Any, ...], h: float, upstream: Sequence[np.ndarray]
) -> float:
    """The central difference of sum(top * upstream) in x[at]; tops are subtracted first, which loses no digits."""
    value = float(x[at])
    x[at] = value + h
    after = forward()
    x[at] = value - h
    before = forward()
    x[at] = value
    return sum(float(((a - b) * u).sum()) for a, b, u in zip(after, before, upstream)) / (2 * h)


def check_contract(rig: Rig, upstream: Sequence[np.ndarray], down: Sequence[bool]) -> None:
    """Backward overwrites bottom diffs, adds to parameter diffs, and leaves alone what is not asked for."""
    layer = rig.layer
    firsts, params = rig.backward(upstream, down), rig.param_diffs()

    def same(got: Sequence[np.ndarray], wanted: Sequence[np.ndarray], what: str) -> None:
        for i, (a, b) in enumerate(zip(got, wanted, strict=True)):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-9 * np.abs(b).max(initial=0), err_msg=f"{what} {i}")

    for blob, value in zip(layer.blobs, params):
        blob.diff[...] = value
    for blob, value in zip(rig.top, upstream):
        blob.diff[...] = value
    layer.backward(rig.top, list(down), rig.bottom)
    again = [np.array(b.diff) for b in rig.bottom]
    same(
        [a for a, d in zip(again, down) if d],
        [f for f, d in zip(firsts, down) if d],
        "added to, not overwritten: bottom",
    )
    same([np.array(b.diff) for b in layer.blobs], [2 * p for p in params], "not added to: parameter")

    for blob in rig.top:
        blob.diff[...] = 0
    for blob in rig.bottom:
        blob.diff[...] = np.nan
    if any(np.isnan(np.asarray(blob.diff)).any() for blob in rig.top):
        return  # a bottom shares its diff with a top: in place, or a layer that passes its input on
    for i in range(len(down)):
        fewer = [d and j != i for j, d in enumerate(down)]
        if down[i]:
            got = rig.backward(upstream, fewer)
            assert np.isnan(got[i]).all(), f"bottom {i}: its diff was written although propagate_down is false"
            same([g for g, d in zip(got, fewer) if d], [f for f, d in zip(firsts, fewer) if d], f"without {i}: bottom")
            same(rig.param_diffs(), params, f"without bottom {i}: parameter")
    for i in [i for i, wanted in enumerate(layer.param_propagate_down) if wanted]:
        layer.param_propagate_down[i] = False
        got = rig.backward(upstream, down)
        wanted = [np.zeros_like(p) if j == i else p for j, p in enumerate(params)]
        same(rig.param_diffs(), wanted, f"without parameter {i}: parameter")
        same(
            [g for g, d in zip(got, down) if d],
            [f for f, d in zip(firsts, down) if d],
            f"without parameter {i}: bottom",
        )
        layer.param_propagate_down[i] = True
