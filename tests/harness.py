"""One layer without a Net, and what to ask of every layer.

A test's author writes a prototxt line, the bottoms, and what to expect; the rest is derived: forward, gradient, float and
double, each device, a smaller input afterwards and an empty one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

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
    ) -> None:
        text = text if text.lstrip().startswith("layer") else f'layer {{ name: "layer" {text} }}'
        self.device, self.dtype = open_device(device), np.dtype(dtype)
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
        made = Blob(np.shape(value), self.dtype, self.device)
        made.data[...] = value
        return made

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
    scale = max(1.0, float(np.abs(finite).max())) if finite.size else 1.0
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
) -> None:
    """Backward against central differences of forward, in double, with a random upstream gradient.

    At most `samples` elements of each blob are tried. A point where two step sizes disagree sits on a kink and is passed
    over; more than the share `kinks` of such points fails, and so does a blob where every gradient is 0.
    """
    assert rig.dtype == np.float64, "the gradient check runs in double"
    rng = np.random.default_rng(7)
    start = [np.array(b.data) for b in rig.bottom]
    upstream = [rng.standard_normal(t.shape) for t in map(np.asarray, rig.forward())]
    down = [i in bottoms for i in range(len(rig.bottom))]

    def value() -> float:
        for i, blob in enumerate(rig.bottom):
            blob.data[...] = start[i]  # a layer in place has overwritten it
        return sum(float((t * u).sum()) for t, u in zip(rig.forward(), upstream))

    value()
    diffs = rig.backward(upstream, down)
    for i, asked in enumerate(down):
        if not asked:
            assert np.isnan(diffs[i]).all(), f"bottom {i}: its diff was written although nobody asked"
    targets = [(f"bottom {i}", start[i], diffs[i]) for i in bottoms]
    if params:
        for i, diff in enumerate(rig.param_diffs()):
            targets.append((f"parameter {i}", rig.layer.blobs[i].data, diff))
    for name, x, analytic in targets:
        assert np.isfinite(analytic).all(), f"{name}: backward left NaN or infinity"
        places = rng.permutation(analytic.size)[:samples]
        skipped = 0
        for place in places:
            at = np.unravel_index(place, analytic.shape)
            keep, slopes = float(x[at]), []
            for h in (step, step / 8):
                ends = []
                for moved in (keep + h, keep - h):
                    x[at] = moved
                    ends.append(value())
                slopes.append((ends[0] - ends[1]) / (2 * h))
            x[at] = keep
            scale = max(1.0, abs(slopes[1]), abs(float(analytic[at])))
            if abs(slopes[0] - slopes[1]) > 10 * tolerance * scale:
                skipped += 1
                continue
            error = abs(slopes[1] - float(analytic[at])) / scale
            assert error < tolerance, f"{name}{list(map(int, at))}: backward {analytic[at]}, differences {slopes[1]}"
        assert skipped <= kinks * len(places), f"{name}: {skipped} of {len(places)} points sit on a kink"
    value()
