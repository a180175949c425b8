"""Operators called again and again on arrays of a GPU: what a call launches is kept on a tape (device/tape.py) and made again on the
next arrays of the same kinds. With a GPU and with the stand-in; what only the latter counts is looked at there alone."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import stand_in
from harness import calls_of, close
from test_ops import CASES, IDS, gradients

from boxpresso import ops
from boxpresso.device import open_device
from boxpresso.device.tape import Tape, Unrecordable
from boxpresso.layers.neuron.relu import ReLU
from boxpresso.ops.operator import Operator, Plan, local
from boxpresso.proto.limits import LIMITS

pytestmark = pytest.mark.cuda
RNG = np.random.default_rng(3)
X, ROIS = RNG.standard_normal((2, 5, 12, 14)), np.array([[0.0, 2, 3, 19, 17], [1, 4, 6, 22, 21], [0, 5, 5, 12, 13]])


@pytest.fixture
def gpu(monkeypatch):
    """The operators' own, as it is without BOXPRESSO_DEBUG: with it nothing is kept on tapes."""
    gpu = open_device("cuda")
    monkeypatch.setattr(gpu, "debug", False)
    ops.forget()
    yield gpu
    gpu.synchronize()


def there(gpu, arrays, dtype=np.float32):
    return {name: gpu.table(value, dtype) for name, value in arrays.items()}


def changed(arrays, turn):
    """Other values that fit: maps are others, and rows lie in another order."""
    mixed = {}
    for name, value in arrays.items():
        fixed = name in ("spatial_shapes", "level_start_index", "image_info", "box_indices")
        mixed[name] = value if fixed else np.roll(value, turn, 0) if len(value) > 1 else value * (1 + turn / 8)
    return mixed


def recorded():
    return [call for call in local.__dict__.get("calls", {}).values() if call.tapes]


@pytest.mark.parametrize(("name", "arrays", "options", "text"), CASES, ids=IDS)
def test_each_call_has_its_own_values(gpu, name, arrays, options, text):
    """Forward, and then backward, five times with other values."""
    op = getattr(ops, name)
    for turn in range(5):
        values = {key: value.astype(np.float32) for key, value in changed(arrays, turn).items()}
        result = op(**there(gpu, values), **options)
        wanted = op(**values, **options)
        close(np.asarray(result), wanted, rtol=1e-4, atol=1e-5, title=f"{name}, call {turn}")
    for turn in range(5):
        values = {key: value.astype(np.float32) for key, value in changed(arrays, turn).items()}
        grad = RNG.standard_normal(wanted.shape).astype(np.float32)
        slopes = op.backward(gpu.table(grad, np.float32), **there(gpu, values), **options)
        for key, value in op.backward(grad, **values, **options).items():
            close(np.asarray(slopes[key]), value, rtol=1e-3, atol=1e-4, title=f"{name}, call {turn}, gradient of {key}")
        assert list(slopes) == gradients(name, arrays)


@pytest.mark.parametrize(("name", "arrays", "options", "text"), CASES, ids=IDS)
def test_autograd_calls_have_their_own_values(gpu, name, arrays, options, text):
    """As torch calls them: a forward that keeps what its backward needs, other calls between, and a backward, five times. The arrays
    are ours, as torch has none on the stand-in's GPU."""
    torch = pytest.importorskip("torch")
    from boxpresso.ops.torch import Differentiable

    op = getattr(ops, name)
    for turn in range(5):
        values = {key: value.astype(np.float32) for key, value in changed(arrays, turn).items()}
        other = {key: value.astype(np.float32) for key, value in changed(arrays, turn + 1).items()}
        inputs, all_options = op.bind(**there(gpu, values), **options)
        asked = [key in gradients(name, arrays) for key in op.inputs]
        ctx = SimpleNamespace(needs_input_grad=[False, False, *asked])
        ctx.save_for_backward = lambda *saved, ctx=ctx: setattr(ctx, "saved_tensors", saved)
        result = Differentiable.forward(ctx, op, all_options, *inputs)
        wanted = op(**values, **options)
        if turn % 2:
            op(**there(gpu, other), **options)
        grad = RNG.standard_normal(wanted.shape).astype(np.float32)
        for _ in range(1 + (turn == 3)):  # and once more, when the call has gone back
            with torch.no_grad():  # as autograd calls it, where no second derivative is asked for
                slopes = Differentiable.backward(ctx, gpu.table(grad, np.float32))[2:]
            for key, slope, value in zip(op.inputs, slopes, slopes_of(op, grad, values, options), strict=True):
                if value is not None:
                    close(
                        np.asarray(slope), value, rtol=1e-3, atol=1e-4, title=f"{name}, call {turn}, gradient of {key}"
                    )
        close(np.asarray(result), wanted, rtol=1e-4, atol=1e-5, title=f"{name}, call {turn}")


