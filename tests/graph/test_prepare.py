"""Phase rules and splits: text in, text out, and the blob names that real Caffe gave 101 real nets."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from shared import SHARED, golden, need

from boxpresso.graph.prepare import select, split
from boxpresso.proto import TEST, TRAIN, ModelError, NetParameter, parse_net, read_net

SHAPES = SHARED / "golden" / "shapes" / "shapes.jsonl"
CORPUS = SHARED / "corpus"


def names(net: NetParameter) -> list[str]:
    return [layer.name for layer in net.layer]


# -- select ------------------------------------------------------------------------------------------------------------


def selected(rules: str, phase: str = "TRAIN", level: int = 0, stages: tuple[str, ...] = (), state: str = "") -> bool:
    return bool(select(parse_net(f'{state} layer {{ name: "l" {rules} }}'), phase, level, stages).layer)


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ("", True),
        ("include { phase: TRAIN }", True),
        ("include { phase: TEST }", False),
        ("exclude { phase: TRAIN }", False),
        ("exclude { phase: TEST }", True),
        ("include { }", True),
        ("exclude { }", False),
        ("include { min_level: 2 }", True),
        ("include { min_level: 3 }", False),
        ("include { max_level: 2 }", True),
        ("include { max_level: 1 }", False),
        ("include { min_level: 1 max_level: 3 }", True),
        ('include { stage: "a" }', True),
        ('include { stage: "a" stage: "b" }', True),
        ('include { stage: "a" stage: "c" }', False),
        ('include { stage: "c" } include { stage: "a" }', True),
        ('include { not_stage: "c" }', True),
        ('include { stage: "a" not_stage: "b" }', False),
        ('exclude { stage: "c" } exclude { stage: "a" }', False),
        ('exclude { stage: "a" phase: TEST }', True),
    ],
)
def test_rules(rules: str, expected: bool) -> None:
    assert selected(rules, "TRAIN", 2, ("a", "b")) is expected


def test_include_with_exclude_is_refused() -> None:
    with pytest.raises(ModelError, match="'l' has both include and exclude"):
        selected("include { phase: TRAIN } exclude { phase: TEST }")


def test_the_nets_own_state_is_honoured() -> None:
    state = 'state { phase: TEST level: 4 stage: "own" }'
    assert selected('include { stage: "own" stage: "given" min_level: 4 phase: TRAIN }', stages=("given",), state=state)
    assert not selected("include { min_level: 4 }", level=1, state=state)  # a given level counts over the net's
    result = select(parse_net(state + 'layer { name: "l" }'), "train", stages=["own", "x"])
    assert (result.state.phase, result.state.level, list(result.state.stage)) == (TRAIN, 4, ["own", "x"])


def test_select_copies() -> None:
    net = parse_net('layer { name: "a" include { phase: TRAIN } } layer { name: "b" }')
    assert names(select(net, "TEST")) == ["b"]
    assert names(net) == ["a", "b"]
    assert select(net, "TEST").state.phase == TEST


@pytest.mark.parametrize("phase", ["VAL", "", "0"])
def test_unknown_phase(phase: str) -> None:
    with pytest.raises(ModelError, match="TRAIN or TEST"):
        selected("", phase)


def test_stages_given_as_one_string() -> None:
    with pytest.raises(ModelError, match=r"write \['deploy'\]"):
        selected("", stages="deploy")  # type: ignore[arg-type]


# -- split -------------------------------------------------------------------------------------------------------------


def check(before: str, after: str) -> None:
    net = parse_net(before)
    result = split(net)
    assert result == parse_net(after)
    assert split(result) == result, "a split net needs no more splits"


def test_one_reader_needs_no_split() -> None:
    text = """layer { name: "data" type: "Input" top: "x" top: "l" } layer { name: "a" bottom: "x" top: "a" }
              layer { name: "loss" bottom: "a" bottom: "l" top: "loss" loss_weight: 3 }"""
    check(text, text)


def test_readers_are_numbered_in_order_and_tops_by_index() -> None:
    check(
        """layer { name: "data" type: "Data" top: "x" top: "l" }
           layer { name: "a" bottom: "x" top: "a" }
           layer { name: "b" bottom: "x" bottom: "x" top: "b" }
           layer { name: "e" bottom: "a" bottom: "l" }
           layer { name: "f" bottom: "b" bottom: "l" }""",
        """layer { name: "data" type: "Data" top: "x" top: "l" }
           layer { name: "x_data_0_split" type: "Split" bottom: "x"
                   top: "x_data_0_split_0" top: "x_data_0_split_1" top: "x_data_0_split_2" }
           layer { name: "l_data_1_split" type: "Split" bottom: "l" top: "l_data_1_split_0" top: "l_data_1_split_1" }
           layer { name: "a" bottom: "x_data_0_split_0" top: "a" }
           layer { name: "b" bottom: "x_data_0_split_1" bottom: "x_data_0_split_2" top: "b" }
           layer { name: "e" bottom: "a" bottom: "l_data_1_split_0" }
           layer { name: "f" bottom: "b" bottom: "l_data_1_split_1" }""",
    )


def test_in_place_layers_make_a_new_top_of_the_same_name() -> None:
    check(
        """layer { name: "data" top: "x" } layer { name: "c" bottom: "x" top: "c" }
           layer { name: "r" bottom: "c" top: "c" }
           layer { name: "a" bottom: "c" top: "a" } layer { name: "b" bottom: "c" top: "b" }""",
        """layer { name: "data" top: "x" } layer { name: "c" bottom: "x" top: "c" }
           layer { name: "r" bottom: "c" top: "c" }
           layer { name: "c_r_0_split" type: "Split" bottom: "c" top: "c_r_0_split_0" top: "c_r_0_split_1" }
           layer { name: "a" bottom: "c_r_0_split_0" top: "a" } layer { name: "b" bottom: "c_r_0_split_1" top: "b" }""",
    )


def test_a_reader_beside_an_in_place_layer_splits_before_it() -> None:
    check(
        """layer { name: "c" top: "c" } layer { name: "a" bottom: "c" top: "a" }
           layer { name: "r" bottom: "c" top: "c" } layer { name: "b" bottom: "c" top: "b" }""",
        """layer { name: "c" top: "c" }
           layer { name: "c_c_0_split" type: "Split" bottom: "c" top: "c_c_0_split_0" top: "c_c_0_split_1" }
           layer { name: "a" bottom: "c_c_0_split_0" top: "a" }
           layer { name: "r" bottom: "c_c_0_split_1" top: "c" } layer { name: "b" bottom: "c" top: "b" }""",
    )


def test_a_loss_that_is_read_gives_its_weight_to_the_first_copy() -> None:
    check(
        """layer { name: "i" top: "i" } layer { name: "e" bottom: "i" top: "e" loss_weight: 2.5 }
           layer { name: "s" bottom: "e" }""",
        """layer { name: "i" top: "i" } layer { name: "e" bottom: "i" top: "e" }
           layer { name: "e_e_0_split" type: "Split" bottom: "e" top: "e_e_0_split_0" top: "e_e_0_split_1"
                   loss_weight: 2.5 loss_weight: 0 }
           layer { name: "s" bottom: "e_e_0_split_1" }""",
    )


def test_a_loss_weight_of_zero_is_no_reader() -> None:
    text = """layer { name: "i" top: "i" loss_weight: 0 } layer { name: "s" bottom: "i" }"""
    check(text, text)


def test_the_weights_of_other_tops_stay() -> None:
    check(
        """layer { name: "e" top: "a" top: "b" loss_weight: 2 loss_weight: 3 } layer { name: "s" bottom: "a" }""",
        """layer { name: "e" top: "a" top: "b" loss_weight: 0 loss_weight: 3 }
           layer { name: "a_e_0_split" type: "Split" bottom: "a" top: "a_e_0_split_0" top: "a_e_0_split_1"
                   loss_weight: 2 loss_weight: 0 }
           layer { name: "s" bottom: "a_e_0_split_1" }""",
    )


def test_unknown_bottom() -> None:
    with pytest.raises(ModelError, match=r"layer 'c' \(ReLU\) reads bottom 'dta'.*did you mean 'data'"):
        split(parse_net('layer { name: "d" top: "data" } layer { name: "c" type: "ReLU" bottom: "dta" }'))
    with pytest.raises(ModelError, match="which is not a top of an earlier layer; no layer before it has a top"):
        split(parse_net('layer { name: "c" type: "ReLU" bottom: "later" } layer { name: "d" top: "later" }'))


def blobs(net: NetParameter) -> list[str]:
    return list(dict.fromkeys(top for layer in net.layer for top in layer.top))


@pytest.mark.parametrize("case", golden("caffe/Net"), ids=lambda path: path.stem)
def test_recorded_names(case: Path) -> None:
    with np.load(case) as recorded:
        net = split(select(parse_net(str(recorded["prototxt"])), str(recorded["phase"])))
        assert names(net) == list(recorded["layer_order"])
        assert blobs(net) == list(recorded["blob_order"])


def test_recorded_names_of_ssd300() -> None:
    recorded = json.loads(need("golden/nets/ssd300.json").read_text())
    net = split(select(read_net(need(f"golden/nets/{recorded['prototxt']}")), "TEST"))
    assert blobs(net) == list(recorded["blobs"])
    assert names(net) == [name for name, *_ in recorded["layers"]]


def records() -> list[dict]:
    """Layers with their bottoms and tops as real Caffe made them, for the nets whose prototxt is in the corpus."""
    if not SHAPES.exists():
        return []
    nets = [json.loads(line) for line in SHAPES.read_text().splitlines()]
    return [net for net in nets if (CORPUS / net["repo"] / net["path"]).exists() and net["status"] == "ok"]


@pytest.mark.skipif(not SHAPES.exists(), reason="../shared/golden/shapes is not on this machine")
def test_recorded_layers_of_real_nets() -> None:
    for recorded in records():
        net = split(select(read_net(CORPUS / recorded["repo"] / recorded["path"]), recorded["phase"]))
        layers = [[layer.name, layer.type, list(layer.bottom), list(layer.top)] for layer in net.layer]
        assert layers == [layer[:4] for layer in recorded["layers"]], f"{recorded['repo']}/{recorded['path']}"
        assert blobs(net) == list(recorded["blobs"])
    assert len(records()) >= 10
