"""Caffe's data transformer and SSD's augmentation, against independent numpy and by property."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from boxpresso.data import augment
from boxpresso.data.boxes import coverage, iou, mirror, project
from boxpresso.data.convert import write_mean
from boxpresso.data.errors import DataError
from boxpresso.data.picture import decode, encode, resize
from boxpresso.data.sampler import check_samplers, crops, draw, satisfies
from boxpresso.data.transform import Transform
from boxpresso.proto import LayerParameter, parse_text


def layer(text: str):
    return parse_text(f'name: "data" type: "AnnotatedData" {text}', LayerParameter())


def transform(text: str, phase: str = "TRAIN") -> Transform:
    return Transform(layer(f"transform_param {{ {text} }}").transform_param, phase)


def noise_picture(height=20, width=30, channels=3, seed=0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (height, width, channels)).astype(np.uint8)


def boxes(*rows) -> np.ndarray:
    return np.array(rows, np.float32).reshape(-1, 7)


def rng(seed=0):
    return np.random.default_rng(seed)


# The transformer


def test_mean_and_scale():
    picture = noise_picture()
    values, _ = transform("scale: 0.5 mean_value: 10 mean_value: 20 mean_value: 30")(picture, rng())
    wanted = np.stack([(picture[..., c].astype(float) - 10 * (c + 1)) / 2 for c in range(3)])
    np.testing.assert_allclose(values, wanted)
    assert values.dtype == np.float32
    one, _ = transform("mean_value: 7")(picture, rng())
    np.testing.assert_allclose(one, picture.transpose(2, 0, 1) - 7.0)


def test_a_wrong_number_of_means():
    with pytest.raises(DataError, match=r"each of the 3 channels; got 2"):
        transform("mean_value: 1 mean_value: 2")(noise_picture(), rng())


def test_crop_is_central_in_test_and_random_in_train():
    picture = noise_picture(21, 30)
    values, _ = transform("crop_size: 8", "TEST")(picture, rng())
    np.testing.assert_array_equal(values, picture[6:14, 11:19].transpose(2, 0, 1))
    random = transform("crop_size: 8")
    places = set()
    whole = picture.transpose(2, 0, 1).astype(np.float32)
    for seed in range(300):
        values, _ = random(picture, rng(seed))
        matches = [
            (y, x) for y in range(14) for x in range(23) if np.array_equal(whole[:, y : y + 8, x : x + 8], values)
        ]
        assert len(matches) == 1
        places.update(matches)
    assert {0, 13} <= {y for y, _ in places}
    assert {0, 22} <= {x for _, x in places}  # the last place too


def test_a_crop_that_is_no_square():
    values, _ = transform("crop_h: 6 crop_w: 10", "TEST")(noise_picture(), rng())
    assert values.shape == (3, 6, 10)


def test_a_crop_larger_than_the_picture():
    with pytest.raises(DataError, match=r"crop of 40x40 does not fit into a picture of 30x20"):
        transform("crop_size: 40")(noise_picture(), rng())


@pytest.mark.parametrize("phase", ["TRAIN", "TEST"])
def test_mirror_is_every_second_one_in_both_phases(phase):
    picture, flipped = noise_picture(), 0
    flip = transform("mirror: true", phase)
    own = boxes([3, 0, 0.1, 0.2, 0.4, 0.9, 1])
    for seed in range(400):
        values, left = flip(picture, rng(seed), own)
        if np.array_equal(values, picture[:, ::-1].transpose(2, 0, 1)):
            flipped += 1
            np.testing.assert_allclose(left, boxes([3, 0, 0.6, 0.2, 0.9, 0.9, 1]), rtol=1e-6)
        else:
            np.testing.assert_array_equal(values, picture.transpose(2, 0, 1))
            np.testing.assert_array_equal(left, own)
    assert 150 < flipped < 250


def test_mean_file_is_of_the_size_before_the_crop(tmp_path):
    mean = rng(1).uniform(0, 255, (3, 20, 30)).astype(np.float32)
    write_mean(tmp_path / "mean.binaryproto", mean)
    picture = noise_picture()
    values, _ = transform(f'mean_file: "{tmp_path.as_posix()}/mean.binaryproto" crop_size: 10', "TEST")(picture, rng())
    np.testing.assert_allclose(values, (picture.transpose(2, 0, 1) - mean)[:, 5:15, 10:20], atol=1e-4)
    with pytest.raises(DataError, match="is 30x20, the picture 31x20"):
        transform(f'mean_file: "{tmp_path.as_posix()}/mean.binaryproto"')(noise_picture(20, 31), rng())


def test_contradictions_and_forks_are_refused():
    for text, message in (
        ('mean_file: "m" mean_value: 1', "mean_file or mean_value"),
        ("force_color: true force_gray: true", "force_color or force_gray"),
        ("crop_size: 3 crop_h: 4 crop_w: 4", "crop_size, or crop_h"),
        ("crop_h: 4", "go together"),
        ("resize_param { height: 3 }", "height and width"),
        ("max_rotation_angle: 20", "max_rotation_angle is of a fork"),
        ("crop_width: 7 crop_height: 5", "crop_width, crop_height is of a fork"),
        ("random_resize_param { }", "random_resize_param is of a fork"),
        ("noise_param { prob: 1 clahe: true }", "clahe is not supported"),
        ("expand_param { max_expand_ratio: 0.5 }", "1 or more"),
        ("distort_param { contrast_lower: 2 contrast_upper: 1 }", "contrast_lower <= contrast_upper"),
    ):
        with pytest.raises(DataError, match=message):
            transform(text)


def test_fields_of_forks_that_ask_for_nothing_are_taken():
    for text in ("vertical_mirror: false", "max_rotation_angle: 0 center_crop: false", "crop_width: 0"):
        assert transform(text).shape(3) is None


def test_boxes_end_at_the_edge_of_a_picture_that_is_not_cut():
    """As SSD's ProjectBBox on the whole picture: what is outside is cut off, what has no area is left out."""
    own = boxes([1, 0, -0.1, 0.2, 0.5, 1.2, 0], [2, 0, 0.3, 0.3, 0.3, 0.9, 0], [3, 0, 0.9, 0.1, 1.5, 0.9, 0])
    left = transform("")(noise_picture(), rng(), own)[1]
    np.testing.assert_allclose(left, boxes([1, 0, 0, 0.2, 0.5, 1, 0], [3, 0, 0.9, 0.1, 1, 0.9, 0]), atol=1e-6)
    assert transform("emit_constraint { emit_type: CENTER }")(noise_picture(), rng(), own)[1][:, 0].tolist() == [1]