def test_a_gradient_that_is_made_of_the_result(gpu):
    """No operator's backward reads the result in the caller's memory; one of TanH does."""
    tanh = Operator(describe_tanh, ["x"], [], [])
    for turn in range(5):
        x, grad = np.roll(X, turn, 3).astype(np.float32), RNG.standard_normal(X.shape).astype(np.float32)
        call = tanh.open([gpu.table(x, np.float32)], {}, ("autograd", True))
        call.forward(keep=True)
        if turn == 3:  # the forward was played, and the backward runs
            call.tapes = {True: call.tapes[True]}
        slope = call.backward(gpu.table(grad, np.float32), [True])[0]
        close(np.asarray(slope), grad * (1 - np.tanh(x) ** 2), rtol=1e-5, atol=1e-6, title=f"call {turn}")
        call.close()
    assert recorded()


def describe_tanh(x):
    return Plan("TanH", {})


def slopes_of(op, grad, values, options):
    grads = op.backward(grad, **values, **options)
    return [grads.get(key) for key in op.inputs]


def test_shapes_in_turn(gpu):
    """What the layer keeps for a shape is not that of another: such calls are launched as they were without a tape."""
    for turn in range(8):
        count = 3 - turn % 2
        x, rois = np.roll(X, turn, 3).astype(np.float32), ROIS[:count].astype(np.float32)
        result = ops.roi_align(*there(gpu, {"x": x, "rois": rois}).values(), (3, 2), 0.5, sampling_ratio=2)
        close(np.asarray(result), ops.roi_align(x, rois, (3, 2), 0.5, sampling_ratio=2), title=f"call {turn}")


def test_a_gradient_after_calls_of_other_values(gpu):
    """A forward that a gradient is wanted of (as autograd's) stands while tapes are played on the same layer."""
    from boxpresso.ops.operator import Call

    options = {"output_size": 3, "spatial_scale": 0.5, "layout": "NCHW"}
    options = {name: options.get(name, ops.roi_pool.defaults.get(name)) for name in ops.roi_pool.options}
    x, rois = (a.astype(np.float32) for a in (X, ROIS))
    ones = gpu.table(np.ones((3, 5, 3, 3)), np.float32)
    for _ in range(3):
        ops.roi_pool_backward(ones, *there(gpu, {"x": x, "rois": rois}).values(), 3, 0.5)
    mine = Call(ops.roi_pool, list(there(gpu, {"x": x, "rois": rois}).values()), options)
    grad = np.ones(np.asarray(mine.forward(keep=True)).shape, np.float32)
    ops.roi_pool_backward(ones, *there(gpu, {"x": np.roll(x, 1, 2), "rois": rois}).values(), 3, 0.5)
    assert recorded()
    slope = mine.backward(gpu.table(grad, np.float32), [True, False])[0]
    close(np.asarray(slope), ops.roi_pool_backward(grad, x, rois, 3, 0.5)["x"])


def test_a_limit_that_has_changed_is_seen(gpu, monkeypatch):
    """Regions of an adaptive grid are looked at by kernels that the limit was given to."""
    x, rois = there(gpu, {"x": X, "rois": ROIS}).values()
    for _ in range(4):
        ops.roi_align(x, rois, 3, 0.5)
    monkeypatch.setattr(LIMITS, "region_samples", 10)
    with pytest.raises(Exception, match="region_samples"):
        ops.roi_align(x, rois, 3, 0.5)
    monkeypatch.undo()
    monkeypatch.setattr(gpu, "debug", False)
    close(np.asarray(ops.roi_align(x, rois, 3, 0.5)), ops.roi_align(X.astype("f4"), ROIS.astype("f4"), 3, 0.5))


def test_arrays_of_a_net(gpu):
    """They are of another stream, which waits for the operator's, and is waited for."""
    other = gpu.with_stream()
    rois = ROIS.astype(np.float32)
    for turn in range(5):
        x = np.roll(X, turn, 2).astype(np.float32)
        source, target = other.table(x, np.float32), other.empty(x.shape, np.float32)
        ReLU.kernels.on(other).relu_forward(x.size, source, target, 0.5, np.inf)
        result = ops.roi_align(target, gpu.table(rois, np.float32), 3, 0.5, sampling_ratio=2)
        other.fill(target, 7)  # after the operator has read it
        wanted = ops.roi_align(np.where(x < 0, x / 2, x), rois, 3, 0.5, sampling_ratio=2)
        close(np.asarray(result), wanted, title=f"call {turn}")


