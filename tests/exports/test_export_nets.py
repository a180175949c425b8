"""Whole nets as ONNX: detectors, folded weights, a batch of any size, what the file says of itself, and what is refused."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
import tiny_ssd
from exported import check, input_text, net_of, run_onnxruntime, values
from harness import close
from shared import SHARED, cases

from boxpresso import LayerError, ModelError, Net
from boxpresso.exports.operations import operations
from boxpresso.proto import parse_net

onnx = pytest.importorskip("onnx", reason="onnx is not installed")
pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

from boxpresso.exports import Preprocess, export_onnx, onnx_model  # noqa: E402
from boxpresso.exports.onnx import verify  # noqa: E402

CONV = (
    'type: "Convolution" convolution_param { num_output: %d kernel_size: %d pad: %d weight_filler { type: "xavier" } }'
)


def layer(name: str, bottoms: str, tops: str, rest: str) -> str:
    reads = " ".join(f'bottom: "{b}"' for b in bottoms.split())
    writes = " ".join(f'top: "{t}"' for t in tops.split())
    return f'layer {{ name: "{name}" {reads} {writes} {rest} }}\n'


def backbone(channels: int = 8) -> str:
    return (
        input_text("data", (1, 3, 64, 80))
        + layer("c1", "data", "c1", CONV % (channels, 3, 1))
        + layer("r1", "c1", "c1", 'type: "ReLU"')
        + layer("p1", "c1", "p1", 'type: "Pooling" pooling_param { kernel_size: 8 stride: 8 }')
    )


def rpn(anchors: int, proposal: str, columns: int = 4, tops: str = "rois") -> str:
    return (
        input_text("im_info", (1, 3))
        + layer("rpn", "p1", "rpn", CONV % (8, 3, 1))
        + layer("rpn_score", "rpn", "rpn_score", CONV % (2 * anchors, 1, 0))
        + layer("rpn_bbox", "rpn", "rpn_bbox", CONV % (columns * anchors, 1, 0))
        + layer(
            "shape2", "rpn_score", "score2", "type: 'Reshape' reshape_param { shape { dim: 0 dim: 2 dim: -1 dim: 0 } }"
        )
        + layer("prob2", "score2", "prob2", 'type: "Softmax"')
        + layer(
            "shape18",
            "prob2",
            "prob",
            f"type: 'Reshape' reshape_param {{ shape {{ dim: 0 dim: {2 * anchors} dim: -1 dim: 0 }} }}",
        )
        + layer("proposal", "prob rpn_bbox im_info", tops, proposal)
    )


def head(pool: str, bottoms: str) -> str:
    return (
        layer("pool", bottoms, "pool", pool)
        + layer("fc", "pool", "fc", 'type: "InnerProduct" inner_product_param { num_output: 16 weight_filler { type: "xavier" } }')
        + layer("fc_relu", "fc", "fc", 'type: "ReLU"')
        + layer("cls", "fc", "cls", 'type: "InnerProduct" inner_product_param { num_output: 5 weight_filler { type: "xavier" } }')
        + layer("cls_prob", "cls", "cls_prob", 'type: "Softmax"')
        + layer("bbox_pred", "fc", "bbox_pred", 'type: "InnerProduct" inner_product_param { num_output: 20 weight_filler { type: "xavier" } }')
    )  # fmt: skip


PROPOSAL = 'type: "Proposal" proposal_param { feat_stride: 8 scale: 1 scale: 2 scale: 4 post_nms_topn: 40 min_size: 6 }'
POOL = 'type: "ROIPooling" roi_pooling_param { pooled_h: 3 pooled_w: 3 spatial_scale: 0.125 }'
ROTATED = """type: "RotateProposal" python_param { param_str: "{'feat_stride': 8, 'scales': [1, 2], 'ratios': [0.5, 1],
    'angles': [-30, 0, 45], 'rpn_post_nms_top_n': 25, 'rpn_min_size': 4, 'rpn_nms_thresh': 0.6}" }""".replace("\n", " ")
