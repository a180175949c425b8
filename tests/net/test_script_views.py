"""What a script sees of a net at TEST, in any order of calls: with the plan and layer by layer it is the same.

Each test is a short script that is run on two nets of the same weights; `tests/fuzz/scripts.py` writes such scripts at random.
"""

from __future__ import annotations

import gc
import os
import signal
import threading

import numpy as np
import pytest
from plan_nets import HEADS, RESIDUAL, conv, data, layer, normal, relu

from boxpresso import Net
from boxpresso.device import Buffer
from boxpresso.layers.core import REGISTRY, Layer
from boxpresso.proto import parse_net
from boxpresso.proto.errors import LayerError, ModelError
from boxpresso.run.runner import Runner

CHAIN = (
    data(1, 4, 12, 12) + conv("a", "data", 8) + layer("n", "BatchNorm", "a") + layer("s", "Scale", "n", text="scale_param { bias_term: true }")
    + relu("r", "s") + conv("b", "s", 8, "kernel_size: 1") + relu("t", "b")
    + layer("ip", "InnerProduct", "b", text='inner_product_param { num_output: 5 weight_filler { type: "xavier" } }')
    + layer("p", "Softmax", "ip")
)  # fmt: skip


def pair(text, **options):
    """The net with a plan, and the one layer by layer."""
    nets = [Net(parse_net(text), device="cpu", seed=3, optimize=on, **options) for on in (True, False)]
    rng = np.random.default_rng(5)
    for one, other in zip(*(net.layers for net in nets)):
        for i, (blob, copy) in enumerate(zip(one.blobs, other.blobs)):
            values = rng.random(blob.shape) + 0.5 if one.type == "BatchNorm" and i else rng.normal(0, 0.3, blob.shape)
            blob.data[...] = copy.data[...] = values
    return nets


def image(seed, net, images=1):
    return np.random.default_rng(seed).standard_normal((images, *net.blobs["data"].shape[1:])).astype(np.float32)


def agree(script, text=CHAIN, tolerance=2e-5, **options):
    """Runs a script on both nets and compares what it returns: arrays, or lists of them."""
    seen = [script(net) for net in pair(text, **options)]
    for a, b in zip(*(one if isinstance(one, list) else [one] for one in seen), strict=True):
        a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * max(1e-30, np.abs(b).max(initial=0)))
    return seen[0]


def test_weights_change_through_an_array_that_was_taken_before_the_first_forward():
    def script(net):
        held, x = net.params["b"][0].data[2:4], image(0, net)
        seen = [net.forward(data=x)["p"]]
        held[...] *= 3
        seen.append(net.forward(data=x)["p"])
        net.weights_changed()
        seen.append(net.forward(data=x)["p"])
        held[...] *= 2
        return [*seen, net.forward(data=x)["p"]]

    agree(script)


def test_weights_of_another_net_change_through_an_array():
    def script(net):
        other, x = Net(parse_net(CHAIN), device="cpu", seed=4), image(0, net)
        held = other.params["ip"][0].data
        net.share_with(other)
        seen = [net.forward(data=x)["p"]]
        held[...] = 0.25
        seen += [net.forward(data=x)["p"], other.forward(data=x)["p"]]
        other.params["b"][1].data[...] = 1
        return [*seen, other.forward(data=x)["p"], net.forward(data=x)["p"]]

    agree(script)


def test_a_blob_behind_a_parameter_layer_has_the_parameter_of_the_last_forward():
    """The layer's top is its parameter, in the same memory."""
    text = (
        layer("w", "Parameter", [], text="parameter_param { shape { dim: 1 dim: 4 dim: 8 dim: 9 } }")
        + conv("c", "w", 6) + layer("t", "Permute", "c", text="permute_param { order: 0 order: 2 order: 3 order: 1 }")
        + layer("f", "Flatten", "t") + layer("p", "Softmax", "f")
    )  # fmt: skip

    def script(net):
        net.forward()
        net.params["w"][0].data[...] *= 1.5
        seen = [np.array(net.blobs["f"].data), np.array(net.blobs["c"].data)]
        return [*seen, net.forward()["p"], np.array(net.blobs["c"].data)]

    agree(script, text)


