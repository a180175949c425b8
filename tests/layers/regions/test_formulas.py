"""The reference forms of docs/formulas.md: every region operator and its gradients against them, in double."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from harness import Rig
from places import ROOT

from boxpresso import ops

PAGE = ROOT / "docs" / "formulas.md"
FORMS: dict[str, Any] = {}
exec(
    compile("\n".join(re.findall(r"(?ms)^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"))), str(PAGE), "exec"),
    FORMS,
)
RNG = np.random.default_rng(23)
X = RNG.normal(size=(2, 8, 9, 11))
SCALE = 0.5


def boxes(count: int = 12, wild: bool = True) -> np.ndarray:
    """Regions in and around a map of 9 x 11 at a scale of 1/2, some of no area, some that cannot be read."""
    corners = RNG.uniform(-6, 26, (count, 2, 2))
    rows = np.column_stack([RNG.integers(0, 2, count), corners.min(1), corners.max(1) + 0.5])
    if wild:
        rows[0, 1:] = [4, 4, 4, 4]
        rows[1, 0], rows[2, 0] = 2, -1
        rows[3, 2], rows[4, 3] = np.nan, np.inf
    return rows


def turned(count: int = 12, wild: bool = True) -> np.ndarray:
    """Rotated regions: image, centre, width, height, angle."""
    rows = np.column_stack(
        [
            RNG.integers(0, 2, count),
            RNG.uniform(0, 20, (count, 2)),
            RNG.uniform(1, 14, (count, 2)),
            RNG.uniform(-7, 7, count),
        ]
    )
    if wild:
        rows[1, 0], rows[2, 5], rows[3, 1] = 5, np.nan, np.inf
    return rows


def degrees(rows: np.ndarray) -> np.ndarray:
    return np.column_stack([rows[:, :5], np.degrees(rows[:, 5])])


SIZE = (3, 2)
OFFSET, MASK = RNG.uniform(-1, 1, (12, 2, *SIZE)), RNG.uniform(0, 1, (12, 1, *SIZE))
TRANS = RNG.uniform(-1, 1, (12, 4, 2, 2))
POINTS = RNG.uniform(-0.1, 1.1, (2, 20, 2))
CROPS = np.sort(RNG.uniform(-0.2, 1.2, (6, 2, 2)), 1).reshape(6, 4)
IMAGES = np.array([0, 1, 1, 0, 2, 1.0])

# Name, operator, arrays, further arguments of ours, those of the form, and the arrays that have a gradient by the page's form.
CASES: list[tuple[str, Any, list[Any], dict[str, Any], tuple[str, tuple[Any, ...]], tuple[int, ...]]] = []
for aligned in (True, False):
    for ratio in (0, 2):
        for mode in ("avg", "max"):
            rows = boxes()
            if mode == "max" and aligned:
                rows[0, 3:] += 3  # of no area: without samples there is no largest one
            CASES.append(
                (
                    f"roi_align-{aligned}-{ratio}-{mode}", ops.roi_align, [X, rows],
                    {"output_size": SIZE, "spatial_scale": SCALE, "sampling_ratio": ratio, "aligned": aligned, "pool_mode": mode},
                    ("roi_align", (SIZE, SCALE, ratio, aligned, mode)), (0, 1) if (mode, ratio) == ("avg", 2) else (0,),
                )
            )  # fmt: skip
        CASES.append(
            (
                f"roi_align_rotated-{aligned}-{ratio}", ops.roi_align_rotated, [X, turned()],
                {"output_size": SIZE, "spatial_scale": SCALE, "sampling_ratio": ratio, "aligned": aligned, "clockwise": ratio > 0},
                ("roi_align_rotated", (SIZE, SCALE, ratio, aligned, ratio > 0)), (0, 1) if ratio else (0,),
            )
        )  # fmt: skip
for ratio in (0, 3):
    CASES += [
        (
            f"riroi_align_rotated-{ratio}", ops.riroi_align_rotated, [X, turned()],
            {"output_size": SIZE, "spatial_scale": SCALE, "num_samples": ratio, "num_orientations": 4},
            ("riroi_align_rotated", (SIZE, SCALE, ratio, 4)), (0,),
        ),
        (
            f"ps_roi_align-{ratio}", ops.ps_roi_align, [X, boxes()[5:]],
            {"output_size": 2, "spatial_scale": SCALE, "sampling_ratio": ratio}, ("ps_roi_align", (2, SCALE, ratio)), (0,),
        ),
        (
            f"deform_roi_pool-{ratio}", ops.deform_roi_pool, [X, boxes(), OFFSET],
            {"output_size": SIZE, "spatial_scale": SCALE, "sampling_ratio": ratio, "gamma": 0.25},
            ("deform_roi_pool", (SIZE, SCALE, ratio, 0.25)), (0,),
        ),
    ]  # fmt: skip
CASES += [
    ("roi_pool", ops.roi_pool, [X, boxes()], {"output_size": SIZE, "spatial_scale": SCALE}, ("roi_pool", (SIZE, SCALE)), (0,)),
    (
        "rotate_roi_pool", ops.rotate_roi_pool, [X, degrees(turned()), np.array([[18.0, 22, 1]])],
        {"output_size": SIZE, "spatial_scale": SCALE}, ("rotate_roi_pool", (SIZE, SCALE)), (0,),
    ),
    ("prroi_pool", ops.prroi_pool, [X, boxes() + np.array([0, 0, 0, 3, 3.0])], {"output_size": SIZE, "spatial_scale": SCALE}, ("prroi_pool", (SIZE, SCALE)), (0, 1)),
    (
        "deformable_psroi_pool", ops.deformable_psroi_pool, [X, boxes(), TRANS],
        {"spatial_scale": SCALE, "output_dim": 2, "group_size": 2, "pooled_size": 4, "part_size": 2, "sample_per_part": 3, "trans_std": 0.25},
        ("deformable_psroi_pool", (SCALE, 2, 2, 4, 2, 3, 0.25)), (0,),
    ),
    ("crop_and_resize", ops.crop_and_resize, [X, CROPS, IMAGES], {"crop_size": (4, 3), "extrapolation_value": -0.5}, ("crop_and_resize", ((4, 3), -0.5)), (0, 1)),
    ("point_sample", ops.point_sample, [X, POINTS], {}, ("point_sample", ()), (0, 1)),
]  # fmt: skip


def form(case: Any, arrays: list[Any]) -> np.ndarray:
    """What the page's form gives."""
    name, arguments = case[4]
    if name == "rotate_roi_pool":
        return FORMS[name](*arrays[:2], *arguments)
    return FORMS[name](*arrays, *arguments)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_forward(case):
    """And that of the regions that cannot be read is 0 in both."""
    _, operator, arrays, arguments, _, _ = case
    wanted = form(case, arrays)
    assert np.isfinite(wanted).all()
    assert np.abs(wanted).max() > 0.1
    np.testing.assert_allclose(operator(*arrays, **arguments), wanted, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_gradients(case):
    """The derivative of the form along random directions, by central differences."""
    _, operator, arrays, arguments, _, learned = case
    upstream, step = RNG.normal(size=form(case, arrays).shape), 1e-6
    wanted = [operator.inputs[i] for i in learned]
    gradients = operator.backward(upstream, *arrays, **arguments, wanted=wanted)
    for i in learned:
        for _ in range(3):
            way = RNG.normal(size=arrays[i].shape)
            if i == 1 and case[0] not in ("crop_and_resize", "point_sample"):
                way[:, 0] = 0  # the number of the image
            ends = [
                form(case, [a + sign * step * way if j == i else a for j, a in enumerate(arrays)]) for sign in (1, -1)
            ]
            derivative = ((ends[0] - ends[1]) * upstream).sum() / (2 * step)
            assert (gradients[operator.inputs[i]] * way).sum() == pytest.approx(derivative, rel=2e-5, abs=1e-6)


def test_modulated():
    arrays, more = (
        [X, boxes(), OFFSET, MASK],
        {"output_size": SIZE, "spatial_scale": SCALE, "sampling_ratio": 2, "gamma": 0.25},
    )
    wanted = FORMS["deform_roi_pool"](*arrays[:3], SIZE, SCALE, 2, 0.25, MASK)
    np.testing.assert_allclose(ops.modulated_deform_roi_pool(*arrays, **more), wanted, rtol=1e-9, atol=1e-10)
    without = FORMS["deform_roi_pool"](X, arrays[1], None, SIZE, SCALE, 2)
    np.testing.assert_allclose(ops.deform_roi_pool(X, arrays[1], None, SIZE, SCALE, 2), without, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "psroi_pooling",
            'type: "PSROIPooling" psroi_pooling_param { output_dim: 2 group_size: 2 spatial_scale: 0.5 }',
        ),
        ("roi_warping", 'type: "ROIWarping" roi_warping_param { pooled_h: 3 pooled_w: 2 spatial_scale: 0.5 }'),
    ],
)
def test_layers(name, text):
    """Of the two that are no functions."""
    rows = boxes()
    size = 2 if name == "psroi_pooling" else SIZE
    top = Rig(text, [X, rows], dtype=np.float64).forward()[0]
    np.testing.assert_allclose(top, FORMS[name](X, rows, size, SCALE), rtol=1e-9, atol=1e-10)


def test_levels():
    """Each region is what ROIAlign gives of the level that the page's formula names."""
    levels = [RNG.normal(size=(2, 3, 32 >> i, 48 >> i)) for i in range(3)]
    sides = np.linspace(4, 40, 12)[:, None] * RNG.uniform(0.8, 1, (12, 2))
    rows = np.column_stack([RNG.integers(0, 2, 12), RNG.uniform(0, 20, (12, 2)), np.zeros((12, 2))])
    rows[:, 3:] = rows[:, 1:3] + sides
    scales = [0.5, 0.25, 0.125]
    output = ops.multi_scale_roi_align(levels, rows, SIZE, scales, 2, canonical_scale=12, canonical_level=2)
    chosen = [FORMS["level_of"](roi, 3, 1, 12, 2) for roi in rows]
    assert set(chosen) == {0, 1, 2}
    for roi, level, pooled in zip(rows, chosen, output):
        wanted = FORMS["roi_align"](levels[level], roi[None], SIZE, scales[level], 2, False)[0]
        np.testing.assert_allclose(pooled, wanted, rtol=1e-9, atol=1e-10)