TURNED = 'type: "RotateROIPooling" rotate_pooling_param { pooled_h: 3 pooled_w: 3 spatial_scale: 0.125 }'
SENSITIVE = 'type: "PSROIPooling" psroi_pooling_param { output_dim: 5 group_size: 3 spatial_scale: 0.125 }'
NETS = {
    "Faster R-CNN": backbone() + rpn(9, PROPOSAL) + head(POOL, "p1 rois"),
    "with scores": backbone() + rpn(9, PROPOSAL, tops="rois scores") + head(POOL, "p1 rois"),
    "RRPN": backbone() + rpn(12, ROTATED, 5) + head(TURNED, "p1 rois im_info"),
    "R-FCN": backbone() + rpn(9, PROPOSAL) + layer("maps", "p1", "maps", CONV % (45, 1, 0))
    + layer("sensitive", "maps rois", "sensitive", SENSITIVE)
    + layer("vote", "sensitive", "vote", 'type: "Pooling" pooling_param { pool: AVE kernel_size: 3 stride: 3 }')
    + layer("prob_r", "vote", "prob_r", 'type: "Softmax"')
    + layer("flat", "prob_r", "cls_prob", "type: 'Reshape' reshape_param { shape { dim: -1 dim: 5 } }"),
}  # fmt: skip


def published(module: str, name: str, settings: str = "") -> str:
    param_str = f'param_str: "{{{settings}}}"' if settings else ""
    return f'type: "Python" python_param {{ module: "{module}" layer: "{name}" {param_str} }}'


DENSE = 'type: "InnerProduct" inner_product_param { num_output: %d weight_filler { type: "xavier" } }'
SCALES = "'feat_stride': 8, 'scales': [1, 2, 4]"
STAGES = {  # of other programs' regions; read: what is compared
    "SSH": backbone() + rpn(9, published("SSH.layers.proposal_layer", "ProposalLayer", SCALES + ", 'n_dets_per_module': 60, "
                                         "'anchor_min_size': 9"), tops="boxes cls_prob"),
    "CTPN": backbone() + input_text("im_info", (1, 3)) + layer("score", "p1", "score", CONV % (6, 1, 0))
    + layer("sure", "score", "sure", 'type: "Sigmoid"') + layer("by", "p1", "by", CONV % (6, 1, 0))
    + layer("texts", "sure by im_info", "boxes cls_prob",
            published("layers.text_proposal_layer", "ProposalLayer", "'feat_stride': 8, 'heights': [11, 16, 30]")),
    "MNC": backbone() + rpn(9, published("pylayer.proposal_layer", "ProposalLayer", SCALES + ", 'rpn_post_nms_top_n': 25, "
                                         "'rpn_min_size': 6"), tops="rois numbers") + head(POOL, "p1 rois")
    + layer("next", "rois bbox_pred cls_prob im_info", "next", published("pylayer.stage_bridge_layer", "StageBridgeLayer"))
    + layer("bins", "p1 next", "bins", POOL) + layer("masks", "bins", "masks", DENSE % 16)
    + layer("mask", "masks", "mask", published("pylayer.mask_layer", "MaskLayer")),
}  # fmt: skip


@pytest.mark.parametrize("target", ["onnxruntime", "openvino", "opencv5", "tensorrt"])
@pytest.mark.parametrize("name", STAGES)
def test_regions_of_other_programs(name, target):
    """SSH's best without suppression, small ones left out; CTPN's at all places; MNC's with the numbers of their anchors."""
    net = Net(parse_net(STAGES[name]), device="cpu", seed=3)
    compared(net, target)
    read = {"SSH": "boxes", "CTPN": "boxes", "MNC": "next"}[name]
    assert len(net.blobs[read].data) > 20
    assert np.ptp(np.asarray(net.blobs[read].data)[:, -1]) > 1


