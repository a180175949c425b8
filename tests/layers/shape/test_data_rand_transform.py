"""DataRandTransform: each of its steps beside what OpenCV 4.12 gave for it, and its draws within their bounds."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig

from boxpresso import LayerError, Net
from boxpresso.layers.shape.data_rand_transform import blurred, gaussian
from boxpresso.proto import parse_net

IMAGE = (np.arange(30).reshape(5, 6) * 7 % 31).astype(np.float32)
TURNED = {  # warpAffine of getRotationMatrix2D((3, 2), angle, 1), WARP_INVERSE_MAP, 0.5 beyond
    25: [
        [0.5, 11, 18, 14, 21, 0.5], [22, 29, 5, 1, 1, 28], [2, 9, 5, 12, 19, 15], [20, 27, 23, 23, 19, 26],
        [0.5, 0.5, 3, 10, 6, 0.5],
    ],
    -110: [
        [0.5, 0.5, 26, 6, 17, 0.5], [4, 4, 8, 19, 30, 3], [0.5, 28, 1, 12, 23, 27], [0.5, 21, 25, 5, 16, 20],
        [0.5, 0.5, 7, 18, 29, 2],
    ],
}  # fmt: skip
BLURRED = {  # row 1 of GaussianBlur with this size and standard deviation
    (3, 0.8): [14.3459, 16.2293, 15.4944, 12.2763, 13.6382, 15.1954],
    (5, 0): [14.7188, 15.0430, 14.8711, 14.2422, 14.6758, 15.2422],
    (7, 0): [14.8623, 14.9617, 14.8767, 14.8335, 15.0437, 15.1128],
    (0, 0.4): [11.5655, 17.9493, 22.6475, 3.4031, 9.2016, 14.5356],
    (9, 2.0): [14.9478, 14.9354, 15.1517, 15.2204, 15.3471, 15.5103],
    (11, 0): [14.9934, 15.0450, 15.1142, 15.2534, 15.3770, 15.4101],
}
RNG = np.random.default_rng(3)


def transformed(fields: str, images: np.ndarray, **options) -> np.ndarray:
    return Rig(f'type: "DataRandTransform" {fields}', [images], **options).forward()[0]


def several(count: int) -> np.ndarray:
    return np.broadcast_to(IMAGE, (count, 1, *IMAGE.shape))


@pytest.mark.parametrize("phase", ["TRAIN", "TEST"])
def test_without_fields_nothing_changes(phase, device):
    np.testing.assert_array_equal(transformed("", several(2), device=device, phase=phase), several(2))


def test_each_channel_of_each_image_is_normalised(device):
    images = RNG.standard_normal((3, 4, 5, 6)) * 9 + 4
    images[1, 2] = 7
    top = transformed("apply_normalization: true", images, device=device, dtype=np.float64)
    deviation = images.std((2, 3), keepdims=True)
    deviation[1, 2] = 1
    np.testing.assert_allclose(top, (images - images.mean((2, 3), keepdims=True)) / deviation, atol=1e-12)
    assert (top[1, 2] == 0).all()


def test_mirrored_from_the_size_on(device):
    top = transformed("apply_mirroring: true prob_mirroring: 1", several(2), device=device)
    for y in range(5):
        for x in range(6):
            wanted = IMAGE[5 - y, 6 - x] if x and y else 0.5
            assert (top[:, 0, y, x] == wanted).all()
    top = transformed("apply_mirroring: true prob_mirroring: 0.25", several(2000), device=device)
    changed = (top != several(2000)).any((1, 2, 3)).mean()
    assert 0.2 < changed < 0.3
    black = transformed("apply_normalization: true apply_mirroring: true prob_mirroring: 1", several(1), device=device)
    assert (black[0, 0, 0] == 0).all()
    assert (black[0, 0, :, 0] == 0).all()


@pytest.mark.parametrize("angle", TURNED)
def test_turned_as_opencv_turns(angle, device):
    top = transformed(f"apply_rot: true rot_min: {angle} rot_max: {angle}", several(1), device=device)
    np.testing.assert_array_equal(top[0, 0], TURNED[angle])


def test_angles_are_between_the_two():
    place = np.zeros((500, 1, 41, 41), np.float32)
    place[:, :, 20, 36] = 1  # 16 pixels to the right of the middle
    tops = transformed("apply_rot: true rot_min: -30 rot_max: 60", place)
    angles = [np.degrees(np.arctan2(*(np.argwhere(top[0] == 1).mean(0) - 20))) for top in tops if (top == 1).any()]
    assert len(angles) > 400
    assert -33 < min(angles) < -20
    assert 50 < max(angles) < 63
    assert 10 < np.mean(angles) < 20


@pytest.mark.parametrize(("size", "deviation"), BLURRED)
def test_blurred_as_opencv_blurs(size, deviation):
    image = blurred(IMAGE[None].astype(np.float64), gaussian(size, deviation))
    np.testing.assert_allclose(image[0, 1], BLURRED[size, deviation], atol=6e-5)


@pytest.mark.parametrize("size", [5, 7])
def test_a_blur_without_a_deviation(size, device):
    top = transformed(f"apply_blur: true blur_size: {size}", several(1), device=device)
    np.testing.assert_allclose(top[0, 0, 1], BLURRED[size, 0], atol=6e-5)


def test_deviations_reach_their_largest():
    spot = np.zeros((400, 1, 21, 21), np.float32)
    spot[:, :, 10, 10] = 1
    tops = transformed("apply_blur: true blur_max_var: 2", spot)[:, 0].astype(np.float64)
    np.testing.assert_allclose(tops.sum((1, 2)), 1, rtol=1e-5)
    second = np.sqrt((tops.sum(1) * (np.arange(21) - 10) ** 2).sum(1))  # of what reaches four deviations
    assert second.max() < 2
    assert second.max() > 1.9
    assert second.min() < 0.3


def test_contrast_and_brightness(device):
    tops = transformed("apply_contrast_brightness: true alpha_c: 0.25 beta_c: 3", several(600), device=device)
    pairs = np.array([np.polyfit(IMAGE.ravel(), top.ravel(), 1) for top in tops])
    for values, low, high in zip(pairs.T, (0.75, -3), (1.25, 3)):
        assert low - 1e-4 < values.min() < low + 0.1 * (high - low)
        assert high - 0.1 * (high - low) < values.max() < high + 1e-4
    assert abs(np.corrcoef(pairs.T)[0, 1]) < 0.15  # drawn one by one


def test_everything_at_once_in_its_order(device):
    """Mirrored before turned: the corner that a mirror leaves empty lies where the turn brings it."""
    fields = "apply_normalization: true apply_mirroring: true prob_mirroring: 1 apply_rot: true rot_min: 25 rot_max: 25"
    top = transformed(fields + " apply_blur: true blur_size: 3", several(1), device=device, dtype=np.float64)[0, 0]
    image = (IMAGE - IMAGE.mean(dtype=np.float64)) / IMAGE.astype(np.float64).std()
    mirrored = np.zeros_like(image)
    mirrored[1:, 1:] = image[1:, 1:][::-1, ::-1]
    places = dict(zip(IMAGE.ravel().tolist(), mirrored.ravel().tolist()))  # TURNED says which pixel comes where
    turned = np.array([[places.get(value, 0.0) for value in row] for row in TURNED[25]])
    wide = np.pad(turned, 1, "reflect")
    across = wide[:, :-2] / 4 + wide[:, 1:-1] / 2 + wide[:, 2:] / 4
    np.testing.assert_allclose(top, across[:-2] / 4 + across[1:-1] / 2 + across[2:] / 4, atol=1e-12)


def test_a_seed_repeats_its_draws():
    fields = "apply_mirroring: true apply_rot: true rot_max: 90 apply_contrast_brightness: true alpha_c: 0.5"
    rigs = [Rig(f'type: "DataRandTransform" {fields}', [several(3)], seed=seed) for seed in (1, 1, 2)]
    first, second = ([rig.forward()[0] for rig in rigs] for _ in range(2))
    np.testing.assert_array_equal(first[0], first[1])
    np.testing.assert_array_equal(second[0], second[1])
    assert (first[0] != second[0]).any()
    assert (first[0] != first[2]).any()


@pytest.mark.parametrize(
    ("fields", "match"),
    [
        ("apply_blur: true blur_size: 4", "blur_size must be odd, got 4"),
        ("apply_blur: true", "got neither"),
        ("apply_blur: true blur_size: 1025", "1025 pixels wide; at most 1023"),
        ("apply_blur: true blur_max_var: 1e9", "pixels wide; at most 1023"),
        ("apply_blur: true blur_max_var: -1", "blur_max_var must be 0 or more, got -1"),
        ("apply_rot: true rot_max: inf", "rot_max must be a finite number, got inf"),
    ],
)
def test_errors(fields, match):
    with pytest.raises(LayerError, match=match):
        Rig(f'type: "DataRandTransform" {fields}', [several(1)])


def test_what_lies_before_it_gets_no_gradient(device):
    text = """
    layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 1 dim: 5 dim: 6 } } }
    layer { name: "before" type: "Convolution" bottom: "x" top: "before" convolution_param { num_output: 2 kernel_size: 1 } }
    layer { name: "drawn" type: "DataRandTransform" bottom: "before" top: "drawn" apply_normalization: true }
    layer { name: "after" type: "Convolution" bottom: "drawn" top: "after" convolution_param { num_output: 1 kernel_size: 1
      weight_filler { type: "constant" value: 1 } } }
    layer { name: "loss" type: "Reduction" bottom: "after" top: "loss" loss_weight: 1 }
    """
    net = Net(parse_net(text), phase="TRAIN", device=device, seed=1)
    net.forward(x=several(1))
    net.backward()
    assert not np.asarray(net.params["before"][0].diff).any()
    assert np.asarray(net.params["after"][1].diff).any()
