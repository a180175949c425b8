"""DetectionOutput: decoding, thresholds, suppression and the order of rows, by hand and against a plain loop."""

from __future__ import annotations

import json

import numpy as np
import pytest
from harness import Rig

from boxpresso.data.boxes import best, iou
from boxpresso.proto.errors import BoxpressoWarning, LayerError

SQUARES = np.array([[0, 0, 0.2, 0.2], [0.02, 0, 0.22, 0.2], [0.5, 0.5, 1, 1], [0.5, 0.5, 1, 0.75]])


def rig(text: str, scores, boxes=SQUARES, loc=None, extra=(), **options) -> Rig:
    """Priors are the boxes themselves; scores (N, P, C)."""
    scores = np.asarray(scores, float)
    priors = np.stack([boxes, np.full_like(boxes, 0.1)]).reshape(1, 2, -1)
    loc = np.zeros((len(scores), boxes.size)) if loc is None else loc
    bottoms = [loc, scores.reshape(len(scores), -1), priors, *extra]
    return Rig(f'type: "DetectionOutput" detection_output_param {{ {text} }}', bottoms, **options)


def run(*args, **options) -> np.ndarray:
    return rig(*args, **options).forward()[0][0, 0]


TWO = "num_classes: 2 nms_param { nms_threshold: 0.5 } code_type: CENTER_SIZE "


def test_suppression_and_order_by_hand(device):
    scores = [[[0, 0.6], [0, 0.7], [0, 0.3], [0, 0.9]]]  # 0 and 1 overlap by 0.18 / 0.22, 2 and 3 by a half
    got = run(TWO, scores, device=device)
    wanted = [[0, 1, s, *SQUARES[p]] for p, s in ((3, 0.9), (1, 0.7), (2, 0.3))]
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)
    got = run(TWO.replace("0.5", "0.49"), scores, device=device)
    np.testing.assert_allclose(got[:, 2], [0.9, 0.7], rtol=1e-6)


def test_threshold_is_strict_and_ties_go_to_the_first_prior():
    got = run(TWO + "confidence_threshold: 0.5", [[[0, 0.5], [0, 0.75], [0, 0.75], [0, 0.5]]])
    np.testing.assert_allclose(got[:, 3:], SQUARES[[1, 2]], atol=1e-6)
    got = run(TWO + "keep_top_k: 1", [[[0, 0.5]] * 4])
    np.testing.assert_allclose(got[:, 3:], SQUARES[[0]], atol=1e-6)


@pytest.mark.parametrize(("text", "count"), [("top_k: 2", 1), ("top_k: 0", 0), ("top_k: -1", 3), ("top_k: 3", 2)])
def test_top_k_comes_before_suppression(text, count):
    got = run(TWO.replace("0.5", f"0.6 {text}"), [[[0, 0.6], [0, 0.7], [0, 0.3], [0, 0.1]]])
    assert (got[:, 1] == 1).sum() == count


def test_keep_top_k_is_over_all_classes_of_an_image():
    scores = [[[0, 0.2, 0.9], [0, 0.8, 0.1]], [[0, 0.1, 0.3], [0, 0.4, 0.2]]]
    far = np.array([[0, 0, 0.1, 0.1], [0.5, 0.5, 0.6, 0.6]])
    got = run("num_classes: 3 keep_top_k: 3", scores, far)
    np.testing.assert_allclose(
        got[:, :3], [[0, 1, 0.8], [0, 1, 0.2], [0, 2, 0.9], [1, 1, 0.4], [1, 2, 0.3], [1, 2, 0.2]]
    )


def test_nothing_found_gives_a_row_per_image_and_absent_images_otherwise():
    nothing = np.full((2, 7), -1.0)
    nothing[:, 0] = [0, 1]
    assert np.array_equal(run(TWO + "confidence_threshold: 2", np.ones((2, 4, 2))), nothing)
    assert np.array_equal(run(TWO + "keep_top_k: 0", np.ones((2, 4, 2))), nothing)
    scores = np.zeros((2, 4, 2))
    scores[1, 2, 1] = 0.5
    got = run(TWO + "confidence_threshold: 0.1", scores)
    assert got.shape == (1, 7)
    assert got[0, 0] == 1


