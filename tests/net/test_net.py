"""Net: building, running, gradients, weights, and the whole nets that Caffe recorded."""

from __future__ import annotations

import copy
import pickle
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from harness import close
from shared import golden, recorded

from boxpresso import BoxpressoError, Layer, LayerError, ModelError, Net
from boxpresso.layers.core import REGISTRY, discover
from boxpresso.proto import NetParameter, V1LayerParameter, parse_net

SMALL = """
name: "small" force_backward: true
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 2 dim: 3 dim: 6 dim: 6 } } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
        convolution_param { num_output: 4 kernel_size: 3 weight_filler { type: "msra" } } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "a" type: "InnerProduct" bottom: "conv" top: "a" inner_product_param { num_output: 2 weight_filler { type: "xavier" } } }
layer { name: "b" type: "InnerProduct" bottom: "conv" top: "b" inner_product_param { num_output: 5 weight_filler { type: "xavier" } } }
"""


def small(**options) -> Net:
    return Net(parse_net(SMALL), device="cpu", seed=1, **options)


@pytest.mark.parametrize("path", golden("caffe/Net"), ids=lambda p: p.stem)
def test_caffe(path, device):
    case = recorded(path)
    net = Net(parse_net(str(case["prototxt"])), phase=str(case["phase"]), device=device)
    assert list(net.blobs) == list(case["blob_order"])
    assert net.layer_names == list(case["layer_order"])
    assert net.outputs == list(case["outputs"])
    assert [net.blob_loss_weights[name] for name in net.blobs] == list(case["loss_weights"])
    for name, blobs in net.params.items():
        for i, blob in enumerate(blobs):
            blob.data[...] = case[f"param_{name}_{i}"]
    net.forward(**{key[3:]: case[key] for key in case if key.startswith("in_")})
    for name, blob in net.blobs.items():
        if f"blob_{name}" in case:
            close(np.asarray(blob.data), case[f"blob_{name}"], title=f"blob {name}")
    net.clear_param_diffs()
    net.backward(**{key[8:]: case[key] for key in case if key.startswith("outdiff_")})
    for name, blob in net.blobs.items():
        if f"diff_{name}" in case:
            close(np.asarray(blob.diff), case[f"diff_{name}"], title=f"diff {name}")
    for name, blobs in net.params.items():
        # A vendor's library adds these up in another order, and the shares of two layers in one parameter may cancel.
        keys = [f"diff_{top}" for top in net.top_names[name]]
        terms = max((float(np.abs(case[key]).max(initial=0)) for key in keys if key in case), default=0.0)
        for i, blob in enumerate(blobs):
            if f"param_diff_{name}_{i}" in case:
                wanted = case[f"param_diff_{name}_{i}"]
                close(np.asarray(blob.diff), wanted, title=f"parameter diff {name} {i}", terms=terms)
            if f"param_after_{name}_{i}" in case:
                close(np.asarray(blob.data), case[f"param_after_{name}_{i}"], title=f"parameter {name} {i} after")


def test_the_surface_is_pycaffes():
    net = small()
    assert list(net.params) == ["conv", "a", "b"]
    assert net.params["conv"][0].data.shape == (4, 3, 3, 3)
    assert net.inputs == ["data"]
    assert net.outputs == ["a", "b"]
    assert net.layer_dict["conv"].type == "Convolution"
    assert net.bottom_names["relu"] == ["conv"]
    assert net.top_names["relu"] == ["conv"]
    assert net._layer_names == net.layer_names
    assert "conv_relu_0_split_1" in net.blobs
    out = net.forward(data=np.ones((2, 3, 6, 6)), blobs=["conv"])
    assert set(out) == {"a", "b", "conv"}
    assert net.blobs["data"].data[0, 0, 0, 0] == 1


def test_part_of_a_net_runs():
    net = small()
    data = np.random.default_rng(0).standard_normal((2, 3, 6, 6))
    whole = net.forward(data=data, blobs=["conv"])
    out = net.forward(data=data, end="relu")
    np.testing.assert_array_equal(out["conv"], whole["conv"])
    net.blobs["conv"].data[...] = 0
    out = net.forward(start="conv_relu_0_split")
    assert not out["a"].any()
    with pytest.raises(ModelError, match="no layer 'rellu'; did you mean 'relu'"):
        net.forward(end="rellu")