@pytest.mark.filterwarnings("default")  # torch's own warnings
@pytest.mark.parametrize("name", STAGES)
def test_regions_of_other_programs_in_torch(name):
    """And as a program of torch.export, whose numbers of regions are open."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from boxpresso import to_torch

    net = Net(parse_net(STAGES[name]), device="cpu", seed=3)
    inputs = verify.inputs_of(net, 1)
    tensors = {key: torch.tensor(values) for key, values in inputs.items()}
    program = torch.export.export(to_torch(net).eval(), (), kwargs=tensors)

    def run(inputs: dict) -> dict:
        with torch.no_grad():
            outputs = program.module()(**{key: torch.tensor(values) for key, values in inputs.items()})
        return {key: value.numpy() for key, value in outputs.items()}

    differences = verify.compare(net, run, inputs)
    assert all(one.fine and not one.missing for one in differences), list(map(str, differences))


def test_layers_that_train_do_not_leave():
    net = net_of(
        published("pylayer.mask_layer", "MaskLayer"), [np.zeros((2, 4)), np.zeros((1, 9, 9)), -np.ones((2, 12))], tops=2
    )
    with pytest.raises(LayerError, match=r"MNCMask layer 'layer': .*one that trains"):
        onnx_model(net)


def compared(net: Net, target: str = "onnxruntime", seed: int = 1, **how) -> None:
    model = onnx_model(net, target=target, **how)
    onnx.checker.check_model(model, full_check=True)
    run = verify.runner_of(model, target)
    differences = verify.compare(net, run, verify.inputs_of(net, seed))
    assert all(one.fine and not one.missing for one in differences), list(map(str, differences))


@pytest.mark.later(but=4)
@pytest.mark.parametrize("target", ["onnxruntime", "openvino", "opencv5", "tensorrt"])
@pytest.mark.parametrize("name", NETS)
def test_detectors(name, target):
    if (name, target) == ("RRPN", "opencv5"):
        with pytest.raises(LayerError, match=r"RotateProposal layer 'proposal': .*opencv5 runs no loop"):
            onnx_model(Net(parse_net(NETS[name]), device="cpu"), target=target)
        return
    net = Net(parse_net(NETS[name]), device="cpu", seed=3)
    compared(net, target)
    assert len(net.blobs["cls_prob"].data) > 5  # so that there was something to compare


def test_detections():
    net = tiny_ssd.tiny_net()
    for seed in range(3):
        inputs = {"data": np.random.default_rng(seed).uniform(0, 255, (1, 3, 32, 32)).astype(np.float32)}
        check(net, inputs)
    check(net, {"data": np.zeros((1, 3, 32, 32), np.float32)})  # where nothing is found


def test_a_batch_of_any_size():
    net = tiny_ssd.tiny_net()
    model = onnx_model(net, dynamic_batch=True)
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch"
    for images in (1, 2, 5):
        data = np.random.default_rng(images).uniform(0, 255, (images, 3, 32, 32)).astype(np.float32)
        close(run_onnxruntime(model, {"data": data})["found"], net.forward(data=data)["found"], atol=1e-5)
    again = onnx_model(net, dynamic_batch=True)  # the rows that the last forward has left do not matter
    assert again.graph.output == model.graph.output
    net = net_of(CONV % (4, 3, 1), [np.zeros((2, 3, 8, 8))])
    model = onnx_model(net, dynamic_batch=True)
    data = np.random.default_rng(0).standard_normal((7, 3, 8, 8)).astype(np.float32)
    close(run_onnxruntime(model, {"bottom_0": data})["top_0"], net.forward(bottom_0=data)["top_0"], atol=1e-5)


def test_a_batch_of_any_size_is_checked(tmp_path, monkeypatch):
    """A file that is right for the net's own batch alone is not written."""
    net = net_of("type: 'Flatten'", [np.zeros((2, 3, 4))])
    assert export_onnx(net, tmp_path / "net.onnx", dynamic_batch=True).differences
    assert net.blobs["bottom_0"].shape == (2, 3, 4)
    (tmp_path / "net.onnx").unlink()
    monkeypatch.setattr(
        "boxpresso.exports.onnx.graph.OnnxGraph.reshape",
        lambda g, x, shape, lead=False: g.op("Reshape", x, g.ints(*shape)),
    )
    with pytest.raises(ModelError, match=r"onnxruntime cannot run the file: .*Reshape"):
        export_onnx(net, tmp_path / "net.onnx", dynamic_batch=True)
    assert not list(tmp_path.iterdir())


def test_a_batch_that_is_fixed_is_named():
    net = net_of("type: 'Reshape' reshape_param { shape { dim: 1 dim: -1 } }", [np.zeros((2, 3, 8, 8))])
    before = net.forward(**values(net))["top_0"]
    with pytest.raises(LayerError, match="Reshape layer 'layer': the batch of this net is fixed"):
        onnx_model(net, dynamic_batch=True)
    assert np.array_equal(net.forward(**values(net))["top_0"], before)


BN = 'type: "BatchNorm"'
SCALE = 'type: "Scale" scale_param { bias_term: true }'
DENSE = {
    "convolution": CONV % (6, 3, 1),
    "grouped": CONV.replace("pad", "group: 2 pad") % (6, 3, 1),
    "without bias": CONV.replace("pad", "bias_term: false pad") % (6, 3, 1),
    "deconvolution": CONV.replace("Convolution", "Deconvolution", 1).replace("pad", "group: 2 stride: 2 pad")
    % (6, 3, 1),
    "depthwise": CONV.replace("Convolution", "DepthwiseConvolution", 1) % (4, 3, 1),
    "inner product": 'type: "InnerProduct" inner_product_param { num_output: 6 weight_filler { type: "xavier" } }',
    "transposed": 'type: "InnerProduct" inner_product_param { num_output: 6 transpose: true weight_filler { type: "xavier" } }',
}