def test_a_top_of_a_split_that_is_asked_for_after_its_bottom_was_written_to():
    """A layer works in place on the other top, so that each has memory of its own."""
    text = (
        data(3, 1, 9, 4) + layer("s", "Split", "data", tops=["a", "b"])
        + layer("m", "Pooling", "data", text="pooling_param { global_pooling: true }") + layer("r", "ReLU6", "a", "a")
        + conv("c", "b", 8, "kernel_size: 5 pad: 2")
    )  # fmt: skip

    def script(net):
        net.blobs["data"].data[...] = image(0, net, 3)
        net.forward()
        net.blobs["data_data_0_split_0"].data[...] = 0.25
        return [np.array(net.blobs["b"].data), net.blobs["a"].data]

    agree(script, text)


def test_a_blob_that_is_asked_for_has_the_weights_of_the_last_forward(tmp_path):
    def script(net):
        net.save(tmp_path / "w.caffemodel")
        x, seen = image(0, net), []
        net.forward(data=x)
        net.params["a"][0].data[...] *= 5
        seen.append(np.array(net.blobs["a"].data))
        net.params["b"][0].data[...] *= 5
        seen.append(np.array(net.blobs["b"].data))
        net.copy_from(tmp_path / "w.caffemodel")
        seen.append(np.array(net.blobs["n"].data))
        return [*seen, net.forward(data=x)["p"], net.params["a"][0].data]

    agree(script)


def test_a_blob_that_is_asked_for_after_a_net_of_the_same_weights_ran_with_others():
    def script(net):
        other = Net(parse_net(CHAIN), device="cpu", seed=4)
        net.share_with(other)
        net.forward(data=image(0, net))
        net.params["a"][0].data[...] *= 5
        other.forward(data=image(1, net))
        return [net.blobs["a"].data, net.blobs["b"].data]

    agree(script)


def test_a_net_whose_weights_another_net_changes_is_left_alone():
    """The other one may run in another thread, while this one runs or does not."""
    net, by_layers = pair(CHAIN)
    other, seen = Net(parse_net(CHAIN), device="cpu", seed=4), []
    other.share_with(net)

    class Seen(type(net.layer_dict["a"])):
        def forward(self, bottom, top):
            seen.append(threading.get_ident())
            super().forward(bottom, top)

    net.layer_dict["a"].__class__ = Seen
    for one in (net, other, by_layers):
        one.forward(data=image(0, net))
    wanted = [np.array(by_layers.blobs[name].data) for name in ("n", "b")]
    for factor in (3, -2):  # of each change, and the next
        other.params["a"][0].data[...] *= factor
        thread = threading.Thread(target=other.forward)
        thread.start()
        thread.join()
    assert seen == []
    for name, array in zip(("n", "b"), wanted):
        np.testing.assert_allclose(net.blobs[name].data, array, rtol=0, atol=1e-5)
    assert set(seen) == {threading.get_ident()}
    by_layers.params["a"][0].data[...] *= -6
    for one in (net, by_layers):
        one.forward()
    np.testing.assert_allclose(net.blobs["n"].data, by_layers.blobs["n"].data, rtol=0, atol=1e-4)


def test_weights_that_change_while_they_are_packed(monkeypatch):
    """As by another thread."""
    net, by_layers = pair(CHAIN)
    held, prepare, x = net.params["s"][0].data, Runner.prepare, image(0, net)

    def changed(runner, part):
        prepare(runner, part)
        held[...] = 0.25

    with monkeypatch.context() as patch:
        patch.setattr(Runner, "prepare", changed)
        net.forward(data=x)
    by_layers.params["s"][0].data[...] = 0.25
    np.testing.assert_allclose(net.forward()["p"], by_layers.forward(data=x)["p"], rtol=1e-5)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # from Python 3.12 on
def test_weights_change_in_a_fork_that_began_while_another_thread_compared_some():
    net, held, go_on = pair(CHAIN)[0], threading.Event(), threading.Event()
    net.forward(data=image(0, net))

    def compare():
        with Buffer.comparing:
            held.set()
            go_on.wait(10)

    thread = threading.Thread(target=compare)
    thread.start()
    held.wait(10)
    child = os.fork()
    if not child:
        seen = np.inf
        signal.alarm(10)
        try:
            for blob in net.params["ip"]:
                blob.data[...] = 0.25
            seen = np.ptp(net.forward()["p"])
        finally:
            os._exit(0 if seen < 1e-5 else 1)
    go_on.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("held", [False, True])
