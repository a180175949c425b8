"""Real nets of 35 repositories build, run forward, and for training backward; `python tests/corpus.py` tells more of each."""

from __future__ import annotations

import re
import warnings
from functools import cache
from typing import Any

import corpus
import pytest
import stand_in
from shared import cases, need

from boxpresso import BoxpressoError, Net
from boxpresso.layers.core import REGISTRY, discover
from boxpresso.proto import NetParameter, read_net

# Nets that do not run here, and why, by a part of their file names.
EXCEPTIONS = {
    "MNC/models/VGG16/mnc_5stage/train": "its data layer gives a mask for each true box, these inputs do not; test_mnc.py has them",
    "kitti/detectnet_network": "its data layer gives rows of 16 numbers for each box, these inputs do not; test_detectnet.py has them",
    "cityscapes/mobilenet_yolov3_test": "its data layer gives three maps of labels, these inputs one",
}

# Layer types of a single program each, which Boxpresso does not have; a net with one is refused by name.
MISSING = {
    "TRT": "NVIDIA's TensorRT inside Caffe",
}

# Python layers that came with a net: an error says how to allow them. Those of py-faster-rcnn and RRPN are served here.
OWN_PYTHON = re.compile(r"of the Python module '(?!rpn\.|rotation\.)[\w.]+', which was not allowed")


def nets() -> list[dict[str, Any]]:
    return corpus.entries() if corpus.CORPUS.exists() else []


def sample() -> list[dict[str, Any]]:
    """The smallest net of each family and kind: what a minute allows."""
    smallest: dict[tuple[str, str], dict[str, Any]] = {}
    for entry in nets():
        key = entry["family"], entry["kind"]
        if key not in smallest or entry["size"] < smallest[key]["size"]:
            smallest[key] = entry
    return sorted(smallest.values(), key=lambda entry: entry["size"])


def unknown(net: NetParameter) -> list[tuple[str, str]]:
    """Type and name of the layers whose type is unknown."""
    discover()
    return [(layer.type, layer.name) for layer in net.layer if layer.type.lower() not in REGISTRY]


@cache
def parsed(file: str) -> NetParameter:
    return corpus.fed(read_net(corpus.CORPUS / file), file)


def run(entry: dict[str, Any], device: str) -> None:
    reason = next((why for part, why in EXCEPTIONS.items() if part in entry["file"]), "")
    seen = []
    for phase in corpus.phases(entry):
        if missing := unknown(parsed(entry["file"])):
            assert {kind for kind, _ in missing} <= set(MISSING)
            refused(entry["file"], phase, missing)
            continue
        result = corpus.check(entry, phase, own_size=False, device=device)
        if OWN_PYTHON.search(result.reason):
            continue
        if reason:
            assert not result.reason.startswith("FAULT"), result.reason
            seen.append(result.reason)
            continue
        assert not result.reason, f"{phase}: {result.reason}"
        assert result.builds
        assert result.forward
        assert result.backward is not False
    assert not seen or any(seen), f"it runs, so that it is no exception any more: {reason}"


def refused(file: str, phase: str, missing: list[tuple[str, str]]) -> None:
    """An unknown type is an error that names it and its layer, unless rules leave that layer out."""
    param, message = parsed(file), ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            Net(corpus.reduced(param), phase=phase, stages=corpus.stages(param, phase), device="cpu")
        except BoxpressoError as error:
            message = str(error)
    named = any(f"layer {name!r} has the unknown type {kind!r}" in message for kind, name in missing)
    assert not message or named or OWN_PYTHON.search(message), message


def test_the_missing_types_are_those_that_are_listed():
    need("corpus/manifest.json")
    types = {kind for entry in nets() for kind, _ in unknown(parsed(entry["file"]))}
    assert types == set(MISSING)


FEW = 10  # of the smallest nets; the others are slow


@pytest.mark.parametrize(
    "entry",
    cases(
        [pytest.param(e, marks=[] if i < FEW else pytest.mark.slow) for i, e in enumerate(sample())],
        "corpus/manifest.json",
    ),
    ids=lambda entry: entry["file"],
)
def test_one_net_of_each_family(entry):
    run(entry, "cpu")


@pytest.mark.sweep
@pytest.mark.skipif(stand_in.active(), reason="hours on the stand-in; the layers run there singly")
@pytest.mark.parametrize("entry", cases(nets(), "corpus/manifest.json"), ids=lambda entry: entry["file"])
def test_every_net(entry, device):
    run(entry, device)


def test_the_corpus_is_there():
    need("corpus/manifest.json")
    assert len(nets()) > 280
