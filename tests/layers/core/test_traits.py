"""What each layer type says of itself in its traits (layers/core/traits.py), checked by running it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from harness import Rig
from layer_sizes import CASES, SIZES, Case

from boxpresso import Blob, Layer, Net
from boxpresso.device import open_device
from boxpresso.device.cast import cast_to
from boxpresso.device.signature import HALVES
from boxpresso.layers.core import REGISTRY, Trait, discover, make_layer, traits_of
from boxpresso.layers.core.traits import IMPLIED, with_implied
from boxpresso.proto import LayerParameter, parse_net, parse_text
from boxpresso.proto.errors import BoxpressoError, LayerError

discover()
SHAPE = "shape { dim: 2 dim: 3 }"
MORE = [  # types without bottoms, which tests/layer_sizes.py leaves out
    Case("Input", f"input_param {{ {SHAPE} }}", ""),
    Case("DummyData", f'dummy_data_param {{ {SHAPE} data_filler {{ type: "constant" value: 3 }} }}', ""),
    Case("Parameter", f"parameter_param {{ {SHAPE} }}", ""),
    Case("ContinuationIndicator", "continuation_indicator_param { time_step: 2 batch_size: 3 }", ""),
]
RNG = np.random.default_rng(0)
Arrays = Sequence[np.ndarray]


def values(case: Case) -> list[np.ndarray]:
    """Bottoms of random numbers, different from one another; zeros where the case has them, and regions inside the image."""
    traits, made = traits_of(case.type), []
    if case.type in REAL:
        return [np.asarray(x, np.float64) for x in REAL[case.type]][: case.bottoms.count(",") + 1]
    rng = np.random.default_rng(3)
    for i, ones in enumerate(case.arrays() if case.bottoms else []):
        value = rng.standard_normal(ones.shape) + 1e-3 * np.arange(ones.size).reshape(ones.shape)
        if Trait.REGIONS in traits and i == 1:
            value = np.sort(rng.uniform(0, 1, ones.shape), 1)  # CropAndResize's lie from 0 to 1, others in pixels
            if value.shape[1] > 4:
                value = 3 + 4 * value
                value[:, 0] = np.arange(len(value)) % SIZES["n"]
        if case.type == "RotateROIPooling" and i == 2:
            value = np.array([[2.0 * SIZES["h"], 2.0 * SIZES["w"], 1]])
        made.append(value if ones.any() and case.type not in NEEDS_ONES else ones)
    return made


BOX, FAR = [0, 2, 2, 11, 11], [0, 40, 2, 49, 11]
PRIORS = [[[0.1 * i, 0.1, 0.1 * i + 0.2, 0.4] for i in range(3)], [[0.1, 0.1, 0.2, 0.2]] * 3]
REAL = {  # bottoms of types to which random numbers say nothing
    "DecodeBBox": [np.full((2, 8), 0.1), [BOX, FAR], [[1, 0.2], [1, 5]]],
    "FrcnnOutput": [[[0.2, 0.8]] * 2, np.full((2, 8), 0.1), [BOX, FAR], [[60, 60]]],
    "DetectionEvaluate": [[[[[0, 1, 0.75, 0, 0, 1, 1], [-1, 1, 0.5, 0, 0, 0.25, 0.25]]]], [[[[0, 1, 0, 0, 0, 1, 1, 0]]]]],
    "ScoreDetections": [np.zeros((1, 60, 5)), np.arange(300).reshape(1, 60, 5) + 1],
    "MultiBoxLoss": [RNG.standard_normal((1, 12)), RNG.standard_normal((1, 6)), np.reshape(PRIORS, (1, 2, 12)),
                     [[[[0, 1, 0, 0.1, 0.1, 0.3, 0.4, 0]]]]],
    "DomainTransform": [RNG.standard_normal((2, 3, 4, 5)), RNG.uniform(0, 1, (2, 1, 4, 5)), [[4, 5], [3, 4]]],
    "Filter": [np.ones((2, 3, 2, 2)), [[0], [1]]],
    "MaskProposalTarget": [[BOX, [0, 2, 2, 11, 30]], [[*BOX[1:], 1]], np.ones((1, 1, 60, 60))],
    "PointSample": [RNG.standard_normal((2, 8, 6, 7)), RNG.uniform(0.1, 0.9, (2, 3, 2))],
    "MultiScaleDeformableAttention": [RNG.standard_normal((2, 42, 2, 8)), [[6, 7]], [0],
                                      RNG.uniform(0.1, 0.9, (2, 3, 2, 1, 4, 2)), RNG.uniform(0, 1, (2, 3, 2, 1, 4))],
    "LiftedStructSimilaritySoftmaxLoss": [RNG.standard_normal((3, 2)), [0, 1, 0]],
    "MultiSoftmaxLoss": [RNG.standard_normal((2, 4)), [1, 3]],
    "ContrastiveLoss": [[[0.1, 0.2]], [[0.3, 0.1]], [[1]]],
    "UniqueLabel": [np.reshape([0, 2, 2, 5, 0, 0], (2, 1, 1, 3))],
    "MultiLabelAccuracy": [[[1, -2, 3, -4], [2, 1, -1, 5]], [[1, 1, -1, 1], [-1, 1, 1, -1]]],
    "SigmoidCrossEntropyBalanceLoss": [RNG.standard_normal((2, 4)), [[0, 1, 1, 0], [1, 0, 0, 0]]],
}  # fmt: skip
REAL["DomainTransformForwardOnly"] = REAL["DomainTransform"]
REAL["MSDeformAttn"], REAL["MultiBoxSSDLoss"] = REAL["MultiScaleDeformableAttention"], REAL["MultiBoxLoss"]
NEEDS_ONES = ("Embed", "Gather", "LSTM", "RNN", "BatchReindex")  # of whose bottoms some are numbers of rows


def run(case: Case, bottoms: Arrays) -> tuple[Rig, list[np.ndarray]]:
    """A new layer of the case over these bottoms, and its tops: the same numbers are drawn each time."""
    rig = Rig(f'type: "{case.type}" {case.text}', bottoms, tops=case.tops, phase=case.phase, dtype=np.float64)
    draw_parameters(rig)
    return rig, [np.array(top) for top in rig.forward()]


def draw_parameters(rig: Rig) -> None:
    """Draws the same numbers each time: what fillers give may be the same for all channels."""
    rng = np.random.default_rng(5)
    for blob in rig.layer.blobs:
        blob.data[...] = rng.uniform(0.1, 0.3, blob.shape)


def same(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Where two arrays hold the same, up to rounding."""
    return np.isclose(a, b, rtol=1e-9, atol=1e-12, equal_nan=True)