def test_a_blob_that_is_asked_for_has_the_inputs_of_the_last_forward(held):
    def script(net):
        array = net.blobs["data"].data if held else None
        net.blobs["data"].data[...] = image(0, net)
        net.forward()
        (array if held else net.blobs["data"].data)[...] = image(1, net)
        seen = [np.array(net.blobs[name].data) for name in ("a", "data")]
        return [*seen, net.forward()["p"], net.blobs["s"].data]

    agree(script)


def test_arrays_of_many_blobs_follow_the_forwards():
    def script(net):
        before = net.blobs["b"].data[0, :2]
        net.forward(data=image(0, net))
        seen = [np.array(before)]
        arrays = {name: blob.data for name, blob in net.blobs.items()}
        net.forward(data=image(1, net))
        return [*seen, before, *arrays.values()]

    agree(script)


def test_an_array_of_a_blob_that_layers_by_themselves_have_made_follows_the_plan():
    def script(net):
        net.forward(data=image(0, net))
        net.forward(start="ip")
        held = net.blobs["b"].data
        return [net.forward(data=image(1, net))["p"], held]

    agree(script)


def test_an_array_that_is_dropped_is_not_followed():
    net = pair(CHAIN)[0]
    net.forward(data=image(0, net))
    held = net.params["b"][0].data[1:]
    assert net.params["b"][0]._data.held
    net.forward(data=image(0, net))
    assert net.params["b"][0]._data.before is not None
    del held
    gc.collect()
    net.forward(data=image(0, net))
    assert net.params["b"][0]._data.before is None


@pytest.mark.parametrize("asked", ["blob", "forward"])
@pytest.mark.parametrize("kind", ["Interp", "Eltwise", "Slice", "Concat", "Pooling", "data"])
def test_a_blob_that_was_written_several_times_holds_the_last(kind, asked):
    makers = {
        "Interp": layer("i", "Interp", "data", text="interp_param { zoom_factor: 2 }"),
        "Eltwise": layer("q", "Power", "data", text="power_param { scale: 2 }") + layer("i", "Eltwise", ["data", "q"]),
        "Slice": layer("i", "Slice", "data", ["i", "j"], "slice_param { slice_point: 2 }") + conv("k", "j", 3),
        "Concat": layer("q", "Sigmoid", "data") + layer("i", "Concat", ["data", "q"]),
        "Pooling": layer("i", "Pooling", "data", text="pooling_param { kernel_size: 2 stride: 2 }"),
        "data": "",
    }
    name = "i" if makers[kind] else "data"
    text = data(1, 4, 8, 8) + makers[kind] + normal(name, name) + relu("r", name) + conv("c", name, 4)

    def script(net):
        seen = []
        for seed in range(2):
            out = net.forward(data=image(seed, net), blobs=[name] if asked == "forward" else [])
            seen += [out[name] if asked == "forward" else np.array(net.blobs[name].data), out["c"]]
        return [*seen, net.forward()["c"], net.blobs[name].data]  # again, on what is in the input

    agree(script, text)


def test_an_input_that_is_overwritten_in_place_is_the_input_of_the_next_forward():
    text = data(1, 4, 8, 8) + normal("data", "data") + conv("c", "data", 4)
    agree(lambda net: [net.forward(data=image(0, net))["c"], net.forward()["c"], net.forward()["c"]], text)


def test_an_input_that_is_overwritten_in_place_where_sums_are_not_finite():
    text = data(1, 32, 24, 24) + normal("data", "data") + conv("c", "data", 32)

    def script(net):
        x = image(0, net)
        x[0, 3, 4, 5] = np.inf
        return [np.nan_to_num(net.forward(data=x)["c"], posinf=0, neginf=0), np.isnan(net.blobs["c"].data)]

    agree(script, text, tolerance=1e-4)


@pytest.mark.parametrize("held", [False, True])
def test_edits_of_constants_last_until_the_next_forward(held):
    prior = layer("prior", "PriorBox", ["c", "data"], text="prior_box_param { min_size: 4 }")
    more = layer("one", "Concat", "prior", text="concat_param { axis: 2 }") + layer(
        "q", "Power", "one", text="power_param { scale: 2 }"
    )
    text = data(1, 4, 16, 16) + conv("c", "data", 8, "kernel_size: 3 stride: 8") + prior + more

    def script(net):
        seen, array = [], net.blobs["q"].data if held else np.zeros(1)
        for name in ("prior", "one", "q"):
            seen += net.forward(data=image(0, net)).values()
            net.blobs[name].data[...] = 7
            seen += [np.array(blob.data) for blob in net.blobs.values()]
        array[...] = 3
        return [*seen, *net.forward(data=image(0, net)).values(), net.blobs["prior"].data]

    agree(script, text)


