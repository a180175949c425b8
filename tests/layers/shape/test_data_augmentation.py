"""DataAugmentation of FlowNet: each pixel by itself in numpy, draws within their distributions, means that are gathered."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig

from boxpresso import Net
from boxpresso.net.weights import save_weights
from boxpresso.proto import parse_net
from boxpresso.proto.errors import LayerError

RNG = np.random.default_rng(3)
IMAGES = RNG.uniform(0.05, 0.95, (2, 3, 9, 11))
CROP = 'type: "DataAugmentation" augmentation_param { max_multiplier: 1 crop_width: 6 crop_height: 5 %s }'
AXES = np.array([[0.51, 0.56, 0.65], [0.79, 0.01, -0.62], [0.35, -0.83, 0.44]])
EIGEN = "chromatic_eigvec: [" + ", ".join(map(str, AXES.ravel())) + "]"
NAMES = [
    "mirror",
    "dx",
    "dy",
    "angle",
    "zoom_x",
    "zoom_y",
    "gamma",
    "brightness",
    "contrast",
    "color1",
    "color2",
    "color3",
    "pn0",
    "pn1",
    "pn2",
    "an0",
    "an1",
    "an2",
    "mn0",
    "mn1",
    "mn2",
    "pw0",
    "pw1",
    "pw2",
    "aw0",
    "aw1",
    "aw2",
    "mw0",
    "mw1",
    "mw2",
    "lpow",
    "ladd",
    "lmult",
    "col_angle",
    "fog_amount",
    "fog_size",
    "blur_angle",
    "blur_size",
    "shadow_angle",
    "shadow_distance",
    "shadow_strength",
    "noise",
]
ONES = {
    n
    for n in NAMES
    if n[:2] in ("pn", "mn", "pw", "mw") or n in ("zoom_x", "zoom_y", "gamma", "contrast", "lpow", "lmult")
}
ONES |= {"color1", "color2", "color3"}


def coefficients(**values: float) -> np.ndarray:
    """A row as the layer takes it: what is 1 where nothing changes stands as a logarithm."""
    row = {name: float(name in ONES) for name in NAMES} | values
    return np.array([np.log(row[name]) if name in ONES else row[name] for name in NAMES])


ROWS = np.stack([coefficients(pn0=0.8, an1=0.05, noise=0.1), coefficients(gamma=0.7, shadow_strength=0.2)])
LAUNCHES: list[tuple] = [  # for tests/device/test_threaded.py
    (CROP % f"{EIGEN} recompute_mean: 3", [IMAGES, ROWS.reshape(2, 42, 1, 1)], []),
]


def sampled(image: np.ndarray, c: dict[str, float], high: int, wide: int) -> np.ndarray:
    """Where the middle of the crop, turned, shifted and zoomed, lies on that of the image."""
    _, height, width = image.shape
    top = np.zeros((3, high, wide))
    turn = np.array([[np.cos(c["angle"]), -np.sin(c["angle"])], [np.sin(c["angle"]), np.cos(c["angle"])]])
    for y, x in np.ndindex(high, wide):
        place = np.array([x - wide / 2, y - high / 2])
        place[0] *= -1 if c["mirror"] else 1
        place = turn @ place + [c["dx"] * wide, c["dy"] * high]
        across, down = place / [c["zoom_x"], c["zoom_y"]] + [width / 2, height / 2]
        across, down = np.clip(across, 0, width - 1.05), np.clip(down, 0, height - 1.05)
        u, v = int(across), int(down)
        a, b = across - u, down - v
        low = (1 - a) * image[:, v, u] + a * image[:, v, u + 1]
        top[:, y, x] = (1 - b) * low + b * ((1 - a) * image[:, v + 1, u] + a * image[:, v + 1, u + 1])
    return top


def along_axes(rgb: np.ndarray, c: dict[str, float], batch: np.ndarray) -> np.ndarray:
    pixels = np.moveaxis(batch, 1, 0).reshape(3, -1)
    mean, reach = pixels.mean(1), np.abs(AXES @ pixels).max(1)
    on = AXES @ (rgb - mean) / reach
    for i in range(3):
        on[i] = (np.copysign(abs(on[i]) ** c[f"pn{i}"], on[i]) + c[f"an{i}"]) * c[f"mn{i}"]
    on += AXES @ mean / reach
    on[0] = (np.copysign(abs(on[0]) ** c["pw0"], on[0]) + c["aw0"]) * c["mw0"]
    strong = np.hypot(on[1], on[2])
    stronger = max(strong ** c["pw1"] + c["aw1"], 0) * c["mw1"]
    turn = complex(on[1], on[2]) * np.exp(1j * c["col_angle"])
    on = np.array([on[0], turn.real, turn.imag]) * reach
    before = np.linalg.norm(on)
    on[1:] *= stronger / strong
    whole = np.linalg.norm(reach)
    on = np.minimum(
        on / np.linalg.norm(on) * (max((before / whole) ** c["lpow"] + c["ladd"], 0) * c["lmult"] * whole), reach
    )
    return np.clip(AXES.T @ on, 0, 1)


def recoloured(rgb: np.ndarray, c: dict[str, float]) -> np.ndarray:
    new = rgb * [c["color1"], c["color2"], c["color3"]]
    new = np.clip(new * rgb.sum() / (new.sum() + 0.01), 0, 1) ** c["gamma"] + c["brightness"]
    return np.clip(0.5 + (new - 0.5) * c["contrast"], 0, 1)


def expected(rows: np.ndarray, axes: bool = False, colours: bool = False, shadow: bool = False) -> np.ndarray:
    """Crops of IMAGES, 5 x 6, for rows as a layer's top 1 has them."""
    result = []
    for image, row in zip(IMAGES, rows.reshape(2, -1)):
        c = {n: np.exp(v) if n in ONES else v for n, v in zip(NAMES, row)}
        crop = sampled(image, c, 5, 6)
        for y, x in np.ndindex(5, 6):
            if axes:
                crop[:, y, x] = along_axes(crop[:, y, x], c, IMAGES)
            if colours:
                crop[:, y, x] = recoloured(crop[:, y, x], c)
            if shadow:
                beyond = (x - 3) * np.cos(c["shadow_angle"]) + (y - 2) * np.sin(c["shadow_angle"]) > c[
                    "shadow_distance"
                ]
                crop[:, y, x] = np.clip(crop[:, y, x] - c["shadow_strength"] * beyond, 0, 1)
        result.append(crop)
    return np.array(result)