def test_backward_is_the_gradient_of_the_outputs():
    net = small(dtype=np.float64)
    rng = np.random.default_rng(0)
    data, up = rng.standard_normal((2, 3, 6, 6)), rng.standard_normal((2, 2))
    value = lambda x: float((net.forward(data=x)["a"] * up).sum())  # noqa: E731
    value(data)
    grad = net.backward(a=up, b=np.zeros((2, 5)))["data"]
    for at in [(0, 0, 2, 3), (1, 2, 5, 5)]:
        ends = []
        for step in (1e-5, -1e-5):
            moved = data.copy()
            moved[at] += step
            ends.append(value(moved))
        assert abs((ends[0] - ends[1]) / 2e-5 - grad[at]) < 1e-7


def test_parameter_diffs_add_up_until_cleared():
    net = small()
    net.forward(data=np.ones((2, 3, 6, 6)))
    up = {"a": np.ones((2, 2)), "b": np.ones((2, 5))}
    net.backward(**up)
    once = net.params["conv"][0].diff.copy()
    net.backward(**up)
    np.testing.assert_allclose(net.params["conv"][0].diff, 2 * once, rtol=1e-5)
    net.clear_param_diffs()
    assert not net.params["conv"][0].diff.any()


def test_an_input_of_another_size_reshapes_the_net():
    text = SMALL.split('layer { name: "a"')[0]
    net = Net(parse_net(text), device="cpu")
    assert net.forward(data=np.zeros((5, 3, 8, 9)))["conv"].shape == (5, 4, 6, 7)
    net.blobs["data"].reshape(1, 3, 4, 4)
    net.reshape()
    assert net.blobs["conv"].shape == (1, 4, 2, 2)
    assert net.forward(data=np.zeros((0, 3, 8, 9)))["conv"].shape == (0, 4, 6, 7)


def test_forward_all_runs_in_batches():
    net = small()
    data = np.random.default_rng(0).standard_normal((5, 3, 6, 6)).astype(np.float32)
    out = net.forward_all(data=data)
    assert out["a"].shape == (5, 2)
    np.testing.assert_allclose(out["a"][4], net.forward(data=data[[4, 4]])["a"][0], rtol=1e-5)
    outs, backs = net.forward_backward_all(data=data, a=np.ones((5, 2)), b=np.zeros((5, 5)))
    np.testing.assert_allclose(outs["a"], out["a"], rtol=1e-5)
    assert backs["data"].shape == data.shape


def test_the_same_bits_on_every_run_and_for_every_number_of_threads():
    seen = []
    for workers in (1, 2, 3):
        net = small()
        keep, net.device.workers = net.device.workers, workers
        try:
            net.forward(data=np.random.default_rng(0).standard_normal((2, 3, 6, 6)))
            net.backward(a=np.ones((2, 2)), b=np.ones((2, 5)))
        finally:
            net.device.workers = keep
        seen.append([net.blobs["a"].data.copy(), net.blobs["data"].diff.copy(), net.params["conv"][0].diff.copy()])
    for other in seen[1:]:
        for one, two in zip(seen[0], other):
            np.testing.assert_array_equal(one, two)


def test_weights_are_saved_and_read(tmp_path):
    net, other = small(), Net(parse_net(SMALL), device="cpu", seed=2)
    assert not np.array_equal(net.params["a"][0].data, other.params["a"][0].data)
    net.save(tmp_path / "x.caffemodel")
    other.copy_from(tmp_path / "x.caffemodel")
    for name in net.params:
        for one, two in zip(net.params[name], other.params[name]):
            np.testing.assert_array_equal(one.data, two.data)
    third = Net(parse_net(SMALL), tmp_path / "x.caffemodel", device="cpu", seed=3)
    np.testing.assert_array_equal(third.params["b"][0].data, net.params["b"][0].data)