def changed(x: np.ndarray, where: object) -> np.ndarray:
    """A copy with other numbers there."""
    other = x.copy()
    other[where] += 0.37  # type: ignore[index]
    return other


def with_bottom(bottoms: Arrays, index: int, value: np.ndarray) -> list[np.ndarray]:
    return [value if i == index else other for i, other in enumerate(bottoms)]


# A check of each trait


def check_writes_all(case: Case) -> None:
    rig, first = run(case, values(case))
    for _ in range(2):
        for blob in rig.top:
            if not any(blob._data is bottom._data for bottom in rig.bottom):
                blob.data[...] = np.nan
        draw_parameters(rig)  # a forward may have changed them
        rig.layer.forward(rig.bottom, rig.top)
        for blob, wanted in zip(rig.top, first):
            assert blob.shape == wanted.shape
            if rig.layer.pass_number:  # it draws
                assert not np.isnan(blob.data).any()
            else:
                assert same(np.asarray(blob.data), wanted).all(), "an element is not written, or differs"


def check_keeps_places(case: Case) -> None:
    bottoms = values(case)
    rig, tops = run(case, bottoms)
    assert all(top.shape[2:] == bottoms[0].shape[2:] for top in tops)
    if rig.layer.pass_number:  # what is drawn depends on the place
        at = (1, 2, 3, 4)
        _, others = run(case, with_bottom(bottoms, 0, changed(bottoms[0], at)))
        assert all(same(top, other)[:, :, [0, 1, 2, 4, 5]].all() for top, other in zip(tops, others))
        return
    _, others = run(case, [x[..., ::-1].copy() if x.ndim == 4 else x for x in bottoms])
    assert all(same(top[..., ::-1], other).all() for top, other in zip(tops, others)), "a mirror image is not mirrored"


