"""Average precision: by hand, by its definition, against pycocotools; in the solver's tests and from the command line."""

from __future__ import annotations

import math

import numpy as np
import pytest
from harness import Rig
from PIL import Image

from boxpresso import Detection, Solver
from boxpresso.data.coco import STATS
from boxpresso.data.errors import DataError
from boxpresso.data.evaluation import METHODS, average_precision, curves_of_rows
from boxpresso.data.folders import Scene
from boxpresso.evaluation import evaluate, protocols
from boxpresso.proto import SolverParameter, parse_text
from boxpresso.proto.errors import BoxpressoError, ModelError
from boxpresso.train.curves import plot, read_curves
from boxpresso.train.evaluation import mean_precision


@pytest.fixture(autouse=True)
def errors_are_lines(monkeypatch):
    """Also where the tests run with BOXPRESSO_DEBUG, which lets errors through."""
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)


def curve(text, truths):
    """Precision and recall of detections, best first: R right, W wrong."""
    right = np.array([letter == "R" for letter in text], bool)
    return np.cumsum(right) / np.arange(1, len(text) + 1), np.cumsum(right) / truths


def by_definition(text, truths):
    """The methods again, in fractions of whole numbers."""
    hits = [i for i, letter in enumerate(text) if letter == "R"]
    precision = [(n + 1) / (at + 1) for n, at in enumerate(hits)]  # at each hit
    best = [max(precision[n:]) for n in range(len(hits))]  # at the hit or later

    def mean(points):
        return sum(
            next((best[n] for n in range(len(hits)) if (n + 1) * points >= j * truths), 0) for j in range(points + 1)
        ) / (points + 1)

    return {
        "11point": mean(10),
        "101point": mean(100),
        "MaxIntegral": sum(best) / truths,
        "Integral": sum(precision) / truths,
    }


# Average precision


@pytest.mark.parametrize(
    ("text", "truths", "eleven", "envelope", "natural"),
    [
        ("RWRWWR", 4, 6 / 11, 13 / 24, 13 / 24),  # precision 1, 2/3, 1/2 at recalls 1/4, 1/2, 3/4
        ("WRR", 2, 2 / 3, 2 / 3, 7 / 12),  # the second hit lifts the first
        ("R", 1, 1, 1, 1),
        ("R", 10, 2 / 11, 0.1, 0.1),
        ("R" * 7, 10, 8 / 11, 0.7, 0.7),  # recall 0.7 is reached, in double
        ("WWW", 3, 0, 0, 0),
        ("", 3, 0, 0, 0),
    ],
)
def test_by_hand(text, truths, eleven, envelope, natural):
    values = [average_precision(*curve(text, truths), method) for method in ("11point", "MaxIntegral", "Integral")]
    np.testing.assert_allclose(values, [eleven, envelope, natural], rtol=1e-12)


def test_by_definition():
    rng = np.random.default_rng(0)
    for _ in range(300):
        text = "".join(rng.choice(["R", "W"], rng.integers(0, 30), p=[0.4, 0.6]))
        truths = text.count("R") + int(rng.integers(0, 4)) or 1
        expected = by_definition(text, truths)
        for method in METHODS:
            assert average_precision(*curve(text, truths), method) == pytest.approx(expected[method], abs=1e-12), (
                text,
                truths,
            )


def test_another_method():
    with pytest.raises(DataError, match="'integral' is not known; take one of 11point"):
        evaluate([], [], method="integral")


# What is right


