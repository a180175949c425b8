"""Every blob and parameter of 101 real nets has the shape that Caffe gave it, for the nets that ../shared/corpus holds."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import corpus
import pytest
from shared import SHARED, cases, need

from boxpresso import Net
from boxpresso.proto import read_net

RECORD = SHARED / "golden" / "shapes" / "shapes.jsonl"


@cache
def by_blob() -> dict[str, Path]:
    """Files of the corpus by the hash that git has for their contents."""
    files = {}
    for path in sorted(corpus.CORPUS.rglob("*.p*t*")):
        data = path.read_bytes()
        files[hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()] = path
    return files


def records() -> list[dict[str, Any]]:
    """One record for each net: the same file lies in several repositories."""
    lines = RECORD.read_text().splitlines() if RECORD.exists() else []
    return list({r["sha"]: r for r in map(json.loads, lines) if r["sha"] in by_blob()}.values())


def key(record: dict[str, Any]) -> str:
    return f"{record['repo']}/{record['path']}"


def large(record: dict[str, Any]) -> bool:
    """Whether it has parameters of more than 100 MB, whose memory takes seconds to get."""
    return sum(prod(shape) for *_, params in record["layers"] for shape in params) > 25e6


@pytest.mark.filterwarnings("ignore:Crop without crop_param")  # HED's, which is aligned by coordinates
@pytest.mark.parametrize(
    "record",
    cases(
        [pytest.param(r, marks=pytest.mark.slow if large(r) else []) for r in records()],
        "corpus/manifest.json",
    ),
    ids=key,
)
def test_shapes(record):
    net = Net(corpus.unfilled(read_net(by_blob()[record["sha"]])), phase=record["phase"], device="cpu")
    mine = {name: list(blob.shape) for name, blob in net.blobs.items()}
    for name, shape in record["blobs"].items():
        assert mine.get(name) == shape, f"blob {name}: {mine.get(name)}, Caffe has {shape}"
    assert net.layer_names == [name for name, *_ in record["layers"]]
    for layer, names, (name, kind, bottoms, tops, params) in zip(net.layers, net.names, record["layers"]):
        seen = [list(b.shape) for b in layer.blobs]
        assert seen == params, f"parameters of {name} ({kind}): {seen}, Caffe has {params}"
        assert names == (bottoms, tops), name
    assert set(mine) == set(record["blobs"])
    assert set(net.outputs) == set(record["outputs"])
    assert net.inputs == record["inputs"]


def test_there_are_records_to_compare():
    need("golden/shapes/shapes.jsonl")
    assert len(records()) >= 15