def test_no_images_and_new_shapes(device):
    r = rig(TWO, np.full((1, 4, 2), 0.5), device=device)
    assert r.forward()[0].shape == (1, 1, 3, 7)
    r.set_bottom(0, np.zeros((0, 16)))
    r.set_bottom(1, np.zeros((0, 8)))
    assert r.forward()[0].shape == (1, 1, 0, 7)
    r.set_bottom(0, np.zeros((2, 16)))
    r.set_bottom(1, np.full((2, 8), 0.5))
    assert r.forward()[0].shape == (1, 1, 6, 7)


@pytest.mark.parametrize("code", ["CORNER", "CENTER_SIZE", "CORNER_SIZE"])
@pytest.mark.parametrize("in_target", [False, True])
def test_codes(code, in_target, device):
    rng = np.random.default_rng(3)
    low = rng.uniform(0, 0.5, (6, 2))
    prior = np.concatenate([low, low + rng.uniform(0.1, 0.4, (6, 2))], axis=1)
    loc, variance = rng.standard_normal((6, 4)), np.full((6, 4), 0.1)
    text = f"num_classes: 2 code_type: {code} variance_encoded_in_target: {str(in_target).lower()} keep_top_k: 6"
    scores = np.linspace(0.9, 0.1, 12).reshape(1, 6, 2)
    got = run(
        text + " nms_param { nms_threshold: 1 }", scores, prior, loc.reshape(1, -1), device=device, dtype=np.float64
    )
    d = loc * (1 if in_target else variance)
    size = prior[:, 2:] - prior[:, :2]
    if code == "CENTER_SIZE":
        centre, half = (prior[:, :2] + prior[:, 2:]) / 2 + d[:, :2] * size, np.exp(d[:, 2:]) * size / 2
        wanted = np.concatenate([centre - half, centre + half], axis=1)
    else:
        wanted = prior + d * (1 if code == "CORNER" else np.tile(size, 2))
    np.testing.assert_allclose(got[:, 3:], wanted, rtol=1e-12)


def test_locations_of_each_class():
    loc = np.zeros((1, 4, 3, 4))
    loc[0, :, 1, 0], loc[0, :, 2, 0] = 1, 2  # xmin moves by 0.1 for class 1, by 0.2 for class 2
    got = run(
        "num_classes: 3 share_location: false confidence_threshold: 0.1",
        [[[0, 0, 0], [0, 0, 0], [0, 0, 0.5], [0, 0.5, 0]]],
        loc=loc.reshape(1, -1),
    )
    np.testing.assert_allclose(got[:, [1, 3]], [[1, 0.6], [2, 0.7]], rtol=1e-6)


def test_background_other_than_zero_and_none():
    scores = [[[0.9, 0.8], [0, 0], [0, 0], [0, 0]]]
    text = "num_classes: 2 confidence_threshold: 0.1 background_label_id: "
    assert run(text + "1", scores)[:, 1].tolist() == [0]
    assert run(text + "-1", scores)[:, 1].tolist() == [0, 1]


def plain(boxes, scores, threshold, limit, eta, top_k) -> list[int]:
    """Suppression as a plain loop over one class."""
    survivors: list[int] = []
    for p in [p for p in np.argsort(-scores, kind="stable") if scores[p] > threshold][: None if top_k < 0 else top_k]:
        if all(iou(boxes[p], boxes[k]) <= limit for k in survivors):
            survivors.append(p)
            limit *= eta if limit > 0.5 else 1
    return survivors