def test_shapes_known_without_data():
    assert transform("crop_size: 9 force_color: true").shape() == (3, 9, 9)
    assert transform("crop_size: 9 force_gray: true").shape() == (1, 9, 9)
    assert transform("crop_size: 9").shape() is None
    assert transform("crop_size: 9").shape(3) == (3, 9, 9)
    assert transform("force_color: true").shape() is None
    resized = "mean_value: 1 mean_value: 1 mean_value: 1 resize_param { %s width: 30 height: 20 }"
    assert transform(resized % "resize_mode: WARP").shape() == (3, 20, 30)
    assert transform(resized % "resize_mode: FIT_SMALL_SIZE").shape() is None
    assert transform(resized % "prob: 0.5").shape() is None


# Resizing


def bilinear(picture, width, height):
    """OpenCV's INTER_LINEAR: between pixel centres, edges repeated."""
    rows, columns = picture.shape[:2]
    made = np.zeros((height, width, picture.shape[2]))
    for i in range(height):
        for j in range(width):
            y = min(max((i + 0.5) * rows / height - 0.5, 0), rows - 1)
            x = min(max((j + 0.5) * columns / width - 0.5, 0), columns - 1)
            y0, x0 = int(y), int(x)
            y1, x1 = min(y0 + 1, rows - 1), min(x0 + 1, columns - 1)
            a, b = y - y0, x - x0
            p = picture.astype(float)
            made[i, j] = (1 - a) * ((1 - b) * p[y0, x0] + b * p[y0, x1]) + a * ((1 - b) * p[y1, x0] + b * p[y1, x1])
    return made


