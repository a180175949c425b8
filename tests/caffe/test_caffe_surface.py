"""boxpresso.caffe: Net, solvers and settings behave as pycaffe's do."""

from __future__ import annotations

import numpy as np
import pytest

from boxpresso import BoxpressoError, ModelError, caffe
from boxpresso.caffe import settings
from boxpresso.proto import BoxpressoWarning, read_net

NET = """name: "small" force_backward: true
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 2 dim: 3 dim: 4 dim: 4 } } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
  convolution_param { num_output: 2 kernel_size: 3 weight_filler { type: "gaussian" std: 0.3 } } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "ip" type: "InnerProduct" bottom: "conv" top: "ip"
  inner_product_param { num_output: 5 weight_filler { type: "gaussian" std: 0.3 } } }
layer { name: "prob" type: "Softmax" bottom: "ip" top: "prob" include { phase: TEST } }
layer { name: "deep" type: "Power" bottom: "ip" top: "deep" include { min_level: 1 } }
layer { name: "staged" type: "Power" bottom: "ip" top: "staged" include { stage: "extra" } }"""
TRAINING = """name: "line" layer { name: "x" type: "DummyData" top: "x" top: "y"
  dummy_data_param { shape { dim: 4 dim: 3 } data_filler { type: "constant" value: 1 } } }
layer { name: "fc" type: "InnerProduct" bottom: "x" top: "fc"
  inner_product_param { num_output: 3 weight_filler { type: "gaussian" std: 1 } } }
layer { name: "loss" type: "EuclideanLoss" bottom: "fc" bottom: "y" top: "loss" }"""


@pytest.fixture(autouse=True)
def on_cpu(monkeypatch):
    monkeypatch.setattr(settings, "_state", settings._State())
    monkeypatch.setenv("BOXPRESSO_DEVICE", "cpu")


@pytest.fixture
def prototxt(tmp_path):
    path = tmp_path / "net.prototxt"
    path.write_text(NET)
    return str(path)


@pytest.fixture
def weights(tmp_path, prototxt):
    path = tmp_path / "w.caffemodel"
    caffe.set_random_seed(3)
    caffe.Net(prototxt, caffe.TEST).save(path)
    return str(path)


def test_every_form_of_the_constructor(prototxt, weights):
    first = caffe.Net(prototxt, weights, caffe.TEST)
    for net in (
        caffe.Net(prototxt, caffe.TEST, weights=weights),
        caffe.Net(prototxt, phase=caffe.TEST, weights=weights),
        caffe.Net(network_file=prototxt, phase=1, weights=weights),
        caffe.Net(prototxt, weights=weights, phase=caffe.TEST),
        caffe.Net(prototxt, 1, 0, None, weights),
        caffe.Net(prototxt, weights, phase=caffe.TEST),
    ):
        np.testing.assert_array_equal(net.params["ip"][0].data, first.params["ip"][0].data)
        assert net.outputs == ["prob"]
    assert caffe.Net(prototxt, caffe.TRAIN).outputs == ["ip"]
    assert caffe.Net(prototxt, caffe.TEST, level=1).outputs == ["deep", "prob"]
    assert caffe.Net(prototxt, caffe.TEST, stages=["extra"]).outputs == ["prob", "staged"]


@pytest.mark.parametrize(
    ("args", "named", "words"),
    [
        ((), {}, "needs a prototxt and a phase"),
        (("NET",), {}, "needs a prototxt and a phase"),
        (("NET", "NET"), {}, "needs a prototxt and a phase"),
        (("NET", "TEST"), {}, "needs a prototxt and a phase"),  # a path of weights, and no phase
        (("NET", 1.0), {}, r"phase is caffe.TRAIN or caffe.TEST, got 1.0"),
        ((3, 1), {}, "takes a prototxt as a path, got 3"),
        (("NET", 1), {"weight": "x"}, "no argument 'weight'; did you mean 'weights'"),
        (("NET", 1), {"phase": 1}, "two values for 'phase'"),
        (("NET", 1), {"weights": 4}, "takes weights as a path"),
        (("NET", 1), {"stages": "A"}, "stages as a list"),
        (("NET", 1, 0, None, None, 7), {}, "at most 5 arguments"),
    ],
)
def test_type_errors(args, named, words, prototxt):
    with pytest.raises(TypeError, match=words):
        caffe.Net(*[prototxt if arg == "NET" else arg for arg in args], **named)