def test_share_with():
    net, other = small(), small()
    other.share_with(net)
    net.params["a"][0].data[...] = 5
    assert (other.params["a"][0].data == 5).all()


def test_share_with_shares_all_or_nothing():
    text = """layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 3 } } }
        layer { name: "a" type: "InnerProduct" bottom: "x" top: "a" inner_product_param { num_output: 4 } }
        layer { name: "b" type: "InnerProduct" bottom: "a" top: "b" inner_product_param { num_output: %d } }"""
    net, other = (Net(parse_net(text % count), device="cpu", lazy=True) for count in (4, 5))
    other.params["a"][0].data[...] = 5
    with pytest.raises(ModelError, match=r"layer 'b' cannot share.*\(4, 4\).*\(5, 4\)"):
        net.share_with(other)
    assert not (net.params["a"][0].data == 5).any()
    with pytest.raises(ModelError, match=r"float32 on cpu cannot share .* float64 on cpu"):
        net.share_with(Net(parse_net(text % 4), device="cpu", dtype=np.float64, lazy=True))


@pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy, lambda blob: pickle.loads(pickle.dumps(blob))])
def test_a_copy_of_a_blob(copied):
    """Of a parameter and of what a plan leaves out: with memory of its own, and of no net."""
    net = small()
    net.forward(data=np.ones((2, 3, 6, 6)))
    for blob in (net.params["a"][0], *net.blobs.values()):
        other = copied(blob)
        np.testing.assert_array_equal(other.data, blob.data)
        np.testing.assert_array_equal(other.diff, blob.diff)
        other.data[...] = 7
        assert not (np.asarray(blob.data) == 7).any()
    assert list(copy.deepcopy(net.params)) == list(net.params)
    with pytest.raises(LayerError, match=r"'a' is a part of its net"):
        copied(net.layer_dict["a"])


def test_of_layers_of_one_name_start_and_end_mean_the_first():
    """As in pycaffe."""
    net = Net(parse_net("""layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 } } }
        layer { name: "p" type: "Power" bottom: "x" top: "y" power_param { shift: 1 } }
        layer { name: "p" type: "Power" bottom: "y" top: "z" power_param { shift: 1 } }"""), device="cpu")  # fmt: skip
    assert net.forward(x=[1], end="p") == {"y": 2}
    net.blobs["x"].data[...] = 5
    assert net.forward(start="p") == {"z": 7}


def test_without_a_loss_backward_says_so():
    net = Net(parse_net(SMALL.replace("force_backward: true", "")), device="cpu")
    net.forward(data=np.zeros((2, 3, 6, 6)))
    with pytest.warns(UserWarning, match="backward does nothing"):
        net.backward()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        net.backward()  # once is enough


def test_an_explicit_propagate_down_false_wins_over_force_backward():
    text = SMALL.replace('type: "Convolution" bottom', 'type: "Convolution" propagate_down: false bottom')
    net = Net(parse_net(text), device="cpu", seed=1)
    net.forward(data=np.random.default_rng(0).standard_normal((2, 3, 6, 6)))
    net.backward(a=np.ones((2, 2)))
    assert not net.blobs["data"].diff.any()
    assert net.params["conv"][0].diff.any()


def test_a_blob_in_place_that_is_cut_off_has_the_gradient_of_its_layer():
    """`b` is read where propagate_down is false; the layer in place has another top, whose gradient `b` had before it."""

    class Tripled(Layer, type="NetTestTripled", bottoms=1, tops=2, in_place=True):
        def reshape(self, bottom, top):
            top[1].reshape(*bottom[0].shape)

        def forward(self, bottom, top):
            top[1].data[...] = 3 * bottom[0].data

        def backward(self, top, propagate_down, bottom):
            bottom[0].diff[...] = 3 * top[1].diff

    net = Net(parse_net("""
        layer { name: "x" type: "Input" top: "x" top: "t" input_param { shape { dim: 2 dim: 3 } shape { dim: 2 dim: 4 } } }
        layer { name: "w" type: "InnerProduct" bottom: "x" top: "b" inner_product_param { num_output: 4 bias_term: false
                weight_filler { type: "xavier" } } }
        layer { name: "3" type: "NetTestTripled" bottom: "b" top: "b" top: "c" }
        layer { name: "r" type: "InnerProduct" propagate_down: false bottom: "b" top: "r" inner_product_param { num_output: 4 } }
        layer { name: "one" type: "EuclideanLoss" bottom: "r" bottom: "t" top: "one" }
        layer { name: "two" type: "EuclideanLoss" bottom: "c" bottom: "t" top: "two" }"""), device="cpu", seed=1)  # fmt: skip
    x, t = (
        np.random.default_rng(i).standard_normal(shape).astype(np.float32) for i, shape in enumerate([(2, 3), (2, 4)])
    )
    net.forward(x=x, t=t)
    net.backward()
    wanted = 3 * (3 * x @ net.params["w"][0].data.T - t).T @ x / 2
    close(net.params["w"][0].diff, wanted, 1e-5)