def check_by_channel(case: Case) -> None:
    bottoms = values(case)
    _, tops = run(case, bottoms)
    for c in (0, 5):
        _, others = run(case, with_bottom(bottoms, 0, changed(bottoms[0], np.s_[:, c])))
        for top, other in zip(tops, others):
            assert top.ndim < 2 or top.shape[1] == bottoms[0].shape[1] or top.shape[1] == 1
            rest = [k for k in range(top.shape[1]) if k != c]
            assert same(top, other)[:, rest].all(), f"channel {c} is seen in others"


def check_pools(case: Case) -> None:
    bottoms = values(case)
    (top,) = run(case, bottoms)[1]
    np.testing.assert_allclose(run(case, [2 * x for x in bottoms])[1][0], 2 * top)
    bound = np.abs(bottoms[0]).max((0, 2, 3))[:, None, None] * (2 if "RCM" in case.text else 1)  # it adds two maxima
    assert (np.abs(top) <= bound).all()


def check_elementwise(case: Case) -> None:
    bottoms = values(case)
    _, tops = run(case, bottoms)
    assert all(x.shape == bottoms[0].shape for x in (*bottoms, *tops)), "shapes differ"
    order = RNG.permutation(bottoms[0].size)
    _, others = run(case, [x.ravel()[order].reshape(x.shape) for x in bottoms])
    for top, other in zip(tops, others):
        assert same(top.ravel()[order], other.ravel()).all(), "in another order the elements become others"
    for i in range(len(bottoms)):
        at = tuple(RNG.integers(bottoms[i].shape))
        _, others = run(case, with_bottom(bottoms, i, changed(bottoms[i], at)))
        for top, other in zip(tops, others):
            differs = ~same(top, other)
            differs[at] = False
            assert not differs.any(), "one element changes others"


def check_rearranges(case: Case) -> None:
    bottoms = values(case)
    for top in run(case, bottoms)[1]:
        np.testing.assert_array_equal(np.sort(top, None), np.sort(bottoms[0], None))


def check_view(case: Case) -> None:
    bottoms = values(case)
    for top in run(case, bottoms)[1]:
        np.testing.assert_array_equal(top.ravel(), bottoms[0].ravel())


def check_joins(case: Case) -> None:
    bottoms = values(case)
    rig, (top,) = run(case, bottoms)
    assert len(bottoms) > 1
    layer: Layer = rig.layer
    for x, start in zip(bottoms, layer.starts, strict=True):
        at = start + sum(index * step for index, step in zip(np.indices(x.shape), layer.top_steps))
        np.testing.assert_array_equal(top.ravel()[at], x)
    assert top.size == sum(x.size for x in bottoms)


def check_parts(case: Case) -> None:
    (whole,) = values(case)
    tops = run(case, [whole])[1]
    np.testing.assert_array_equal(np.concatenate(tops, 1), whole)