def test_at_test_the_middle_is_cut_out_and_a_mean_subtracted(device):
    text = CROP % "mean: [0.1, 0.2, 0.3] mean_per_pixel: false mirror { rand_type: 'bernoulli' }"
    top = Rig(text, [IMAGES], device=device, dtype=np.float64).forward()[0]
    middle = (IMAGES[:, :, 2:7, 2:8] + IMAGES[:, :, 2:7, 3:9]) / 2  # 11 - 6 is odd: half a pixel
    np.testing.assert_allclose(top, middle - np.reshape([0.1, 0.2, 0.3], (1, 3, 1, 1)), atol=1e-7)


def test_a_crop_of_the_whole_image_draws_its_last_pixels_in(device):
    rig = Rig(CROP.replace("6", "11").replace("5", "9") % "", [IMAGES], device=device, dtype=np.float64)
    top = rig.forward()[0]
    np.testing.assert_allclose(top[:, :, :-1, :-1], IMAGES[:, :, :-1, :-1], rtol=1e-12)
    edge = 0.05 * IMAGES[:, :, :-1, -2] + 0.95 * IMAGES[:, :, :-1, -1]
    np.testing.assert_allclose(top[:, :, :-1, -1], edge, rtol=1e-7)


@pytest.mark.parametrize(
    ("kinds", "first", "second"),
    [
        ({}, {"mirror": 1, "angle": 0.3, "dx": 0.1, "zoom_x": 1.2}, {"dy": -0.2, "zoom_y": 0.8}),
        ({"colours": True}, {"gamma": 0.7, "color1": 1.3, "contrast": 1.2}, {"brightness": -0.1}),
        ({"shadow": True}, {"shadow_angle": 0.4, "shadow_distance": 1, "shadow_strength": 0.5}, {}),
        ({"axes": True}, {"pn0": 0.8, "an1": 0.05, "mn2": 1.2, "pw1": 1.1, "aw0": 0.02, "mw1": 0.9, "col_angle": 0.3},
         {"lpow": 0.9, "ladd": 0.01, "lmult": 1.05}),
    ],
    ids=["places", "colours", "shadow", "axes"],
)  # fmt: skip
def test_coefficients_that_are_given(device, kinds, first, second):
    rows = np.stack([coefficients(**first), coefficients(**second)]).reshape(2, 42, 1, 1)
    rig = Rig(CROP % EIGEN, [IMAGES, rows], tops=2, device=device, dtype=np.float64)
    top, passed_on = rig.forward()
    np.testing.assert_allclose(top, expected(rows, **kinds), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(passed_on, rows)


def test_draws_lie_in_their_distributions_and_make_the_top(device):
    text = CROP % (
        """mirror { rand_type: "bernoulli" prob: 0.5 } translate { spread: 0.1 } rotate { spread: 0.1 }
        zoom { spread: 0.1 exp: true } squeeze { rand_type: "gaussian" spread: 0.02 exp: true }
        gamma { rand_type: "uniform_bernoulli" spread: 0.2 exp: true prob: 1 } brightness { rand_type: "gaussian" spread: 0.02 }
        contrast { spread: 0.2 exp: true } color { spread: 0.1 exp: true } """
    )
    rig, seen = Rig(text, [IMAGES], tops=2, device=device, dtype=np.float64, phase="TRAIN"), []
    for _ in range(8):
        top, rows = rig.forward()
        np.testing.assert_allclose(top, expected(rows, colours=True), rtol=1e-4, atol=1e-4)
        seen.append(rows.reshape(2, 42))
    of = {name: np.concatenate(seen)[:, i] for i, name in enumerate(NAMES)}
    assert set(of["mirror"]) == {0, 1}
    for name, most in {"dx": 0.1, "angle": 0.1, "gamma": 0.2, "contrast": 0.2, "color2": 0.1}.items():
        assert 0 < abs(of[name]).max() <= most
        assert len(set(of[name])) == 16
    np.testing.assert_array_equal(of["noise"], 0)
    assert not np.array_equal(of["color1"], of["color2"])


def test_noise_has_its_deviation_and_changes_with_each_forward(device):
    rig = Rig(CROP % "noise { mean: 0.05 }", [IMAGES], device=device, dtype=np.float64, phase="TRAIN")
    plain = expected(np.stack([coefficients()] * 2))
    noise = [rig.forward()[0] - plain for _ in range(2)]
    assert 0.03 < np.std(noise) < 0.07
    assert not np.array_equal(*noise)


def test_a_mean_is_gathered_for_so_many_forwards(device):
    crops = [RNG.uniform(0, 1, (2, 3, 4, 4)) for _ in range(3)]
    for per_pixel in (True, False):
        text = f'type: "DataAugmentation" augmentation_param {{ recompute_mean: 2 mean_per_pixel: {str(per_pixel).lower()} }}'
        rig = Rig(text, [crops[0]], device=device, dtype=np.float64)
        for number, crop in enumerate(crops, 1):
            rig.set_bottom(0, crop)
            gathered = np.mean(crops[: min(number, 2)], (0, 1))
            mean = gathered if per_pixel else gathered.mean((1, 2), keepdims=True)
            np.testing.assert_allclose(rig.forward()[0], crop - mean, rtol=1e-10, atol=1e-12)
        assert np.asarray(rig.layer.blobs[0].data).item() == 3


def test_a_mean_image_of_another_size_becomes_that_of_its_channels(tmp_path):
    """A file that was trained with crops of another size, as FlowNet's are."""
    text = """layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 3 dim: 4 dim: 6 } } }
        layer { name: "aug" type: "DataAugmentation" bottom: "x" top: "y"
          augmentation_param { recompute_mean: 1000 mean_per_pixel: %s crop_width: 6 crop_height: 4 } }"""
    image = RNG.uniform(0, 1, (1, 3, 2, 5))
    blobs = [np.full((1, 1, 1, 1), 5000.0), image, image.mean((2, 3), keepdims=True)]
    save_weights(tmp_path / "w.caffemodel", [("aug", "DataAugmentation", ["x"], ["y"], blobs)])
    for per_pixel in ("false", "true"):
        net = Net(parse_net(text % per_pixel), tmp_path / "w.caffemodel", device="cpu")
        x = RNG.uniform(0, 1, (1, 3, 4, 6))
        top = net.forward(x=x)["y"][:, :, :-1, :-1]
        np.testing.assert_allclose(top, (x - blobs[2])[:, :, :-1, :-1], atol=1e-5)


@pytest.mark.parametrize(
    ("text", "bottoms", "message"),
    [
        ("crop_width: 20 crop_height: 5", [IMAGES], "cannot cut 5 x 20 pixels out of 9 x 11"),
        ("zoom { rand_type: 'poisson' }", [IMAGES], "zoom: rand_type 'poisson' is none of"),
        ("", [IMAGES, np.zeros((2, 41, 1, 1))], "must have 42 coefficients"),
    ],
)
def test_refused(text, bottoms, message):
    with pytest.raises(LayerError, match=message):
        Rig(f'type: "DataAugmentation" augmentation_param {{ {text} }}', bottoms)
