"""For the tests of `boxpresso serve`: a server of a small net, and what to send and to expect."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tiny_ssd import tiny_net

from boxpresso import Detector, Net
from boxpresso.decoders.saving import as_json
from boxpresso.serve.options import Options

MISSING = "is not installed: pip install 'boxpresso[dev]'"
httpx = pytest.importorskip("httpx", reason=f"httpx {MISSING}")
pytest.importorskip("python_multipart", reason=f"python-multipart {MISSING}")
LOCAL: dict[str, Any] = {
    "verify": False,
    "trust_env": False,
    "timeout": 60,
}  # no certificates are read, no proxy is asked
serving = pytest.importorskip("boxpresso.serve.server", reason=f"fastapi or uvicorn {MISSING}")

ROOT = Path(__file__).resolve().parents[1]
NAMES = {1: "cell"}


def wide_net() -> Net:
    """tiny_net with boxes twice as wide and high, so that neighbours overlap: by a third, or diagonally by a seventh."""
    net = tiny_net()
    net.params["loc"][1].data[...] = [0, 0, 5 * np.log(2), 5 * np.log(2)]
    return net


def cells(seed: int = 0, scale: int = 1) -> np.ndarray:
    """A picture whose 16 cells have as many different scores."""
    blue = np.random.default_rng(seed).permutation(np.arange(130, 178, 3)).reshape(4, 4)
    pixels = np.zeros((32, 32, 3), np.uint8)
    pixels[..., 2] = blue.repeat(8, 0).repeat(8, 1)
    return pixels.repeat(scale, 0).repeat(scale, 1)


def png(pixels: np.ndarray) -> bytes:
    to = io.BytesIO()
    Image.fromarray(pixels).save(to, "PNG")
    return to.getvalue()


def started(detector: Detector | Net | None = None, **options) -> Any:
    detector = detector if detector is not None else wide_net()
    detector = detector if isinstance(detector, Detector) else Detector(detector, labels=NAMES)
    return serving.Server(detector, "tiny.prototxt", Options(**options), report=lambda error: None)


def post(server: Any, data: bytes | None = None, kind: str = "image/png", /, headers=None, **query) -> Any:
    headers = {**({"content-type": kind} if data is not None else {}), **(headers or {})}
    return httpx.post(f"{server.url}api/detect", content=data, headers=headers, params=query, **LOCAL)


def get(server: Any, path: str, headers=None, **query) -> Any:
    return httpx.get(f"{server.url}{path}", params=query, headers=headers, **LOCAL)


def refused(answer: Any, status: int, words: str) -> None:
    assert (answer.status_code, list(answer.json())) == (status, ["error"]), answer.text
    assert re.search(words, answer.json()["error"]), answer.text
    assert answer.headers["content-type"] == "application/json"


def rows(detections) -> list[tuple]:
    plain = as_json(detections)
    return [(detections.label(i), round(one["score"], 5), *np.round(one["box"], 1)) for i, one in enumerate(plain)]


def answered(answer: Any) -> list[tuple]:
    assert answer.status_code == 200, answer.text
    return [(d["label"], round(d["score"], 5), *np.round(d["box"], 1)) for d in answer.json()["detections"]]