def check_weighted(case: Case) -> None:
    rig, (top,) = run(case, values(case))
    rig.layer.blobs[1].data[...] = RNG.standard_normal(rig.layer.blobs[1].shape)
    top = np.array(rig.forward()[0])
    factors = RNG.uniform(0.5, 2, rig.layer.blobs[1].count)
    weights = np.asarray(rig.layer.blobs[0].data)
    rig.layer.blobs[0].data[...] = rig.layer.scaled(weights, factors)
    rig.layer.blobs[1].data[...] *= factors
    np.testing.assert_allclose(rig.forward()[0], top * factors.reshape(-1, *[1] * (top.ndim - 2)), rtol=1e-9, atol=1e-9)


def check_probabilities(case: Case) -> None:
    for top in run(case, [3 * x for x in values(case)])[1]:
        assert ((top > 0) & (top < 1)).all()
        assert top.std() > 0.01


def check_constant(case: Case) -> None:
    bottoms = values(case)
    tops, others = run(case, bottoms)[1], run(case, [x + 1 for x in bottoms])[1]
    for top, other in zip(tops, others):
        np.testing.assert_array_equal(top, other)


def check_filled(case: Case) -> None:
    assert REGISTRY[case.type.lower()].bottoms == 0
    assert all(top.shape == (2, 3) for top in run(case, [])[1])


def check_loss(case: Case) -> None:
    rig, tops = run(case, values(case))
    assert tops[0].size <= 2, "a loss is of the whole batch"  # DetectionLoss has one of classes and one of boxes
    grads = rig.backward(
        [np.full(top.shape, i == 0) for i, top in enumerate(tops)], [i in case.down for i in range(len(rig.bottom))]
    )  # type: ignore[operator]
    assert any(grads[i].any() for i in case.down), "it has no gradient"  # type: ignore[union-attr]


def check_class_labels(case: Case) -> None:
    scores, labels, *rest = case.arrays()
    rest = [np.eye(x.shape[-1]).reshape(x.shape) for x in rest]  # InfogainLoss's matrix
    scores = values(case)[0]
    scores = np.abs(scores) / np.abs(scores).sum(1, keepdims=True)
    assert labels.size == scores.size // scores.shape[1]
    labels = scores.argmax(1).reshape(labels.shape).astype(float)
    tops = run(case, [scores, labels, *rest])[1]
    order = RNG.permutation(scores.shape[1])  # the classes under other numbers
    others = run(case, [scores[:, order], np.argsort(order)[labels.astype(int)].astype(float), *rest])[1]
    np.testing.assert_allclose(tops[0], others[0], rtol=1e-9)
    wrong = (labels + 1) % scores.shape[1]
    assert not same(run(case, [scores, wrong, *rest])[1][0], tops[0]).all()


def check_compares(case: Case) -> None:
    one, two, *rest = values(case)
    assert one.size == two.size
    two = two if two.any() else (RNG.uniform(0, 1, two.shape) < 0.5).astype(float)
    tops = run(case, [one, two, *rest])[1]
    assert not same(run(case, [one, two[::-1].copy(), *rest])[1][0], tops[0]).all()
    with pytest.raises(LayerError):
        run(case, [one, np.zeros((3, 3)), *rest])


def check_binary(case: Case) -> None:
    one, two, *rest = values(case)
    results = [run(case, [one, np.full(two.shape, label), *rest])[1][0] for label in (0.0, 1.0)]
    assert np.isfinite(results).all()
    assert not same(*results).all()
    for label, sign in ((0.0, 1), (1.0, -1)) if Trait.LOSS in traits_of(case.type) else ():
        rig, tops = run(case, [one, np.full(two.shape, label), *rest])
        grad = rig.backward([np.ones(top.shape) for top in tops], [i == 0 for i in range(len(rig.bottom))])[0]
        assert (sign * grad >= 0).all(), "a larger score does not speak for 1"


def check_rows_of_1(case: Case) -> None:
    bottoms = values(case)
    rows = len(bottoms[1])
    tops = run(case, bottoms)[1]
    assert all(len(top) == rows for top in tops)
    assert rows != len(bottoms[0])
    turned = [x[::-1].copy() if i and len(x) == rows else x for i, x in enumerate(bottoms)]
    for top, other in zip(tops, run(case, turned)[1]):
        np.testing.assert_allclose(top[::-1], other, rtol=1e-9, atol=1e-12)