@pytest.mark.parametrize(("eta", "top_k"), [(1, -1), (1, 40), (0.9, -1), (0.7, 60)])
def test_against_a_plain_loop(eta, top_k, device):
    rng = np.random.default_rng(5)
    low = rng.uniform(0, 0.6, (120, 2))
    boxes = np.concatenate([low, low + rng.uniform(0.05, 0.4, (120, 2))], axis=1)
    scores = rng.integers(0, 20, (2, 120, 3)) / 20
    text = f"num_classes: 3 confidence_threshold: 0.2 nms_param {{ nms_threshold: 0.8 eta: {eta} top_k: {top_k} }}"
    got = run(text, scores, boxes, device=device, dtype=np.float64)
    eta, limit, threshold = float(np.float32(eta)), float(np.float32(0.8)), float(np.float32(0.2))
    wanted = [
        [i, c, scores[i, p, c], *boxes[p]]
        for i in range(2)
        for c in (1, 2)
        for p in plain(boxes, scores[i, :, c], threshold, limit, eta, top_k)
    ]
    np.testing.assert_allclose(got, wanted, rtol=1e-12)


def test_refinedet_refines_priors_and_drops_low_objectness():
    first, objectness = np.zeros((1, 16)), np.zeros((1, 4, 2))
    objectness[0, 2:, 1] = 0.5
    first[0, 8] = 1  # prior 2 moves by 0.1 of its width of 0.5
    text = TWO.replace("0.5", "1") + "objectness_score: 0.3 confidence_threshold: 0.1"
    got = run(text, np.full((1, 4, 2), 0.5), extra=(objectness.reshape(1, -1), first))
    np.testing.assert_allclose(got[:, 3:], [[0.55, 0.5, 1.05, 1], SQUARES[3]], rtol=1e-6)


@pytest.mark.parametrize("share", [True, False])
def test_states_are_handed_on(share, device):
    """Rows are those without states, which stand behind the score; of julimueller/tl_ssd."""
    rng = np.random.default_rng(7)
    scores, states = rng.random((2, 4, 3)), rng.standard_normal((2, 4, 5))
    text = (
        TWO.replace("num_classes: 2", "num_classes: 3")
        + f"share_location: {str(share).lower()} confidence_threshold: 0.2 "
    )
    loc = None if share else np.zeros((2, 4 * 3 * 4))
    plain = run(text, scores, loc=loc, device=device)
    got = run(
        text + "do_state_prediction: true num_states: 5", scores, loc=loc, extra=[states.reshape(2, -1)], device=device
    )
    assert got.shape == (len(plain), 12)
    assert len(plain) > 6
    np.testing.assert_array_equal(got[:, [0, 1, 2, 8, 9, 10, 11]], plain)
    for row in got:
        image, label = map(int, row[:2])
        prior = np.flatnonzero(np.abs(scores[image, :, label] - row[2]) < 1e-6)[0]
        np.testing.assert_allclose(row[3:8], states[image, prior], rtol=1e-6)
    none = run(text + "do_state_prediction: true num_states: 5", 0 * scores, loc=loc, extra=[states], device=device)
    np.testing.assert_array_equal(none, [[0] + [-1] * 11, [1] + [-1] * 11])
    for extra, match in (
        ((), "needs four bottoms, of which the last is the states, got 3"),
        ([states[:, :3]], "the states must"),
    ):
        with pytest.raises(LayerError, match=match):
            rig(text + "do_state_prediction: true num_states: 5", scores, loc=loc, extra=extra)


def test_wild_numbers_neither_crash_nor_hang(device):
    rng = np.random.default_rng(0)
    wild = np.array([np.nan, np.inf, -np.inf, 1e38, -1e38, 0, 0.5])
    boxes, scores = rng.choice(wild, (60, 4)), rng.choice(wild, (2, 60, 3))
    got = run("num_classes: 3 code_type: CENTER_SIZE", scores, boxes, rng.choice(wild, (2, 240)), device=device)
    assert got.shape[1] == 7
    assert not np.isnan(got[:, 2]).any()