def test_missing_files_are_runtime_errors(prototxt, tmp_path):
    for make in (
        lambda: caffe.Net(str(tmp_path / "no.prototxt"), caffe.TEST),
        lambda: caffe.Net(prototxt, str(tmp_path / "no.caffemodel"), caffe.TEST),
        lambda: caffe.SGDSolver(str(tmp_path / "no.prototxt")),
        lambda: caffe.get_solver(str(tmp_path / "no.prototxt")),
    ):
        with pytest.raises(RuntimeError, match="Could not open file") as raised:
            make()
        assert isinstance(raised.value, ModelError)


def test_results_are_the_blobs_own_arrays(prototxt):
    net = caffe.Net(prototxt, caffe.TEST)
    data = np.random.default_rng(0).normal(size=(2, 3, 4, 4))
    out = net.forward(data=data, blobs=["ip"])
    assert set(out) == {"prob", "ip"}
    assert np.shares_memory(out["prob"], net.blobs["prob"].data)
    before = out["prob"].copy()
    net.forward(data=data + 1)
    assert not np.allclose(out["prob"], before)
    assert set(net.forward(end="conv")) == {"conv"}
    assert set(net.backward(start="ip", end="ip")) == {"conv"}
    diff = np.random.default_rng(1).normal(size=(2, 5))
    grads = net.backward(prob=diff, diffs=["ip"])
    assert set(grads) == {"data", "ip"}
    assert np.shares_memory(grads["data"], net.blobs["data"].diff)


def test_inputs_are_given_all_or_none_and_keep_the_batch(prototxt):
    net = caffe.Net(prototxt, caffe.TEST)
    with pytest.raises(ModelError, match="do not match net inputs"):
        net.forward(dta=np.zeros((2, 3, 4, 4)))
    with pytest.raises(ModelError, match=r"not batch sized.*reshape"):
        net.forward(data=np.zeros((1, 3, 4, 4)))
    with pytest.raises(ModelError, match="do not match net outputs"):
        net.backward(ip=np.zeros((2, 5)))
    net.blobs["data"].reshape(1, 3, 4, 4)
    assert net.forward(data=np.zeros((1, 3, 4, 4)))["prob"].shape == (1, 5)


def test_forward_all_joins_batches_and_drops_the_padding(prototxt):
    net = caffe.Net(prototxt, caffe.TEST)
    data = np.random.default_rng(0).normal(size=(5, 3, 4, 4)).astype(np.float32)
    out = net.forward_all(data=data, blobs=["ip"])
    diff = np.random.default_rng(1).normal(size=(5, 5)).astype(np.float32)
    both, grads = net.forward_backward_all(data=data, prob=diff, diffs=["ip"])
    assert out["prob"].shape == both["prob"].shape == (5, 5)
    for row in range(5):
        one = net.forward(data=np.repeat(data[row : row + 1], 2, 0), blobs=["ip"])
        for name in ("prob", "ip"):
            np.testing.assert_allclose(out[name][row], one[name][0], atol=1e-6)
            if name in both:
                np.testing.assert_allclose(both[name][row], one[name][0], atol=1e-6)
        back = net.backward(prob=np.repeat(diff[row : row + 1], 2, 0), diffs=["ip"])
        np.testing.assert_allclose(grads["data"][row], back["data"][0], atol=1e-6)
        np.testing.assert_allclose(grads["ip"][row], back["ip"][0], atol=1e-6)


@pytest.mark.parametrize("fused", [False, True])
def test_callbacks_see_every_layer_in_order(prototxt, fused, monkeypatch):
    monkeypatch.setattr(caffe.Net, "fused", fused)
    net = caffe.Net(prototxt, caffe.TEST)
    plain = caffe.Net(prototxt, caffe.TEST)
    plain.share_with(net)
    seen = []
    net.before_forward(lambda i: seen.append(("before", i)))
    net.after_forward(lambda i: seen.append(("after", i)))
    net.forward()
    last = len(net.layers)
    assert seen == [(when, i) for i in range(last) for when in ("before", "after")]
    np.testing.assert_array_equal(net.blobs["prob"].data, plain.forward()["prob"])
    seen.clear()
    net.before_backward(lambda i: seen.append(("before", i)))
    net.after_backward(lambda i: seen.append(("after", i)))
    net.backward(start="ip")
    first = net.layer_names.index("ip")
    assert seen == [(when, i) for i in range(first, -1, -1) for when in ("before", "after")]