@pytest.mark.parametrize("size", [(11, 7), (45, 37), (30, 20), (1, 1), (60, 5)])
@pytest.mark.parametrize("channels", [1, 3])
def test_linear_resizing(size, channels):
    picture = noise_picture(channels=channels)
    made = resize(picture, *size)
    assert made.shape == (size[1], size[0], channels)
    assert np.abs(made - bilinear(picture, *size)).max() <= 0.501


def test_other_resizing():
    picture = noise_picture()
    np.testing.assert_array_equal(resize(picture, 15, 10, "NEAREST"), picture[::2, ::2])
    area = picture.reshape(10, 2, 15, 2, 3).mean((1, 3))
    assert np.abs(resize(picture, 15, 10, "AREA") - area).max() <= 1
    for mode in ("CUBIC", "LANCZOS4"):
        flat = resize(np.full((9, 9, 3), 77, np.uint8), 20, 5, mode)
        assert (flat == 77).all()
    with pytest.raises(DataError, match="only bytes"):
        resize(picture.astype(np.float32), 5, 5)


@pytest.mark.parametrize(
    ("picture", "size", "mode", "wanted"),
    [
        ([[0, 50, 100, 150, 200, 250, 30]], (3, 1), "AREA", [[36, 150, 149]]),  # shares of pixels
        ([[0, 50, 100, 150, 200, 250, 30]], (10, 1), "AREA", [[0, 29, 57, 100, 136, 164, 200, 243, 156, 30]]),
        ([[0, 90], [50, 250], [200, 10]], (3, 2), "AREA", [[17, 80, 143], [150, 120, 90]]),  # one axis grows
        (
            [[0, 1, 5, 6, 7, 9], [0, 1, 6, 6, 7, 7]],
            (3, 1),
            "AREA",
            [[1, 6, 8]],
        ),  # halves: what lies between is rounded up
        (
            [[0, 1, 2, 3, 4, 5]],
            (34, 1),
            "NEAREST",
            [[0] * 6 + [1] * 6 + [2] * 6 + [3] * 5 + [4] * 6 + [5] * 5],
        ),  # 17: 2, not 3
    ],
)
def test_resizing_is_opencvs(picture, size, mode, wanted):
    """As OpenCV 5.0 gave it; AREA is rounded from other sums there, and may differ by 1, but not of halves."""
    made = resize(np.array(picture, np.uint8)[..., None], *size, mode)[..., 0]
    assert np.abs(made.astype(int) - wanted).max() <= (mode == "AREA" and len(picture[0]) != 2 * size[0])


@pytest.mark.parametrize(
    ("mode", "size", "wanted"),
    [
        ("WARP", (30, 20), (40, 24)),
        ("FIT_SMALL_SIZE", (30, 20), (40, 26)),  # 40 / 1.5 rounded down
        ("FIT_SMALL_SIZE", (20, 30), (40, 60)),
        ("FIT_LARGE_SIZE_AND_PAD", (30, 20), (40, 24)),
        ("FIT_LARGE_SIZE_AND_PAD", (20, 30), (40, 24)),
    ],
)
def test_resize_modes_keep_boxes_on_their_objects(mode, size, wanted):
    """A white box on black is still where its annotation says."""
    width, height = size
    picture = np.zeros((height, width, 3), np.uint8)
    picture[4:12, 6:16] = 255
    own = boxes([1, 0, 6 / width, 4 / height, 16 / width, 12 / height, 0])
    resized = transform(f"resize_param {{ resize_mode: {mode} width: 40 height: 24 pad_value: 0 }}", "TEST")
    values, left = resized(picture, rng(), own)
    assert values.shape == (3, wanted[1], wanted[0])
    rows, columns = np.nonzero(values[0] > 127)
    box = np.array([columns.min(), rows.min(), columns.max() + 1, rows.max() + 1])
    np.testing.assert_allclose(left[0, 2:6] * (wanted * 2), box, atol=1)