def check_regions(case: Case) -> None:
    check_rows_of_1(case)
    bottoms = values(case)
    assert bottoms[1].shape[1:] in ((4,), (5,), (6,))
    tops = run(case, bottoms)[1]
    moved = changed(bottoms[1], np.s_[:, -4:-2])
    assert not same(tops[0], run(case, with_bottom(bottoms, 1, moved))[1][0]).all()


def check_image_info(case: Case) -> None:
    bottoms = case.arrays()
    rows, columns = bottoms[2].shape
    assert rows in (1, SIZES["n"])
    assert columns in (2, 3)
    bottoms = [RNG.uniform(0, 1, x.shape) for x in bottoms[:2]]
    if Trait.REGIONS in traits_of(case.type):
        bottoms[1] = values(case)[1]
    scale = 2.0 if Trait.REGIONS in traits_of(case.type) else 16.0
    sizes = [np.tile([[scale * h, scale * w, s][:columns]], (rows, 1)) for h, w, s in ((6, 7, 1.0), (3, 4, 5.0))]
    one, other = (run(case, [*bottoms, size])[1][0] for size in sizes)
    assert one.shape != other.shape or not same(one, other).all()


def check_proposes(case: Case) -> None:
    rig, (regions, *_) = run(case, case.arrays())
    for top, shape in zip(rig.top, rig.layer.list_shapes):
        assert [n for n, m in zip(top.shape, shape, strict=True) if m >= 0] == [m for m in shape if m >= 0]
    assert regions.shape[1] in (5, 6)
    assert set(np.unique(regions[:, 0])) <= set(range(SIZES["n"])), "the first column is the number of an image"


def check_chooses_rows(case: Case) -> None:
    rng = np.random.default_rng(1)
    tries = [values(case), case.arrays(), [rng.uniform(0, 1, x.shape) for x in case.arrays()]]
    shapes = []
    for bottoms in tries[: 1 if case.type in REAL else 3]:
        try:
            rig = Rig(f'type: "{case.type}" {case.text}', bottoms, tops=case.tops, phase=case.phase)
            rig.layer.reshape(rig.bottom, rig.top)
            before = [blob.shape for blob in rig.top]
            rig.layer.forward(rig.bottom, rig.top)
        except LayerError:
            continue  # such numbers are refused
        shapes.append((before, [blob.shape for blob in rig.top]))
    assert any(before != after for before, after in shapes), "each forward gives the shapes of reshape"


def check_detects(case: Case) -> None:
    rig, (rows,) = run(case, case.arrays())
    assert rig.layer.list_shapes == ((1, 1, -1, 7),)
    assert rows.ndim == 4
    assert rows.shape[:2] == (1, 1)
    assert rows.shape[3] == 7


def check_restores(case: Case) -> None:
    deviations = "bbox_reg_param { " + "bbox_mean: 0 " * 4 + "bbox_std: 0.5 " * 4 + "}"
    results = [run(case._replace(text=text), values(case))[1][0] for text in (case.text, f"{case.text} {deviations}")]
    assert results[0].shape == results[1].shape
    assert not same(*results).all()


def check_runs_once(case: Case) -> None:
    own = " ".join(case.bottoms.partition(",")[0].split()[2:])  # behind steps and sequences
    case = case._replace(
        bottoms=f"n k {own}, n k"
    )  # each step goes on from the one before, the first from the last forward
    rig, first = run(case, values(case))
    assert not rig.layer.repeatable
    again = [np.array(top) for top in rig.forward()]
    assert not all(same(a, b).all() for a, b in zip(first, again)), "a second forward is as the first"


