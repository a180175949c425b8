"""Memory that layers work in: asked for in reshape alone, and counted before it is there."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig
from layer_sizes import CASES, Case

from boxpresso.device import open_device
from boxpresso.layers.core import REGISTRY, discover
from boxpresso.layers.core.scratch import Scratch
from boxpresso.layers.regions import region_base

discover()
NAMES = [f"{i}-{case.type}" for i, case in enumerate(CASES)]
REGIONS = [
    pytest.param(case, id=name)
    for case, name in zip(CASES, NAMES)
    if REGISTRY[case.type.lower()].__module__.startswith("boxpresso.layers.regions.")
]
SMALL = 64  # bytes: of tables of some numbers, which do not grow with the bottoms
TOLD = {  # types of which only the values of the bottoms tell how much they keep
    "DenseCRF": "the points of its lattices",
    "Mask": "the places that are set",
    "MNCProposalTarget": "the rows that it draws",
    "MultiStageMeanfield": "the points of its lattices",
}


def test_an_array_stays_until_another_shape_is_asked_for(device):
    scratch = Scratch(open_device(device))
    scratch.ask("sums", (2, 3), np.float32)
    scratch.ask("gradient", (5,), np.float64, backward=True)
    assert (scratch.nbytes(), scratch.nbytes(True), scratch.arrays) == (24, 64, {})
    first = scratch["sums"]
    scratch.ask("sums", (2, 3), np.float32)
    assert scratch["sums"] is first
    for shape, dtype in (((3, 2), np.float32), ((3, 2), np.int32)):
        scratch.ask("sums", shape, dtype)
        assert scratch["sums"] is not first
        assert (scratch["sums"].shape, scratch["sums"].dtype) == (shape, dtype)
    assert scratch.nbytes() == 24
    with pytest.raises(KeyError, match="other"):
        scratch["other"]


def check(case: Case, device: str, dtype: type) -> None:
    """A pass asks for nothing, and keeps no more than was counted before it."""
    text = f'type: "{case.type}" {case.text}'
    rig = Rig(text, case.arrays(), tops=case.tops, phase=case.phase, device=device, dtype=dtype)
    layer, learns = rig.layer, case.down is not None
    layer.reshape(rig.bottom, rig.top)
    asked = [dict(room.wanted) for room in layer.rooms]
    counted = layer.own_bytes(rig.bottom, rig.top, learns)
    layer.forward(rig.bottom, rig.top)
    if learns:
        rig.backward([np.ones(top.shape) for top in rig.top], [i in case.down for i in range(len(rig.bottom))])
    assert [room.wanted for room in layer.rooms] == asked
    counted += layer.shared_bytes(rig.bottom, rig.top, learns)  # arrays in numpy are counted there
    if case.type in TOLD:
        return
    after = layer.own_bytes(rig.bottom, rig.top, learns)
    assert after <= counted + SMALL, f"{case.type} has {after} bytes after a pass, {counted} were counted before it"


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_memory_is_asked_for_in_reshape(case, device):
    for dtype in (np.float32, np.float64)[: 2 if device == "cpu" else 1]:
        check(case, device, dtype)


@pytest.mark.parametrize("case", REGIONS)
@pytest.mark.parametrize("way", ["in tiles", "packed", "in slabs"])
def test_memory_of_regions_is_asked_for_in_reshape(case, way, device, monkeypatch):
    """In each way that their maps are walked, and of 16 bits, whose sums are wider."""
    kind = open_device(device).kind
    if way == "in tiles":
        monkeypatch.setitem(region_base.TILED, kind, True)
    elif way == "packed":
        monkeypatch.setitem(region_base.PACKED, kind, True)
    for dtype in (np.float32, np.float16):
        check(case, device, dtype)