def test_backward_needs_a_forward_of_the_same_shapes():
    """Kernels would write as many elements as that forward had, beyond the end of smaller arrays."""
    net = small()
    net.forward(data=np.zeros((4, 3, 6, 6)))
    net.blobs["data"].reshape(2, 3, 6, 6)
    net.forward(end="conv")
    with pytest.raises(
        LayerError, match=r"has the shape \(2, .*\), but had \(4, .*\) when the layer went forward; run forward"
    ):
        net.backward()
    net.forward()
    net.backward()


@pytest.mark.parametrize("optimize", [True, False])
@pytest.mark.parametrize("type", ["ReLU", "Power", "Concat"])
def test_backward_is_refused_where_a_top_has_another_shape_than_in_forward(type, optimize):
    """A script may give a later layer another blob to go on from: the layer that made it would write beyond its bottom."""
    text = f"""{{}}
        layer {{{{ name: "x" type: "Input" top: "x" input_param {{{{ shape {{{{ dim: 1 dim: 2 dim: 4 dim: 4 }}}} }}}} }}}}
        layer {{{{ name: "a" type: "{type}" bottom: "x" top: "y" }}}}
        layer {{{{ name: "s" type: "Scale" bottom: "y" top: "z" }}}}
        layer {{{{ name: "loss" type: "Reduction" bottom: "z" top: "loss" loss_weight: 1 }}}}"""
    for head in ("force_backward: true", ""):
        net = Net(parse_net(text.format(head)), device="cpu", optimize=optimize)
        net.forward(x=np.ones((1, 2, 4, 4)))
        net.blobs["y"].reshape(64, *net.blobs["y"].shape[1:])
        net.blobs["y"].data[...] = 1
        assert net.forward(start="s")["loss"] == net.blobs["y"].count
        net.backward(end="s")
        if head:
            with pytest.raises(
                LayerError, match=r"'a': a top has the shape \(64, .*\), but had \(1, .*\) when the layer went"
            ):
                net.backward()


RELU = 'layer { name: "r" type: "ReLU" propagate_down: false bottom: "p" top: "p" }'
CUT_OFF = {  # how `a` becomes `p`, which a layer in place cuts off, and `q`, which is not
    "in a view": ('layer { name: "v" type: "Flatten" bottom: "a" top: "p" }' + RELU, "a", slice(0, 4)),
    "in a view of a view": ('layer { name: "v" type: "Flatten" bottom: "a" top: "v" } layer { name: "p" type: "Reshape" bottom: "v" '
                            'top: "p" reshape_param { shape { dim: 0 dim: 4 } } }' + RELU, "a", slice(0, 4)),
    "alone in a Concat": ('layer { name: "v" type: "Concat" bottom: "a" top: "p" }' + RELU, "a", slice(0, 4)),
    "a part": ('layer { name: "v" type: "Slice" bottom: "a" top: "p" top: "q" slice_param { slice_point: 2 } }' + RELU, "q",
               slice(2, 4)),
}  # fmt: skip


