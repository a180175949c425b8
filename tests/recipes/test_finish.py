"""`boxpresso finish`: weights for targets divided by their deviations become weights for boxes, whatever head learned them."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from places import ROOT
from shared import SHARED

from boxpresso import Net
from boxpresso.__main__ import main
from boxpresso.graph.prepare import select
from boxpresso.layers.detection.rcnn import Rotated, Upright
from boxpresso.net.weights import read_weights, save_weights
from boxpresso.proto import parse_net, read_net
from boxpresso.proto.errors import BoxpressoWarning, ModelError
from boxpresso.recipes.finishing import MARK, finish, heads_of

sys.path.insert(0, str(ROOT))
RNG = np.random.default_rng(16)
STDS, MEANS = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.01, -0.02, 0.03, 0])
TOLD = f"'bbox_normalize_targets_precomputed': True, 'bbox_normalize_stds': {STDS.tolist()}, 'bbox_normalize_means': {MEANS.tolist()}"
INPUTS = """
layer { name: "map" type: "Input" top: "map" input_param { shape { dim: 1 dim: 3 dim: 12 dim: 12 } } }
layer { name: "regions" type: "Input" top: "regions" input_param { shape { dim: 4 dim: 5 } } }
layer { name: "truth" type: "Input" top: "truth" include { phase: TRAIN } input_param { shape { dim: 1 dim: 5 } } }
"""
TARGETS = """
layer { name: "%s" type: "%s" bottom: "regions" bottom: "truth" top: "rois%s" top: "labels%s" top: "targets%s" top: "in%s"
  top: "out%s" include { phase: TRAIN } python_param { param_str: "%s" %s } }
