"""Reports: how a net is folded into blocks, and where its boxes and wires lie."""

from __future__ import annotations

import numpy as np
import pytest
from report_nets import resnet
from tiny_ssd import TINY, tiny_net

from boxpresso import Net
from boxpresso.proto import parse_net
from boxpresso.reports.blocks import Block, Box, boxes_of, graph_of
from boxpresso.reports.layout import lay_out


@pytest.fixture(autouse=True)
def on_the_cpu(monkeypatch):
    monkeypatch.setenv("BOXPRESSO_DEVICE", "cpu")


def blocks_of(block: Block) -> list[Block]:
    inner = [item for item in block.items if isinstance(item, Block)]
    return [block, *(each for item in inner for each in blocks_of(item))]


def test_blocks_are_found_by_names():
    graph = graph_of(resnet())
    assert [item.name for item in graph.root.items] == ["data", "pool1", *(f"res2{e}" for e in ("a", "b", "b2", "b3", "b4", "b5", "b6", "b7")),
                                                        *(f"res3{e}" for e in ("a", "b", "b2", "b3", "b4", "b5", "b6", "b7")), "prob"]  # fmt: skip
    first = graph.root.items[2]
    assert [box.name for box in first.items] == ["res2a_branch1", "res2a_branch2a", "res2a_branch2b", "res2a"]
    assert len(first.items[0].layers) == 3  # convolution, BatchNorm and Scale in place
    stages = graph_of(resnet(16)).root.items  # so many blocks are folded once more
    assert [item.name for item in stages] == ["data", "pool1", "res2", "res3", "prob"]
    assert [item.name for item in stages[2].items][:3] == ["res2a", "res2b", "res2b2"]


def chain(count: int, name: str = "layer{}-x") -> Net:
    lines = ['layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 4 } } }']
    tops = ["x", *(f"t{i}" for i in range(count))]
    lines += [
        f'layer {{ name: "{name.format(i)}" type: "InnerProduct" bottom: "{tops[i]}" top: "{tops[i + 1]}" '
        "inner_product_param { num_output: 4 } }"
        for i in range(count)
    ]
    return Net(parse_net("\n".join(lines)), device="cpu", lazy=True)


@pytest.mark.parametrize("make", [lambda: chain(0), lambda: chain(700), lambda: chain(300, "same"), resnet, tiny_net],
                         ids=["one layer", "700 layers", "one name", "resnet", "ssd"])  # fmt: skip
def test_folding_keeps_all_and_makes_no_circle(make):
    net = make()
    graph = graph_of(net)
    boxes = boxes_of(graph.root)
    assert sorted(map(id, boxes)) == sorted(map(id, graph.boxes))
    layers = [i for box in boxes for i in box.layers]
    splits = {i for i, layer in enumerate(net.layers) if layer.name.endswith("_split")}
    assert sorted(layers) == sorted(set(range(len(net.layers))) - splits)
    for block in blocks_of(graph.root):
        assert len(block.items) <= 44
        home = {id(box): i for i, item in enumerate(block.items) for box in boxes_of(item)}
        for wire in graph.wires:
            if id(wire.source) in home and id(wire.target) in home:
                assert home[id(wire.source)] <= home[id(wire.target)]


@pytest.mark.parametrize("seed", range(8))
def test_layout_of_random_graphs(seed):
    """Wires go down, no two things share a cell, and no wire passes through a thing."""
    rng = np.random.default_rng(seed)
    things = list(range(30))
    wires = sorted({(int(rng.integers(max(0, b - 12), b)), b) for b in range(1, 30) for _ in range(rng.integers(0, 4))})
    layout = lay_out(things, wires, [29] if all(a != 29 for a, _ in wires) else [])
    assert len(set(layout.cells.values())) == len(things)
    taken = set(layout.cells.values())
    for a, b in wires:
        rows = [layout.cells[a][0], *(row for row, _ in layout.passed.get((a, b), [])), layout.cells[b][0]]
        assert rows == list(range(rows[0], rows[-1] + 1))
        assert not taken & set(layout.passed.get((a, b), []))
    assert max(lane for _, lane in taken) < layout.lanes


def test_boxes_are_boxes():
    """A Box knows what it stands for: in place layers belong to their first, a branch begins another."""
    graph = graph_of(tiny_net())
    assert all(isinstance(item, Box) for item in graph.root.items)  # so small a net is not folded
    assert [box.name for box in graph.boxes] == [layer.name for layer in parse_net(TINY).layer]
    assert {(wire.source.name, wire.target.name) for wire in graph.wires} >= {
        ("feature", "loc"),
        ("feature", "priors"),
        ("data", "priors"),
    }