def test_a_loss_diff_that_a_script_changed_stays(tmp_path):
    path = tmp_path / "n.prototxt"
    path.write_text(TRAINING)
    net = caffe.Net(str(path), caffe.TRAIN)
    net.forward()
    net.backward()
    once = net.params["fc"][0].diff.copy()
    net.clear_param_diffs()
    net.blobs["loss"].diff[...] = 3
    net.backward()
    np.testing.assert_allclose(net.params["fc"][0].diff, 3 * once, rtol=1e-6)
    other = caffe.Net(str(path), caffe.TRAIN)  # from its making on, before any backward
    assert other.blobs["loss"].diff == net.blob_loss_weights["loss"]
    other.share_with(net)
    other.blobs["loss"].diff[...] = 3
    for name in other.inputs:
        other.blobs[name].data[...] = net.blobs[name].data
    other.forward()
    other.backward()
    np.testing.assert_allclose(other.params["fc"][0].diff, 3 * once, rtol=1e-6)


def test_backward_of_a_part_ends_within_layers_that_train_together(tmp_path):
    """The diff of a blob that they share is that of the layer at which it ends."""
    path = tmp_path / "n.prototxt"
    path.write_text("""force_backward: true
        layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 1 dim: 2 dim: 2 } } }
        layer { name: "b" type: "BatchNorm" bottom: "x" top: "y" batch_norm_param { use_global_stats: true eps: 0.25 } }
        layer { name: "s" type: "Scale" bottom: "y" top: "y" scale_param { filler { type: "constant" value: 3 } } }
        layer { name: "r" type: "ReLU" bottom: "y" top: "y" }
        layer { name: "p" type: "Power" bottom: "y" top: "z" power_param { scale: 5 } }""")
    net = caffe.Net(str(path), caffe.TRAIN)
    net.blobs["x"].data[...] = [[1, -1], [2, -2]]
    net.forward()
    net.blobs["z"].diff[...] = 1
    assert net.backward(end="r")["y"].tolist() == [[[[5, 0], [5, 0]]]]
    assert net.backward(start="s", end="s")["y"].tolist() == [[[[15, 0], [15, 0]]]]
    assert net.backward(start="b")["x"].tolist() == [[[[30, 0], [30, 0]]]]


def test_what_pycaffes_own_code_reads(prototxt):
    net = caffe.Net(prototxt, caffe.TEST)
    names = list(net.blobs)
    assert net._layer_names == list(net.layer_dict)
    assert [names[i] for i in net._inputs] == net.inputs
    assert [names[i] for i in net._outputs] == net.outputs
    for i, name in enumerate(net._layer_names):
        assert [names[j] for j in net._bottom_ids(i)] == net.bottom_names[name]
        assert [names[j] for j in net._top_ids(i)] == net.top_names[name]
    assert net._blobs[0] is net.blobs[names[0]]
    assert len(net._blob_loss_weights) == len(names)


def test_hdf5_whatever_the_name(prototxt, tmp_path):
    pytest.importorskip("h5py")
    net, other = caffe.Net(prototxt, caffe.TEST), caffe.Net(prototxt, caffe.TEST)
    path = tmp_path / "no_ending"
    net.save_hdf5(str(path))
    assert path.read_bytes()[1:4] == b"HDF"
    assert [p.name for p in tmp_path.iterdir() if "part" in p.name] == []
    other.load_hdf5(str(path))
    np.testing.assert_array_equal(net.params["conv"][0].data, other.params["conv"][0].data)


def test_set_input_arrays(tmp_path):
    path = tmp_path / "n.prototxt"
    path.write_text(
        'layer { name: "m" type: "MemoryData" top: "x" top: "y" memory_data_param { batch_size: 2 channels: 1 height: 2 width: 3 } }'
    )
    net = caffe.Net(str(path), caffe.TEST)
    data = np.arange(24, dtype=np.float32).reshape(4, 1, 2, 3)
    labels = np.arange(4, dtype=np.float32)
    net.set_input_arrays(data, labels)
    net.forward()
    out = net.forward()
    np.testing.assert_array_equal(out["x"], data[2:])
    np.testing.assert_array_equal(out["y"], [2, 3])
    for bad, words in (
        ((data.astype(float), labels), "4-d float32"),
        ((data[:, :, :1], labels), "data array must be"),
        ((data, labels[:2]), "same first dimension"),
        ((data[:3], labels[:3]), "multiple of batch size"),
    ):
        with pytest.raises(RuntimeError, match=words):
            net.set_input_arrays(*bad)


