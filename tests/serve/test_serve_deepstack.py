"""DeepStack's interface, asked as Frigate's detector of that name does: a JPEG in a form, 20 rows of numbers out of the answer."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image
from served import LOCAL, NAMES, cells, httpx, png, refused, started, wide_net

from boxpresso import Detector

LABELS = {0: "person", 1: "cell"}  # of Frigate, whose numbers are its own


@pytest.fixture(scope="module")
def server():
    with started() as running:
        yield running


def ask(server, files, data=None):
    return httpx.post(f"{server.url}v1/vision/detection", files=files, data=data or {"api_key": ""}, **LOCAL)


def jpeg(pixels):
    to = io.BytesIO()
    Image.fromarray(pixels).save(to, "JPEG")
    return to.getvalue()


def test_frigate_finds_its_rows(server):
    """Class, score, and top, left, bottom, right as shares of the picture: what becomes of the predictions in Frigate."""
    data = jpeg(cells(1, scale=10))
    answer = ask(server, {"image": ("image", data)}).json()
    assert answer["success"] is True
    rows = np.zeros((20, 6), np.float32)
    for i, one in enumerate(answer["predictions"]):
        number = next(number for number, name in LABELS.items() if name == one["label"].lower())
        sides = [one[name] / 320 for name in ("y_min", "x_min", "y_max", "x_max")]
        rows[i] = [number, float(one["confidence"]), *sides]
    detections = Detector(wide_net(), labels=NAMES)(data)
    assert len(detections) == len(answer["predictions"]) == 16
    assert (rows[:16, 0] == 1).all()
    np.testing.assert_allclose(rows[:16, 1], detections.scores, atol=1e-5)
    np.testing.assert_allclose(rows[:16, 2:], detections.boxes[:, [1, 0, 3, 2]] / 320, atol=0.5 / 320 + 1e-5)
    assert (np.diff(rows[:16, 1]) <= 0).all()


def test_the_lowest_score_and_the_most_objects(server, monkeypatch):
    from boxpresso.serve import deepstack

    detections = Detector(wide_net(), labels=NAMES)(cells(1), threshold=0.9)
    got = ask(server, {"image": png(cells(1))}, {"min_confidence": "0.9"}).json()["predictions"]
    assert 0 < len(got) == len(detections) < 16
    monkeypatch.setattr(deepstack, "MOST", 3)
    assert len(ask(server, {"image": png(cells(1))}).json()["predictions"]) == 3


def test_what_is_wrong_is_said(server):
    refused(ask(server, {"image": ("a.jpg", b"no picture")}), 400, "not a picture")
    refused(ask(server, {"image": ("a.jpg", b"")}), 400, "the upload is empty")
    refused(ask(server, {"image": png(cells())}, {"min_confidence": "high"}), 422, "min_confidence is 'high'")
    refused(
        httpx.post(
            f"{server.url}v1/vision/detection", content=png(cells()), headers={"content-type": "image/png"}, **LOCAL
        ),
        415,
        "multipart",
    )