def test_voc_rules():
    truth = [
        [(1, 0, 0, 10, 10), (1, 20, 20, 30, 30, 1), (2, 0, 0, 10, 10)],
        [(1, 0, 0, 10, 10)],
        [],
    ]
    detections = [
        [
            Detection(1, 0.9, (0, 0, 10, 10)),
            Detection(1, 0.8, (0, 0, 10, 9)),  # again
            Detection(1, 0.7, (20, 20, 30, 30)),  # difficult: neither
            Detection(1, 0.6, (20, 20, 30, 30)),  # and again
            Detection(2, 0.5, (0, 0, 10, 5)),  # just the threshold
        ],
        [Detection(1, 0.85, (0, 0, 10, 4.9))],  # just below
        [Detection(3, 0.4, (0, 0, 1, 1))],  # a class that is nowhere
    ]
    made = evaluate(detections, truth, {1: "cat", 2: "dog"})
    one = made.curves[1]
    assert (one.truths, one.skipped, one.scores.tolist(), one.right.tolist()) == (
        2,
        2,
        [0.9, 0.85, 0.8],
        [True, False, False],
    )
    np.testing.assert_allclose(one.precision, [1, 1 / 2, 1 / 3])
    np.testing.assert_allclose(one.recall, [1 / 2, 1 / 2, 1 / 2])
    assert made.aps[1] == 0.5
    assert made.aps[2] == 1
    assert math.isnan(made.aps[3])
    assert made.mean == 0.75  # of the two that are somewhere
    lines = str(made).splitlines()
    assert lines[0].split() == ["class", "truths", "found", "right", "recall", "AP@0.5"]
    assert lines[1].split() == ["cat", "2", "3", "1", "0.5000", "0.5000"]
    assert lines[3].split() == ["label", "3", "0", "1", "0", "-", "-"]
    assert lines[-1].split() == ["mean", "3", "5", "2", "0.7500"]
    assert made.as_json()["classes"][2] == dict(label=3, name=None, truths=0, found=1, right=0, skipped=0, ap=None)


def test_the_box_that_is_overlapped_most_decides():
    """As in VOC's kit a detection goes to that box alone, though a free one would do; among equals to the first."""
    truth = [[(1, 0, 0, 10, 10), (1, 2, 0, 12, 10)]]
    near_first = [(1, 0.9, 0, 0, 10, 10), (1, 0.8, 0.5, 0, 10.5, 10)]
    assert evaluate([near_first], truth).curves[1].right.tolist() == [True, False]
    between = [(1, 0.9, 1, 0, 11, 10), (1, 0.8, 2, 0, 12, 10)]
    assert evaluate([between], truth).curves[1].right.tolist() == [True, True]
    assert evaluate([between[::-1]], truth).curves[1].right.tolist() == [True, True]


def test_equal_scores_keep_their_order():
    right, wrong = (1, 0.5, 0, 0, 10, 10), (1, 0.5, 50, 50, 60, 60)
    truth = [[(1, 0, 0, 10, 10)]]
    assert evaluate([[right, wrong]], truth).mean == 1
    assert evaluate([[wrong, right]], truth).mean == 0.5
    assert evaluate([[wrong], [right]], [[], *truth]).mean == 0.5


def test_corners_that_name_the_last_pixel():
    """10 of 20 pixels against 9 of 19: VOC's kit counts xmax - xmin + 1."""
    detections, truth = [[(1, 0.9, 1, 1, 10, 20)]], [[(1, 1, 1, 20, 20)]]
    assert evaluate(detections, truth).mean == 0
    assert evaluate(detections, truth, last_inside=True).mean == 1
    edges = evaluate([[(1, 0.9, 0, 0, 10, 20)]], [[(1, 0, 0, 20, 20)]])  # the same pixels, by their edges
    assert edges.mean == 1


def test_scenes_and_nothing():
    scene = Scene("a.jpg", 40, 30, [1, 2], np.array([[0, 0, 10, 10], [5, 5, 9, 9]]), [False, True])
    made = evaluate([[(1, 0.9, 0, 0, 10, 10)]], [scene])
    assert (made.curves[1].truths, made.curves[2].truths) == (1, 0)
    assert made.mean == 1
    assert evaluate([[]], [Scene("b.jpg", 4, 3)]).curves == {}
    assert math.isnan(evaluate([], []).mean)