"""
POOLED = 'layer { name: "pool" type: "ROIPooling" bottom: "map" bottom: "regions" top: "pool" roi_pooling_param { pooled_h: 3 pooled_w: 3 } }'
VOTES = """
layer { name: "rfcn_bbox" type: "Convolution" bottom: "map" top: "rfcn_bbox" convolution_param { num_output: %d kernel_size: 1 } }
layer { name: "bins" type: "%s" bottom: "rfcn_bbox" bottom: "regions" top: "bins" %s }
layer { name: "ave" type: "Pooling" bottom: "bins" top: "ave" pooling_param { pool: AVE kernel_size: 3 stride: 3 } }
layer { name: "box" type: "Reshape" bottom: "ave" top: "bbox_pred" reshape_param { shape { dim: -1 dim: %d } } }
"""
PSROI = "psroi_pooling_param { output_dim: %d group_size: 3 spatial_scale: 1 }"


def targets(settings: str, kind: str = "ProposalTarget", tag: str = "", more: str = "") -> str:
    """A layer of targets; its offsets are the blob targets + tag."""
    return TARGETS % (f"roi-data{tag}", kind, tag, tag, tag, tag, tag, settings, more)


def dense(name: str, outputs: int, more: str = "", bottom: str = "pool") -> str:
    return f"""layer {{ name: "{name}" type: "InnerProduct" bottom: "{bottom}" top: "{name}"
        inner_product_param {{ num_output: {outputs} {more} }} }}"""


def loss(blob: str, tag: str = "", kind: str = "SmoothL1Loss") -> str:
    weights = f'bottom: "in{tag}"' + (f' bottom: "out{tag}"' if kind == "SmoothL1Loss" else "")
    return f"""layer {{ name: "loss{tag}" type: "{kind}" bottom: "{blob}" bottom: "targets{tag}" {weights} top: "loss{tag}"
        include {{ phase: TRAIN }} }}"""


def trained(net: str, path: Path) -> Path:
    """Random weights for a net, in a file."""
    made = Net(parse_net(net), device="cpu", seed=1)
    for blobs in made.params.values():
        for blob in blobs:
            blob.data[...] = RNG.normal(size=blob.shape)
    made.save(path)
    return path


def offsets(net: str, weights: Path, blob: str = "bbox_pred") -> np.ndarray:
    """What the deploy net makes of four regions of a map."""
    regions = [[0, 0, 0, 5, 5], [0, 2, 3, 10, 11], [0, 4, 0, 11, 7], [0, 0, 0, 11, 11]]
    features = np.random.default_rng(3).normal(size=(1, 3, 12, 12))
    return Net(parse_net(net), weights, device="cpu").forward((blob,), map=features, regions=regions)[blob]


HEADS = {
    "class aware": POOLED + dense("bbox_pred", 12),
    "class agnostic": POOLED + dense("bbox_pred", 8),
    "transposed": POOLED + dense("bbox_pred", 8, "transpose: true"),
    "votes": VOTES % (9 * 8, "PSROIPooling", PSROI % 8, 8),
    "votes of each class": VOTES % (9 * 12, "PSROIPooling", PSROI % 12, 12),
    "aligned votes": VOTES % (9 * 8, "PSROIAlign", "psroi_align_param { output_dim: 8 group_size: 3 spatial_scale: 1 }", 8),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["SmoothL1Loss", "SmoothL1LossOHEM"])
@pytest.mark.parametrize("head", HEADS)
def test_the_deploy_net_gives_what_was_divided(head, kind, tmp_path):
    """Offsets of the finished net are those of the trained one times the deviations plus the means; so are the boxes."""
    columns = 12 if "class aware" in head or "each class" in head else 8
    classes = 3 if columns == 12 else 2
    net = INPUTS + targets(f"'num_classes': {classes}, {TOLD}") + HEADS[head] + loss("bbox_pred", kind=kind)
    before = trained(net, tmp_path / "a.caffemodel")
    (done,) = finish(parse_net(net), before, tmp_path / "b.caffemodel")
    assert done.layer == ("rfcn_bbox" if "votes" in head else "bbox_pred")
    raw = offsets(net, before)
    by_hand = (raw.reshape(4, -1, 4) * STDS + MEANS).reshape(4, columns)
    after = offsets(net, tmp_path / "b.caffemodel")
    np.testing.assert_allclose(after, by_hand, rtol=1e-5, atol=2e-6)
    assert np.abs(after - raw).max() > 0.1
    boxes = np.array([[0, 0, 5, 5], [2, 3, 10, 11], [4, 0, 11, 7], [0, 0, 11, 11]], float)
    np.testing.assert_allclose(
        Upright.decode(boxes, after.astype(float)), Upright.decode(boxes, by_hand.astype(float)), rtol=1e-4, atol=1e-4
    )


def test_all_else_stays(tmp_path):
    net = INPUTS + targets(f"'num_classes': 3, {TOLD}") + POOLED + dense("cls_score", 3) + dense("bbox_pred", 12)
    net += loss("bbox_pred")
    before = trained(net, tmp_path / "a.caffemodel")
    finish(parse_net(net), before, tmp_path / "b.caffemodel")
    old, new = read_weights(before), read_weights(tmp_path / "b.caffemodel")
    for one, other in zip(old["cls_score"].blobs, new["cls_score"].blobs):
        np.testing.assert_array_equal(one, other)
    assert [layer.name for layer in new.layers] == [*(layer.name for layer in old.layers), MARK + "bbox_pred"]
    assert [layer.type for layer in new.layers][:-1] == [layer.type for layer in old.layers]


def test_a_second_time_is_refused(tmp_path):
    """The mark is a layer without blobs: nets pass over it, and what they save is without it."""
    net = INPUTS + targets(f"'num_classes': 2, {TOLD}") + POOLED + dense("bbox_pred", 8) + loss("bbox_pred")
    before, after = trained(net, tmp_path / "a.caffemodel"), tmp_path / "b.caffemodel"
    finish(parse_net(net), before, after)
    with pytest.raises(ModelError, match="finished already"):
        finish(parse_net(net), after, tmp_path / "c.caffemodel")
    assert not (tmp_path / "c.caffemodel").exists()
    loaded = Net(parse_net(net), after, device="cpu")
    assert not loaded.copied[0].missing
    assert not loaded.copied[0].unused
    loaded.save(tmp_path / "d.caffemodel")
    assert MARK + "bbox_pred" not in read_weights(tmp_path / "d.caffemodel")
    finish(parse_net(net), before, before)  # in place of the old file
    np.testing.assert_array_equal(read_weights(before)["bbox_pred"].blobs[0], read_weights(after)["bbox_pred"].blobs[0])


def test_rotated_targets_have_five(tmp_path):
    net = INPUTS.replace("dim: 4 dim: 5", "dim: 4 dim: 6") + targets(
        "'num_classes': 2, 'bbox_normalize_targets_precomputed': True", "RotateProposalTarget"
    )
    net += dense("bbox_pred", 10, bottom="map") + loss("bbox_pred")
    before = trained(net, tmp_path / "a.caffemodel")
    (done,) = finish(parse_net(net), before, tmp_path / "b.caffemodel")
    assert done.stds.tolist() == [0.1, 0.1, 0.2, 0.2, 1] * 2
    assert Rotated.columns * 2 == len(done.means)


def test_numbers_of_each_class(tmp_path, capsys):
    """As Fast R-CNN computes them from its data: nothing in the prototxt says them, and the background's are 0."""
    net = (
        INPUTS
        + """layer { name: "data" type: "Python" top: "targets" top: "in" top: "out" include { phase: TRAIN }
        python_param { module: "roi_data_layer.layer" layer: "RoIDataLayer" } }"""
    )
    net += POOLED + dense("bbox_pred", 12) + loss("bbox_pred")
    (tmp_path / "train.prototxt").write_text(net)
    text = net.replace(
        "include { phase: TRAIN }\n        python_param", 'include { phase: TRAIN stage: "x" }\n python_param'
    )
    trained(text, tmp_path / "a.caffemodel")
    words = ["finish", *(str(tmp_path / name) for name in ("train.prototxt", "a.caffemodel", "b.caffemodel"))]
    assert main(words) == 1
    assert "computes them from its data" in capsys.readouterr().err
    stds, means = np.append(np.zeros(4), RNG.uniform(0.1, 0.4, 8)), np.append(np.zeros(4), RNG.normal(size=8))
    np.save(tmp_path / "stds.npy", stds.reshape(3, 4))
    np.save(tmp_path / "means.npy", means)
    assert main([*words, "--stds", str(tmp_path / "stds.npy"), "--means", str(tmp_path / "means.npy")]) == 0
    assert "bbox_pred: 12 outputs times" in capsys.readouterr().out
    old, new = (read_weights(tmp_path / name)["bbox_pred"].blobs for name in ("a.caffemodel", "b.caffemodel"))
    np.testing.assert_allclose(new[0], old[0] * stds[:, None], rtol=1e-6)
    np.testing.assert_allclose(new[1], old[1] * stds + means, rtol=1e-5, atol=1e-7)


