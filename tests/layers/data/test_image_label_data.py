"""ImageLabelData: images and maps of labels from two lists or two data bases, with a border, cut and mirrored alike."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from drawn import picture
from harness import Rig

from boxpresso import LayerError, Net
from boxpresso.data.picture import encode
from boxpresso.data.records import make_datum, write_records
from boxpresso.proto import parse_net

SIZES = [(12, 16), (9, 20), (14, 7)]


def label(index: int) -> np.ndarray:
    height, width = SIZES[index]
    return (np.arange(height)[:, None] * width + np.arange(width) + index)[..., None].astype(np.uint8)


def image(index: int) -> np.ndarray:
    return picture(index, *SIZES[index])


def listed(folder: Path, only: tuple[int, ...] = (0, 1, 2)) -> Path:
    for i in only:
        (folder / f"{i}.png").write_bytes(encode(image(i), "PNG"))
        (folder / f"{i}_l.png").write_bytes(encode(label(i), "PNG"))
    (folder / "images.txt").write_text("".join(f"/{i}.png\n" for i in only))
    (folder / "labels.txt").write_text("".join(f"/{i}_l.png\n" for i in only))
    return folder


def rig_of(folder: Path, more: str = "", transform: str = "", **options) -> Rig:
    at = folder.as_posix()
    text = f"""type: "ImageLabelData" image_label_data_param {{ image_list_path: "{at}/images.txt"
        label_list_path: "{at}/labels.txt" data_dir: "{at}" {more} }} transform_param {{ {transform} }}"""
    return Rig(text, [], tops=2, **{"phase": "TRAIN", **options})


def grown(values: np.ndarray, size: int, margin: tuple[int, int], fill: int | None) -> np.ndarray:
    """With a margin, then a border to `size`: half of it on each side, the odd row below, the odd column on the left."""
    mode = {"mode": "reflect"} if fill is None else {"mode": "constant", "constant_values": fill}
    values = np.pad(values, ((margin[0],) * 2, (margin[1],) * 2, (0, 0)), **mode)
    high, wide = (max(0, size - side) for side in values.shape[:2])
    return np.pad(values, ((high // 2, high - high // 2), (wide - wide // 2, wide // 2), (0, 0)), **mode)


def test_whole_images(tmp_path, device):
    rig = rig_of(listed(tmp_path), "", "mean_value: 104 mean_value: 116 mean_value: 122 scale: 0.5", device=device)
    for i in (0, 1, 2, 0):
        data, labels = rig.forward()
        np.testing.assert_array_equal(data[0], (image(i).astype(float) - (104, 116, 122)).transpose(2, 0, 1) * 0.5)
        np.testing.assert_array_equal(labels[0], label(i).transpose(2, 0, 1))


@pytest.mark.parametrize("fill", [None, 0])
def test_margins_borders_and_slices(fill, tmp_path):
    more = "padding: ZERO " if fill == 0 else ""
    part = "label_slice { dim: 5 dim: 4 stride: 2 stride: 3 offset: 3 offset: 2 }"
    rig = rig_of(listed(tmp_path), f"{more} batch_size: 3 {part}", "crop_size: 17", phase="TEST")
    data, labels = rig.forward()
    assert (data.shape, labels.shape) == ((3, 3, 17, 17), (3, 1, 5, 4))
    for i in range(3):
        pixels, marks = grown(image(i), 17, (3, 2), fill), grown(label(i), 17, (3, 2), 255)
        y, x = ((side - 17) // 2 for side in pixels.shape[:2])
        np.testing.assert_array_equal(data[i], pixels[y : y + 17, x : x + 17].transpose(2, 0, 1))
        np.testing.assert_array_equal(labels[i, 0], marks[y : y + 17, x : x + 17, 0][3:13:2, 2:14:3])


def test_a_border_below_and_on_the_right(tmp_path):
    data, labels = rig_of(listed(tmp_path), "pad_centre: false padding: ZERO", "crop_size: 18", phase="TEST").forward()
    np.testing.assert_array_equal(data[0, :, :12, :16], image(0).transpose(2, 0, 1))
    assert not data[0, :, 12:].any()
    assert (labels[0, 0, :, 16:] == 255).all()


def test_crops_and_mirrors_are_alike(tmp_path):
    rig, seen = rig_of(listed(tmp_path, (0,)), "", "crop_size: 10 mirror: true"), set()
    for _ in range(30):
        data, labels = rig.forward()
        crops = [
            (y, x, step)
            for y in range(3) for x in range(7) for step in (1, -1)
            if np.array_equal(data[0], image(0)[y : y + 10, x : x + 10][:, ::step].transpose(2, 0, 1))
            and np.array_equal(labels[0, 0], label(0)[y : y + 10, x : x + 10, 0][:, ::step])
        ]  # fmt: skip
        assert len(crops) == 1
        seen |= set(crops)
    assert len(seen) > 10


def test_scales_are_drawn(tmp_path):
    more = "rand_scale: true min_scale: 0.5 max_scale: 2 shuffle: true"
    rig = rig_of(listed(tmp_path), more, "crop_size: 6")
    assert rig.forward()[0].shape == (1, 3, 6, 6)
    half = rig_of(listed(tmp_path), more.replace("max_scale: 2", "max_scale: 0.5").replace("shuffle: true", ""))
    data, labels = half.forward()
    exact = image(0).astype(float).reshape(6, 2, 8, 2, 3).mean((1, 3))  # the mean of the pixels that one covers
    np.testing.assert_allclose(data[0], exact.transpose(2, 0, 1), atol=0.51)
    np.testing.assert_array_equal(labels[0, 0], label(0)[::2, ::2, 0])


def test_data_bases(tmp_path):
    for name, of in (("images.txt", image), ("labels.txt", label)):
        write_records(tmp_path / name, ((f"{i}", make_datum(of(i), 0).SerializeToString()) for i in (0, 1)))
    rig = rig_of(tmp_path, "backend: LMDB threads: 4", "crop_size: 9", phase="TEST")
    for i in (0, 1, 0):
        data, labels = rig.forward()
        y, x = ((side - 9) // 2 for side in SIZES[i])
        np.testing.assert_array_equal(data[0], image(i)[y : y + 9, x : x + 9].transpose(2, 0, 1))
        np.testing.assert_array_equal(labels[0, 0], label(i)[y : y + 9, x : x + 9, 0])


def test_a_net_without_its_data():
    text = """layer { name: "data" type: "ImageLabelData" top: "data" top: "label" transform_param { crop_size: 40 }
        image_label_data_param { image_list_path: "a" label_list_path: "b" batch_size: 2 %s } }"""
    for more, shape in (("", (2, 1, 40, 40)), ("label_slice { dim: 5 dim: 6 stride: 8 stride: 7 }", (2, 1, 5, 6))):
        for how in ({}, {"data": "shapes"}):
            net = Net(parse_net(text % more), device="cpu", **how)
            assert (net.blobs["data"].shape, net.blobs["label"].shape) == ((2, 3, 40, 40), shape)


def test_errors(tmp_path):
    listed(tmp_path)

    def passes(more: str, transform: str, steps: int) -> None:
        rig = rig_of(tmp_path, more, transform)
        for _ in range(steps):
            rig.forward()

    def wrong(match: str, more: str = "", transform: str = "", steps: int = 1) -> None:
        with pytest.raises(LayerError, match=match):
            passes(more, transform, steps)

    wrong("give dim twice", "label_slice { dim: 5 }")
    wrong(r"\[9, 9\] reaches beyond", "label_slice { dim: 9 dim: 9 stride: 2 stride: 2 }", "crop_size: 16")
    wrong("max_scale no less", "min_scale: 2")
    wrong("shapes", "batch_size: 2")
    with pytest.warns(UserWarning, match="hsv_noise of a fork"):
        rig_of(tmp_path, "hsv_noise: true h_noise: 3")
    (tmp_path / "1_l.png").write_bytes(encode(label(0), "PNG"))
    wrong("1.png is 20x9, its labels .* are 16x12", steps=2)
    (tmp_path / "labels.txt").write_text("/0_l.png\n")
    wrong("has 3 images, .* has 1 maps")
    with pytest.raises(LayerError, match="the lists of images and of labels"):
        Rig('type: "ImageLabelData"', [], tops=2)