def test_what_is_wrong_is_said():
    with pytest.raises(DataError, match="of 1 pictures, truth of 2"):
        evaluate([[]], [[], []])
    with pytest.raises(DataError, match=r"detections of picture 1 must be rows of label, score, .*, one has 5 numbers"):
        evaluate([[], [(1, 0.5, 0, 0, 1)]], [[], []])
    with pytest.raises(DataError, match="truth of picture 0"):
        evaluate([[]], [[(1, 0, 0, 1)]])
    with pytest.raises(DataError, match="row 0 of the detections is not finite"):
        evaluate([[(1, math.nan, 0, 0, 1, 1)]], [[]])
    with pytest.raises(DataError, match=r"row 1 of the truth has the label 1\.5, which is no whole number"):
        evaluate([[]], [[(1, 0, 0, 4, 4), (1.5, 0, 0, 4, 4)]])
    with pytest.raises(DataError, match=r"detections of picture 0 must be rows of numbers: .*'cat'"):
        evaluate([[("cat", 0.5, 0, 0, 1, 1)]], [[]])
    for overlap in (0, 1.5, math.nan, "half"):
        with pytest.raises(DataError, match=f"overlap must be a number above 0 and at most 1, got '?{overlap}"):
            evaluate([[]], [[]], overlap=overlap)
    for area in ((5,), (9, 4), 5):
        with pytest.raises(DataError, match="area must be two numbers"):
            evaluate([[]], [[]], area=area)
    with pytest.raises(DataError, match="no curve to draw"):
        evaluate([[]], [[]]).draw("x.png")