def statistics(net: Net) -> None:
    rng = np.random.default_rng(7)
    for one in net.layers:
        if one.type in ("BatchNorm", "Scale", "Bias"):
            for blob in one.blobs:
                blob.data[...] = rng.uniform(0.5, 2, blob.shape)


@pytest.mark.parametrize("name", DENSE)
@pytest.mark.parametrize("in_place", [True, False])
def test_folding(name, in_place):
    tops = ["c", "c", "c", "c"] if in_place else ["c", "b", "s", "a"]
    text = input_text("x", (2, 4, 5, 6)) + layer("c", "x", tops[0], DENSE[name]) + layer("b", tops[0], tops[1], BN)
    text += layer("s", tops[1], tops[2], SCALE) + layer("a", tops[2], tops[3], 'type: "Bias"')
    net = Net(parse_net(text), device="cpu", seed=1)
    statistics(net)
    folded = operations(net)
    assert [step.layers for step in folded.steps] == [["x"], ["c", "b", "s", "a"]]
    assert len(onnx_model(net).graph.node) == (1 if "Conv" in DENSE[name] or "Deconv" in DENSE[name] else 2)
    check(net, values(net))


def test_a_linear_power_is_folded():
    """As every layer is that says it is an affine map of its channels; one of a vector has no channels."""
    power = 'type: "Power" power_param { scale: 0.5 shift: 2 }'
    text = input_text("x", (2, 4, 5, 6)) + layer("c", "x", "c", DENSE["deconvolution"]) + layer("p", "c", "p", power)
    net = Net(parse_net(text), device="cpu", seed=1)
    assert [step.layers for step in operations(net).steps] == [["x"], ["c", "p"]]
    check(net, values(net))
    alone = Net(parse_net(input_text("x", (3,)) + layer("p", "x", "p", power)), device="cpu")
    assert [step.type for step in operations(alone).steps] == ["Input", "Power"]
    check(alone, values(alone))


def test_what_is_not_folded():
    """A value that another layer reads, or that is an output; and a chain without weights before it is one step."""
    text = input_text("x", (1, 4, 5, 6)) + layer("c", "x", "c", DENSE["convolution"]) + layer("b", "c", "b", BN)
    text += layer("s", "b", "s", SCALE) + layer("other", "c", "other", 'type: "TanH"')
    net = Net(parse_net(text), device="cpu", seed=1)
    statistics(net)
    assert [step.layers for step in operations(net).steps if step.type != "Input"] == [["c"], ["b", "s"], ["other"]]
    check(net, values(net))
    folded = operations(net, ["b", "s"])
    assert [step.layers for step in folded.steps if step.type != "Input"] == [["c", "b"], ["s"]]
    model = onnx_model(net, outputs=["b", "s"])
    outputs, wanted = run_onnxruntime(model, values(net)), net.forward(**values(net), blobs=["b", "s"])
    close(outputs["b"], wanted["b"], atol=1e-5)
    close(outputs["s"], wanted["s"], atol=1e-5)
    before = [np.array(blob.data) for blob in net.params["c"]]
    assert all(np.array_equal(a, blob.data) for a, blob in zip(before, net.params["c"]))  # the net keeps its weights


def test_padding_of_a_point_for_opencv():
    """Its convolution with a kernel of one pixel does not mind the padding."""
    net = net_of(CONV % (4, 1, 1), [np.zeros((1, 3, 6, 7))])
    kinds = {node.op_type: node for node in onnx_model(net, target="opencv5").graph.node}
    assert set(kinds) == {"Pad", "Conv"}
    assert not any(next(a for a in kinds["Conv"].attribute if a.name == "pads").ints)
    check(net, values(net), "opencv5", "onnxruntime")


def test_an_input_that_a_layer_overwrites():
    text = (
        input_text("x", (2, 3))
        + layer("r", "x", "x", 'type: "Power" power_param { scale: 2 }')
        + layer("y", "x", "y", 'type: "TanH"')
    )
    check(Net(parse_net(text), device="cpu"), {"x": np.ones((2, 3), np.float32)})


def test_names_with_an_at():
    """SSH calls its layers so; a value that is overwritten has the layer's name behind an @ too."""
    text = (
        input_text("x", (2, 3))
        + layer("m3@ssh", "x", "m3@ssh", 'type: "TanH"')
        + layer("p", "m3@ssh", "m3@ssh", 'type: "AbsVal"')
    )
    net = Net(parse_net(text + layer("q", "m3@ssh", "y", 'type: "Exp"')), device="cpu")
    model = onnx_model(net, outputs=["m3@ssh", "y"], dynamic_batch=True)
    assert [o.name for o in model.graph.output] == ["m3@ssh", "y"]
    check(net, values(net))