def test_statistics_and_layers_of_users_run_once_a_forward():
    """Also where blobs are asked for, and where NaN makes the layers run by themselves."""

    class Counter(Layer, type="ScriptViewsCounter", bottoms=1, tops=1):
        calls = 0

        def reshape(self, bottom, top):
            top[0].reshape(*bottom[0].shape)

        def forward(self, bottom, top):
            type(self).calls += 1
            top[0].data[...] = bottom[0].data

    head = data(1, 32, 24, 24) + conv("a", "data", 32) + relu("ra", "a")
    norm = layer("n", "BatchNorm", "a", "a", "batch_norm_param { use_global_stats: false }")
    text = (
        head
        + norm
        + layer("k", "ScriptViewsCounter", "a", "k")
        + conv("b", "k", 32)
        + relu("rb", "b")
        + conv("c", "b", 4)
    )

    def script(net):
        Counter.calls, seen = 0, []
        for seed in range(3):
            x = image(seed, net)
            if seed == 1:
                x[0, 3, 4, 5] = np.nan
            net.forward(data=x)
            seen += [np.isnan(net.blobs["b"].data), [Counter.calls], np.isnan(net.blobs["a"].data)]
        return [*seen, *(np.nan_to_num(blob.data) for blob in net.params["n"])]

    try:
        agree(script, text, tolerance=1e-4)
    finally:
        del REGISTRY["scriptviewscounter"]


def test_a_layer_of_a_user_runs_in_each_forward_on_priors_too():
    """The priors are made once for a shape."""

    class Numbered(Layer, type="ScriptViewsNumbered", bottoms=1, tops=1):
        calls = 0

        def reshape(self, bottom, top):
            top[0].reshape(*bottom[0].shape)

        def forward(self, bottom, top):
            self.calls += 1
            top[0].data[...] = bottom[0].data + self.calls

    text = data(1, 4, 8, 8) + layer("prior", "PriorBox", ["data", "data"], text="prior_box_param { min_size: 4 }")
    text += layer("s", "Scale", "prior", text="scale_param { axis: 2 num_axes: 0 }") + layer(
        "k", "ScriptViewsNumbered", "s"
    )

    def script(net):
        seen = []
        for i in range(4):
            seen.append(net.forward(data=image(0, net))["k"])
            if i == 1:
                net.params["s"][0].data[...] *= 2
        return seen

    try:
        agree(script, text)
    finally:
        del REGISTRY["scriptviewsnumbered"]


@pytest.mark.parametrize("odd", ["before", "after"])
def test_a_layer_of_a_user_runs_once_on_what_the_layers_give_it(odd):
    """Sums that are not finite come before it, or are made of what it gives."""

    class Recorder(Layer, type="ScriptViewsRecorder", bottoms=1, tops=1, in_place=True):
        nans: list[int] = []

        def reshape(self, bottom, top):
            top[0].reshape(*bottom[0].shape)

        def forward(self, bottom, top):
            self.nans.append(int(np.isnan(bottom[0].data).sum()))
            top[0].data[...] = bottom[0].data
            if odd == "after":
                top[0].data[0, 5, 7, 8] = np.inf

    text = data(1, 32, 24, 24) + conv("a", "data", 32) + layer("k", "ScriptViewsRecorder", "a", "a")
    text += layer("q", "Power", "a", "a", "power_param { scale: 2 }") + conv("b", "a", 32) + relu("rb", "b")

    def script(net):
        Recorder.nans, seen = [], []
        for seed in range(2):
            x = image(seed, net)
            x[0, 3, 4, 5] = np.inf if odd == "before" else 1  # a transform makes NaN of it
            seen += [np.nan_to_num(net.forward(data=x)["b"], posinf=0), np.nan_to_num(net.blobs["a"].data, posinf=0)]
        return [*seen, Recorder.nans]

    try:
        agree(script, text, tolerance=1e-4)
    finally:
        del REGISTRY["scriptviewsrecorder"]