@pytest.mark.parametrize("name", CUT_OFF)
@pytest.mark.parametrize("force", ["", "force_backward: true"], ids=["", "forced"])
def test_what_a_layer_in_place_cuts_off_gets_nothing_of_its_top(name, force):
    """The gradient of w is that of the loss of q alone, though p's lies in the memory that another blob's takes."""
    between, q, columns = CUT_OFF[name]
    net = Net(parse_net(f"""{force}
        layer {{ name: "x" type: "Input" top: "x" input_param {{ shape {{ dim: 5 dim: 3 }} }} }}
        layer {{ name: "w" type: "InnerProduct" bottom: "x" top: "a" inner_product_param {{ num_output: 4 bias_term: false
                weight_filler {{ type: "xavier" }} }} }}
        {between}
        layer {{ name: "one" type: "Reduction" bottom: "p" top: "one" loss_weight: 1 reduction_param {{ operation: SUMSQ }} }}
        layer {{ name: "two" type: "Reduction" bottom: "{q}" top: "two" loss_weight: 0.5 reduction_param {{ operation: SUMSQ }} }}
        """), phase="TRAIN", device="cpu", dtype=np.float64, seed=1)  # fmt: skip
    x, w = np.random.default_rng(0).standard_normal((5, 3)), np.array(net.params["w"][0].data)
    wanted = np.zeros((4, 3))
    wanted[columns] = (x @ w.T).T[columns] @ x
    for times in (1, 2):
        net.forward(x=x)
        net.backward()
        close(net.params["w"][0].diff, times * wanted, 1e-9)


@pytest.mark.parametrize("cut", ["BatchNorm", "Scale", "ReLU"])
@pytest.mark.parametrize("tops", ["ppp", "abc", "abb"])
def test_what_layers_that_train_together_cut_off_gets_nothing(cut, tops):
    """With force_backward each of them runs, and what lies before the one that cuts has the gradient 0."""
    names, text = (
        iter(["p", *tops]),
        """force_backward: true
        layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 5 dim: 3 } } }
        layer { name: "w" type: "InnerProduct" bottom: "x" top: "p" inner_product_param { num_output: 4
                weight_filler { type: "xavier" } } }""",
    )
    last = next(names)
    for kind in ("BatchNorm", "Scale", "ReLU"):
        down, bottom, last = "propagate_down: false" if kind == cut else "", last, next(names)
        text += f'layer {{ name: "{kind}" type: "{kind}" {down} bottom: "{bottom}" top: "{last}" }}'
    text += f'layer {{ name: "one" type: "Reduction" bottom: "{last}" top: "one" loss_weight: 1 }}'
    net = Net(parse_net(text), phase="TRAIN", device="cpu", seed=1)
    for _ in range(2):
        net.forward(x=np.random.default_rng(0).standard_normal((5, 3)))
        net.backward()
        assert not net.params["w"][0].diff.any()
        assert not net.blobs["x"].diff.any()
    assert net.params["Scale"][0].diff.any() == (cut != "ReLU")


READS_ITS_TOP = {
    "sigmoid": 'type: "Sigmoid" bottom: "a"', "tanh": 'type: "TanH" bottom: "a"', "exp": 'type: "Exp" bottom: "a"',
    "bnll": 'type: "BNLL" bottom: "a"', "softmax": 'type: "Softmax" bottom: "a"', "mvn": 'type: "MVN" bottom: "a"',
    "quotient": 'type: "Eltwise" bottom: "a" bottom: "x" eltwise_param { operation: PROD stable_prod_grad: false }',
}  # fmt: skip