TAKEN = {  # values whose names are those that the writer would make up: {what: (net, outputs)}
    "a constant's": layer("a", "x", "a/constant_1", CONV % (2, 1, 0)) + layer("r", "a/constant_1", "y", 'type: "TanH"'),
    "an operator's": layer("a", "x", "t", 'type: "Swish"') + layer("s", "t", "a/Sigmoid_1", 'type: "Swish"'),
    "a layer's, twice": layer("a", "x", "y", 'type: "TanH"')
    + layer("r", "y", "y", 'type: "Exp"')
    + layer("r", "y", "y", 'type: "Sigmoid"')
    + layer("z", "y", "y", 'type: "Power"'),
    "a value's behind an @": layer("a", "x", "y", 'type: "TanH"')
    + layer("r", "y", "y", 'type: "Exp"')
    + layer("z", "y", "y@a", 'type: "Sigmoid"'),
}


@pytest.mark.parametrize("text", TAKEN.values(), ids=TAKEN)
def test_names_that_are_taken(text):
    net = Net(parse_net(input_text("x", (1, 2, 3, 3)) + text), device="cpu", seed=1)
    onnx.checker.check_model(onnx_model(net), full_check=True)
    check(net, values(net))


def test_an_output_that_is_an_input_beside_one_of_its_name(tmp_path):
    net = Net(parse_net(input_text("x", (1, 2)) + layer("r", "x", "x_out", 'type: "Exp"')), device="cpu")
    export_onnx(net, tmp_path / "net.onnx", outputs=["x", "x_out"])
    made = run_onnxruntime(onnx.load(tmp_path / "net.onnx"), {"x": np.zeros((1, 2), np.float32)})
    assert {name: v.tolist() for name, v in made.items()} == {"x_out_2": [[0, 0]], "x_out": [[1, 1]]}


def test_windows_of_what_is_not_finite():
    """Im2col moves numbers: an infinity stays where it is, and channels may be of any axis."""
    x = np.arange(18, dtype=np.float32).reshape(1, 2, 1, 3, 3)
    x[0, 0, 0, 1, 1] = np.inf
    net = net_of("type: 'Im2col' convolution_param { kernel_size: 2 pad: 1 axis: 2 }", [x])
    made = run_onnxruntime(onnx_model(net), {"bottom_0": x})["top_0"]
    padded = np.pad(x[:, :, 0], [(0, 0), (0, 0), (1, 1), (1, 1)])
    np.testing.assert_array_equal(made[:, :, 1], padded[:, :, :4, 1:5])


def test_a_batch_that_is_joined_has_a_name_of_its_own():
    """Equal names promise equal lengths: onnxruntime 1.32 put 2 N rows into the memory of N."""
    text = (
        input_text("x", (4,))
        + layer("c", "x", "c", "type: 'CReLU' crelu_param { concat_axis: 0 }")
        + layer("d", "c", "d", 'type: "Power" power_param { scale: 2 }')
        + layer("b", "d", "d", 'type: "BNLL"')
    )
    net = Net(parse_net(text), device="cpu")
    model = onnx_model(net, outputs=["c", "d"], dynamic_batch=True)
    names = [one.type.tensor_type.shape.dim[0].dim_param for one in (*model.graph.input, *model.graph.output)]
    assert names[0] == "batch"
    assert names[1] == names[2] != "batch"
    x = np.array([1, -2, 3], np.float32)
    made, wanted = run_onnxruntime(model, {"x": x}), np.array([1, 0, 3, 0, 2, 0])
    close(made["c"], wanted)
    close(made["d"], np.log1p(np.exp(2 * wanted)), atol=1e-6)


def test_a_batch_beside_a_single_number():
    text = (
        input_text("one", ())
        + input_text("x", (2, 3, 1, 1))
        + layer("s", "x one", "y", "type: 'Scale' scale_param { axis: 0 }")
    )
    model = onnx_model(Net(parse_net(text), device="cpu"), dynamic_batch=True)
    x = np.arange(15, dtype=np.float32).reshape(5, 3, 1, 1)
    close(run_onnxruntime(model, {"one": np.float32(3), "x": x})["y"], 3 * x)


