"""PoseEvaluate, PoseCreate and CreateGan, by loops and by numpy."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig

from boxpresso.proto.errors import LayerError

RNG = np.random.default_rng(6)
CLASSES = RNG.integers(0, 20, (2, 1, 40, 33)).astype(float)
CLASSES[1][CLASSES[1] == 14] = 255  # an image that lacks one
MAPS, CENTRES = RNG.standard_normal((2, 5, 6, 7)), RNG.uniform(0, 8, (2, 1, 1, 10))
CENTRES[1, 0, 0, 2:4] = 0.9, 0.5  # is (0, 0)
EVALUATE, CREATE = (
    'type: "PoseEvaluate" pose_evaluate_param { num_joint: %d }',
    'type: "PoseCreate" pose_create_param { %s }',
)
GAN = 'type: "CreateGan" create_gan_param { gan_label: %d }'
GROUPS = {
    9: [(1, 2, 4, 13), (5, 7, 11), (9, 12), (14,), (15,), (16,), (17,), (18,), (19,)],
    3: [(4,), (3,), (2,)],
    2: [(1,), (2,)],
}
LAUNCHES: list[tuple] = [  # for tests/device/test_threaded.py
    (EVALUATE % 9, [CLASSES], []),
    (CREATE % "num_joint: 5", [CENTRES, MAPS], []),
    (CREATE % "num_joint: 5", [MAPS], [], {"tops": 2}),
]


@pytest.mark.parametrize("joints", GROUPS)
def test_centres_of_classes(joints, device):
    top = Rig(EVALUATE % joints, [CLASSES], device=device, dtype=np.float64).forward()[0]
    assert top.shape == (2, 1, 1, 2 * joints)
    for image, centres in zip(CLASSES[:, 0], top.reshape(2, joints, 2)):
        for group, (x, y) in zip(GROUPS[joints], centres):
            rows, columns = np.nonzero(np.isin(image, group))
            wanted = (int(columns.mean()), int(rows.mean())) if len(rows) else (0, 0)
            assert (x, y) == wanted


def test_maps_of_centres(device):
    top = Rig(CREATE % "num_joint: 5", [CENTRES, MAPS], device=device, dtype=np.float64).forward()[0]
    y, x = np.mgrid[:6, :7]
    for image, maps in zip(CENTRES.reshape(2, 5, 2), top):
        for (cx, cy), made in zip(np.trunc(image), maps):
            wanted = 4 / np.sqrt(2 * np.pi) * np.exp(-0.5 * ((x - cx) ** 2 + (y - cy) ** 2))
            np.testing.assert_allclose(made, 0 * wanted if cx == cy == 0 else wanted, rtol=1e-12, atol=1e-300)
    assert not top[1, 1].any()


def test_centres_of_maps(device):
    maps = MAPS.copy()
    maps[0, 0] = 3  # the first of equal ones
    rig = Rig(CREATE % "num_joint: 5 label_value: 1", [maps], tops=2, device=device, dtype=np.float64)
    centres, label = rig.forward()
    for each, (x, y) in zip(maps.reshape(10, 6, 7), centres.reshape(10, 2)):
        assert (y, x) == np.unravel_index(each.argmax(), each.shape)
    assert label.shape == (2, 1, 1, 1)
    assert (label == 1).all()


@pytest.mark.parametrize("label", [0, 1])
def test_labels_of_a_gan(label, device):
    (top,) = Rig(GAN % label, [MAPS], device=device).forward()
    assert top.shape == (2, 1, 1, 1)
    assert (top == label).all()


@pytest.mark.parametrize(
    ("text", "bottoms", "tops", "message"),
    [
        (EVALUATE % 4, [CLASSES], 1, "num_joint must be 9, 3 or 2, got 4"),
        (EVALUATE % 2, [MAPS], 1, r"must be \(N, 1, H, W\)"),
        (CREATE % "", [MAPS], 2, "num_joint must be given"),
        (CREATE % "num_joint: 5 label_value: 2", [MAPS], 2, "label_value must be 0 or 1, got 2"),
        (CREATE % "num_joint: 5", [MAPS], 1, "of 1 bottoms it makes 2 tops, got 1"),
        (CREATE % "num_joint: 4", [MAPS], 2, "must have 4 channels"),
        (CREATE % "num_joint: 4", [CENTRES, MAPS], 1, "must have 8 numbers for each of 2 images"),
        (GAN % 2, [MAPS], 1, "gan_label must be 0 or 1, got 2"),
    ],
)
def test_what_they_refuse(text, bottoms, tops, message):
    with pytest.raises(LayerError, match=message):
        Rig(text, bottoms, tops=tops)