STAGES = (
    INPUTS
    + targets("'num_classes': 2, 'bbox_normalize_targets_precomputed': True")
    + targets("'num_classes': 2, 'bbox_normalize_targets_precomputed': True, 'bbox_normalize_stds': [0.05, 0.05, 0.1, 0.1]", tag="_2")
    + POOLED + dense("bbox_pred", 8) + dense("bbox_pred_2", 8) + loss("bbox_pred") + loss("bbox_pred_2", "_2")
)  # fmt: skip


def test_stages_have_their_own(tmp_path):
    before = trained(STAGES, tmp_path / "a.caffemodel")
    done = finish(parse_net(STAGES), before, tmp_path / "b.caffemodel")
    assert {f.layer: f.stds.tolist()[:4] for f in done} == {
        "bbox_pred": [0.1, 0.1, 0.2, 0.2],
        "bbox_pred_2": [0.05, 0.05, 0.1, 0.1],
    }
    (one,) = finish(parse_net(STAGES), before, tmp_path / "c.caffemodel", layers=["bbox_pred_2"])
    assert (one.layer, one.stds[0]) == ("bbox_pred_2", 0.05)
    np.testing.assert_array_equal(
        read_weights(tmp_path / "c.caffemodel")["bbox_pred"].blobs[0], read_weights(before)["bbox_pred"].blobs[0]
    )
    heads = finish(parse_net(STAGES), before, tmp_path / "d.caffemodel", layers=["bbox_pred_2"], stds=[1, 2, 3, 4])
    assert heads[0].stds.tolist() == [1, 2, 3, 4] * 2