@pytest.mark.parametrize("mode", ["FIT_SMALL_SIZE", "FIT_LARGE_SIZE_AND_PAD"])
def test_a_ratio_that_is_the_same_keeps_the_height(mode):
    """As in SSD's Caffe, which takes the width from it, in float32: 159 / 300 * 300 is below 159 there."""
    r = layer(f"transform_param {{ resize_param {{ width: 159 height: 300 resize_mode: {mode} }} }}")
    assert augment.fitted_size(r.transform_param.resize_param[0], 318, 600) == (158, 300)


def test_padding_modes():
    picture = noise_picture(4, 8)
    for pad, numpy in (("MIRRORED", "reflect"), ("REPEAT_NEAREST", "edge")):
        param = layer(
            f"transform_param {{ resize_param {{ resize_mode: FIT_LARGE_SIZE_AND_PAD height: 8 width: 8 pad_mode: {pad} }} }}"
        ).transform_param.resize_param[0]
        made, _ = augment.fit(augment.Canvas.of(picture), param, rng())
        np.testing.assert_array_equal(made, np.pad(picture, ((2, 2), (0, 0), (0, 0)), mode=numpy))
    param.pad_mode = param.CONSTANT
    param.pad_value.extend([1, 2, 3])
    made, _ = augment.fit(augment.Canvas.of(picture), param, rng())
    np.testing.assert_array_equal(made[0, 0], [1, 2, 3])


def test_one_interpolation_of_many_is_drawn():
    param = layer(
        "transform_param { resize_param { height: 10 width: 15 interp_mode: NEAREST interp_mode: AREA } }"
    ).transform_param.resize_param[0]
    picture = noise_picture()
    made = [augment.fit(augment.Canvas.of(picture), param, rng(seed))[0] for seed in range(60)]
    nearest = sum(np.array_equal(m, resize(picture, 15, 10, "NEAREST")) for m in made)
    area = sum(np.array_equal(m, resize(picture, 15, 10, "AREA")) for m in made)
    assert nearest + area == 60
    assert 15 < nearest < 45


# Colours


def distorted(text, picture, seeds=range(50)):
    param = layer(f"transform_param {{ distort_param {{ {text} }} }}").transform_param.distort_param
    return [augment.distort(picture, param, rng(seed)) for seed in seeds]


def test_brightness_and_contrast():
    picture = np.full((2, 2, 3), 100, np.uint8)
    seen = {int(m[0, 0, 0]) for m in distorted("brightness_prob: 1 brightness_delta: 10", picture, range(300))}
    assert min(seen) in (90, 91)
    assert max(seen) in (109, 110)
    seen = {
        int(m[0, 0, 0])
        for m in distorted("contrast_prob: 1 contrast_lower: 0.5 contrast_upper: 1.5", picture, range(300))
    }
    assert 50 <= min(seen) < 55
    assert 145 < max(seen) <= 150
    assert all(
        (m == picture).all() for m in distorted("brightness_delta: 10 contrast_upper: 3", picture)
    )  # probability 0


def test_brightness_stops_at_black_and_white():
    picture = np.array([[[0, 128, 255]]], np.uint8)
    for made in distorted("brightness_prob: 1 brightness_delta: 200", picture):
        assert made[0, 0, 0] == 0 or made[0, 0, 2] == 255


def test_contrast_is_early_or_late():
    """Brightness 100 +- then times 0: early contrast leaves the order visible in no value, so saturation tells."""
    picture = np.array([[[200, 100, 50]]], np.uint8)
    made = distorted("brightness_prob: 1 brightness_delta: 0 contrast_prob: 1 contrast_lower: 2 contrast_upper: 2 "
                     "saturation_prob: 1 saturation_lower: 0 saturation_upper: 0", picture)  # fmt: skip
    seen = {tuple(m[0, 0]) for m in made}
    assert seen == {(255, 255, 255)}  # both ways white: 200 doubled, or greyed at the value 200 and doubled
    made = distorted("contrast_prob: 1 contrast_lower: 0.5 contrast_upper: 0.5 hue_prob: 1 hue_delta: 0", picture)
    assert all(np.abs(m[0, 0].astype(int) - [100, 50, 25]).max() <= 2 for m in made)