def test_what_the_file_says(tmp_path):
    model, weights = tiny_ssd.write_tiny(tmp_path)
    net = Net(model, weights, device="cpu")
    written = export_onnx(net, tmp_path / "net.onnx", labels={1: "Ω"}, metadata={"mean": "104,117,123"}, opset=18)
    read = onnx.load(tmp_path / "net.onnx")
    said = {p.key: p.value for p in read.metadata_props}
    assert json.loads(said["labels"]) == {"1": "Ω"}
    assert said["mean"] == "104,117,123"
    assert said["weights"] == weights
    assert "Caffe" in said["source"]
    assert read.opset_import[0].version == 18
    assert [i.name for i in read.graph.input] == ["data"]
    assert [o.name for o in read.graph.output] == ["found"]
    names = [node.name for node in read.graph.node]
    assert len(set(names)) == len(names)
    tops = {output: node.name for node in read.graph.node for output in node.output}
    for layer in net.layers:  # the node that writes a layer's top is called as the layer
        if layer.param.top[0] in tops and layer.type != "Split":
            assert tops[layer.param.top[0]] == layer.name
    assert {"feature", "loc", "conf", "found"} <= set(names)
    assert written.nodes == len(read.graph.node)
    assert written.differences is not None
    assert max(one.largest for one in written.differences) < 1e-4


def test_weights_in_16_bits(tmp_path):
    """Half the room for weights that float16 holds nearly; the file gives what a net with such weights gives."""
    text = input_text("data", (1, 3, 16, 16)) + layer("c", "data", "c", CONV % (64, 5, 2))
    text += layer(
        "f", "c", "f", "type: 'InnerProduct' inner_product_param { num_output: 8 weight_filler { type: 'xavier' } }"
    )
    net = Net(parse_net(text), device="cpu", seed=3)
    whole, half = (export_onnx(net, tmp_path / f"{word}.onnx", half=word == "half") for word in ("whole", "half"))
    assert half.bytes < 0.52 * whole.bytes
    stored = {i.data_type for i in onnx.load(tmp_path / "half.onnx").graph.initializer if len(i.dims) > 1}
    assert stored == {onnx.TensorProto.FLOAT16}
    x = values(net)
    got = run_onnxruntime(onnx.load(tmp_path / "half.onnx"), x)
    for name in ("c", "f"):
        weights = net.params[name][0].data
        weights[...] = np.asarray(weights).astype(np.float16)
    close(got["f"], net.forward(**x)["f"], atol=1e-4)
    net.params["c"][0].data[0, 0, 0, 0] = 1e6
    with pytest.raises(LayerError, match="16 bits hold 65504 at most"):
        onnx_model(net, half=True)


@pytest.mark.parametrize(
    "mean", [np.array([10.0, 20, 30]), np.array([5.0]), np.arange(3 * 32 * 32.0).reshape(3, 32, 32) / 99]
)
def test_preprocessing_in_the_file(mean):
    net = tiny_ssd.tiny_net()
    picture = np.random.default_rng(1).uniform(0, 255, (1, 3, 32, 32)).astype(np.float32)
    model = onnx_model(net, preprocess=Preprocess(mean.astype(np.float32), 0.5, swap=True))
    wide = mean if mean.ndim == 3 else mean.reshape(-1, 1, 1)
    prepared = ((picture[:, ::-1] - wide) * 0.5).astype(np.float32)
    close(run_onnxruntime(model, {"data": picture})["found"], net.forward(data=prepared)["found"], atol=1e-5)
    with pytest.raises(ModelError, match="does not fit"):
        onnx_model(net, preprocess=Preprocess(np.zeros(4, np.float32)))


def test_what_is_refused(tmp_path):
    net = net_of('type: "SoftmaxWithLoss"', [np.zeros((2, 3)), np.zeros(2)])
    (tmp_path / "kept.onnx").write_bytes(b"before")
    with pytest.raises(LayerError, match=re.escape("SoftmaxWithLoss layer 'layer': there is no counterpart")):
        export_onnx(net, tmp_path / "kept.onnx")
    assert (tmp_path / "kept.onnx").read_bytes() == b"before"
    assert [p.name for p in tmp_path.iterdir()] == ["kept.onnx"]
    fine = net_of('type: "ReLU"', [np.zeros((2, 3))])
    for how, words in (
        ({"opset": 22}, "opset must be from 16 to 21, got 22"), ({"opset": 15}, "got 15"),
        ({"target": "tensort"}, "did you mean 'tensorrt'"), ({"outputs": ["z"]}, "no blob 'z'"),
    ):  # fmt: skip
        with pytest.raises(ModelError, match=words):
            onnx_model(fine, **how)
    with pytest.raises(ModelError, match="built for TRAIN"):
        onnx_model(Net(parse_net(tiny_ssd.TINY), device="cpu", phase="TRAIN"))
    eta = tiny_ssd.TINY.replace("nms_threshold: 0.45", "nms_threshold: 0.45 eta: 0.9")
    with pytest.raises(LayerError, match=r"DetectionOutput layer 'found': .*eta 0\.9"):
        onnx_model(Net(parse_net(eta), device="cpu"))
    with pytest.raises(ModelError, match="cannot write"):
        export_onnx(fine, tmp_path / "no" / "net.onnx")