def test_saved_files(tmp_path):
    (tmp_path / "labels").write_text('item { name: "none" label: 0 } item { name: "7" label: 1 }')
    (tmp_path / "names").write_text("a 100 200\n12 50 50\n")
    scores = np.zeros((1, 4, 2))
    scores[0, 2, 1] = 0.875
    for kind in ("VOC", "COCO", "ILSVRC"):
        out = tmp_path / kind / "results"
        text = f"""{TWO} confidence_threshold: 0.1 save_output_param {{ output_directory: "{out.as_posix()}"
            output_name_prefix: "x_" output_format: "{kind}" label_map_file: "{tmp_path.as_posix()}/labels"
            name_size_file: "{tmp_path.as_posix()}/names" }}"""
        r = rig(text, scores)
        r.forward()
        assert not out.exists()  # written when the last named image has been seen
        r.forward()
    assert (tmp_path / "VOC/results/x_7.txt").read_text() == "a 0.875 100 50 200 100\n12 0.875 25 25 50 50\n"
    assert (tmp_path / "ILSVRC/results/x_.txt").read_text() == "a 1 0.875 100 50 200 100\n12 1 0.875 25 25 50 50\n"
    results = json.loads((tmp_path / "COCO/results/x_.json").read_text())
    assert results[1] == {"image_id": 12, "category_id": 7, "bbox": [25.0, 25.0, 25.0, 25.0], "score": 0.875}


def test_what_cannot_be_saved_or_drawn_warns():
    text = 'num_classes: 2 save_output_param { output_directory: "x" output_format: "VOC" label_map_file: "/no/such" }'
    with pytest.warns(BoxpressoWarning, match="not saved.*no/such"):
        rig(text, np.zeros((1, 4, 2)))
    with pytest.warns(BoxpressoWarning, match="visualize is ignored"):
        rig("num_classes: 2 visualize: true", np.zeros((1, 4, 2)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "num_classes is missing"),
        ("num_classes: 3", r"scores must be \(N, 4 \* 3\)"),
        ("num_classes: 2 share_location: false", r"locations must be \(N, 4 \* 8\)"),
        ("num_classes: 2 nms_param { nms_threshold: -1 }", "nms_threshold"),
        ("num_classes: 2 nms_param { eta: 0 }", "eta"),
    ],
)
def test_errors(text, message):
    with pytest.raises(LayerError, match=message):
        rig(text, np.zeros((1, 4, 2)))


def test_best_is_a_stable_sort():
    scores = np.array([0.5, 0.9, 0.5, 0.5, 0.1])
    assert best(scores).tolist() == [1, 0, 2, 3, 4]
    assert best(scores, 3).tolist() == [1, 0, 2]
    assert best(scores, 0).tolist() == []
    assert best(scores, 9).tolist() == [1, 0, 2, 3, 4]
    scores = np.array([np.nan, 1, 2, np.nan, -np.inf])  # NaN is worse than every number, however many are taken
    assert [best(scores, count).tolist() for count in (-1, 1, 3, 4)] == [[2, 1, 4, 0, 3], [2], [2, 1, 4], [2, 1, 4, 0]]


def test_overlaps_by_hand():
    a = np.array([[0.0, 0, 2, 2], [3, 0, 1, 1]])
    got = iou(a[:, None], np.array([[1.0, 0, 3, 2], [2, 0, 3, 2], [0, 0, 2, 2]]))
    np.testing.assert_allclose(got, [[1 / 3, 0, 1], [0, 0, 0]])


def test_clip_cuts_boxes_at_the_edge_of_the_image(device):
    priors = np.array([[[0.0, 0.0, 0.2, 0.2, 0.9, 0.9, 1.1, 1.2], [0.1] * 8]])
    text = 'type: "DetectionOutput" detection_output_param { num_classes: 2 CLIP nms_param { nms_threshold: 0.5 } }'
    bottoms = [np.full((1, 8), -1.0), np.array([[0.2, 0.8, 0.1, 0.9]]), priors]
    whole, cut = [[0.8, 0.8, 1.0, 1.1], [-0.1, -0.1, 0.1, 0.1]], [[0.8, 0.8, 1, 1], [0, 0, 0.1, 0.1]]
    for clip, wanted in (("", whole), ("clip: true", cut)):
        (out,) = Rig(text.replace("CLIP", clip), bottoms, device=device).forward()
        np.testing.assert_allclose(out[0, 0, :, 3:], wanted, atol=1e-6)