def random_scenes(rng, classes=3, truths=43, columns=6):
    """Pictures of cells with at most one true box each; most are found, near, far, twice, as another class or in empty cells."""
    labels = rng.permutation(np.repeat(np.arange(1, classes + 1), truths))
    cells = rng.permutation(columns * columns * 6)[: len(labels)]
    truth, detections = [[] for _ in range(6)], [[] for _ in range(6)]
    there = dict(zip(cells.tolist(), labels.tolist()))
    for cell in range(columns * columns * 6):
        at, (y, x) = cell % 6, np.divmod(cell // 6, columns)
        corner = np.array([x, y]) * 150 + 20
        size = rng.choice([20, 50, 110]) * rng.uniform(0.8, 1, 2)
        box = np.concatenate([corner, corner + size])
        if cell in there:
            truth[at].append((there[cell], *box))
        for _ in range(rng.choice([0, 1, 2], p=[0.3, 0.5, 0.2])):
            label = there.get(cell, 1) if rng.random() < 0.8 else rng.integers(1, classes + 1)
            moved = box + rng.normal(0, 0.12 * size.min(), 4)
            moved[2:] = np.maximum(moved[2:], moved[:2] + 1)
            detections[at].append((label, round(rng.random(), 2), *moved))  # two digits: some are equal
    return detections, truth


@pytest.mark.parametrize("seed", range(5))
def test_against_pycocotools(seed):
    """Where no detection could go to two boxes, VOC's rules and COCO's agree; 43 truths, for recalls no hundredth equals."""
    pytest.importorskip("pycocotools")
    detections, truth = random_scenes(np.random.default_rng(seed))
    for overlap, name in ((0.5, "AP50"), (0.75, "AP75")):
        made = evaluate(detections, truth, overlap=overlap, method="101point", coco=True)
        assert 0.02 < made.mean < 0.9
        assert made.coco.stats[name] == pytest.approx(made.mean, abs=1e-9)
    overlaps = [evaluate(detections, truth, overlap=o / 100, method="101point") for o in range(50, 100, 5)]
    assert made.coco.stats["AP"] == pytest.approx(np.mean([one.mean for one in overlaps]), abs=1e-9)
    for label in (1, 2, 3):
        assert made.coco.by_class[label] == pytest.approx(np.mean([one.aps[label] for one in overlaps]), abs=1e-9)


def test_coco_by_hand():
    pytest.importorskip("pycocotools")
    truth = [[(1, 0, 0, 20, 20), (1, 100, 100, 200, 200), (2, 0, 50, 30, 80, 1)]]
    detections = [[(1, 0.9, 0, 0, 20, 20), (2, 0.8, 0, 50, 20, 70), (1, 0.7, 100, 100, 200, 180)]]
    coco = evaluate(detections, truth, coco=True).coco
    assert list(coco.stats) == list(STATS)
    # the large one overlaps by 0.8, which is enough for 7 of the 10 overlaps
    whole, half = 1, 51 / 101
    assert coco.stats["AP50"] == pytest.approx(whole)
    assert coco.stats["AP"] == pytest.approx((7 * whole + 3 * half) / 10)
    assert coco.stats["AP small"] == pytest.approx(1)
    assert coco.stats["AP large"] == pytest.approx(0.7)
    assert math.isnan(coco.stats["AP medium"])
    assert coco.stats["AR1"] == pytest.approx(0.5)
    assert math.isnan(coco.by_class[2])  # a crowd alone
    made = evaluate(detections, truth, coco=True)
    assert str(made).splitlines()[0].split()[-1] == "AP@.5:.95"
    assert "COCO: AP 0.8515, AP50 1.0000" in str(made)
    for nothing in ([[]], [[]]), (detections, [[]]), ([[]], truth):
        stats = evaluate(*nothing, coco=True).coco.stats
        assert stats["AP"] == 0 or math.isnan(stats["AP"])


@pytest.mark.later(but=1)
@pytest.mark.parametrize("classes", [1, 3, 30])
def test_curves_are_drawn(tmp_path, classes):
    pytest.importorskip("matplotlib")
    detections, truth = random_scenes(np.random.default_rng(1), classes, 90 // classes)
    path = evaluate(detections, truth).draw(tmp_path / "curves.png")
    pixels = np.asarray(Image.open(path).convert("RGB"))
    assert (pixels.std(2) > 20).sum() > 300  # lines in colour
    with pytest.raises(BoxpressoError, match="cannot write the picture"):
        evaluate(detections, truth).draw(tmp_path / "none" / "curves.png")


# DetectionEvaluate's rows, and the solver's tests


ROWS = np.array([
    [-1, 1, 10, -1, -1], [-1, 2, 2, -1, -1], [-1, 3, 0, -1, -1],
    *([0, 1, 0.9 - i / 100, 1, 0] for i in range(7)),
    [0, 2, 0.5, 0, 1], [0, 2, 0.4, 1, 0], [1, 2, 0.45, 0, 0], [1, 2, 0.3, 1, 0], [1, 3, 0.8, 0, 1],
])  # fmt: skip


def test_curves_of_rows():
    made = curves_of_rows(np.concatenate([ROWS, ROWS[:3], ROWS[7:]]))
    assert [made[c].truths for c in (1, 2, 3)] == [20, 4, 0]
    assert made[2].scores.tolist() == [0.5, 0.5, 0.4, 0.4, 0.3, 0.3]
    assert made[2].right.tolist() == [False, False, True, True, True, True]
    assert made[2].skipped == 2
    assert math.isnan(made[3].ap())


@pytest.mark.parametrize("seed", range(3))
def test_evaluate_and_the_layer_agree(seed):
    """In units of 1/64, exact in float32; boxes in heaps, with difficult ones."""
    rng = np.random.default_rng(seed)

    def boxes(count):
        corner, size = rng.integers(0, 24, (count, 2)), rng.integers(4, 20, (count, 2))
        return np.concatenate([corner, corner + size], 1) / 64

    truth = [np.column_stack([rng.integers(1, 4, n), boxes(n), rng.random(n) < 0.2]) for n in rng.integers(0, 9, 12)]
    detections = []
    for true in truth:
        moved = np.concatenate([true[:, 1:5] + rng.integers(-1, 2, (len(true), 4)) / 64, boxes(6)])
        labels = np.concatenate([true[:, 0], rng.integers(1, 4, 6)])
        detections.append(np.column_stack([labels, rng.integers(0, 50, len(moved)) / 64, moved]))
    row = lambda i, rows, *more: np.concatenate([np.full((len(rows), 1), i), rows[:, :1], *more], 1)  # noqa: E731
    rows = np.concatenate([row(i, f, f[:, 1:]) for i, f in enumerate(detections)])
    true = np.concatenate([row(i, t, t[:, :1] * 0, t[:, 1:]) for i, t in enumerate(truth)])
    text = 'type: "DetectionEvaluate" detection_evaluate_param { num_classes: 4 evaluate_difficult_gt: false }'
    made = curves_of_rows(Rig(text, [rows[None, None], true[None, None]]).forward()[0][0, 0])
    expected = evaluate(detections, truth).curves
    assert made.keys() == expected.keys()
    for label, one in made.items():
        other = expected[label]
        assert (one.truths, one.skipped, one.right.tolist()) == (other.truths, other.skipped, other.right.tolist())
        assert one.scores.tolist() == other.scores.tolist()
        assert 0.1 < one.ap() < 0.9
    assert sum(one.skipped for one in made.values()) > 3


SOLVER = """
base_lr: 0.1 lr_policy: "fixed" max_iter: 1 test_iter: 2 test_interval: 1 solver_mode: CPU snapshot_after_train: false
train_net_param { layer { name: "x" type: "DummyData" top: "x" top: "y" dummy_data_param { shape { dim: 2 dim: 3 } } }
                  layer { name: "loss" type: "EuclideanLoss" bottom: "x" bottom: "y" top: "loss" } }
test_net_param {
  layer { name: "in" type: "Input" top: "found" top: "truth" input_param { shape { dim: 1 dim: 1 dim: 1 dim: 7 } shape { dim: 1 dim: 1 dim: 1 dim: 8 } } }
  layer { name: "judge" type: "DetectionEvaluate" bottom: "found" bottom: "truth" top: "detection_eval"
          detection_evaluate_param { num_classes: 4 evaluate_difficult_gt: false } } }
"""
TRUTH = [[0, 1, i, i, 0, i + 1, 1, 0] for i in range(10)] + [[0, 2, 0, 0, 0, 1, 1, 0], [0, 2, 1, 5, 0, 6, 1, 0]]
FOUND = [[0, 1, 0.9 - i / 100, i, 0, i + 1, 1] for i in range(7)]
FOUND += [[0, 2, 0.5, 3, 0, 4, 1], [0, 2, 0.4, 0, 0, 1, 1], [0, 2, 0.3, 5, 0, 6, 1]]


def solver_test(extra, batches):
    """What the solver's test returns and logs of these batches of (found, truth)."""
    lines, pairs = [], iter(batches)

    def feed(net):
        if "found" in net.blobs:
            for name, rows in zip(("found", "truth"), next(pairs)):
                net.blobs[name].reshape(1, 1, *np.shape(rows))
                net.blobs[name].data[...] = np.array(rows)

    solver = Solver(parse_text(SOLVER + extra, SolverParameter()), feed=feed, log=lines.append)
    return solver.test(), lines


@pytest.mark.parametrize(
    ("version", "first", "second"),
    [("11point", 7 / 11, 2 / 3), ("MaxIntegral", 0.7, 2 / 3), ("Integral", 0.7, 7 / 12)],  # 0.7 in float is below 0.7
)
def test_solver_logs_what_caffe_logs(version, first, second):
    """Batches of 12 and 0 detections; the class of which nothing is there counts as in Caffe."""
    extra = f'eval_type: "detection" ap_version: "{version}" show_per_class_result: true test_compute_loss: true'
    means, lines = solver_test(extra, [(FOUND, TRUTH), ([[0, -1, -1, -1, -1, -1, -1]], [[-1] * 8])])
    expected = (first + second) / 3
    assert means[0]["detection_eval"] == pytest.approx(expected, rel=1e-6)
    assert lines == [
        "Iteration 0, Testing net (#0)",
        "Test loss: 0",
        f"class1: {first:.6g}",
        f"class2: {second:.6g}",
        "Missing true_pos for label: 3",
        f"    Test net output #0: detection_eval = {expected:.6g}",
    ]


def test_classes_are_logged_by_their_names(tmp_path):
    lines: list[str] = []
    rows = np.array([[-1, 1, 2, -1, -1], [-1, 2, 1, -1, -1], [0, 1, 0.9, 1, 0], [0, 2, 0.8, 1, 0]])
    param = SolverParameter(eval_type="detection", show_per_class_result=True)
    mean_precision(rows, param, lines.append, {2: "dog"})
    assert [line.partition(": ")[2].partition(" ")[2] for line in lines] == ["", "(dog)"]


def test_the_rules_of_a_mean_are_told_apart():
    """A difficult object that is found counts in the plain mean alone; VOC2007 takes 11 points; by numpy and by hand."""
    pytest.importorskip("pycocotools")
    truth = [[(1, 0, 0, 10, 10, 0), (1, 20, 0, 30, 10, 1), (1, 40, 0, 50, 10, 0)]]
    detections = [[(1, 0.9, 0, 0, 10, 10), (1, 0.8, 20, 0, 30, 10), (1, 0.7, 40, 0, 50, 17), (1, 0.6, 80, 0, 90, 9)]]
    means = {rule.name: rule.value for rule in protocols(detections, truth)}
    assert list(means) == ["VOC", "VOC2007", "COCO", "COCO@0.5", "plain"]
    assert means["VOC"] == means["VOC2007"] == means["COCO@0.5"] == means["plain"] == 1  # the third overlaps by 10 / 17
    assert means["COCO"] == pytest.approx((2 + 8 * 51 / 101) / 10)  # at 0.50 and 0.55 both are found, above one of two
    missed = [row for row in detections[0] if row[1] != 0.8]
    means = {rule.name: rule.value for rule in protocols([missed], truth)}
    assert (means["VOC"], means["plain"]) == (1, pytest.approx(2 / 3))
    means = {rule.name: rule.value for rule in protocols([detections[0][:1]], truth)}
    assert (means["VOC"], means["VOC2007"]) == (0.5, pytest.approx(6 / 11))


def test_solver_when_nothing_was_found():
    means, lines = solver_test('eval_type: "detection"', [([[0, -1, -1, -1, -1, -1, -1]], TRUTH)] * 2)
    assert means[0]["detection_eval"] == 0
    assert lines[-1] == "    Test net output #0: detection_eval = 0"


def test_solver_refuses():
    batches = [(FOUND, TRUTH), (FOUND[:3], TRUTH)]
    with pytest.raises(ModelError, match='say eval_type: "detection"'):
        solver_test("", batches)
    with pytest.raises(ModelError, match="'segmentation'"):
        solver_test('eval_type: "segmentation"', batches)
    with pytest.raises(ModelError, match=r"ap_version must be one of .*'12point'"):
        solver_test('eval_type: "detection" ap_version: "12point"', batches)
    text = SOLVER[: SOLVER.index("test_net_param")] + SOLVER[
        SOLVER.index("train_net_param") : SOLVER.index("test_net_param")
    ].replace("train_net", "test_net")
    solver = Solver(parse_text(text + 'eval_type: "detection"', SolverParameter()), log=lambda line: None)
    with pytest.raises(ModelError, match=r"needs outputs of DetectionEvaluate.*'loss'"):
        solver.test()


def test_an_interrupted_test_says_so():
    solver = None
    lines = []

    def feed(net):
        for name, rows in zip(("found", "truth"), (FOUND, TRUTH)):
            if name in net.blobs:
                net.blobs[name].reshape(1, 1, *np.shape(rows))
                net.blobs[name].data[...] = np.array(rows)
                solver.stop()

    solver = Solver(parse_text(SOLVER + 'eval_type: "detection"', SolverParameter()), feed=feed, log=lines.append)
    assert solver.test() == []
    assert lines[-1] == "Test interrupted."


def test_plot_draws_the_precision(tmp_path):
    pytest.importorskip("matplotlib")
    caffe = "I0101 10:00:00.000000  1234 solver.cpp:540] "
    log = "\n".join(
        caffe + line
        for i in range(4)
        for line in (
            f"Iteration {100 * i}, loss = {5 - i}",
            f"Iteration {100 * i}, Testing net (#0)",
            f"class1: {0.1 + 0.2 * i}",
            f"class12: {0.3 + 0.2 * i} (big dog)",
            f"    Test net output #0: detection_eval = {0.2 + 0.2 * i}",
        )
    )
    curves = read_curves(log.splitlines())
    assert curves.tests["detection_eval"][2] == (200, pytest.approx(0.6))
    assert {name: len(points) for name, points in curves.classes.items()} == {"class1": 4, "big dog": 4}
    (tmp_path / "log").write_text(log)
    assert plot(str(tmp_path / "log"), str(tmp_path / "log.png")).stat().st_size > 10_000
