"""docs/forks.md against the registry: what it calls supported is there, what it refuses is not."""

from __future__ import annotations

import re

import numpy as np
import pytest
from places import ROOT

from boxpresso import LayerError, ModelError
from boxpresso.layers.core import discover, layer_class, run_layer
from boxpresso.layers.core.layer import REPLACED
from boxpresso.layers.data.fork_data import ForkData

TEXT = (ROOT / "docs" / "forks.md").read_text(encoding="utf-8")
ROWS = [
    line.strip("| \n").split(" | ")
    for line in TEXT.partition("## Layer types")[2].splitlines()
    if line.startswith("| ")
]
TYPES = [row for row in ROWS if row[0] != "type"]


OTHERS = {  # types of ours that are not those of the forks that the row names: what refuses them
    "CropAndResize": ("crop_size", "crop_and_resize_param { crop_h: 2 crop_w: 2 }", [np.zeros((1, 1, 4, 4))] * 3),
    "ScaleFixed": ("without fixed_param", "", [np.zeros((1, 2))]),  # Xilinx's has it
    "MultiSoftmaxWithLoss": ("has 6", "", [np.zeros((2, 3)), np.zeros((2, 3))]),  # a label for each score, several of 1
}


def test_each_row_is_true():
    assert len(TYPES) > 380
    assert len({row[0] for row in TYPES}) == len(TYPES)
    for kind, forks, status in TYPES:
        assert "/" in forks, kind
        if kind in OTHERS:
            match, fields, bottoms = OTHERS[kind]
            with pytest.raises(LayerError, match=match):
                run_layer(f'type: "{kind}" {fields}', *bottoms)
            continue
        if status.startswith("refused: "):
            with pytest.raises(ModelError, match=f"unknown type {kind!r}"):
                layer_class(kind, "layer")
            continue
        assert status == ("shapes" if layer_class(kind, "layer") is ForkData else "supported"), kind


def test_the_counts_are_true():
    counts = {word: int(number) for word, number in re.findall(r"- \*\*(\w+)\*\* \((\d+)\)", TEXT)}
    statuses = [row[2].partition(":")[0] for row in TYPES]
    assert counts == {word: statuses.count(word) for word in ("supported", "shapes", "refused")}


def test_every_data_layer_of_shapes_and_served_class_is_listed():
    discover()
    listed = {row[0].lower() for row in TYPES}
    own = {"rotateroidata"}  # RRPN's, which is a Python layer there
    assert {name.lower() for name in ForkData.types} - own <= listed | {"videodata", "imagesegdata"}
    for replaced, cls in REPLACED.items():
        module, _, name = replaced.rpartition(".")
        assert any(f"| {module} | {name} | {kind} |" in TEXT for kind in cls.types), replaced