def test_nets_without_outputs_or_elements_are_refused():
    silent = Net(parse_net("""
        layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 2 } } }
        layer { name: "s" type: "Silence" bottom: "x" }"""), device="cpu")  # fmt: skip
    with pytest.raises(ModelError, match="the net has no outputs"):
        onnx_model(silent)
    empty = net_of('type: "Im2col" convolution_param { kernel_size: 1 }', [np.zeros((2, 0, 3, 3))])
    with pytest.raises(LayerError, match=r"a blob has the shape \(2, 0, 3, 3\)"):
        onnx_model(empty)
    background = 'type: "DetectionOutput" detection_output_param { num_classes: 1 nms_param { nms_threshold: 0.5 } }'
    nothing = net_of(background, [np.zeros((1, 8)), np.zeros((1, 2)), np.zeros((1, 2, 8))])
    with pytest.raises(LayerError, match="none is left beside background_label_id 0"):
        onnx_model(nothing)
    still = net_of('type: "RNN" recurrent_param { num_output: 2 }', [np.zeros((0, 1, 3)), np.zeros((0, 1))])
    with pytest.raises(LayerError, match="without a time step"):
        onnx_model(still)


def test_outputs_have_the_names_of_their_blobs(tmp_path):
    """Also where several are one value, or an input's."""
    net = Net(parse_net("""
        layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 3 } } }
        layer { name: "s" type: "Split" bottom: "x" top: "a" top: "b" }
        layer { name: "r" type: "ReLU" bottom: "a" top: "r" }
        layer { name: "t" type: "Split" bottom: "r" top: "c" top: "d" top: "e" }
        layer { name: "p" type: "Power" bottom: "e" top: "e" power_param { scale: 2 } }"""), device="cpu")  # fmt: skip
    x = np.random.default_rng(0).standard_normal((2, 3)).astype(np.float32)
    seen, wanted = run_onnxruntime(onnx_model(net), {"x": x}), net.forward(x=x)
    assert set(seen) == set(wanted) == {"b", "c", "d", "e"}
    for name in wanted:
        close(seen[name], wanted[name], 1e-6)
    export_onnx(net, tmp_path / "net.onnx")  # which compares them too


def test_a_crop_of_the_batch_has_no_batch_of_any_length():
    crop = 'type: "Crop" crop_param { axis: 0 offset: 1 offset: 0 }'
    net = net_of(crop, [np.zeros((3, 4)), np.zeros((2, 3))])
    assert onnx_model(net)
    with pytest.raises(LayerError, match="it crops the batch"):
        onnx_model(net, dynamic_batch=True)


def test_a_slice_of_the_batch_is_of_equal_parts_of_any_length():
    """Two images were cut into one each; of six each part has three. With points the parts would not grow alike."""
    net = net_of('type: "Slice" slice_param { axis: 0 }', [np.zeros((2, 3))], tops=2)
    model = onnx_model(net, dynamic_batch=True)
    x = np.random.default_rng(0).standard_normal((6, 3)).astype(np.float32)
    got = run_onnxruntime(model, {"bottom_0": x})
    np.testing.assert_array_equal(np.stack([got["top_0"], got["top_1"]]), x.reshape(2, 3, 3))
    net = net_of('type: "Slice" slice_param { axis: 0 slice_point: 1 }', [np.zeros((3, 3))], tops=2)
    with pytest.raises(LayerError, match="the batch of this net is fixed"):
        onnx_model(net, dynamic_batch=True)


