"""ImageSegData and ImageLabelmapData against what their programs do, written again in numpy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from drawn import picture
from harness import Rig

from boxpresso import LayerError
from boxpresso.data.picture import encode

SIZES = [(12, 16), (9, 20), (14, 7)]
MEAN = (104.0, 116.5, 122.25)


def label(index: int) -> np.ndarray:
    height, width = SIZES[index]
    return (np.arange(height)[:, None] * width + np.arange(width) + index)[..., None].astype(np.uint8)


def image(index: int) -> np.ndarray:
    return picture(index, *SIZES[index])


def listed(folder: Path, kind: str = "PIXEL", only: tuple[int, ...] = (0, 1, 2)) -> Path:
    second = {"PIXEL": "/{0}_l.png", "IMAGE": "{1}", "NONE": ""}[kind]
    for i in only:
        (folder / f"{i}.png").write_bytes(encode(image(i), "PNG"))
        (folder / f"{i}_l.png").write_bytes(encode(label(i), "PNG"))
    (folder / "list.txt").write_text("".join(f"/{i}.png {second.format(i, 300 * i)}\n" for i in only))
    return folder / "list.txt"


def rig_of(
    source: Path, more: str = "", transform: str = "", kind: str = "ImageSegData", tops: int = 3, **options
) -> Rig:
    text = f'type: "{kind}" image_data_param {{ source: "{source.as_posix()}" root_folder: "{source.parent.as_posix()}" {more} }}'
    return Rig(f"{text} transform_param {{ {transform} }}", [], tops=tops, **{"phase": "TRAIN", **options})


def linear(values: np.ndarray, height: int, width: int) -> np.ndarray:
    """Bilinear between pixel centres, as a product with a matrix for the rows and one for the columns."""

    def weights(few: int, many: int) -> np.ndarray:
        at = np.clip((np.arange(few) + 0.5) * many / few - 0.5, 0, many - 1)
        return np.maximum(0, 1 - np.abs(at[:, None] - np.arange(many)))

    rows, columns = weights(height, values.shape[0]), weights(width, values.shape[1])
    return np.einsum("yh,hwc,xw->yxc", rows, values.astype(float), columns)


def nearest(values: np.ndarray, height: int, width: int) -> np.ndarray:
    y, x = (np.arange(n) * side // n for n, side in ((height, values.shape[0]), (width, values.shape[1])))
    return values[y][:, x]


def test_whole_images_and_three_kinds_of_labels(tmp_path, device):
    rig = rig_of(
        listed(tmp_path),
        "label_type: PIXEL",
        "mean_value: 104 mean_value: 116.5 mean_value: 122.25 scale: 0.5",
        device=device,
    )
    for step in range(4):
        i = step % 3
        data, labels, size = rig.forward()
        np.testing.assert_array_equal(data[0], (image(i).astype(np.float32) - MEAN).transpose(2, 0, 1) * 0.5)
        np.testing.assert_array_equal(labels[0], label(i).transpose(2, 0, 1))
        assert size.tolist() == [[[list(SIZES[i])]]]
    rig = rig_of(listed(tmp_path, "IMAGE"), tops=2)  # IMAGE is the default
    assert [(v.shape, np.unique(v).tolist()) for v in (rig.forward()[1] for _ in range(3))] == [
        ((1, 1, *SIZES[i]), [min(300 * i, 255)]) for i in range(3)
    ]
    rig = rig_of(listed(tmp_path, "NONE"), "label_type: NONE ignore_label: 7")
    assert np.unique(rig.forward()[1]).tolist() == [7]


def test_a_larger_crop_gets_a_margin_and_a_central_one_in_test(tmp_path):
    transform = "crop_height: 13 crop_width: 11 mean_value: 104 mean_value: 116.5 mean_value: 122.25"
    rig = rig_of(listed(tmp_path), "label_type: PIXEL ignore_label: 250 batch_size: 3", transform, phase="TEST")
    data, labels, size = rig.forward()
    for i, (height, width) in enumerate(SIZES):
        canvas = np.tile(np.array(MEAN), (max(height, 13), max(width, 11), 1))
        canvas[:height, :width] = image(i)
        marks = np.full(canvas.shape[:2], 250)
        marks[:height, :width] = label(i)[..., 0]
        y, x = (canvas.shape[0] - 13) // 2, (canvas.shape[1] - 11) // 2
        wanted = (canvas[y : y + 13, x : x + 11] - MEAN).astype(np.float32)
        np.testing.assert_array_equal(data[i], wanted.transpose(2, 0, 1))
        np.testing.assert_array_equal(labels[i, 0], marks[y : y + 13, x : x + 11])
        assert size[i].ravel().tolist() == [min(height, 13), min(width, 11)]


def test_scales_crops_and_mirrors_are_drawn_and_alike(tmp_path):
    """Each pass is one of all scales, places and sides, for image and labels at once; the passes are many of them."""
    source = listed(tmp_path, only=(0,))
    scales = (0.75, 1.0, 1.3)
    more = "mirror: true crop_size: 10 " + " ".join(f"scale_factors: {v}" for v in scales)
    rig = rig_of(source, "label_type: PIXEL ignore_label: 255", more)
    seen = []
    for _ in range(40):
        data, labels, size = rig.forward()
        matches = []
        for scale in scales:
            height, width = (int(np.float32(side) * np.float32(scale)) for side in SIZES[0])
            pixels, marks = (
                np.zeros((max(height, 10), max(width, 10), 3)),
                np.full((max(height, 10), max(width, 10)), 255),
            )
            pixels[:height, :width] = linear(image(0), height, width)
            marks[:height, :width] = nearest(label(0), height, width)[..., 0]
            for y in range(marks.shape[0] - 9):
                for x in range(marks.shape[1] - 9):
                    for step in (1, -1):
                        cut = pixels[y : y + 10, x : x + 10][:, ::step].transpose(2, 0, 1)
                        same = np.array_equal(labels[0, 0], marks[y : y + 10, x : x + 10][:, ::step])
                        if same and np.abs(data[0] - cut).max() <= 0.5 + 1e-3:  # rounded to bytes
                            matches.append((scale, y, x, step))
        assert len(matches) == 1
        assert size.ravel().tolist() == [10, 10]
        seen += matches
    assert {match[0] for match in seen} == set(scales)
    assert {match[3] for match in seen} == {1, -1}
    assert len(set(seen)) > 20
    one, other = (rig_of(source, "label_type: PIXEL", more) for _ in range(2))  # of one seed
    for _ in range(3):
        for first, second in zip(one.forward(), other.forward()):
            np.testing.assert_array_equal(first, second)


def test_images_are_resized_with_their_labels_as_deeplab_does(tmp_path):
    data, labels, size = rig_of(
        listed(tmp_path), "label_type: PIXEL new_height: 8 new_width: 9 batch_size: 2"
    ).forward()
    for i in range(2):
        np.testing.assert_allclose(data[i], linear(image(i), 8, 9).transpose(2, 0, 1), atol=0.501)
        np.testing.assert_allclose(labels[i], linear(label(i), 8, 9).transpose(2, 0, 1), atol=0.501)
    assert size.reshape(2, 2).tolist() == [[8, 9], [8, 9]]


@pytest.mark.parametrize("rule", ["hed", "rcf", "skeleton"])
def test_maps_of_edges(tmp_path, rule, device):
    param = "" if rule == "hed" else f"}} python_param {{ param_str: \"{{'labels': '{rule}'}}\""
    means = "mean_value: 104 mean_value: 116.5 mean_value: 122.25 scale: 2"
    rig = rig_of(listed(tmp_path), param, means, "ImageLabelmapData", 2, device=device)
    for i in range(3):
        data, labels = rig.forward()
        np.testing.assert_array_equal(data[0], (image(i).astype(np.float32) - MEAN).transpose(2, 0, 1) * 2)
        values = label(i)[..., 0].astype(int)
        if rule == "skeleton":
            wanted = np.select([values < 1, values >= 150, values < 10, values < 26, values < 60], [0, 0, 1, 2, 3], 4)
        else:
            wanted = np.floor(values / 255 + 0.5) if rule == "hed" else (values / 255).astype(np.float32)
        np.testing.assert_allclose(labels[0, 0], wanted, rtol=1e-6)


def test_maps_of_edges_are_cut_with_their_images(tmp_path):
    source, seen = listed(tmp_path, only=(0,)), set()
    for phase in ("TRAIN", "TEST"):
        rig = rig_of(source, "", "crop_size: 11 mirror: true", "ImageLabelmapData", 2, phase=phase)
        for _ in range(12):
            data, labels = rig.forward()
            crops = [
                (phase, y, x, step)
                for y in range(2) for x in range(6) for step in (1, -1)
                if np.array_equal(data[0], image(0)[y : y + 11, x : x + 11][:, ::step].transpose(2, 0, 1))
            ]  # fmt: skip
            assert len(crops) == 1
            _, y, x, step = crops[0]
            np.testing.assert_array_equal(labels[0, 0], label(0)[y : y + 11, x : x + 11, 0][:, ::step] >= 128)
            seen |= set(crops)
    assert len(seen) > 10
    assert {(phase, step) for phase, _, _, step in seen} == {(p, s) for p in ("TRAIN", "TEST") for s in (1, -1)}


def passes(steps: int, *arguments) -> None:
    rig = rig_of(*arguments)
    for _ in range(steps):
        rig.forward()


@pytest.mark.parametrize("kind", ["ImageSegData", "ImageLabelmapData"])
def test_wrong_files_and_fields_are_named(tmp_path, kind):
    source, pixel = listed(tmp_path), "label_type: PIXEL"

    def wrong(match: str, more: str = pixel, transform: str = "", steps: int = 1) -> None:
        with pytest.raises(LayerError, match=match) as caught:
            passes(steps, source, more, transform, kind, 2)
        assert kind in str(caught.value)

    wrong("new_height and new_width go together", "new_height: 3 label_type: PIXEL")
    wrong("the pictures of one batch have the shapes", "batch_size: 2 label_type: PIXEL")
    (tmp_path / "1_l.png").write_bytes(encode(label(0), "PNG"))
    wrong("1.png is 20x9, its labels .*1_l.png are 16x12", steps=2)
    (tmp_path / "1_l.png").unlink()
    wrong("there is no picture .*1_l.png", steps=2)
    (tmp_path / "0.png").write_bytes(b"nothing")
    wrong("0.png is not an image")
    source.write_text("/0.png\n")
    wrong("line 1: it must be `image (labels|map)`, it is 1 word of 6 letters")
    source.write_text("\n")
    wrong("is empty")
    source.unlink()
    wrong("cannot read the list")
    if kind == "ImageSegData":
        wrong("give crop_size, or crop_height and crop_width", transform="crop_size: 4 crop_height: 5 crop_width: 5")
        wrong("crop_height and crop_width go together", transform="crop_height: 5")
        wrong("takes no mean_file", transform='mean_file: "x"')
        wrong("scale_factors must be above 0", transform="scale_factors: -1")
        listed(tmp_path)
        wrong("the label of picture 1 of the list is no number; is label_type PIXEL", "label_type: IMAGE")
        wrong("becomes 0x0 by the scale 0.01", transform="scale_factors: 0.01")
    else:
        listed(tmp_path)
        wrong("smaller than the crop 13", transform="crop_size: 13")
