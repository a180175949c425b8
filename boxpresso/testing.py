"""For tests of a layer: run it without a net, and compare its backward pass with differences of its forward pass.

from boxpresso.testing import Rig, check_gradient
rig = Rig('type: "ReLU"', [x], dtype=np.float64)
check_gradient(rig)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .device import AnyArray, Blob, open_device
from .layers.core import check_arity, make_layer
from .proto import parse_net

__all__ = ["Rig", "check_gradient"]

Numpy = np.ndarray[Any, Any]


class Rig:
    """A layer over given bottoms, without a net.

    Parameters
    ----------
    text
        `layer { ... }` of a prototxt, or only its fields, such as `type: "ReLU"`.
    bottoms
        An array, or what becomes one, for each bottom.
    device
        "cpu", "cuda" or "cuda:1".
    dtype
        float32 or float64; float16 or ml_dtypes.bfloat16 for layers that store them.
    phase
        "TRAIN" or "TEST".
    tops
        How many tops it has.
    in_place
        Whether its first top is its first bottom.
    params
        The values of its learned parameters, in Caffe's order; by default what the fillers give.
    seed
        Of its random numbers.
    deterministic
        Bitwise identical results on every run on a GPU too.
    reproducible
        The same bits on every CPU, as of a Net.

    Attributes
    ----------
    layer
        The layer.
    bottom, top
        Its Blobs.

    Raises
    ------
    ModelError
        For a text that cannot be read, or an unknown type.
    LayerError
        For parameters or shapes that the layer refuses.

    Examples
    --------
    >>> rig = Rig('type: "Power" power_param { scale: 3 shift: 1 }', [[1, 2]])
    >>> rig.forward()[0].tolist()
    [4.0, 7.0]
    >>> rig.backward([[5, 10]])[0].tolist()
    [15.0, 30.0]
    """

    def __init__(
        self,
        text: str,
        bottoms: Sequence[ArrayLike],
        *,
        device: str = "cpu",
        dtype: Any = np.float32,
        phase: str = "TEST",
        tops: int = 1,
        in_place: bool = False,
        params: Sequence[ArrayLike] = (),
        seed: int = 0,
        deterministic: bool = False,
        reproducible: bool = False,
    ) -> None:
        text = text if text.lstrip().startswith("layer") else f'layer {{ name: "layer" {text} }}'
        self.device = open_device(device, deterministic=deterministic, reproducible=reproducible)
        self.dtype = np.dtype(dtype)
        param, axes = parse_net(text).layer[0], [np.ndim(value) for value in bottoms]
        self.layer = make_layer(param, device=self.device, dtype=dtype, phase=phase, seed=seed, axes=axes)
        check_arity(self.layer, len(bottoms), tops)
        self.bottom = [self.blob(b) for b in bottoms]
        self.top = [Blob((), dtype, self.device) for _ in range(tops)]
        if in_place:
            self.top[0] = self.bottom[0]
        self.layer.setup(self.bottom, self.top)
        self.layer.reshape(self.bottom, self.top)
        for blob, value in zip(self.layer.blobs, params):
            blob.data[...] = np.asarray(value).reshape(blob.shape)

    def blob(self, value: ArrayLike) -> Blob:
        """A Blob of these numbers on the device."""
        blob = Blob(np.shape(value), self.dtype, self.device)
        blob.data[...] = np.asarray(value)
        return blob

    def set_bottom(self, index: int, value: ArrayLike) -> None:
        """Gives a bottom other numbers, and their shape."""
        self.bottom[index].reshape(*np.shape(value))
        self.bottom[index].data[...] = np.asarray(value)

    def forward(self) -> list[Numpy]:
        """The tops."""
        self.layer.reshape(self.bottom, self.top)
        self.layer.forward(self.bottom, self.top)
        return [np.array(t.data) for t in self.top]

    def backward(self, top_diffs: Sequence[ArrayLike], propagate_down: Sequence[bool] | None = None) -> list[Numpy]:
        """The diffs of the bottoms, from those of the tops.

        Bottom diffs hold NaN before, as they are overwritten, and parameter diffs 1, as they are added to.
        """
        down = [True] * len(self.bottom) if propagate_down is None else list(propagate_down)
        for blob in self.bottom:
            blob.diff[...] = np.nan
        for blob, value in zip(self.top, top_diffs):
            blob.diff[...] = np.asarray(value)
        for blob in self.layer.blobs:
            blob.diff[...] = 1
        self.layer.backward(self.top, down, self.bottom)
        return [np.array(b.diff) for b in self.bottom]

    def param_diffs(self) -> list[Numpy]:
        """What the last backward added to the diffs of the parameters."""
        return [np.array(b.diff) - 1 for b in self.layer.blobs]


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

    Parameters
    ----------
    rig
        The layer over its bottoms, in float64.
    bottoms
        The bottoms that have a gradient.
    params
        Whether the learned parameters have one.
    step, tolerance, samples, kinks, zero
        See above.

    Raises
    ------
    AssertionError
        Says which element is wrong, what backward gave and what the differences are, or what part of the contract is broken.

    Examples
    --------
    >>> x = np.random.default_rng(0).standard_normal((3, 4))
    >>> check_gradient(Rig('type: "TanH"', [x], dtype=np.float64))
    """
    ensure(rig.dtype == np.float64, "the gradient check runs in double: Rig(..., dtype=numpy.float64)")
    rng = np.random.default_rng(7)
    start = [np.array(b.data) for b in rig.bottom]
    upstream = [rng.uniform(0.5, 1.5, t.shape) * rng.choice([-1, 1], t.shape) for t in map(np.asarray, rig.forward())]
    down = [i in bottoms for i in range(len(rig.bottom))]

    def forward() -> list[Numpy]:
        for i, blob in enumerate(rig.bottom):
            blob.data[...] = start[i]  # a layer in place has overwritten it
        return rig.forward()

    forward()
    diffs = rig.backward(upstream, down)
    targets: list[tuple[str, AnyArray, Numpy]] = [(f"bottom {i}", start[i], diffs[i]) for i in bottoms]
    if params:
        for i, diff in enumerate(rig.param_diffs()):
            targets.append((f"parameter {i}", rig.layer.blobs[i].data, diff))
    for i, asked in enumerate(down):
        if not asked:
            ensure(np.isnan(diffs[i]).all(), f"bottom {i}: its diff was written although it was not asked for")
    for name, _, analytic in targets:
        ensure(np.isfinite(analytic).all(), f"{name}: backward left NaN or infinity")
    ensure(not set(zero) - {name for name, *_ in targets}, f"{sorted(zero)}: not all of them are checked")
    check_contract(rig, upstream, down)
    for name, x, analytic in targets:
        compare(name, x, analytic, forward, upstream, rng, step, tolerance, samples, kinks, zero.get(name))
    forward()