@pytest.mark.parametrize("phase", ["TRAIN", "TEST"])
@pytest.mark.parametrize("name", [*READS_ITS_TOP, "relu", "relu and identity", "normalised"])
def test_a_top_that_a_later_layer_overwrites_has_the_gradient_of_its_values(name, phase, device):
    """As where that layer has a top of its own; the others are layers in place themselves."""
    own = {
        "relu": 'layer { name: "m" type: "ReLU" bottom: "a" top: "a" }',
        "relu and identity": 'layer { name: "m" type: "ReLU" bottom: "a" top: "a" } layer { name: "d" type: "Dropout" bottom: "a" top: "a" }',
        "normalised": """layer { name: "n" type: "BatchNorm" bottom: "a" top: "a" } layer { name: "s" type: "Scale" bottom: "a" top: "a" }
            layer { name: "m" type: "ReLU" bottom: "a" top: "a" }""",
    }.get(name) or f'layer {{ name: "m" {READS_ITS_TOP[name]} top: "y" }}'
    y = "y" if name in READS_ITS_TOP else "a"
    x, t = (np.random.default_rng(i).standard_normal((3, 4, 2, 5)) for i in range(2))
    diffs = []
    for last in (y, "z"):
        net = Net(parse_net(f"""force_backward: true
            layer {{ name: "x" type: "Input" top: "x" input_param {{ shape {{ dim: 3 dim: 4 dim: 2 dim: 5 }} }} }}
            layer {{ name: "a" type: "Power" bottom: "x" top: "a" power_param {{ scale: 2 shift: 0.5 }} }}
            {own}
            layer {{ name: "z" type: "Power" bottom: "{y}" top: "{last}" power_param {{ scale: -2 shift: 1 }} }}"""),
            device=device, phase=phase, seed=1, dtype=np.float64)  # fmt: skip
        net.forward(x=x)
        net.backward(**{last: t})
        diffs.append(np.array(net.blobs["x"].diff))
    close(*diffs, 1e-9)
    assert diffs[0].any()


def test_two_threads_in_one_net_are_refused():
    net = small()
    inside, go_on, seen = threading.Event(), threading.Event(), []

    class Slow(type(net.layers[0])):
        def forward(self, bottom, top):
            inside.set()
            go_on.wait(10)

    net.layers[0].__class__ = Slow
    thread = threading.Thread(target=lambda: seen.append(net.forward()))
    thread.start()
    inside.wait(10)
    try:
        for call in (net.forward, net.backward):
            with pytest.raises(BoxpressoError, match="net 'small' is running in another thread"):
                call()
    finally:
        go_on.set()
        thread.join()
    assert set(seen[0]) == {"a", "b"}
    net.forward()  # and afterwards all is as before


def test_nets_of_their_own_run_in_threads():
    nets = [small() for _ in range(4)]
    data = [np.random.default_rng(i).standard_normal((2, 3, 6, 6)) for i in range(4)]
    alone = [net.forward(data=x)["a"] for net, x in zip(nets, data)]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            together = list(pool.map(lambda pair: pair[0].forward(data=pair[1])["a"], zip(nets, data)))
            for one, two in zip(alone, together):
                np.testing.assert_array_equal(one, two)


def test_loss_weight():
    text = """
    layer { name: "d" type: "Input" top: "x" top: "y" input_param { shape { dim: 2 dim: 3 } } }
    layer { name: "fc" type: "InnerProduct" bottom: "x" top: "fc"
            inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
    layer { name: "loss" type: "EuclideanLoss" bottom: "fc" bottom: "y" LOSS }
    """
    grads, losses = [], []
    for rest in ('top: "l"', 'top: "l" loss_weight: 3', ""):
        net = Net(parse_net(text.replace("LOSS", rest)), device="cpu", seed=4, phase="TRAIN")
        net.forward(x=np.ones((2, 3)), y=np.zeros((2, 3)))
        net.backward()
        grads.append(net.params["fc"][0].diff.copy())
        losses.append(net.loss())
    np.testing.assert_allclose(grads[1], 3 * grads[0], rtol=1e-6)
    np.testing.assert_allclose(losses[1], 3 * losses[0], rtol=1e-6)
    np.testing.assert_array_equal(grads[2], grads[0])  # the top that the prototxt leaves out
    assert net.outputs == ["loss (automatic)"]


def test_parameters_of_one_name_are_one():
    text = """
    force_backward: true
    layer { name: "d" type: "Input" top: "x" input_param { shape { dim: 2 dim: 3 } } }
    layer { name: "a" type: "InnerProduct" bottom: "x" top: "a" param { name: "w" } inner_product_param { num_output: 3 bias_term: false } }
    layer { name: "b" type: "InnerProduct" bottom: "a" top: "b" param { name: "w" } inner_product_param { num_output: N bias_term: false } }
    """
    net = Net(parse_net(text.replace("N", "3")), device="cpu")
    net.params["a"][0].data[...] = 7
    assert (net.params["b"][0].data == 7).all()
    assert len(net.learnable) == 1
    with pytest.raises(LayerError, match=r"InnerProduct layer 'b'.*\(4, 3\).*'w'.*\(3, 3\).*PERMISSIVE"):
        Net(parse_net(text.replace("N", "4")), device="cpu")