def solver_file(tmp_path, text="", **files):
    (tmp_path / "net.prototxt").write_text(TRAINING)
    path = tmp_path / "solver.prototxt"
    path.write_text(
        'net: "net.prototxt" base_lr: 0.1 lr_policy: "inv" gamma: 1 power: 1 momentum: 0 max_iter: 8 '
        f'snapshot_prefix: "{tmp_path}/s" {text}'
    )
    return str(path)


def test_solver_with_pycaffes_methods(tmp_path):
    path = solver_file(tmp_path, "test_iter: 1 test_interval: 100")
    solver, seen = caffe.SGDSolver(path), []
    assert isinstance(solver.net, caffe.Net)
    assert all(isinstance(net, caffe.Net) for net in solver.test_nets)
    assert solver.iter == 0
    assert solver.param.max_iter == 8
    assert solver.lr == pytest.approx(0.1)
    weight = solver.net.params["fc"][0]
    weight.data[...] = 0
    weight.diff[...] = 1
    solver.net.params["fc"][1].diff[...] = 0
    solver.apply_update()
    np.testing.assert_allclose(weight.data, -0.1, atol=1e-7)
    assert solver.iter == 1
    assert solver.lr == pytest.approx(0.05)
    np.testing.assert_array_equal(solver.test_nets[0].params["fc"][0].data, weight.data)
    solver.add_callback(lambda: seen.append("start"), lambda: seen.append("gradients"))
    solver.step(2)
    assert seen == ["start", "gradients"] * 2
    other = caffe.Net(str(tmp_path / "net.prototxt"), caffe.TEST)
    solver.share_weights(other)
    assert np.shares_memory(other.params["fc"][0].data, weight.data)
    solver.snapshot()
    again = caffe.get_solver(path)
    again.restore(str(tmp_path / "s_iter_3.solverstate"))
    assert again.iter == 3
    np.testing.assert_array_equal(again.net.params["fc"][0].data, weight.data)
    again.solve()
    assert again.iter == 8


def test_the_class_of_a_solver_decides_its_rule(tmp_path):
    adam = solver_file(tmp_path, 'type: "Adam"')
    assert type(caffe.get_solver(adam)) is caffe.AdamSolver
    assert caffe.SGDSolver(adam).param.type == "SGD"
    assert len(caffe.AdaDeltaSolver(adam).history[0]) == 2
    with pytest.raises(TypeError, match="takes the path"):
        caffe.SGDSolver(3)
    for cls in (caffe.NesterovSolver, caffe.AdaGradSolver, caffe.RMSPropSolver):
        assert issubclass(cls, caffe.SGDSolver)


def test_a_seed_makes_nets_equal(prototxt):
    def make():
        caffe.set_random_seed(7)
        return [caffe.Net(prototxt, caffe.TEST).params["conv"][0].data.copy() for _ in range(2)]

    first, second = make(), make()
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first[0], first[1])


def test_gpu_mode_without_a_gpu_says_so(monkeypatch, prototxt):
    monkeypatch.delenv("BOXPRESSO_DEVICE")
    monkeypatch.setattr(settings, "devices", lambda: ["cpu"])
    caffe.set_device(1)
    with pytest.warns(BoxpressoWarning, match="no GPU answers"):
        caffe.set_mode_gpu()
    assert caffe.Net(prototxt, caffe.TEST).device.kind == "cpu"
    monkeypatch.setattr(settings, "devices", lambda: ["cpu", "cuda:0", "cuda:1"])
    assert settings.device_name() == "cuda:1"
    caffe.set_mode_cpu()
    assert settings.device_name() == "cpu"


