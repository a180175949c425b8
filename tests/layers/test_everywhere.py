"""Every layer type without images, channels, regions, rows or columns, and every region layer and operator in 16 bits.

A new layer type or operator without a case here fails.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from harness import Rig
from layer_sizes import CASES, SIZES, Case
from test_ops import CASES as LAYERS
from test_ops import MAPS as IN_BINS
from test_ops import ROIS as REGIONS
from test_ops import gradients

from boxpresso import ops
from boxpresso.device import open_device
from boxpresso.device.cast import cast_to
from boxpresso.device.signature import BFLOAT16
from boxpresso.layers.core import REGISTRY, Trait, discover
from boxpresso.ops import arrays
from boxpresso.proto.errors import LayerError

discover()
WITHOUT_CASE = {  # types, or families, that have none
    "NPairCLoss": "its labels are pairs; tests/layers/loss/test_ranked_losses.py has them",
    "boxpresso.layers.data": "their tops come from files, scripts or the prototxt, not from bottoms",
    "Python": "what it computes is the user's own",
    "Module": "what it computes is the user's own",
    "DetectNetTransformation": "the first row of its labels says how many there are; tests/layers/detection/test_detectnet.py has them",
}
LINEAR = "nck"  # sizes with which an axis of a top grows evenly
DRAWN = (  # another result each time
    "AssistedExcitation", "Dropout", "MMDLoss", "GuidedDropout", "Noise", "SeLuDropout", "SpatialDropout", "DetectionLoss", "DetectionGroupLoss",
    "PairCosineLoss",
)  # fmt: skip
NAN = {("Accuracy", "n"): "the share of no labels is NaN, as its documentation says"}
NAMES = [f"{i}-{case.type}" for i, case in enumerate(CASES)]


def rig_of(case: Case, **options) -> Rig:
    sizes = {x: options.pop(x) for x in SIZES if x in options}
    text = f'type: "{case.type}" {case.text}'
    return Rig(text, case.arrays(**sizes), tops=case.tops, phase=case.phase, **options)


def test_every_layer_type_has_a_case():
    types = {c for c in REGISTRY.values() if c.__module__.startswith("boxpresso.layers.")}
    tested = {REGISTRY[case.type.lower()] for case in CASES}
    missing = {
        c.type
        for c in types - tested
        if c.type not in WITHOUT_CASE and c.__module__.rpartition(".")[0] not in WITHOUT_CASE
    }
    assert not missing, f"add a case of {sorted(missing)} to tests/layer_sizes.py, or a reason to WITHOUT_CASE"
    assert not {c.type for c in tested} & set(WITHOUT_CASE)


def backward(case: Case, rig: Rig, tops: list[np.ndarray], title: str) -> None:
    """Gradients are finite, and 0 where the tops have no elements."""
    if case.down is None:
        return
    grads = rig.backward([np.ones(top.shape) for top in tops], [i in case.down for i in range(len(rig.bottom))])
    learned = [(f"parameter {i}", diff) for i, diff in enumerate(rig.param_diffs())]
    for name, grad in [*((f"bottom {i}", grads[i]) for i in case.down), *learned]:
        assert np.isfinite(grad).all(), f"{title}: the gradient of {name} is not finite"
        assert any(top.size for top in tops) or not grad.any(), f"{title}: {name} has a gradient from nothing"


def check_shapes(case: Case, letter: str, without: list, once: list, twice: list) -> None:
    """Of a size with which tops grow evenly, their shapes at none are what those at one and two times it lead to."""
    for top, one, two in zip(without, once, twice, strict=True):
        assert top.ndim == one.ndim
        for axis, (length, a, b) in enumerate(zip(top.shape, one.shape, two.shape)):
            if letter in LINEAR or a == b:
                assert length == 2 * a - b, f"{case.type} without {letter}: axis {axis} of a top is {length}"


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_a_layer_without_some_of_its_sizes(case, device):
    """Tops of the right shapes, gradients of 0, or an error that says what is missing; then with all sizes again."""
    assert set("".join(case.refused)) <= set(case.letters)
    for dtype in (np.float32, np.float64)[: 2 if device == "cpu" else 1]:  # each is a build of all kernels
        whole = rig_of(case, device=device, dtype=dtype)
        whole.layer.reshape(whole.bottom, whole.top)
        shapes = [blob.shape for blob in whole.top]
        once = whole.forward()
        chooses_rows = Trait.CHOOSES_ROWS in whole.layer.traits or whole.layer.most_rows(whole.bottom)
        assert chooses_rows or [top.shape for top in once] == shapes, f"{case.type} does not say that it chooses rows"
        for letter in case.letters:
            title = f"{case.type} without {letter}"
            if said := next((words for letters, words in case.refused.items() if letter in letters), None):
                with pytest.raises(LayerError, match=said):
                    rig_of(case, device=device, dtype=dtype, **{letter: 0}).forward()
                continue
            rig = rig_of(case, device=device, dtype=dtype, **{letter: 0})
            tops = rig.forward()
            if (case.type, letter) not in NAN:
                assert all(np.isfinite(top).all() for top in tops), f"{title}: a top is not finite"
            backward(case, rig, tops, title)
            if case.listed is None:
                twice = rig_of(case, device=device, dtype=dtype, **{letter: 2 * SIZES[letter]}).forward()
                check_shapes(case, letter, tops, once, twice)
            elif letter in case.listed:
                assert not any(top.size for top in tops), f"{title}: something was chosen"
            if rig.layer.blobs and letter == "c":
                continue  # the parameters are those of no channels
            for i, value in enumerate(case.arrays()):
                rig.set_bottom(i, value)
            if case.type == "InnerProduct":  # normalize: true has changed its weights
                for blob, drawn in zip(rig.layer.blobs, rig_of(case, device=device, dtype=dtype).layer.blobs):
                    blob.data[...] = drawn.data
            again = rig.forward()
            assert [top.shape for top in again] == [top.shape for top in once] or case.listed is not None, title
            if case.type not in DRAWN and case.listed is None and "STOCHASTIC" not in case.text:
                for top, wanted in zip(again, once):
                    np.testing.assert_array_equal(top, wanted, err_msg=f"{title}, and then with all again")


# Numbers stored in 16 bits

STORED = [case for case in CASES if REGISTRY[case.type.lower()].__module__.startswith("boxpresso.layers.regions.")]
ALWAYS = ("ROIAlign", "PointSample", "ROIWarping")  # compiled for 16 bits in every run; the others in slow ones


def numbers(case: Case) -> list[np.ndarray]:
    """Features, and regions, points, offsets and weights that lie on them."""
    rng, made = np.random.default_rng(3), []
    for i, ones in enumerate(case.arrays()):
        value = rng.standard_normal(ones.shape) if i == 0 else rng.uniform(0, 1, ones.shape)
        if ones.ndim == 2 and ones.shape[1] in (5, 6):
            value = 3 + 4 * np.sort(value, 1)
            value[:, 0] = np.arange(len(value)) % SIZES["n"]
        made.append(value if ones.any() else ones)
    if case.type == "MultiScaleDeformableAttention":
        made[1][...] = SIZES["h"], SIZES["w"]
    if case.type == "RotateROIPooling":
        made[2][...] = 2 * SIZES["h"], 2 * SIZES["w"], 1
    return made


@pytest.mark.later(but=2)
@pytest.mark.parametrize("name", ["float16", "bfloat16"])
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(c, id=f"{i}-{c.type}", marks=() if c.type in ALWAYS else pytest.mark.slow)
        for i, c in enumerate(STORED)
    ],
)
def test_a_region_layer_stores_16_bits(case, name, device):
    """Tops and gradients are those of the same numbers in float32, rounded once."""
    if name == "bfloat16":
        dtype = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed").bfloat16
    else:
        dtype = np.float16
    bottoms = [b.astype(dtype).astype(np.float32) for b in numbers(case)]
    down = [i in case.down for i in range(len(bottoms))]
    text, results = f'type: "{case.type}" {case.text}', []
    for kind in (dtype, np.float32):
        rig = Rig(text, [b.astype(dtype) for b in bottoms], tops=case.tops, dtype=kind, device=device)
        tops = rig.forward()
        upstream = [np.random.default_rng(4).standard_normal(top.shape).astype(dtype) for top in tops]
        grads = rig.backward(upstream, down)
        results.append([*tops, *(grads[i] for i in case.down)])
    assert results[1][0].any()
    assert any(grad.any() for grad in results[1][case.tops :])
    for low, high in zip(*results):
        assert low.dtype == dtype
        np.testing.assert_array_equal(low.astype(np.float32), high.astype(dtype).astype(np.float32))
    for letter in sorted({*case.letters} - {*"".join(case.refused)}):
        rig = rig_of(case, device=device, dtype=dtype, **{letter: 0})
        tops = rig.forward()
        assert tops[0].dtype == dtype
        backward(case, rig, [top.astype(np.float32) for top in tops], f"{case.type} without {letter}")


def low_and_wide(inputs: dict, dtype, *names: str) -> tuple[dict, dict]:
    """Arrays rounded to 16 bits, and the same numbers in float32; all, or those of the names."""
    low = {n: cast_to(a, dtype) if not names or n in names else a.astype(np.float32) for n, a in inputs.items()}
    return low, {n: cast_to(a, np.float32) for n, a in low.items()}


def same(low, wide, dtype, title: str) -> None:
    assert low.dtype == dtype, title
    wanted = cast_to(cast_to(np.asarray(wide), dtype), np.float32)
    np.testing.assert_array_equal(cast_to(np.asarray(low), np.float32), wanted, err_msg=title)


OPERATORS = [case[:3] for case in LAYERS]
OPERATORS.append(("ps_roi_pool", {"x": IN_BINS, "rois": REGIONS}, {"output_size": 2, "spatial_scale": 0.5}))


@pytest.mark.parametrize(
    ("name", "inputs", "options"),
    [
        pytest.param(
            *c, id=f"{i}-{c[0]}", marks=() if c[0] in ("roi_align", "permute", "prroi_pool") else pytest.mark.slow
        )
        for i, c in enumerate(OPERATORS)
    ],
)
def test_an_operator_stores_bfloat16(name, inputs, options, device):
    """Without torch or ml_dtypes, as arrays of 16 bits: results and gradients are those of float32, rounded once; gradients of what
    is of float32 beside them are not."""
    op, first, place = getattr(ops, name), next(iter(inputs)), open_device(device)

    def there(arrays: dict) -> dict:
        return {n: place.table(a, a.dtype) for n, a in arrays.items()}

    levels = {n: inputs[n] for n in ("spatial_shapes", "level_start_index") if n in inputs}
    for names in ((first,), tuple(n for n in inputs if n not in levels)):
        low, wide = low_and_wide(inputs, BFLOAT16, *names)
        low, wide = there(low), there(wide)
        result = op(**wide, **options)
        same(op(**low, **options), result, BFLOAT16, name)
        grad = cast_to(np.random.default_rng(2).standard_normal(result.shape), BFLOAT16)
        back = op.backward(place.table(grad, BFLOAT16), **low, **options)
        assert list(back) == gradients(name, inputs)
        for key, value in op.backward(place.table(cast_to(grad, np.float32), np.float32), **wide, **options).items():
            same(back[key], value, low[key].dtype, f"{name}, {key}")


RNG = np.random.default_rng(0)
LOW = RNG.uniform(0, 20, (30, 2))
BOXES, SCORES = np.column_stack([LOW, LOW + RNG.uniform(1, 9, (30, 2))]), RNG.random(30)
TURNED = np.column_stack([LOW, RNG.uniform(2, 8, (30, 2)), RNG.uniform(-1, 1, 30)])
CORNERS = (LOW[:, None] + [[0, 0], [4, 0], [4, 4], [0, 4]]).reshape(30, 8)
MASKS, CLASSES = RNG.random((30, 5, 6)), np.arange(30) % 3
MAPS = [RNG.standard_normal((2, 3, 16, 16)), RNG.standard_normal((2, 3, 8, 8))]
GRAD = RNG.standard_normal((30, 3, 2, 2))
ROIS, LEVELS = np.column_stack([CLASSES % 2, BOXES]), {"output_size": 2, "spatial_scales": (1, 0.5)}
FUNCTIONS = {  # those that are no Operator: what is called with a function that stores an array
    "batched_nms": lambda f: ops.batched_nms(f(BOXES), f(SCORES), f(CLASSES), 0.3),
    "batched_nms_rotated": lambda f: ops.batched_nms_rotated(f(TURNED), f(SCORES), f(CLASSES), 0.3),
    "box_iou_rotated": lambda f: ops.box_iou_rotated(f(TURNED), f(TURNED)),
    "matrix_nms": lambda f: ops.matrix_nms(f(BOXES), f(SCORES), f(CLASSES)),
    "multi_scale_roi_align": lambda f: ops.multi_scale_roi_align([f(x) for x in MAPS], f(ROIS), **LEVELS),
    "multi_scale_roi_align_backward": lambda f: tuple(ops.multi_scale_roi_align_backward(
        f(GRAD), [f(x) for x in MAPS], f(ROIS), **LEVELS)["features"]),
    "nms": lambda f: ops.nms(f(BOXES), f(SCORES), 0.3),
    "nms_rotated": lambda f: ops.nms_rotated(f(TURNED), f(SCORES), 0.3),
    "paste_masks": lambda f: ops.paste_masks(f(MASKS), f(BOXES), (30, 30), None),
    "paste_masks-bool": lambda f: ops.paste_masks(f(MASKS), f(BOXES), (30, 30)),
    "paste_masks-torchvision": lambda f: ops.paste_masks(f(MASKS), f(BOXES), (30, 30), mode="torchvision"),
    "polygon_iou": lambda f: ops.polygon_iou(f(CORNERS), f(CORNERS)),
    "roi_align_argmax": lambda f: ops.roi_align_argmax(f(MAPS[0]), f(ROIS), 2),
    "roi_pool_argmax": lambda f: ops.roi_pool_argmax(f(MAPS[0]), f(ROIS), 2),
    "soft_nms": lambda f: ops.soft_nms(f(BOXES), f(SCORES), idxs=f(CLASSES)),
}  # fmt: skip


def test_no_operator_is_left_out():
    names = {name.removesuffix("_backward") for name in ops.__all__} - {"forget"}
    assert names == {case[0] for case in OPERATORS} | {
        name.partition("-")[0].removesuffix("_backward") for name in FUNCTIONS
    }


@pytest.mark.later(but=2)
@pytest.mark.parametrize("dtype", [np.float16, BFLOAT16], ids=["float16", "bfloat16"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_stores_16_bits(name, dtype):
    """What is chosen is what float32 chooses of the same numbers; what is computed is rounded once."""
    low = FUNCTIONS[name](lambda a: cast_to(a, dtype))
    wide = FUNCTIONS[name](lambda a: cast_to(cast_to(a, dtype), np.float32))
    for one, other in zip(*(x if isinstance(x, tuple) else (x,) for x in (low, wide)), strict=True):
        if np.asarray(other).dtype.kind == "f" and np.asarray(one).dtype == dtype:  # not the places of maxima
            same(one, other, dtype, name)
        else:
            assert np.array_equal(one, other), name


def test_bfloat16_is_known_by_the_name_that_its_library_gives_it():
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")
    x = RNG.standard_normal((2, 3)).astype(ml_dtypes.bfloat16)
    assert arrays.is_bfloat16(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rig = Rig('type: "Permute" permute_param { order: 1 order: 0 }', [x], dtype=ml_dtypes.bfloat16)
        assert np.array_equal(rig.forward()[0], x.T)
        assert np.array_equal(rig.backward([x.T])[0], x)
