"""Layers of further forks (YOLOv2, Ristretto, DeepLab, DeepSkeleton, SELU, CaffeMex), by formula in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient, close

from boxpresso import LayerError

RNG = np.random.default_rng(51)


def random(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


SEG = 'type: "YoloSeg" yolo_seg_param { object_scale: 3 }'
EXCITE = 'type: "AssistedExcitation" python_param { param_str: "max_iter: 40" }'
RISTRETTO = """type: "ConvolutionRistretto" convolution_param { num_output: 4 kernel_size: 3 pad: 1
    weight_filler { type: "gaussian" std: 0.5 } bias_filler { type: "gaussian" std: 0.5 } } quantization_param { %s }"""
FIXED = "bw_params: 5 fl_params: 3 bw_layer_in: 6 fl_layer_in: 3 bw_layer_out: 8 fl_layer_out: 2"
POWERS = "precision: INTEGER_POWER_OF_2_WEIGHTS exp_min: -4 exp_max: -1"
DROPOUT = 'type: "SeLuDropout" selu_dropout_param { dropout_ratio: 0.25 }'
TRUTH = np.array([[[1, 0.3, 0.4, 0.2, 0.5], [0, 0.8, 0.7, 0.3, 0.3], [0, 0, 0, 0, 0]]] * 2)
LAUNCHES: list[tuple] = [  # for tests/device/test_threaded.py
    (SEG, [random(2, 3, 20, 30), RNG.integers(0, 2, (2, 3, 20, 30))], [True, False]),
    ('type: "L1Loss"', [random(3, 900)] * 2),
    ('type: "CosLoss"', [random(3, 900)] * 2),
    (DROPOUT, [random(3, 70)], None, {"phase": "TRAIN"}),
    ('type: "Quantize"', [random(3, 70) * 100], [False]),
    ('type: "Rescale" rescale_param { rf: 50 }', [random(3, 70) * 100], [False], {"tops": 2}),
    ('type: "Mask"', [random(1, 3, 9, 8), RNG.integers(0, 2, (1, 1, 9, 8))], [True, False]),
    (EXCITE, [random(2, 3, 9, 8), TRUTH, random(2, 1, 9, 8)], [True, False, True], {"phase": "TRAIN"}),
    (RISTRETTO % FIXED, [random(2, 3, 9, 8)]),
    (RISTRETTO % POWERS, [random(2, 3, 9, 8)]),
]


# YOLOv2

REGION = """type: "RegionLoss" region_loss_param { num_class: 3 num: 2 object_scale: 4 noobject_scale: 0.5 class_scale: 2
    coord_scale: 3 thresh: 0.5 rescore: %d bias_match: %d biases: 1 biases: 1.5 biases: 2 biases: 1 }"""


def overlap(a, b) -> float:
    """Of two boxes of centres and sizes."""
    sides = [
        min(a[i] + a[i + 2] / 2, b[i] + b[i + 2] / 2) - max(a[i] - a[i + 2] / 2, b[i] - b[i + 2] / 2) for i in (0, 1)
    ]
    if min(sides) <= 0:
        return 0.0
    return sides[0] * sides[1] / (a[2] * a[3] + b[2] * b[3] - sides[0] * sides[1])


def region_errors(x: np.ndarray, truth, rescore: int, match: int) -> np.ndarray:
    """By loops, for one image (2, 8, H, W)."""
    anchors, (height, width) = [(1, 1.5), (2, 1)], x.shape[2:]
    error = np.zeros(x.shape)

    def box(n, j, i):
        v = x[n, :, j, i]
        return [(i + sigmoid(v[0])) / width, (j + sigmoid(v[1])) / height,
                np.exp(v[2]) * anchors[n][0] / width, np.exp(v[3]) * anchors[n][1] / height]  # fmt: skip

    for n, j, i in np.ndindex(2, height, width):
        o = sigmoid(x[n, 4, j, i])
        most = max(overlap(box(n, j, i), t[1:]) for t in truth)
        error[n, 4, j, i] = 0 if most > 0.5 else 0.5 * o * o * (1 - o)
    for t in truth:
        i, j = int(t[1] * width), int(t[2] * height)
        sizes = [(a[0] / width, a[1] / height) if match else box(n, j, i)[2:] for n, a in enumerate(anchors)]
        n = int(np.argmax([overlap([0, 0, *s], [0, 0, *t[3:]]) for s in sizes]))
        v, scale = x[n, :, j, i], 3 * (1 if rescore else 2 - t[3] * t[4])
        for k, wanted in ((0, t[1] * width - i), (1, t[2] * height - j)):
            s = sigmoid(v[k])
            error[n, k, j, i] = scale * (s - wanted) * s * (1 - s)
        error[n, 2, j, i] = scale * (v[2] - np.log(t[3] * width / anchors[n][0]))
        error[n, 3, j, i] = scale * (v[3] - np.log(t[4] * height / anchors[n][1]))
        o = sigmoid(v[4])
        error[n, 4, j, i] = 4 * (o - (overlap(box(n, j, i), t[1:]) if rescore else 1)) * o * (1 - o)
        p = np.exp(v[5:]) / np.exp(v[5:]).sum()
        error[n, 5:, j, i] = 2 * (p - (np.arange(3) == t[0]))
    return error


@pytest.mark.parametrize(("rescore", "match"), [(1, 1), (0, 1), (1, 0)])
def test_region_loss(rescore, match, device):
    x = random(2, 2, 8, 4, 5) * 0.7
    rig = Rig(REGION % (rescore, match), [x.reshape(2, 16, 4, 5), TRUTH], dtype=np.float64, device=device)
    error = np.stack([region_errors(image, TRUTH[0, :2], rescore, match) for image in x])
    close(rig.forward()[0], (error**2).sum() / 2)
    close(rig.backward([1.5], [True, False])[0].reshape(x.shape), 0.75 * error)
    rig.set_bottom(1, np.zeros((2, 1, 5)))
    empty = 0.5 * sigmoid(x[:, :, 4]) ** 2 * (1 - sigmoid(x[:, :, 4]))
    close(rig.forward()[0], (empty**2).sum() / 2)
    rig.set_bottom(0, np.full((2, 16, 4, 5), np.inf))
    rig.forward()  # wild values are no fault
    rig.set_bottom(1, np.full((2, 1, 5), 7.0))
    with pytest.raises(LayerError, match="from 0 to 2"):
        rig.forward()
    with pytest.raises(LayerError, match="biases must be 8"):
        Rig(REGION.replace("num: 2", "num: 4") % (1, 1), [np.zeros((1, 32, 2, 2)), TRUTH[:1]])


def test_yolo_seg(device):
    score, label = random(2, 3, 4, 5), RNG.integers(0, 2, (2, 3, 4, 5)).astype(float)
    label[:, 2] = 1
    rig = Rig(SEG, [score, label], dtype=np.float64, device=device)
    error = 3 * (sigmoid(score) - label)
    close(rig.forward()[0], (error**2).sum() / 2)
    close(rig.backward([2.0], [True, False])[0], error)
    pixels = label.sum((2, 3))
    rig = Rig(SEG, [score, label, pixels], dtype=np.float64, device=device)
    ratio = [pixels[:, c].sum() / (40 - pixels[:, c].sum()) for c in (0, 1)] + [0]
    scale = np.where(label > 0.5, 3 * (2 - np.array(ratio))[None, :, None, None], 3)
    close(rig.forward()[0], ((scale * error / 3) ** 2).sum() / 2)


def test_assisted_excitation(device):
    x, mean = random(2, 3, 8, 10), random(2, 1, 8, 10)
    truth = TRUTH + [0, 0.03, 0, 0, 0] * (TRUTH[..., 1:2] == 0.3)
    rig = Rig(EXCITE, [x, truth, mean], dtype=np.float64, phase="TRAIN", device=device)
    inside = np.zeros((2, 1, 8, 10))
    inside[:, 0, 1:6, 2:5] = 1  # of 0.23 to 0.43 and 0.15 to 0.65
    inside[:, 0, 4:7, 6:10] = 1
    close(rig.forward()[0], x + inside * mean)
    rig.layer.resume(10)
    close(rig.forward()[0], x + np.cos(np.pi / 6) * inside * mean)
    for at in (0, 2):
        rig.layer.resume(10)
        rig.forward()
        down = [k == at for k in range(3)]
        g = random(2, 3, 8, 10)
        wanted = g if at == 0 else np.cos(np.pi / 6) * inside * g.sum(1, keepdims=True)
        close(rig.backward([g], down)[at], wanted)
    rig.layer.resume(30)
    close(rig.forward()[0], x)
    close(Rig(EXCITE, [x, TRUTH, mean], device=device).forward()[0], x.astype(np.float32))


def test_segmentation_evaluate(device):
    scores, labels = RNG.uniform(0, 1, (1, 3, 6, 8)), RNG.integers(0, 2, (1, 3, 6, 8)).astype(float)
    labels[0, 2] = 0
    text = 'type: "SegmentationEvaluate" segmentation_evaluate_param { threshold: 0.3 }'
    seen, true = scores[0] > 0.3, labels[0] > 0.3
    wanted = [(seen[c] & true[c]).sum() / (seen[c] | true[c]).sum() for c in range(3)]
    close(Rig(text, [scores, labels], device=device).forward()[0].ravel(), wanted)
    large = RNG.uniform(0, 1, (1, 3, 12, 16))  # halved: the mean of two by two bytes
    levels = np.trunc(large[0].astype(np.float32) * np.float32(255)).astype(float)
    small = np.rint(levels.reshape(3, 6, 2, 8, 2).mean((2, 4))) > int(0.3 * 255)
    wanted = [(small[c] & true[c]).sum() / (small[c] | true[c]).sum() for c in range(2)]
    close(Rig(text, [large, labels], device=device).forward()[0].ravel(), [*wanted, -1])


def test_parse_evaluate(device):
    seen, true = (RNG.integers(0, 4, (3, 1, 4, 5)).astype(float) for _ in range(2))
    true[0, 0, 0], true[2, 0, 1:3] = 255, 2  # the class 2 does not count, either
    text = 'type: "ParseEvaluate" parse_evaluate_param { num_labels: 4 ignore_label: 255 ignore_label: 2 }'
    pairs = [(int(a), int(b)) for a, b in zip(seen.ravel(), true.ravel()) if b not in (255, 2)]
    wanted = [[pairs.count((c, c)), sum(b == c for _, b in pairs), sum(a == c for a, _ in pairs)] for c in range(4)]
    rig = Rig(text, [seen, true], device=device)
    assert rig.forward()[0].reshape(4, 3).tolist() == wanted
    for i, value, says in ((0, 4, "class .* is none of the 4"), (1, 7, "label .* is none of the 4"), (0, -1, "class")):
        bottoms = [seen.copy(), true.copy()]
        bottoms[i][1, 0, 2, 2] = value
        with pytest.raises(LayerError, match=says):
            Rig(text, bottoms, device=device).forward()
    for other, says in ((seen[:2], "bottom 1 must be"), (seen[:, :, :3], "bottom 1 must be")):
        with pytest.raises(LayerError, match=says):
            Rig(text, [seen, other], device=device)
    with pytest.raises(LayerError, match="num_labels must say"):
        Rig('type: "ParseEvaluate"', [seen, true], device=device)


def test_seg_accuracy(device):
    scores, labels = random(2, 3, 4, 5), RNG.integers(0, 3, (2, 1, 4, 5)).astype(float)
    labels[0, 0, 0] = 255
    text = 'type: "SegAccuracy" seg_accuracy_param { ignore_label: 255 reset: %s }'
    best, counts = scores.argmax(1), labels[:, 0] != 255
    table = np.array([[((labels[:, 0] == a) & (best == b) & counts).sum() for b in range(3)] for a in range(3)])
    right = np.diag(table)
    wanted = [
        right.sum() / table.sum(),
        (right / table.sum(1)).mean(),
        (right / (table.sum(1) + table.sum(0) - right)).mean(),
    ]
    rig = Rig(text % "false", [scores, labels], device=device)
    close(rig.forward()[0].ravel(), wanted)
    close(rig.forward()[0].ravel(), wanted)  # twice as many, the same shares
    rig.set_bottom(1, np.zeros((2, 1, 4, 5)))
    first = Rig(text % "true", [scores, np.zeros((2, 1, 4, 5))], device=device).forward()[0].ravel()
    assert rig.forward()[0].ravel()[0] != first[0] == (best == 0).mean().astype(np.float32)
    rig.set_bottom(1, np.full((2, 1, 4, 5), 9.0))
    with pytest.raises(LayerError, match="label 9 at 0"):
        rig.forward()


# Ristretto


def fixed(x, bits: int, fraction: int) -> np.ndarray:
    whole = np.trunc(x * 2.0**fraction + np.copysign(0.5, x))
    return np.clip(whole, -(2.0 ** (bits - 1)), 2.0 ** (bits - 1) - 1) / 2.0**fraction


def convolved(x: np.ndarray, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    out = np.zeros((len(x), len(w), *x.shape[2:])) + b[:, None, None]
    for i, j in np.ndindex(3, 3):
        out += np.einsum("nchw,mc->nmhw", padded[:, :, i : i + x.shape[2], j : j + x.shape[3]], w[:, :, i, j])
    return out


@pytest.mark.parametrize("kind", ["fixed", "bias", "int8", "powers"])
def test_convolution_ristretto(kind, device):
    x, w, b = random(2, 3, 5, 6) * 3, random(4, 3, 3, 3), random(4)
    texts = {
        "fixed": FIXED, "bias": FIXED + " bw_bias_params: 9 fl_bias_params: 6", "powers": POWERS,
        "int8": "int8_term: true data_scale: 30 weight_scale: 40 weight_scale: 60",
    }  # fmt: skip
    rig = Rig(RISTRETTO % texts[kind], [x], dtype=np.float64, device=device, params=[w, b])
    if kind == "int8":
        scale = np.array([40, 40, 60, 60])[:, None, None, None]
        q = np.clip(np.rint(w * scale), -128, 127) / scale
        wanted = convolved(np.clip(np.rint(x * 30), -128, 127) / 30, q, b)
    elif kind == "powers":
        q = np.sign(w) * 2.0 ** np.clip(np.rint(np.log2(abs(w))), -4, -1)
        wanted = convolved(x, q, b)
    else:
        q = fixed(w, 5, 3)
        wanted = convolved(fixed(x, 6, 3), q, fixed(b, 9, 6) if kind == "bias" else fixed(b, 5, 3))
        if kind == "fixed":
            wanted = fixed(wanted, 8, 2)
    close(rig.forward()[0], wanted)
    g = random(2, 4, 5, 6)
    plain = Rig(RISTRETTO.replace("Ristretto", "").partition("quantization")[0], [x], dtype=np.float64, params=[q, b])
    plain.forward()
    close(rig.backward([g])[0], plain.backward([g])[0])  # with the rounded weights
    for got, other in zip(rig.param_diffs(), plain.param_diffs()):
        close(got, other)


@pytest.mark.parametrize("transpose", [False, True], ids=["", "transpose"])
def test_fc_ristretto(transpose, device):
    x, w, b, g = random(5, 6) * 3, random(4, 6), random(4), random(5, 4)
    text = """type: "FcRistretto" inner_product_param { num_output: 4 transpose: %s }
        quantization_param { %s }"""
    stored = w.T.copy() if transpose else w
    rig = Rig(text % (str(transpose).lower(), FIXED), [x], dtype=np.float64, device=device, params=[stored, b])
    q = fixed(w, 5, 3)
    close(rig.forward()[0], fixed(fixed(x, 6, 3) @ q.T + fixed(b, 5, 3), 8, 2))
    close(rig.backward([g])[0], g @ q)  # with the rounded weights
    weights, bias = rig.param_diffs()
    close(weights, x.T @ g if transpose else g.T @ x)
    close(bias, g.sum(0))
    with pytest.raises(LayerError, match="divide 4 outputs"):
        Rig(text % ("false", "int8_term: true " + "weight_scale: 1 " * 3), [x])
    with pytest.raises(LayerError, match="transposed matrix"):
        Rig(text % ("true", "int8_term: true " + "weight_scale: 1 " * 2), [x])


def test_ristretto_draws_while_training(device):
    x, w = random(1, 3, 4, 4), np.full((4, 3, 3, 3), 0.3)
    rig = Rig(RISTRETTO % FIXED, [x], phase="TRAIN", params=[w, np.zeros(4)], device=device)
    seen = []
    for _ in range(40):
        rig.forward()
        seen.append(np.array(rig.layer.rounded[0]))
    assert set(np.unique(seen)) == {0.25, 0.375}
    assert abs(np.mean(seen) - 0.3) < 0.005
    with pytest.raises(LayerError, match="MINIFLOAT"):
        Rig(RISTRETTO % "precision: MINIFLOAT", [x])
    with pytest.raises(LayerError, match="divide 4 outputs"):
        Rig(RISTRETTO % ("int8_term: true " + "weight_scale: 1 " * 3), [x])


# Small ones


def test_l1_and_cosine(device):
    a, b = random(3, 4, 5), random(3, 4, 5)
    rig = Rig('type: "L1Loss"', [a, b], dtype=np.float64, device=device)
    close(rig.forward()[0], abs(a - b).sum() / 3)
    check_gradient(rig, bottoms=(0, 1))
    rig = Rig('type: "CosLoss"', [a, b], dtype=np.float64, device=device)
    close(rig.forward()[0], 1 - (a * b).sum() / 3)
    check_gradient(rig, bottoms=(0, 1))
    with pytest.raises(LayerError, match="FlowNet"):
        Rig('type: "L1Loss" l1_loss_param { l2_per_location: true }', [a, b])


@pytest.mark.parametrize("in_place", [False, True], ids=["", "in_place"])
def test_selu(in_place, device):
    x = random(4, 50)
    rig = Rig('type: "SeLu"', [x], dtype=np.float64, in_place=in_place, device=device)
    close(rig.forward()[0], 1.05070102 * np.where(x > 0, x, 1.67326319 * np.expm1(x)))
    rig.set_bottom(0, x)
    check_gradient(rig)
    x = random(1, 40000)
    rig = Rig(DROPOUT, [x], phase="TRAIN", in_place=in_place, device=device)
    y = rig.forward()[0]
    scale = (0.75 * (1 + 1.75809932**2 * 0.25)) ** -0.5
    shift = scale * 0.25 * 1.75809932
    dropped = np.isclose(y, -scale * 1.75809932 + shift, atol=1e-5)
    assert abs(dropped.mean() - 0.25) < 0.01
    close(y[~dropped], (scale * x + shift)[~dropped], rtol=1e-4)
    assert abs(y.mean() - x.mean()) < 0.03
    close(rig.backward([np.ones_like(x)])[0], scale * ~dropped)


def test_quantize_and_rescale(device):
    x = np.array([0.5, 1, 11.9, 12, 35.9, 36, 79.9, 80, 199.9, 200, -3, np.nan])
    wanted = [0, 1, 1, 2, 2, 3, 3, 4, 4, 0, 0, 0]
    assert Rig('type: "Quantize"', [x], device=device).forward()[0].tolist() == wanted
    x = np.array([0, 1, 9, 10, 11, -4, 0.0001, np.nan])
    numbers, seen = Rig('type: "Rescale" rescale_param { rf: 10 }', [x], tops=2, device=device).forward()
    close(numbers, [0, -0.8, 0.8, 0, 0, -1.8, 0, 0])
    assert seen.tolist() == [0, 1, 1, 0, 0, 1, 0, 0]


def test_flip_and_mask(device):
    x = random(2, 3, 4, 5)
    for text, wanted in (("", x[..., ::-1]), ("flip_height: true", x[..., ::-1, ::-1]), ("flip_width: false", x)):
        rig = Rig(f'type: "Flip" flip_param {{ {text} }}', [x], dtype=np.float64, device=device)
        close(rig.forward()[0], wanted)
        check_gradient(rig)
    mask = RNG.integers(0, 2, (1, 1, 4, 5)).astype(float)
    rig = Rig('type: "Mask"', [x[:1], mask], dtype=np.float64, device=device)
    close(rig.forward()[0][:, :, 0, 0], x[0].transpose(1, 2, 0)[mask[0, 0] == 1])
    check_gradient(rig)
    rig.set_bottom(1, np.zeros((1, 1, 4, 5)))
    assert rig.forward()[0].shape == (0, 3, 1, 1)


def test_cls_annotator_ohem(device):
    regions = np.column_stack([RNG.integers(0, 2, 12), random(12, 4)])
    loss, labels = RNG.permutation(12).astype(float), np.arange(12.0) + 20
    text = 'type: "ClsAnnotatorOHEM" box_annotator_ohem_param { roi_per_img: 3 ignore_label: -7 }'
    got = Rig(text, [regions, loss, labels], device=device).forward()[0].ravel()
    for i in range(12):
        better = sum(loss[k] > loss[i] for k in range(12) if regions[k, 0] == regions[i, 0])
        assert got[i] == (labels[i] if better < 3 else -7)