def test_arguments_that_are_one_array(gpu):
    """The result of a call on one array twice is not that of a call on two."""
    x = X.astype(np.float32)
    for pair in ((x, x), (x, 2 - x), (x, x), (x, 3 - x), (x, x)):
        one, other = (gpu.table(a, np.float32) for a in pair)
        result = ops.correlation(one, one if pair[0] is pair[1] else other, kernel_size=3, stride=2, padding=1)
        close(np.asarray(result), ops.correlation(*pair, kernel_size=3, stride=2, padding=1), title="correlation")


def test_options_in_any_order():
    """The key of a call has its options by name: swapped numbers are other calls."""
    maps = RNG.standard_normal((1, 12, 8, 8)).astype(np.float32)
    rois, trans = ROIS[:1].astype(np.float32), np.zeros((1, 2, 2, 2), np.float32)
    options = {"spatial_scale": 0.5, "pooled_size": 2}
    first = ops.deformable_psroi_pool(maps, rois, trans, output_dim=3, group_size=2, **options)
    assert first.shape == (1, 3, 2, 2)
    other = ops.deformable_psroi_pool(
        maps[:, :4].repeat(3, 1)[:, :12], rois, trans, group_size=1, output_dim=12, **options
    )
    assert other.shape == (1, 12, 2, 2)
    again = ops.deformable_psroi_pool(maps, rois, trans, group_size=2, output_dim=3, **options)
    np.testing.assert_array_equal(again, first)
    swapped = {"group_size": 3, "output_dim": 2}
    with pytest.raises(Exception, match="channels"):
        ops.deformable_psroi_pool(maps, rois, trans, **swapped, **options)


def test_what_is_not_launches_alone_is_not_recorded(gpu):
    a, b = (gpu.table(X, np.float32) for _ in range(2))
    a.address(False)
    b.address(False)
    relu = ReLU.kernels.on(gpu)
    relu.relu_forward(a.size, a, b, 0.0, np.inf)

    def launches():
        relu.relu_forward(a.size, a, b, 0.0, np.inf)

    assert len(Tape(gpu, launches, [a, b]).launches) == 1
    for more in (lambda: b.fill(0), lambda: gpu.synchronize(), lambda: np.asarray(b), lambda: gpu.empty((3,), np.float32).address(True)):  # fmt: skip
        with pytest.raises(Unrecordable):
            Tape(gpu, lambda: (launches(), more()), [a, b])  # noqa: B023
    with pytest.raises(Unrecordable, match="one memory"):
        Tape(gpu, launches, [a, a])


def test_memory_of_a_result_is_lent_again_once_it_is_dropped(gpu):
    work = lambda: ops.roi_align(x, rois, 3, 0.5, sampling_ratio=2)  # noqa: E731
    x, rois = there(gpu, {"x": X, "rois": ROIS}).values()
    first, second = work(), work()
    view, wanted = first.buffer.memory, np.array(first)
    addresses = {first.address(False), second.address(False)}
    assert len(addresses) == 2
    del second
    third = work()
    assert {first.address(False), third.address(False)} == addresses
    del first
    assert work().address(False) not in addresses  # somebody holds the memory itself
    np.testing.assert_array_equal(np.asarray(third), wanted)
    del view, third
    ops.forget()
    assert gpu.spares == {}


@pytest.mark.skipif(not stand_in.active(), reason="needs the stand-in driver: python tests/stand_in/run.py")
def test_what_a_call_costs(gpu):
    """Launches, copies and waits are those of a call without a tape; functions of Python are a fourth."""
    x, rois = there(gpu, {"x": X, "rois": ROIS}).values()
    grad = gpu.table(np.ones((3, 5, 7, 7)), np.float32)
    forward = lambda: ops.roi_align(x, rois, 7, 0.5, sampling_ratio=2)  # noqa: E731
    backward = lambda: ops.roi_align_backward(grad, x, rois, 7, 0.5, sampling_ratio=2)  # noqa: E731
    for work, most in ((forward, 58), (backward, 80)):
        for _ in range(2):
            work()
        ops.forget()
        work()
        before = stand_in.counts()
        work()  # recorded
        plain = stand_in.since(before)
        assert recorded()
        before = stand_in.counts()
        work()
        played = stand_in.since(before)
        assert plain["launches"] == played["launches"] > 1
        assert (played["to_host"], played["to_device"], played["waits"], played["cleared"]) == (0, 0, 0, 0)
        assert calls_of(work) <= most
