"""Real trained caffemodels against what OpenCV 4.12 computed from them."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
import stand_in
from shared import SHARED, cases, need, recorded

from boxpresso import ModelError, Net

MODELS = SHARED / "models"
REPORT = json.loads((MODELS / "opencv_ref/report.json").read_text()) if MODELS.exists() else {}
CASES = [
    (name, file) for name, entry in REPORT.items() for file in entry["files"] if (MODELS / "opencv_ref" / file).exists()
]

OPTIMIZE = [True] if stand_in.active() else [True, False]  # on the stand-in, layers run singly


def detections(rows: np.ndarray) -> np.ndarray:
    """The rows (image, label, score, box) that are detections, in one order whatever the program's."""
    rows = rows.reshape(-1, 7)
    rows = rows[(rows[:, 0] >= 0) & (rows[:, 2] > 0)]
    return rows[np.lexsort(rows.round(3).T[::-1])]


@pytest.mark.parametrize(("name", "file"), cases(CASES, "models/opencv_ref", 2), ids=lambda x: x.removesuffix(".npz"))
@pytest.mark.parametrize("optimize", OPTIMIZE, ids=["plan", "layers"][: len(OPTIMIZE)])
def test_opencv(name, file, device, optimize):
    entry, case = REPORT[name], recorded(MODELS / "opencv_ref" / file)
    model = need(f"models/{entry['prototxt']}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # fields of other programs are named once and skipped
        net = Net(model, MODELS / entry["caffemodel"], device=device, optimize=optimize)
    inputs = {key[3:]: case[key] for key in case if key.startswith("in:")}
    if len(net.inputs) == 1:  # OpenCV does not ask for the input's name
        inputs = dict(zip(net.inputs, inputs.values()))
    wanted = {key[4:]: case[key] for key in case if key.startswith("out:")}
    out = net.forward(**inputs, blobs=[n for n in wanted if n not in net.outputs])
    for blob, value in wanted.items():
        mine = out[blob]
        if any(layer.type == "DetectionOutput" and blob in net.top_names[layer.name] for layer in net.layers):
            mine, value = detections(mine), detections(value)
            assert mine.shape == value.shape, f"{len(mine)} detections, OpenCV has {len(value)}"
        assert mine.size == value.size, f"{blob}: {mine.shape}, OpenCV has {value.shape}"
        worst = np.abs(mine.ravel() - value.ravel()).max(initial=0)
        assert worst <= 1e-4 * max(np.abs(value).max(initial=0), 1e-6), f"{blob}: worst difference {worst}"


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("html_not_a_model.caffemodel", "HTML"),
        ("res10_truncated_1630208.caffemodel", "truncated"),
        ("res10_truncated_73728.caffemodel", "truncated"),
    ],
)
def test_a_broken_file_says_what_it_is(file, words):
    path = need(f"models/broken/{file}")
    net = Net(MODELS / "broken/res10_deploy.prototxt", device="cpu", seed=0)
    before = {name: [b.data.copy() for b in blobs] for name, blobs in net.params.items()}
    with pytest.raises(ModelError, match=words):
        net.copy_from(path)
    for name, blobs in before.items():
        for value, blob in zip(blobs, net.params[name]):
            np.testing.assert_array_equal(value, blob.data)