DECODE = """layer { name: "decode" type: "DecodeBBox" bottom: "bbox_pred" bottom: "regions" top: "boxes"
    bbox_reg_param { bbox_mean: 0 bbox_mean: 0 bbox_mean: 0 bbox_mean: 0
                     bbox_std: 0.1 bbox_std: 0.1 bbox_std: 0.2 bbox_std: 0.2 } }"""


def test_what_the_net_restores_itself_stays(tmp_path):
    """Cascade R-CNN's DecodeBBox multiplies: finished weights would be multiplied twice."""
    before, net = trained(STAGES, tmp_path / "a.caffemodel"), parse_net(STAGES + DECODE)
    with pytest.raises(ModelError, match=r"restores offsets of bbox_pred by itself.*bbox_pred_2.*--deploy"):
        finish(net, before, tmp_path / "b.caffemodel")
    deploy = parse_net(POOLED + dense("bbox_pred", 8) + dense("bbox_pred_2", 8) + DECODE)
    (done,) = finish(net, before, tmp_path / "b.caffemodel", deploy=deploy)
    assert done.layer == "bbox_pred_2"
    again = parse_net(str(deploy) + DECODE.replace('"decode"', '"last"').replace('"bbox_pred"', '"bbox_pred_2"'))
    with pytest.raises(ModelError, match=r"nothing to finish.*'last' of the deploy net multiplies"):
        finish(net, before, tmp_path / "c.caffemodel", deploy=again)


def test_bbox_reg_param_tells_too(tmp_path):
    """makefile/frcnn and Cascade R-CNN keep means and deviations there."""
    reg = "} bbox_reg_param { bbox_mean: 0 bbox_mean: 0 bbox_mean: 0 bbox_mean: 0 "
    reg += "bbox_std: 0.033 bbox_std: 0.033 bbox_std: 0.067 bbox_std: 0.067"
    net = INPUTS + targets("'num_classes': 2", "FrcnnProposalTarget", more=reg) + POOLED + dense("bbox_pred", 8)
    net += loss("bbox_pred")
    (done,) = finish(parse_net(net), trained(net, tmp_path / "a.caffemodel"), tmp_path / "b.caffemodel")
    np.testing.assert_allclose(done.stds, [0.033, 0.033, 0.067, 0.067] * 2, rtol=1e-6)


