"""YoloData: images and the grid of their boxes, worked out again box by box."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from drawn import picture
from harness import Rig

from boxpresso import LayerError
from boxpresso.data.picture import encode, resize

BOXES = {"a.png": [(4, 2, 10, 6, 3), (20, 12, 8, 8, 1)], "b.png": [], "c.png": [(0, 0, 6.5, 5, 7), (1, 1, 4, 4, 2)]}


def listed(folder: Path) -> Path:
    lines = []
    for i, (name, boxes) in enumerate(BOXES.items()):
        (folder / name).write_bytes(encode(picture(i, 24, 40), "PNG"))
        lines.append(f"/{name} " + " ".join(f"[{x}, {y}, {w}, {h}] {label}" for x, y, w, h, label in boxes))
    (folder / "list.txt").write_text("\n".join(lines) + "\n")
    return folder / "list.txt"


def rig_of(source: Path, more: str = "num_sides: 5", transform: str = "", **options) -> Rig:
    text = f'type: "YoloData" yolo_data_param {{ source: "{source.as_posix()}" root_folder: "{source.parent.as_posix()}" {more} }} transform_param {{ {transform} }}'
    return Rig(text, [], tops=2, **{"phase": "TRAIN", **options})


def test_images_and_grids(tmp_path, device):
    rig = rig_of(
        listed(tmp_path),
        "num_sides: 5 batch_size: 3 new_height: 20 new_width: 30",
        "mean_value: 9 scale: 2",
        device=device,
    )
    data, grids = rig.forward()
    for i, boxes in enumerate(BOXES.values()):
        np.testing.assert_array_equal(data[i], (resize(picture(i, 24, 40), 30, 20).transpose(2, 0, 1) - 9.0) * 2)
        wanted = np.zeros((5, 5, 5))
        for x, y, w, h, label in boxes:
            cx, cy = (x + w / 2) / 40, (y + h / 2) / 24
            wanted[:, int(cy * 5), int(cx * 5)] = label, cx, cy, w / 40, h / 24
        np.testing.assert_allclose(grids[i], wanted, rtol=1e-6)
    assert grids[2, 0, 0, 0] == 2  # two boxes in one cell: the later


def test_what_is_wrong_is_named(tmp_path):
    source = listed(tmp_path)
    for more, transform, match in [
        ("", "", "num_sides must be 1 or more"), ("num_sides: 5", "mirror: true", "boxes would not follow"),
        ("num_sides: 5 new_height: 3", "", "go together"),
    ]:  # fmt: skip
        with pytest.raises(LayerError, match=match):
            rig_of(source, more, transform)
    for text, match in [
        ("/a.png [1, 2, 3] 4\n", "line 1: it must be `image"), ("/a.png [1, 2, 3, 4]\n", "line 1"), ("/a.png [1, 2, 3, e] 4\n", "line 1"),
        ("/a.png [36, 2, 8, 4] 1\n", "whose centre is in no cell"), ("/gone.png [1, 2, 3, 4] 1\n", "there is no picture"), ("\n", "is empty"),
    ]:  # fmt: skip
        source.write_text(text)
        with pytest.raises(LayerError, match=match):
            rig_of(source)