def test_parts_of_a_net_leave_the_rest_as_it_was():
    def script(net):
        net.forward(data=image(0, net))
        seen = [net.forward(end="n", data=image(1, net))["n"], *(np.array(net.blobs[n].data) for n in ("s", "b", "p"))]
        seen.append(net.forward(start="s")["p"])
        net.forward(data=image(2, net))
        net.blobs["b"].data[...] = 0.5
        return [*seen, net.forward(start="ip")["p"], net.forward(start="r", end="r")["s"], net.blobs["s"].data]

    agree(script)


@pytest.mark.parametrize("name", ["r", "t"])
def test_a_part_that_begins_with_a_layer_in_place(name):
    """It reads what the last forward has left there."""
    text = CHAIN.replace('"ReLU"', '"ELU"')  # not the same when done twice
    agree(lambda net: [net.forward(data=image(0, net))["p"], *net.forward(start=name, end=name).values()], text)


@pytest.mark.parametrize("text", [RESIDUAL, HEADS], ids=["residual", "heads"])
def test_shapes_that_change_between_forwards(text):
    def script(net):
        seen = []
        for images in (2, 1, 3, 1):
            out = net.forward(data=image(images, net, images))
            seen += [*out.values(), *(np.array(net.blobs[name].data) for name in ("a", "b"))]
        return seen

    agree(script, text)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("name", ["a", "b", "p"])
def test_a_blob_that_a_script_reshapes_has_its_shape_again_after_a_forward(name, when):
    def script(net):
        seen = [net.forward(data=image(0, net))["p"]] if when == "after" else []
        for shape in ((-1,), (0, 3)):  # as many elements, and none
            net.blobs[name].reshape(*(net.blobs[name].count if n < 0 else n for n in shape))
            seen += [net.forward(data=image(1, net))["p"], *(np.array(net.blobs[n].data) for n in ("a", "b"))]
        return seen

    agree(script)


def test_a_source_of_data_keeps_the_shape_that_a_script_gives_it():
    dummy = 'dummy_data_param { shape { dim: 1 dim: 4 dim: 8 dim: 8 } data_filler { type: "constant" value: 2 } }'
    text = data(1, 4, 8, 8) + layer("d", "DummyData", [], "d", dummy) + conv("c", "d", 6) + relu("r", "c")
    text += layer("s", "Silence", "data", [])

    def script(net):
        seen = [net.forward()["c"]]
        for shape in ((2, 4, 8, 8), (1, 4, 5, 6)):
            net.blobs["d"].reshape(*shape)
            seen += [net.forward()["c"], net.forward()["c"]]
        return seen

    agree(script, text)


def test_after_a_shape_that_a_layer_refuses():
    """Those before it have run, with what they carry on; its own reshape was not done when a forward needs it."""
    text = (
        data(2, 3, 7, 8) + layer("n", "BatchNorm", "data", text="batch_norm_param { use_global_stats: false }")
        + conv("a", "n", 4) + relu("r", "a") + layer("k", "InnerProduct", "a", text="inner_product_param { num_output: 5 axis: 2 }")
    )  # fmt: skip

    def script(net):
        x, seen = image(0, net, 2), []
        for _ in range(2):
            with pytest.raises(LayerError, match="layer 'k'"):
                net.forward(data=x[:, :, :6])
            seen += [np.array(blob.data) for blob in net.params["n"]]
            seen += [net.forward(data=x)["k"], net.blobs["a"].data]
        return seen

    agree(script, text)


def test_arrays_that_do_not_fit_change_nothing():
    text = data(1, 4, 8, 8) + layer("q", "Input", [], "q", "input_param { shape { dim: 1 dim: 4 dim: 8 dim: 8 } }")
    text += conv("a", "data", 4) + conv("b", "a", 4) + layer("s", "Eltwise", ["b", "q"])

    def script(net):
        net.forward(data=image(0, net), q=image(1, net))
        with pytest.raises(ModelError, match="'q' has the shape"):
            net.forward(data=image(2, net), q=np.zeros((2, 3)))
        with pytest.raises(ModelError, match="'unknown' is not an input"):
            net.forward(data=image(2, net), unknown=0)
        return [net.blobs["a"].data, net.blobs["data"].data, net.forward(q=2)["s"], net.blobs["b"].data]

    agree(script, text)


def test_numbers_of_images_that_a_permute_makes_channels():
    text = data(1, 8, 7, 9) + layer(
        "p", "Permute", "data", text="permute_param { order: 1 order: 0 order: 2 order: 3 }"
    )
    text += layer("q", "Power", "p", "p", "power_param { scale: 2 }") + relu(
        "r", "p", "relu_param { negative_slope: 0.5 }"
    )
    agree(lambda net: [net.forward(data=image(n, net, n))["p"] for n in (1, 40, 3, 40, 1)], text)