def test_hue_goes_round_and_saturation_scales():
    red, grey = np.array([[[0, 0, 255]]], np.uint8), np.array([[[90, 90, 90]]], np.uint8)
    turned = augment.hsv(red, turn=120)
    assert np.abs(turned[0, 0].astype(int) - [0, 255, 0]).max() <= 8
    assert np.abs(augment.hsv(red, turn=-120)[0, 0].astype(int) - [255, 0, 0]).max() <= 8
    assert np.abs(augment.hsv(red, turn=360)[0, 0].astype(int) - [0, 0, 255]).max() <= 8
    assert (augment.hsv(grey, turn=50, saturation=3) == grey).all()
    pale = augment.hsv(np.array([[[100, 100, 200]]], np.uint8), saturation=0.5)
    assert np.abs(pale[0, 0].astype(int) - [150, 150, 200]).max() <= 2
    one = np.full((3, 3, 1), 9, np.uint8)
    assert all(
        (m == one).all() for m in distorted("hue_prob: 1 hue_delta: 18 saturation_prob: 1 saturation_upper: 2", one)
    )


def test_order_of_channels():
    picture = np.array([[[1, 2, 3]]], np.uint8)
    seen = {tuple(m[0, 0]) for m in distorted("random_order_prob: 1", picture, range(100))}
    assert len(seen) == 6
    assert {tuple(sorted(s)) for s in seen} == {(1, 2, 3)}


RESIZED = "resize_param { height: %d width: %d interp_mode: %s }"
PADDED = "resize_param { height: 20 width: 20 interp_mode: LINEAR resize_mode: FIT_LARGE_SIZE_AND_PAD pad_value: 9 }"
COLOURS = "distort_param { brightness_prob: 1 brightness_delta: 32 saturation_prob: 1 saturation_lower: 0.5 saturation_upper: 1.4 hue_prob: 1 hue_delta: 18 }"


@pytest.mark.parametrize(
    ("resized", "exact"),
    [
        (RESIZED % (20, 30, "NEAREST"), True),
        (RESIZED % (120, 160, "LINEAR"), True),  # grows: they are changed before
        ("", True),
        (PADDED, False),
        (RESIZED % (20, 30, "LINEAR"), False),  # a mean of changed pixels, or a mean that is changed
    ],
)
def test_colours_are_changed_before_or_after_a_picture_shrinks(resized, exact):
    y, x = np.mgrid[:40, :60]
    picture = np.stack([60 + 2 * x, 80 + x + y, 150 - y], -1).astype(np.uint8)  # smooth, far from 0 and 255
    of = transform(resized)
    param = layer(f"transform_param {{ {COLOURS} }}").transform_param.distort_param
    for seed in range(10):
        change = augment.distortion(3, param, rng(seed))
        before, after = (
            of(change(picture), rng(1))[0],
            of(dataclasses.replace(augment.Canvas.of(picture), change=change), rng(1))[0],
        )
        assert (before != of(picture, rng(1))[0]).any()
        if exact:
            np.testing.assert_array_equal(before, after)
        else:
            np.testing.assert_allclose(before, after, atol=6)


def test_expansion_moves_boxes_with_the_picture():
    picture = np.full((20, 30, 3), 255, np.uint8)
    text = "mean_value: 104 mean_value: 117 mean_value: 123 expand_param { prob: 0.5 max_expand_ratio: 4 }"
    expand, own, plain, widths = transform(text), boxes([1, 0, 0, 0, 1, 1, 0]), 0, []
    for seed in range(300):
        canvas, left = expand.distort_expand(picture, own, rng(seed))
        made = canvas.pixels()
        if made.shape == picture.shape:
            plain += 1
            continue
        white = (made == 255).all(2)
        rows, columns = np.nonzero(white)
        box = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
        np.testing.assert_allclose(left[0, 2:6] * ([made.shape[1], made.shape[0]] * 2), box, atol=1e-3)
        assert (made[~white] == [104, 117, 123]).all()
        widths.append(made.shape[1] / 30)
    assert 110 < plain < 190
    assert 1 <= min(widths) < 1.2
    assert 3.7 < max(widths) <= 4