def test_lists_of_regions_have_lengths_of_their_own():
    """onnxruntime shares memory of axes with one name."""
    roi = "roi_pooling_param { pooled_h: 2 pooled_w: 2 }"
    net = Net(parse_net(f"""
        layer {{ name: "x" type: "Input" top: "x" input_param {{ shape {{ dim: 1 dim: 3 dim: 6 dim: 6 }} }} }}
        layer {{ name: "r" type: "Input" top: "r" top: "s" input_param {{ shape {{ dim: 1 dim: 5 }} shape {{ dim: 1 dim: 5 }} }} }}
        layer {{ name: "a" type: "ROIPooling" bottom: "x" bottom: "r" top: "a" {roi} }}
        layer {{ name: "b" type: "ROIPooling" bottom: "x" bottom: "s" top: "b" {roi} }}"""), device="cpu")  # fmt: skip
    model = onnx_model(net, dynamic_batch=True)
    axes = [one.type.tensor_type.shape.dim[0].dim_param for one in (*model.graph.input, *model.graph.output)]
    assert axes == ["batch", "regions", "regions of s", "regions", "regions of s"]


def test_places_of_maxima_beyond_the_border_are_refused():
    net = net_of('type: "Pooling" pooling_param { kernel_size: 1 stride: 3 }', [np.zeros((1, 1, 2, 2))], tops=2)
    with pytest.raises(LayerError, match="lies wholly beyond the border"):
        onnx_model(net)
    x = np.abs(np.random.default_rng(0).standard_normal((1, 2, 1, 2))).astype(np.float32)
    net = net_of('type: "Pooling" pooling_param { pool: STOCHASTIC kernel_size: 1 stride: 2 }', [x])
    close(run_onnxruntime(onnx_model(net), {"bottom_0": x})["top_0"], net.forward(bottom_0=x)["top_0"], atol=1e-5)


@pytest.mark.parametrize("numbers", ["alpha: 0", "beta: 0", "alpha: -0.1 k: 3", "alpha: 0.5 beta: -0.75"])
def test_response_that_onnx_has_no_operator_for(numbers):
    """Its LRN is for numbers above 0."""
    x = np.random.default_rng(0).standard_normal((2, 5, 3, 4)).astype(np.float32)
    net = net_of(f'type: "LRN" lrn_param {{ local_size: 3 {numbers} }}', [x])
    close(run_onnxruntime(onnx_model(net), {"bottom_0": x})["top_0"], net.forward(bottom_0=x)["top_0"], atol=1e-5)


def test_a_file_that_does_not_agree_is_not_written(tmp_path, monkeypatch):
    net = net_of(CONV % (4, 3, 1), [np.zeros((1, 3, 8, 8))])
    monkeypatch.setattr("boxpresso.exports.onnx.files.onnx_model", lambda net, **how: wrong(onnx_model(net, **how)))

    def wrong(model):
        weights = model.graph.initializer[0]
        array = onnx.numpy_helper.to_array(weights).copy()
        array.flat[0] += 0.01
        weights.CopyFrom(onnx.numpy_helper.from_array(array, weights.name))
        return model

    with pytest.raises(ModelError, match=r"does not agree with the net, the limit is 0\.0001: top_0"):
        export_onnx(net, tmp_path / "net.onnx")
    assert not list(tmp_path.iterdir())


def test_differences_are_seen():
    rows = np.random.default_rng(0).uniform(0, 1, (1, 1, 9, 7)).astype(np.float32)
    assert verify.apart("x", rows, rows[:, :, ::-1].copy()).fine  # another order
    assert verify.apart("x", rows, rows[:, :, :8]).missing == 1
    moved = rows.copy()
    moved[0, 0, 3, 4] += 0.01
    assert not verify.apart("x", rows, moved).fine
    assert verify.apart("x", rows, rows * (1 + 5e-5)).fine
    assert not verify.apart("x", rows[0, 0, 0], rows[0, 0, 0] + 0.001).fine
    assert not verify.apart("x", np.array([np.nan, 1]), np.array([0, 1.0])).fine
    assert verify.apart("x", np.array([1000.0, 1]), np.array([1000.05, 1])).fine  # relative to the largest


MODELS = ("wechat_qrcode/detect", "wechat_qrcode/sr", "ultralight_face/RFB-320", "mtcnn_kpzhang/det3", "lenet_v2/lenet")


@pytest.mark.parametrize("name", cases(MODELS[:1] + MODELS[3:4], "models/wechat_qrcode"))
def test_trained_models(name):
    trained(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", cases(MODELS, "models/wechat_qrcode"))
@pytest.mark.parametrize("target", ["onnxruntime", "openvino"])
def test_more_trained_models(name, target):
    trained(name, target)


@pytest.mark.filterwarnings("ignore")
def trained(name, target="onnxruntime"):
    path = SHARED / "models" / name
    weights = path.parent / "lenet_iter_10000.caffemodel" if "lenet" in name else path.with_suffix(".caffemodel")
    compared(Net(path.with_suffix(".prototxt"), weights, device="cpu"), target)