def test_small_things(capsys):
    assert {"Data", "Convolution", "InnerProduct", "Python", "DetectionOutput"} <= set(caffe.layer_type_list())
    assert (caffe.TRAIN, caffe.TEST, caffe.caffe_pb2.TRAIN, caffe.caffe_pb2.TEST) == (0, 1, 0, 1)
    assert str(caffe.TEST) == "TEST"
    assert caffe.has_nccl() is False
    for make in (lambda: caffe.NCCL(None, b""), caffe.NCCL.new_uid):
        with pytest.raises(BoxpressoError, match="mpirun"):
            make()
    caffe.set_solver_count(2)
    caffe.set_solver_rank(1)
    caffe.set_multiprocess(True)
    assert (caffe.solver_count(), caffe.solver_rank()) == (2, 1)
    timer = caffe.Timer()
    timer.start()
    timer.stop()
    assert timer.ms == timer.ms >= 0
    caffe.log("hello")
    caffe.init_log(1, True)
    caffe.log("silence")
    assert [line.split("] ")[1] for line in capsys.readouterr().err.splitlines()] == ["hello"]


def test_classifier_and_detector(prototxt, weights, tmp_path):
    from PIL import Image

    rng = np.random.default_rng(0)
    image = rng.integers(0, 256, (9, 12, 3), dtype=np.uint8)
    Image.fromarray(image).save(tmp_path / "i.png")
    loaded = caffe.io.load_image(tmp_path / "i.png")
    mean = np.array([1.0, 2.0, 3.0])
    options = {"mean": mean, "raw_scale": 255.0, "channel_swap": (2, 1, 0), "input_scale": 0.01}
    classifier = caffe.Classifier(prototxt, weights, image_dims=(6, 6), **options)
    ten, centre = classifier.predict([loaded, loaded]), classifier.predict([loaded], oversample=False)
    assert ten.shape == (2, 5)
    np.testing.assert_allclose(ten.sum(1), 1, atol=1e-5)
    small = caffe.io.resize_image(loaded, (6, 6))
    net = caffe.Net(prototxt, weights, caffe.TEST)

    def run(crop):
        value = (crop[:, :, ::-1].transpose(2, 0, 1) * 255 - mean[:, None, None]) * 0.01
        return net.forward(data=np.repeat(value[None], 2, 0))["prob"][0].copy()

    np.testing.assert_allclose(centre[0], run(small[1:5, 1:5]), atol=1e-5)
    crops = [small[y : y + 4, x : x + 4] for y, x in ((0, 0), (0, 2), (2, 0), (2, 2), (1, 1))]
    crops += [crop[:, ::-1] for crop in crops]
    np.testing.assert_allclose(ten[0], np.mean([run(crop) for crop in crops], 0), atol=1e-5)

    detector = caffe.Detector(prototxt, weights, **options)
    window = np.array([1, 2, 7, 9])
    rows = detector.detect_windows([(str(tmp_path / "i.png"), [window, window])])
    assert [row["filename"] for row in rows] == [str(tmp_path / "i.png")] * 2
    np.testing.assert_allclose(rows[0]["prediction"], run(caffe.io.resize_image(loaded[1:7, 2:9], (4, 4))), atol=1e-5)
    padded = caffe.Detector(prototxt, weights, context_pad=1, **options)
    crop = padded.crop(loaded, np.array([0, 0, 9, 12]))
    assert crop.shape == (4, 4, 3)
    # half of the input is the window: around it lies the mean, in the colours of the image
    np.testing.assert_allclose(crop[0], np.tile(mean[::-1] / 255, (4, 1)), atol=1e-6)
    assert not np.allclose(crop[2, 2], mean[::-1] / 255)
    with pytest.raises(BoxpressoError, match="outside the image"):
        padded.crop(loaded, np.array([50, 50, 60, 60]))
    with pytest.raises(BoxpressoError, match="selective_search_ijcv_with_python"):
        padded.detect_selective_search(["x"])


def test_saved_weights_read_back_through_caffes_messages(prototxt, weights):
    with open(weights, "rb") as file:
        net = caffe.caffe_pb2.NetParameter.FromString(file.read())
    stored = {layer.name: [caffe.io.blobproto_to_array(blob) for blob in layer.blobs] for layer in net.layer}
    for name, blobs in caffe.Net(prototxt, weights, caffe.TEST).params.items():
        for blob, values in zip(blobs, stored[name]):
            np.testing.assert_array_equal(blob.data, values.astype(np.float32))
    assert [layer.type for layer in net.layer if layer.blobs] == ["Convolution", "InnerProduct"]
    assert read_net(prototxt).name == "small"