@pytest.mark.parametrize("resized", [RESIZED % (40, 50, "LINEAR"), RESIZED % (33, 31, "AREA"), PADDED])
def test_an_expanded_picture_shrinks_alone(resized):
    """Beside the whole canvas in numpy, resized: edges are up to half a pixel from where they lie there, and boxes with them."""
    y, x = np.mgrid[:200, :300]
    picture = np.stack([60 + x // 3, 80 + (x + y) // 4, 150 - y // 2], -1).astype(np.uint8)
    picture[60:140, 90:210] = 255
    text = "mean_value: 104 mean_value: 117 mean_value: 123 expand_param { prob: 1 max_expand_ratio: 3 }"
    of = transform(f"{text} {COLOURS.replace('brightness_delta: 32', 'brightness_delta: 0')} {resized}")
    own, mean = boxes([1, 0, 0.3, 0.3, 0.7, 0.7, 0]), np.array([104, 117, 123])
    for seed in range(20):
        canvas, moved = of.distort_expand(picture, own, rng(seed))
        values, left = of(canvas, rng(1), moved)
        made = values.transpose(1, 2, 0) + mean
        rows, columns = np.nonzero((made > 240).all(2))
        box = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
        np.testing.assert_allclose(left[0, 2:6] * ([made.shape[1], made.shape[0]] * 2), box, atol=1)
        whole = np.tile(mean, (*canvas.shape, 1)).astype(np.uint8)
        bottom, right = canvas.top + 200, canvas.left + 300
        assert canvas.change is not None
        whole[canvas.top : bottom, canvas.left : right] = canvas.change(picture)
        wanted = of(whole, rng(1))[0].transpose(1, 2, 0) + mean
        assert np.abs(made - wanted).mean() < 6
        assert np.median(np.abs(made - wanted)) <= 3
        far = (np.abs(wanted - mean) < 0.5).all(2)
        assert (np.abs(made[far] - mean) < 0.5).all(1).sum() >= 0.9 * far.sum()  # the canvas keeps its colour


def test_a_picture_that_shrinks_to_nothing_leaves_its_canvas():
    canvas = augment.Canvas(noise_picture(3, 3), (300, 300), np.array([1, 2, 3], np.float32), lambda p: 255 - p, 9, 9)
    small, frame = canvas.resized(4, 4, "LINEAR")
    assert (small.pixels() == [1, 2, 3]).all()
    assert frame.tolist() == [0, 0, 1, 1]


def test_noise():
    picture = noise_picture()

    def noisy(text):
        return augment.noise(
            picture,
            layer(f"transform_param {{ noise_param {{ prob: 1 {text} }} }}").transform_param.noise_param[0],
            rng(),
        )

    np.testing.assert_array_equal(noisy("inverse: true"), 255 - picture)
    assert set(np.unique(noisy("posterize: true"))) == {32, 96, 160, 224}
    grey = noisy("decolorize: true")
    assert (grey[..., 0] == grey[..., 2]).all()
    salted = noisy("saltpepper: true saltpepper_param { fraction: 0.1 value: 0 value: 255 value: 7 }")
    changed = (salted != picture).any(2)
    assert 40 < changed.sum() <= 60
    assert (salted[changed] == [0, 255, 7]).all()
    eroded = noisy("erode: true")
    assert (eroded <= picture).all()
    assert (eroded[5, 5] == np.min([picture[y, x] for y, x in ((5, 5), (4, 5), (6, 5), (5, 4), (5, 6))], axis=0)).all()
    flat = np.full((9, 9, 3), 50, np.uint8)
    assert (augment.blur(flat, 7, 1.5) == 50).all()
    assert noisy("gauss_blur: true").std() < picture.std() / 2
    assert noisy("jpeg: 5").shape == picture.shape
    assert noisy("hist_eq: true").shape == picture.shape
    none = layer("transform_param { noise_param { inverse: true } }").transform_param.noise_param[0]
    assert (augment.noise(picture, none, rng()) == picture).all()  # probability 0


# Boxes


def test_projection_and_emit_constraint():
    own = boxes([1, 0, 0.1, 0.1, 0.3, 0.3, 0], [2, 0, 0.4, 0.4, 0.9, 0.9, 0], [3, 0, 0.8, 0.0, 1.0, 0.2, 1])
    crop = np.array([0, 0, 0.5, 0.5], np.float32)
    np.testing.assert_allclose(
        project(own, crop), boxes([1, 0, 0.2, 0.2, 0.6, 0.6, 0], [2, 0, 0.8, 0.8, 1, 1, 0]), rtol=1e-5
    )
    centre = layer("transform_param { emit_constraint { emit_type: CENTER } }").transform_param.emit_constraint
    assert project(own, crop, centre)[:, 0].tolist() == [1]  # the centre of the second is at 0.65
    overlap = layer("transform_param { emit_constraint { emit_type: MIN_OVERLAP emit_overlap: 0.03 } }").transform_param
    assert project(own, crop, overlap.emit_constraint)[:, 0].tolist() == [1, 2]  # 4 % of the second is inside
    overlap.emit_constraint.emit_overlap = 0.05
    assert project(own, crop, overlap.emit_constraint)[:, 0].tolist() == [1]
    assert project(own[:0], crop).shape == (0, 7)
    np.testing.assert_allclose(mirror(mirror(own)), own, atol=1e-6)


def test_overlaps_by_hand():
    a, b = np.array([0, 0, 0.5, 0.5]), np.array([[0.25, 0.25, 0.75, 0.75], [0.6, 0.6, 1, 1], [0, 0, 0.5, 0.5]])
    np.testing.assert_allclose(iou(a, b), [0.0625 / 0.4375, 0, 1])
    np.testing.assert_allclose(coverage(a, b), [0.25, 0, 1])
    np.testing.assert_allclose(coverage(b, np.array([0, 0, 1, 0.5])), [0.5, 0, 1])
    assert coverage(np.zeros(4), b).tolist() == [0, 0, 0]


# Batch samplers


SAMPLERS = """
  batch_sampler { max_sample: 1 max_trials: 1 }
  batch_sampler { sampler { min_scale: 0.3 max_scale: 1 min_aspect_ratio: 0.5 max_aspect_ratio: 2 }
    sample_constraint { min_jaccard_overlap: 0.3 } max_sample: 3 max_trials: 50 }
  batch_sampler { sampler { min_scale: 0.3 max_scale: 1 min_aspect_ratio: 0.5 max_aspect_ratio: 2 }
    sample_constraint { max_jaccard_overlap: 0.2 min_object_coverage: 0.4 } max_sample: 2 max_trials: 50 }
  batch_sampler { sampler { min_scale: 0.1 max_scale: 0.5 }
    sample_constraint { min_sample_coverage: 0.5 max_sample_coverage: 0.9 } max_sample: 2 max_trials: 50 }
"""


def samplers(text: str):
    return list(layer(f"annotated_data_param {{ {text} }}").annotated_data_param.batch_sampler)


def overlap_by_loops(a, b):
    """(iou, share of a in b, share of b in a), in plain Python."""
    w, h = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    both = w * h if w > 0 and h > 0 else 0
    size_a, size_b = (a[2] - a[0]) * (a[3] - a[1]), (b[2] - b[0]) * (b[3] - b[1])
    return both / (size_a + size_b - both), both / size_a, both / size_b


def test_every_crop_satisfies_its_constraint():
    made = samplers(SAMPLERS)
    counts = np.zeros(4, int)
    for seed in range(150):
        random = rng(seed)
        start = random.uniform(0, 0.7, (3, 2))
        objects = np.concatenate([start, start + random.uniform(0.1, 0.3, (3, 2))], 1)
        for number, (batch, most) in enumerate(zip(made, (1, 3, 2, 2))):
            chosen = crops([batch], objects, random)
            assert len(chosen) <= most
            counts[number] += len(chosen)
            for crop in chosen:
                assert (crop >= 0).all()
                assert (crop <= 1 + 1e-12).all()
                measures = [overlap_by_loops(crop, o) for o in objects]
                if number == 1:
                    assert any(j >= 0.3 for j, _, _ in measures)
                elif number == 2:
                    assert any(j <= 0.2 and c >= 0.4 for j, _, c in measures)  # one object meets both
                elif number == 3:
                    assert any(0.5 <= s <= 0.9 for _, s, _ in measures)
    assert counts[0] == 150
    assert (counts[1:] > 50).all()


def test_crops_have_the_scale_and_ratio_asked_for():
    batch = samplers(
        "batch_sampler { sampler { min_scale: 0.3 max_scale: 0.9 min_aspect_ratio: 0.5 max_aspect_ratio: 2 } }"
    )[0]
    made = draw(batch.sampler, 2000, rng())
    size = made[:, 2:] - made[:, :2]
    scale, ratio = np.sqrt(size.prod(1)), size[:, 0] / size[:, 1]
    assert 0.299 < scale.min() < 0.31
    assert 0.89 < scale.max() < 0.901
    np.testing.assert_allclose(scale.mean(), 0.6, atol=0.02)  # uniform
    limit = np.minimum(2, 1 / scale**2) + 1e-9
    assert (ratio <= limit).all()
    assert (ratio >= np.maximum(0.5, scale**2) - 1e-9).all()
    assert (made >= 0).all()
    assert (made <= 1 + 1e-12).all()
    small = made[scale < 0.5]
    room = 1 - (small[:, 2:] - small[:, :2])
    np.testing.assert_allclose((small[:, :2] / room).mean(0), 0.5, atol=0.05)  # anywhere


def test_sampler_rules():
    objects = np.array([[0.1, 0.1, 0.2, 0.2]])
    unlimited, none = samplers(
        "batch_sampler { max_trials: 7 } batch_sampler { max_trials: 7 use_original_image: false }"
    )
    assert len(crops([unlimited], objects, rng())) == 7
    assert crops([none], objects, rng()).shape == (0, 4)
    constraint = samplers("batch_sampler { sample_constraint { min_jaccard_overlap: 0.5 } }")[0].sample_constraint
    assert satisfies(np.array([[0, 0, 1, 1], [0.1, 0.1, 0.2, 0.25]]), objects, constraint).tolist() == [False, True]
    assert satisfies(np.array([[0, 0, 1, 1]]), objects[:0], constraint).tolist() == [False]
    with pytest.raises(DataError, match="min_scale <= max_scale <= 1"):
        check_samplers(samplers("batch_sampler { sampler { max_scale: 1.5 } }"))
    with pytest.raises(DataError, match="min_aspect_ratio"):
        check_samplers(samplers("batch_sampler { sampler { min_aspect_ratio: 3 } }"))


def test_pictures_through_files():
    picture = noise_picture()
    np.testing.assert_array_equal(decode(encode(picture, "PNG")), picture)
    grey = decode(encode(picture, "PNG"), color=False)
    assert grey.shape == (20, 30, 1)
    luma = picture @ np.array([0.114, 0.587, 0.299])
    assert np.abs(grey[..., 0] - luma).max() <= 1
    one = decode(encode(picture[..., :1], "PNG"))
    np.testing.assert_array_equal(one, picture[..., :1])
    assert decode(encode(picture[..., :1], "PNG"), color=True).shape == (20, 30, 3)
    with pytest.raises(DataError, match=r"broken\.jpg is not an image"):
        decode(b"nothing", name="broken.jpg")
    with pytest.raises(DataError, match="cannot read the picture cut"):
        decode(encode(noise_picture(200, 200))[:3000], name="cut")