@pytest.mark.parametrize("optimize", [True, False])
def test_a_single_number_that_is_shared_keeps_its_shape(optimize):
    """The slope of all channels, of shape (), is that of one channel, of shape (1,)."""
    text = """
    layer { name: "d" type: "Input" top: "x" input_param { shape { dim: 2 dim: 1 dim: 3 } } }
    layer { name: "e" type: "Input" top: "z" input_param { shape { dim: 2 dim: 9 dim: 3 } } }
    layer { name: "a" type: "Scale" bottom: "x" top: "a" param { name: "w" } }
    layer { name: "b" type: "PReLU" bottom: "z" top: "b" param { name: "w" share_mode: PERMISSIVE } prelu_param { channel_shared: true } }
    """
    net = Net(parse_net(text), device="cpu", optimize=optimize)
    net.params["a"][0].data[...] = 0.5
    assert net.params["b"][0].shape == ()
    z = np.random.default_rng(1).standard_normal((2, 9, 3)).astype(np.float32)
    assert np.array_equal(net.forward(z=z)["b"], np.where(z > 0, z, z / 2))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('bottom: "data" top: "conv"', 'bottom: "dota" top: "conv"'), "'dota'.*data"),
        (('top: "a"', 'top: "conv"'), "'a'.*'conv'"),
        (('type: "ReLU"', 'type: "Relux"'), "layer 'relu' has the unknown type 'Relux'; did you mean 'ReLU'"),
        (('type: "ReLU" bottom: "conv"', 'type: "ReLU" bottom: "conv" bottom: "data"'), "takes 1 bottoms, the prototxt gives 2"),
        (("kernel_size: 3", "kernel_size: 9"), "Convolution layer 'conv'"),
        (('layer { name: "a"', 'layer { name: "a" loss_weight: 1 loss_weight: 2'), "2 loss_weight values for 1 tops"),
        (('layer { name: "a"', 'layer { name: "a" propagate_down: true propagate_down: true'), "2 propagate_down values for 1 bottoms"),
    ],
)  # fmt: skip
def test_a_wrong_net_is_named(change, words):
    with pytest.raises((ModelError, LayerError), match=words):
        Net(parse_net(SMALL.replace(*change)), device="cpu")


def test_wrong_arguments_are_named():
    net = small()
    with pytest.raises(ModelError, match="'image' is not an input of the net; its inputs are: data"):
        net.forward(image=np.zeros(3))
    with pytest.raises(ModelError, match=r"input 'data' has the shape \(2, 3, 6, 6\), the array given \(5,\)"):
        net.forward(data=np.zeros(5))
    with pytest.raises(ModelError, match="'conv' is not an output"):
        net.backward(conv=np.zeros(3))
    with pytest.raises(ModelError, match="no blob 'cov'; did you mean 'conv'"):
        net.forward(data=np.zeros((2, 3, 6, 6)), blobs=["cov"])
    with pytest.raises(ModelError, match="phase must be"):
        Net(parse_net(SMALL), phase="train")
    with pytest.raises(ModelError, match="dtype must be"):
        Net(parse_net(SMALL), dtype=np.float16)


def test_an_input_of_another_width_cannot_change_parameters():
    net = small()
    with pytest.raises(LayerError, match="InnerProduct layer 'a'"):
        net.forward(data=np.zeros((2, 3, 9, 9)))


def test_a_message_in_an_old_form_is_upgraded():
    """Of `layers` there was a net without layers, and `input` was refused; only what came from a file was upgraded."""
    old = NetParameter(input=["x"], input_dim=[1, 1, 1, 2])
    old.layers.add(name="r", type=V1LayerParameter.RELU, bottom=["x"], top=["y"])
    net = Net(old, device="cpu")
    assert [layer.type for layer in net.layers] == ["Input", "ReLU"]
    assert net.forward(x=np.array([[[[-1, 2]]]]))["y"].ravel().tolist() == [0, 2]
    assert len(old.layers) == 1  # the caller's message is as it was