def compare(
    name: str,
    x: AnyArray,
    analytic: Numpy,
    forward: Callable[[], list[Numpy]],
    upstream: Sequence[Numpy],
    rng: np.random.Generator,
    step: float,
    tolerance: float,
    samples: int,
    kinks: float,
    zero: str | None,
) -> None:
    """The gradient of one blob against differences, element by element: see check_gradient."""
    ensure(analytic.size, f"{name}: it has no elements")
    places = [np.unravel_index(i, analytic.shape) for i in drawn(analytic, samples, rng)]
    slopes = np.array([[slope(forward, x, at, h, upstream) for h in (step, step / 8)] for at in places])
    off = np.abs(slopes[:, 0] - slopes[:, 1])
    smooth = off <= 10 * tolerance * np.abs(slopes).max(1)  # wherever it lies: a jump's slopes differ eightfold
    scale = float(np.abs(slopes[smooth, 1]).max(initial=0))
    if zero is not None:
        ensure(not analytic.any(), f"{name}: backward is not 0, but {zero}")
        ensure(not slopes[smooth].any(), f"{name}: differences are not 0, but {zero}")
        return
    ensure(scale, f"{name}: differences are 0 everywhere, so that nothing was compared (backward: {analytic.any()})")
    kink = off > 10 * tolerance * scale
    for at, wanted in zip(np.array(places)[~kink], slopes[~kink, 1]):
        got = analytic[tuple(at)]
        if not abs(got - wanted) / scale < tolerance:
            raise AssertionError(f"{name}{at.tolist()}: backward {got}, differences {wanted}, largest {scale}")
    ensure(kink.sum() <= kinks * len(places), f"{name}: {kink.sum()} of {len(places)} points sit on a kink")


def drawn(gradient: Numpy, samples: int, rng: np.random.Generator) -> Numpy:
    """Numbers of elements, each once: half of them where the gradient is not 0, so that a sparse one is compared too."""
    sloped = rng.permutation(np.flatnonzero(gradient))[: samples // 2]
    others = rng.permutation(np.setdiff1d(np.arange(gradient.size), sloped))
    return np.concatenate([sloped, others[: samples - sloped.size]])


def slope(
    forward: Callable[[], list[Numpy]], x: AnyArray, at: tuple[Any, ...], h: float, upstream: Sequence[Numpy]
) -> float:
    """The central difference of sum(top * upstream) in x[at]; tops are subtracted first, which loses no digits."""
    value = float(x[at])
    x[at] = value + h
    after = forward()
    x[at] = value - h
    before = forward()
    x[at] = value
    return sum(float(((a - b) * u).sum()) for a, b, u in zip(after, before, upstream)) / (2 * h)


def check_contract(rig: Rig, upstream: Sequence[Numpy], down: Sequence[bool]) -> None:
    """Backward overwrites bottom diffs, adds to parameter diffs, and leaves alone what is not asked for."""
    layer = rig.layer
    firsts, params = rig.backward(upstream, down), rig.param_diffs()

    def same(got: Sequence[Numpy], wanted: Sequence[Numpy], subject: str) -> None:
        for i, (a, b) in enumerate(zip(got, wanted, strict=True)):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-9 * np.abs(b).max(initial=0), err_msg=f"{subject} {i}")

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
            ensure(np.isnan(got[i]).all(), f"bottom {i}: its diff was written although propagate_down is false")
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


def ensure(condition: object, message: str) -> None:
    """Raises AssertionError with the message unless the condition holds; also where Python leaves out `assert`."""
    if not condition:
        raise AssertionError(message)