def check_sixteen_bits(case: Case) -> None:
    """Forward and backward are those in double of the rounded bottom, rounded."""
    first, *others = values(case)
    for dtype, rounding in zip(HALVES, (2.0**-10, 2.0**-7)):
        grad = np.random.default_rng(6)
        results = []
        for image_type, other_type in ((dtype, np.float32), (np.float64, np.float64)):
            param = parse_text(f'name: "y" type: "{case.type}" {case.text}', LayerParameter())
            layer = make_layer(param, device=open_device("cpu"), dtype=image_type)
            rounded = cast_to(first.astype(np.float32), dtype)
            arrays = [cast_to(cast_to(rounded, np.float32), image_type), *(x.astype(other_type) for x in others)]
            bottom, top = [Blob(x.shape, x.dtype) for x in arrays], [Blob((), image_type)]
            for blob, array in zip(bottom, arrays):
                blob.data[...] = array
            layer.setup(bottom, top)
            layer.reshape(bottom, top)
            layer.forward(bottom, top)
            if not results:
                upstream = cast_to(grad.standard_normal(top[0].shape).astype(np.float32), dtype)
            top[0].diff[...] = cast_to(cast_to(upstream, np.float32), image_type)
            layer.backward(top, [True, *(False for _ in others)], bottom)
            results.append([np.array(cast_to(np.asarray(x), np.float64)) for x in (top[0].data, bottom[0].diff)])
        for seen, wanted in zip(*results):
            assert np.abs(wanted).max() > 0.01
            np.testing.assert_allclose(seen, wanted, rtol=rounding, atol=rounding * 0.1 * np.abs(wanted).max())


CHECKS: dict[Trait, Callable[[Case], None]] = {
    trait: globals()[f"check_{name.lower()}"] for name, trait in Trait.__members__.items() if name != "NONE"
}


# Every type, and what it says


def under_all_names() -> list[Case]:
    """The cases of tests/layer_sizes.py, under each name of their class too."""
    made = []
    for case in [*CASES, *MORE]:
        cls = REGISTRY[case.type.lower()]
        made += [
            case._replace(type=name)
            for name in ((case.type, *cls.types[1:]) if case.type == cls.type else (case.type,))
        ]
    return made


def own_traits(case: Case) -> Trait:
    """The traits of a layer of the case."""
    return run(case, case.arrays() if case.bottoms else [])[0].layer.traits


NAMES = under_all_names()
IDS = [f"{i}-{case.type}" for i, case in enumerate(NAMES)]


@pytest.mark.parametrize("case", NAMES, ids=IDS)
def test_a_type_is_what_it_says(case):
    own = own_traits(case)
    for trait, check in CHECKS.items():
        if trait in own:
            check(case)


def test_a_type_that_is_elementwise_or_a_view_says_so():
    """Otherwise a net loses layouts and shared memory without a word."""
    so: dict[tuple[str, str], list[bool]] = {}
    for case in [*NAMES, Case("Power", "power_param { scale: 2 }")]:
        if not case.bottoms or not case.tops or case.down == () or case.type in NEEDS_ONES:
            continue
        try:
            with np.errstate(all="ignore"):
                layer = run(case, values(case))[0].layer
        except LayerError:
            continue  # it takes no such numbers
        for trait in (Trait.ELEMENTWISE, Trait.VIEW):
            if trait not in layer.traits:
                so.setdefault((layer.type, trait.name), []).append(passes(CHECKS[trait], case))
    assert not {who for who, results in so.items() if all(results)}


def passes(check: Callable[[Case], None], case: Case) -> bool:
    try:
        with np.errstate(all="ignore"):
            check(case)
    except AssertionError:
        return False
    return True


def test_traits_of_a_class_without_a_case():
    """Layers that read data say nothing of themselves; HDF5Output and MatWrite, which write files, are not run twice; the labels
    of NPairCLoss are pairs."""
    tested = {REGISTRY[case.type.lower()] for case in NAMES}
    rest = {
        cls.type: cls.traits for cls in REGISTRY.values() if cls not in tested and "boxpresso.layers" in cls.__module__
    }
    assert {name for name, traits in rest.items() if traits != Trait.NONE} == {"HDF5Output", "MatWrite", "NPairCLoss"}
    assert rest["HDF5Output"] == rest["MatWrite"] == Trait.RUNS_ONCE
    assert rest["NPairCLoss"] == Trait.LOSS


