"""DenseImageData: images and maps of labels from pairs of files, cut and mirrored alike."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from drawn import picture
from harness import Rig

from boxpresso import LayerError
from boxpresso.data.picture import encode, resize
from boxpresso.proto import BoxpressoWarning


def label(index: int) -> np.ndarray:
    """Of each pixel a number that tells its place in the picture (12, 16)."""
    return (np.arange(12)[:, None] * 16 + np.arange(16) + index)[..., None].astype(np.uint8)


def pairs(folder: Path, count: int = 4) -> Path:
    for i in range(count):
        (folder / f"{i}.png").write_bytes(encode(picture(i), "PNG"))
        (folder / f"{i}_labels.png").write_bytes(encode(label(i), "PNG"))
    (folder / "list.txt").write_text("".join(f"/{i}.png /{i}_labels.png\n" for i in range(count)))
    return folder / "list.txt"


def rig_of(source: Path, more: str = "", transform: str = "", **options) -> Rig:
    text = f'type: "DenseImageData" dense_image_data_param {{ source: "{source.as_posix()}" root_folder: "{source.parent.as_posix()}" batch_size: 3 {more} }}'
    return Rig(f"{text} transform_param {{ {transform} }}", [], tops=2, **{"phase": "TRAIN", **options})


def test_images_and_labels(tmp_path, device):
    source = pairs(tmp_path)
    rig = rig_of(source, transform="mean_value: 5 scale: 0.5", device=device)
    images, labels = rig.forward()
    np.testing.assert_array_equal(images, [(picture(i).transpose(2, 0, 1) - 5.0) * 0.5 for i in range(3)])
    np.testing.assert_array_equal(labels, [label(i).transpose(2, 0, 1) for i in range(3)])  # neither mean nor scale
    np.testing.assert_array_equal(rig.forward()[1][0], label(3).transpose(2, 0, 1))
    images, labels = rig_of(source, "new_height: 6 new_width: 8 is_color: false").forward()
    assert images.shape == (3, 1, 6, 8)
    np.testing.assert_array_equal(labels[1, 0], label(1)[::2, ::2, 0])
    images, _ = rig_of(source, "new_height: 24 new_width: 32").forward()
    np.testing.assert_array_equal(images[1], resize(picture(1), 32, 24).transpose(2, 0, 1))
    images, labels = rig_of(source, "label_divide_factor: 4").forward()
    assert (images.shape, labels.shape) == ((3, 3, 12, 16), (3, 1, 3, 4))
    np.testing.assert_array_equal(labels[0, 0], label(0)[::4, ::4, 0])


@pytest.mark.parametrize(
    ("more", "transform"), [("crop_height: 5 crop_width: 7 mirror: true", ""), ("", "crop_h: 5 crop_w: 7 mirror: true")]
)
def test_crops_and_mirrors_are_alike(more, transform, tmp_path):
    source = pairs(tmp_path)
    rig, seen, turned = rig_of(source, more, transform), set(), set()
    for step in range(8):
        images, labels = rig.forward()
        for k in range(3):
            i = (3 * step + k) % 4
            at = labels[k, 0].astype(int) - i
            np.testing.assert_array_equal(images[k], picture(i).transpose(2, 0, 1)[:, at // 16, at % 16])
            seen.add((int(at[0].min()) // 16, int(at[0].min()) % 16))
            turned.add(bool(at[0, 0] > at[0, 1]))
    assert len(seen) > 5
    assert turned == {True, False}
    central = rig_of(source, "crop_height: 5 crop_width: 7", phase="TEST").forward()[1]
    np.testing.assert_array_equal(central[0, 0], label(0)[3:8, 4:11, 0])


def test_wrong_lists(tmp_path):
    source = pairs(tmp_path)
    source.write_text("/0.png /0_labels.png\n/gone.png /1_labels.png\n/2.png /2_labels.png\n")
    with pytest.warns(BoxpressoWarning, match="gone.png"):
        labels = rig_of(source).forward()[1]
    np.testing.assert_array_equal(labels[1], label(2).transpose(2, 0, 1))
    source.write_text("/0.png\n")
    with pytest.raises(LayerError, match="line 1: it must be `image labels`"):
        rig_of(source)
    (tmp_path / "small.png").write_bytes(encode(label(0)[:4, :4], "PNG"))
    source.write_text("/0.png /small.png\n")
    with pytest.raises(LayerError, match="none of the 1 records"):
        rig_of(source)
    with pytest.raises(LayerError, match="crop_height and crop_width"):
        rig_of(source, "crop_height: 5")