def test_debug_info(capsys):
    net = Net(parse_net("debug_info: true " + SMALL), device="cpu")
    net.forward(data=np.ones((2, 3, 6, 6)))
    net.backward(a=np.ones((2, 2)))
    said = capsys.readouterr().err
    assert "[Forward] Layer conv, top blob conv data: " in said
    assert "[Backward] Layer conv, param blob 0 diff: " in said
    values = [np.concatenate([np.ravel(getattr(b, kind)) for b, *_ in net.learnable]) for kind in ("data", "diff")]
    first = ", ".join(f"{np.abs(each.astype(float)).sum():.6g}" for each in values)
    second = ", ".join(f"{np.linalg.norm(each.astype(float)):.6g}" for each in values)
    line = f"    [Backward] All net params (data, diff): L1 norm = ({first}); L2 norm = ({second})"
    assert said.splitlines()[-1] == line  # as Caffe ends a backward pass
    net.backward(start="a", end="a", a=np.ones((2, 2)))
    assert "All net params" not in capsys.readouterr().err


def test_every_layer_says_what_it_is():
    discover()
    for cls in {c for c in REGISTRY.values() if c.__module__.startswith("boxpresso.")}:
        assert cls.__doc__, cls


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))], ids=["deepcopy", "pickle"]
)
def test_a_copy_of_a_net(copied):
    """It has the parameters and the inputs, and shares nothing."""
    text = """
        layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 3 dim: 8 dim: 8 } } }
        layer { name: "c" type: "Convolution" bottom: "x" top: "c" convolution_param { num_output: 4 kernel_size: 3
                weight_filler { type: "xavier" } } }
        layer { name: "r" type: "ReLU" bottom: "c" top: "c" }"""
    net = Net(parse_net(text), device="cpu", dtype=np.float64, seed=3)
    x = np.random.default_rng(0).standard_normal((1, 3, 9, 10))
    expected = net.forward(x=x)["c"]
    other = copied(net)
    assert (other.dtype, other.phase, other.blobs["c"].shape) == (np.float64, "TEST", (1, 4, 7, 8))
    np.testing.assert_array_equal(other.forward()["c"], expected)
    other.params["c"][0].data[...] = 0
    assert not other.forward()["c"].any()
    np.testing.assert_array_equal(net.forward()["c"], expected)
    with pytest.raises(BoxpressoError, match="deepcopy"):
        copy.copy(net)


def test_a_reshape_that_changes_nothing_keeps_what_backward_needs(device):
    """As in Caffe, where arrays stay: SoftmaxWithLoss has its probabilities still, and BatchNorm the batch's statistics."""
    text = """force_backward: true
        layer { name: "x" type: "Input" top: "x" top: "t" input_param { shape { dim: 4 dim: 3 } shape { dim: 4 } } }
        layer { name: "n" type: "BatchNorm" bottom: "x" top: "n" }
        layer { name: "l" type: "SoftmaxWithLoss" bottom: "n" bottom: "t" top: "l" }"""
    net = Net(parse_net(text), phase="TRAIN", device=device)
    x, labels = np.random.default_rng(0).normal(size=(4, 3)), np.array([0, 2, 1, 1])
    net.forward(x=x, t=labels)
    net.reshape()
    net.backward()
    spread = np.sqrt(x.var(0) + 1e-5)
    y = (x - x.mean(0)) / spread
    p = np.exp(y) / np.exp(y).sum(1, keepdims=True)
    dy = (p - np.eye(3)[labels]) / 4
    wanted = (dy - dy.mean(0) - y * (dy * y).mean(0)) / spread
    np.testing.assert_allclose(np.array(net.blobs["x"].diff), wanted, rtol=0, atol=1e-5)
    net.blobs["x"].reshape(2, 3)
    net.blobs["t"].reshape(2)
    net.reshape()
    assert net.blobs["n"].shape == (2, 3)
