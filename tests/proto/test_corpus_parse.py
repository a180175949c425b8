"""Every prototxt of the corpus parses, from 35 public repositories and most dialects, in work that is linear in the text."""

from __future__ import annotations

import json
import warnings

from shared import need
from work import calls

from boxpresso.proto import (
    LabelMap,
    NetParameter,
    SolverParameter,
    parse_net,
    parse_text,
    read_net,
    read_solver,
    to_text,
)


def corpus() -> list[dict]:
    return json.loads(need("corpus/manifest.json").read_text())


def test_all_files_parse_without_a_warning() -> None:
    """No file of the collection is malformed, and none has a field that the schema lacks."""
    for entry in corpus():
        path = need("corpus") / entry["file"]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if entry["kind"] == "solver":
                solver = read_solver(path)
                assert solver.ListFields(), path
            elif entry["kind"] == "labelmap":
                assert parse_text(path.read_bytes(), LabelMap(), strict=True).item, path
            else:
                net = read_net(path)
                assert not net.layers, path
                assert not net.input, path
                assert all(layer.type for layer in net.layer), path


def test_nets_have_the_layers_that_were_counted() -> None:
    """Layer counts and types against an independent reading of the same files (today's form only)."""
    checked = 0
    for entry in corpus():
        if "layer_types" not in entry or entry["v0"] or entry["v1"]:
            continue
        raw = parse_text((need("corpus") / entry["file"]).read_bytes(), NetParameter())
        types = [layer.type for layer in raw.layer]
        assert {name: types.count(name) for name in types} == entry["layer_types"], entry["file"]
        checked += 1
    assert checked > 200


def test_to_text_reads_back() -> None:
    for entry in corpus()[::7]:
        path = need("corpus") / entry["file"]
        kind = {"solver": SolverParameter, "labelmap": LabelMap}.get(entry["kind"], NetParameter)
        message = parse_text(path.read_bytes(), kind())
        assert parse_text(to_text(message), kind(), strict=True) == message, path


def test_parsing_is_linear_in_the_text() -> None:
    """Each layer of ten lines is the same work, wherever it stands; no line is looked at twice."""
    layer = 'layer {\n  name: "c"\n  type: "Convolution"\n  bottom: "a"\n  top: "b"\n'
    layer += "  convolution_param {\n    num_output: 64\n    kernel_size: 3\n  }\n}\n"
    parse_net(layer)  # what a first call looks up is not counted
    one, hundred, thousand = (calls(lambda n=n: parse_net(layer * n)) for n in (1, 101, 1001))
    assert thousand - one == 10 * (hundred - one)
    assert (hundred - one) / 100 < 300  # calls for a layer of ten lines; 152 when this was written