def test_aliases_have_the_traits_of_their_class():
    for cls in set(REGISTRY.values()):
        assert {traits_of(name) for name in cls.types} == {cls.traits}
    assert traits_of("CuDNNConvolution") == traits_of("Convolution")
    assert traits_of("NoSuchType") == Trait.NONE


PLANTED = {  # a type that is not so; each check has to find it
    Trait.WRITES_ALL: "LSTM", Trait.KEEPS_PLACES: "CornerPool", Trait.BY_CHANNEL: "Softmax", Trait.ELEMENTWISE: "Softmax",
    Trait.POOLS: "LRN", Trait.REARRANGES: "ReLU", Trait.VIEW: "Permute", Trait.JOINS: "Axpy", Trait.PARTS: "Split", Trait.WEIGHTED: "ConvolutionRistretto",
    Trait.PROBABILITIES: "TanH", Trait.SIXTEEN_BITS: "Convolution", Trait.CONSTANT: "ReLU", Trait.FILLED: "ReLU", Trait.LOSS: "Softmax",
    Trait.CLASS_LABELS: "EuclideanLoss", Trait.COMPARES: "Accuracy", Trait.BINARY: "L1Loss", Trait.REGIONS: "BatchReindex",
    Trait.IMAGE_INFO: "Convolution", Trait.ROWS_OF_1: "Bias", Trait.PROPOSES: "NMS", Trait.CHOOSES_ROWS: "ROIPooling", Trait.DETECTS: "Proposal",
    Trait.RESTORES: "BoxAnnotatorOHEM", Trait.RUNS_ONCE: "LSTMUnit",
}  # fmt: skip


@pytest.mark.parametrize("trait", CHECKS, ids=lambda trait: trait.name)
def test_a_wrong_trait_is_found(trait):
    case = next(case for case in NAMES if case.type == PLANTED[trait])
    assert trait not in own_traits(case)
    with pytest.raises((AssertionError, AttributeError, BoxpressoError, ValueError, IndexError, KeyError, TypeError)):
        CHECKS[trait](case)


class Halves(REGISTRY["relu"], type="TraitTestHalves", bottoms=1, tops=1):
    """A user's layer that replaces the forward of one of ours."""

    def forward(self, bottom, top):
        top[0].data[...] = np.asarray(bottom[0].data)[::-1]


class Named(REGISTRY["relu"], type="TraitTestNamed", bottoms=1, tops=1):
    """One that replaces nothing."""


def test_traits_are_inherited_with_forward():
    """A plan does what a user's forward says, not what that of its base does."""
    x = np.array([[-1.0, 2], [3, -4]])
    text = 'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 2 } } }'
    text += 'layer { name: "y" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 2 } }'
    try:
        assert Named.traits == REGISTRY["relu"].traits
        assert Halves.traits == Trait.NONE
        for name, wanted in (("TraitTestNamed", [[0, 2], [3, 0]]), ("TraitTestHalves", [[3, -4], [-1, 2]])):
            net = Net(parse_net(f'{text} layer {{ name: "z" type: "{name}" bottom: "y" top: "z" }}'), device="cpu")
            net.params["y"][0].data[...] = np.eye(2)
            assert net.forward(x=x)["z"].tolist() == wanted
    finally:
        for name in ("traittesthalves", "traittestnamed"):
            del REGISTRY[name]


def test_what_follows_from_a_trait():
    for trait, others in IMPLIED.items():
        assert others in with_implied(trait)
    assert all(with_implied(cls.traits) == cls.traits for cls in REGISTRY.values())