def test_constants_after_some_of_the_layers_have_run():
    text = (
        data(1, 4, 8, 8)
        + layer("prior", "PriorBox", ["data", "data"], text="prior_box_param { min_size: 4 }")
        + conv("c", "data", 3)
    )
    text += layer("e", "Exp", "prior", "prior")

    def script(net):
        seen = [net.forward(data=image(0, net))["prior"]]
        net.forward(end="c")
        return [*seen, net.forward(data=image(1, net))["prior"]]  # nobody has looked at it meanwhile

    agree(script, text)


def test_views_of_the_arrays_of_a_device(device):
    """What a part of an array is written to counts, whenever it was taken, and it follows the forwards."""
    seen = []
    for net in (
        Net(parse_net(CHAIN), device=device, seed=3),
        Net(parse_net(CHAIN), device="cpu", seed=3, optimize=False),
    ):
        weights, scales = net.params["b"][0].data[:2], net.params["n"][1].data.reshape(-1)
        row, x = net.blobs["b"].data[0, :3], image(0, net)
        results = [net.forward(data=x)["p"], np.array(row)]
        weights[...] *= -3
        results += [np.array(net.blobs["a"].data), net.forward(data=x)["p"], np.array(row)]
        scales[:4] += 2
        results += [np.array(net.blobs["s"].data), net.forward(data=x)["p"], np.array(row)]
        pixels = net.blobs["data"].data[0]
        np.copyto(net.blobs["data"].data, image(1, net))
        results += net.forward().values()
        pixels[...] = image(2, net)[0]
        results += net.forward().values()
        pixels *= 2
        scales[:4] += 1
        del pixels, scales  # they are gone before the next forward
        results += net.forward().values()
        np.add(net.params["ip"][1].data, 0.5, out=net.params["ip"][1].data)
        np.putmask(net.params["ip"][0].data, np.asarray(net.params["ip"][0].data) > 0, -0.125)
        np.add.at(net.params["b"][1].data, [0, 0, 1], 2.0)
        net.params["b"][0].data.flat = 0.25
        np.swapaxes(net.params["a"][0].data, 0, 1)[1] = 0.5
        seen.append([*results, *net.forward().values()])
    for one, other in zip(*seen, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=2e-5 * max(1, np.abs(other).max()))


@pytest.mark.parametrize("kind", ["Dropout", "Split", "Flatten"])
def test_what_is_the_same_as_rows_that_only_a_forward_chooses(kind):
    text = data(3, 4, 5, 6) + layer(
        "i", "InnerProduct", "data", text='inner_product_param { num_output: 1 weight_filler { type: "xavier" } }'
    )
    text += layer("h", "Threshold", "i") + layer("f", "Filter", ["data", "h"]) + layer("d", kind, "f")
    agree(lambda net: [net.forward(data=image(seed, net, 3))["d"] for seed in range(4)], text)


def test_priors_that_a_layer_with_parameters_overwrites():
    text = data(1, 4, 8, 8) + layer("prior", "PriorBox", ["data", "data"], text="prior_box_param { min_size: 4 }")
    text += layer("s", "Bias", "prior", "prior", "bias_param { axis: 2 num_axes: 0 filler { value: 3 } }")
    agree(lambda net: [net.forward(data=image(seed, net))["prior"] for seed in range(3)], text)


def test_a_backward_after_an_edit_of_the_input_leaves_blobs_of_the_last_forward():
    """What a backward runs again for its layers' sake reads the input of now; blobs are those of the input that was."""
    text = (
        data(1, 4, 6, 6) + layer("twice", "Concat", ["data", "data"]) + conv("a", "twice", 3)
        + layer("turned", "Permute", "a", text="permute_param { order: 0 order: 2 order: 3 order: 1 }")
        + layer("flat", "Flatten", "turned")
    )  # fmt: skip

    def script(net):
        net.forward(data=image(0, net))
        seen = [np.array(net.blobs["twice"].data)]
        net.forward()
        net.blobs["data"].data[...] = image(1, net)
        with pytest.warns(UserWarning, match="no loss"):
            net.backward()
        return [*seen, np.array(net.blobs["a"].data), np.array(net.blobs["twice"].data)]

    agree(script, text)