def test_other_losses_are_left(tmp_path):
    """Landmarks that come with the data, or stages whose offsets are not divided, do not stop the rest."""
    plain = targets("'num_classes': 2", tag="_2")
    other = plain.replace('type: "ProposalTarget"', 'type: "Python"').replace(
        "python_param {", 'python_param { module: "mine" layer: "MyTargetLayer"'
    )
    for second, why in ((plain, "precomputed False"), (other, "MyTargetLayer.*not in the prototxt")):
        net = INPUTS + targets(f"'num_classes': 2, {TOLD}") + second + POOLED + dense("bbox_pred", 8) + dense("more", 8)
        net += loss("bbox_pred") + loss("more", "_2")
        before = trained(net.replace(second, ""), tmp_path / "a.caffemodel")
        with pytest.warns(BoxpressoWarning, match=f"more learns .*{why}"):
            (done,) = finish(parse_net(net), before, tmp_path / "b.caffemodel")
        assert done.layer == "bbox_pred"


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (("True,", "False,"), {}, "bbox_normalize_targets_precomputed False.*--stds 0.1,0.2,0.3,0.4"),
        (("SmoothL1Loss", "Silence"), {}, "no SmoothL1Loss.*give the train net"),
        ((), {"layers": ["bbox_prod"]}, "no loss.*'bbox_prod'.*bbox_pred"),
        ((), {"layers": ["nothing"], "stds": [1, 1, 1, 1]}, "has no layer 'nothing'"),
        ((), {"layers": ["pool"], "stds": [1, 1, 1, 1]}, "is a ROIPooling"),
        ((), {"stds": [0.1, 0.2, 0.3]}, "8 outputs, 8 offsets; 3 stds do not fit"),
        ((), {"stds": [0.1, -0.2, 0.3, 1]}, "stds must be finite numbers, above 0"),
        ((), {"stds": [0.1, np.nan, 0.3, 1]}, "stds must be finite"),
        ((), {"means": [0.1] * 4}, "means are given without deviations"),
        (("num_output: 8", "num_output: 8 bias_term: false"), {}, "has no bias"),
        (('name: "bbox_pred"', 'name: "bbox_fred"'), {}, "has no layer 'bbox_fred'.*bbox_pred"),
        (("num_output: 8", "num_output: 16"), {}, "does not fit 16 outputs"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(change, options, message, tmp_path):
    net = INPUTS + targets(f"'num_classes': 2, {TOLD}") + POOLED + dense("bbox_pred", 8) + loss("bbox_pred")
    made = net.replace(*change) if "bias" in str(change) else net
    before = trained(made, tmp_path / "a.caffemodel")
    with pytest.raises(ModelError, match=message):
        finish(parse_net(net.replace(*change) if change else net), before, tmp_path / "b.caffemodel", **options)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.caffemodel"]


def test_shared_weights_are_finished_together(tmp_path):
    shared = 'layer { name: "%s" type: "InnerProduct" bottom: "pool" top: "%s" param { name: "w" } param { name: "b" } inner_product_param { num_output: 8 } }'
    net = INPUTS + targets(f"'num_classes': 2, {TOLD}") + POOLED + shared % (("bbox_pred",) * 2)
    net += shared % (("twin",) * 2) + loss("bbox_pred")
    before = trained(net, tmp_path / "a.caffemodel")
    with pytest.raises(ModelError, match="shares the parameter 'w' with 'twin'"):
        finish(parse_net(net), before, tmp_path / "b.caffemodel")
    done = finish(parse_net(net), before, tmp_path / "b.caffemodel", layers=["bbox_pred", "twin"], stds=STDS)
    assert [f.layer for f in done] == ["bbox_pred", "twin"]


def test_old_files_of_four_axes(tmp_path):
    """Caffe stored (1, 1, N, K) and (1, 1, 1, N) until 2014."""
    net = INPUTS + targets(f"'num_classes': 2, {TOLD}") + POOLED + dense("bbox_pred", 8) + loss("bbox_pred")
    weights, biases = RNG.normal(size=(1, 1, 8, 27)).astype(np.float32), np.ones((1, 1, 1, 8), np.float32)
    save_weights(tmp_path / "a.caffemodel", [("bbox_pred", "InnerProduct", [], [], [weights, biases])])
    finish(parse_net(net), tmp_path / "a.caffemodel", tmp_path / "b.caffemodel")
    blobs = read_weights(tmp_path / "b.caffemodel")["bbox_pred"].blobs
    assert [blob.shape for blob in blobs] == [(1, 1, 8, 27), (1, 1, 1, 8)]
    np.testing.assert_allclose(blobs[0][0, 0], weights[0, 0] * np.tile(STDS, 2)[:, None], rtol=1e-6)


@pytest.mark.parametrize(
    ("path", "layer", "bins"),
    [
        ("YuwenXiong+py-R-FCN/models/pascal_voc/ResNet-50/rfcn_end2end/train_agnostic_ohem.prototxt", "rfcn_bbox", 49),
        ("YuwenXiong+py-R-FCN/models/pascal_voc/ResNet-50/rfcn_end2end/class-aware/train_ohem.prototxt", "rfcn_bbox", 49),
        ("rbgirshick+py-faster-rcnn/models/pascal_voc/VGG16/faster_rcnn_end2end/train.prototxt", "bbox_pred", 1),
        ("rbgirshick+py-faster-rcnn/models/pascal_voc/VGG16/fast_rcnn/train.prototxt", "bbox_pred", 1),
        ("sanghoon+pva-faster-rcnn/models/pvanet/example_train/train.prototxt", "bbox_pred", 1),
    ],
)  # fmt: skip
def test_heads_of_published_nets(path, layer, bins):
    if not (SHARED / "corpus" / path).exists():
        pytest.skip("the corpus of published prototxts is not here")
    heads = heads_of(select(read_net(SHARED / "corpus" / path), "TRAIN"))
    assert [(head.layer.name, head.bins) for head in heads] == [(layer, bins)]
    assert heads[0].stds is None
    assert "--stds" in heads[0].why
