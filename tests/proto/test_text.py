"""The text reader: what it accepts, what it warns of once, and what its errors say."""

from __future__ import annotations

import math
import warnings
from importlib.metadata import version
from pathlib import Path

import pytest
from places import ROOT
from shared import need

from boxpresso.proto import (
    BlobProto,
    BoxpressoWarning,
    LabelMap,
    LayerParameter,
    ModelError,
    NetParameter,
    SolverParameter,
    parse_net,
    parse_solver,
    parse_text,
    read_net,
    read_solver,
    to_text,
)


def layer(text: str | bytes, **options: bool) -> LayerParameter:
    return parse_text(text, LayerParameter(), **options)


def quiet_net(text: str | bytes) -> NetParameter:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return parse_net(text)


# -- what is accepted --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        'layer { name: "a" top: "x" top: "y" }',
        "layer: { name: 'a' top: 'x' top: 'y' }",
        'layer < name: "a" top: ["x", "y"] >',
        'layer: [ { name: "a"; top: "x", top: "y"; } ]',
        'layer{name:"a"top:"x"top:"y"}',
        '\ufefflayer { name: "a"\r\n top: "x" # what?\r\n top: "y" }\r\n',
        'layer {\rname: "a"\r# an old Mac\rtop: "x" top: "y"\r}',
        'layer { name: \'\' "a" top: "\\170" top: "\\x79" };',
        'layer\u00a0{ name: "a"\u3000top: "x" top: "y"\u200b}',
    ],
)
def test_one_net_written_many_ways(text: str) -> None:
    expected = NetParameter()
    expected.layer.add(name="a", top=["x", "y"])
    assert quiet_net(text) == expected
    assert quiet_net(text.encode()) == expected


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gbk", "shift-jis", "latin-1", "utf-16"])
def test_comments_in_any_encoding(encoding: str) -> None:
    comment = "Größe" if encoding == "latin-1" else "卷积表" if encoding != "shift-jis" else "ソ表"
    net = quiet_net(f'# {comment}\nname: "n" # {comment}\nlayer {{ name: "a" }}'.encode(encoding))
    assert (net.name, net.layer[0].name) == ("n", "a")


@pytest.mark.parametrize("name", ["größe", "卷积"])
def test_names_outside_ascii(name: str) -> None:
    assert quiet_net(f'name: "{name}"'.encode()).name == name
    assert parse_text(to_text(quiet_net(f'name: "{name}"')), NetParameter()).name == name


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1", 1.0), ("1.", 1.0), (".5", 0.5), ("-.5", -0.5), ("- 2", -2.0), ("1e-3f", 1e-3), ("1E+2", 100.0),
        ("2.5F", 2.5), ("inf", math.inf), ("-Infinity", -math.inf), ("0x10", 16.0), ("010", 10.0),
    ],
)  # fmt: skip
def test_floats(written: str, value: float) -> None:
    assert layer(f"loss_weight: {written}").loss_weight[0] == pytest.approx(value)


def test_nan() -> None:
    assert math.isnan(layer("loss_weight: NaN").loss_weight[0])
    assert math.isnan(layer("loss_weight: -nan").loss_weight[0])


@pytest.mark.parametrize(
    ("written", "value"), [("7", 7), ("-7", -7), ("- 7", -7), ("0x1F", 31), ("017", 15), ("2.0", 2)]
)
def test_integers(written: str, value: int) -> None:
    assert layer(f"concat_param {{ axis: {written} }}").concat_param.axis == value


@pytest.mark.parametrize("written", ["true", "True", "t", "1"])
@pytest.mark.parametrize("wanted", [True, False])
def test_bools(written: str, wanted: bool) -> None:
    written = written if wanted else {"true": "false", "True": "False", "t": "f", "1": "0"}[written]
    assert layer(f"convolution_param {{ bias_term: {written} }}").convolution_param.bias_term is wanted


def test_enums_by_name_and_number() -> None:
    assert layer("pooling_param { pool: AVE }").pooling_param.pool == 1
    assert layer("pooling_param { pool: 2 }").pooling_param.pool == 2


def test_strings() -> None:
    assert layer(r'name: "a\n\"\\\047\x41" ' + "'b' \"c\"").name == "a\n\"\\'Abc"
    assert parse_text(r'raw_data: "\000\377\x01z"', BlobProto()).raw_data == b"\0\xff\x01z"
    assert layer('name: "# no comment { }"').name == "# no comment { }"


def test_empty_lists() -> None:
    assert not quiet_net("layer: [] input: []").layer


def test_a_layer_given_twice_is_two_layers() -> None:
    assert len(quiet_net('layer { name: "a" } layer { name: "a" }').layer) == 2


def test_fields_of_several_forks_meet_in_one_message() -> None:
    net = quiet_net("""layer { type: "ROIAlign" roi_align_param {
        pooled_h: 7 pooled_w: 7 spatial_scale: 0.0625 sampling_ratio: 2 sample_ratio: 2 aligned: true pool_mode: MAX
        pad_ratio: 0.1 bi_type: 1 is_multi_interpolate: false aligned_h: 7 aligned_w: 7 roi_end_mode: 1 } }
        layer { roi_align_rotated_param { clockwise: true } riroi_align_rotated_param { num_orientations: 8 }
                deform_roi_pooling_param { gamma: 0.1 } prroi_pooling_param { pooled_h: 2 }
                psroi_align_param { sampling_ratio: 2 } rotate_pooling_param { spatial_scale: 0.5 }
                deformable_convolution_param { deformable_group: 4 dilation: 2 dilation: 2 } }
        layer { loss_param { normalization: PRE_FIXED pre_fixed_normalizer: 2 } norm_param { fix_scale: false }
                batch_norm_param { scale_bias: true } upsample_param { scale: 2 upsample_h: 3 pad_out_h: true }
                transform_param { resize_param { prob: 1 } resize_param { height: 3 } noise_param { prob: 1 } } }""")
    assert net.layer[0].roi_align_param.pool_mode == net.layer[0].roi_align_param.MAX
    solver = parse_solver("device_id: 0 device_id: 1 stepvalue: [1, 2]", strict=True)
    assert list(solver.device_id) == [0, 1]


def test_defaults_that_layers_rely_on() -> None:
    defaults = LayerParameter()
    assert defaults.roi_pooling_param.spatial_scale == 1
    assert defaults.roi_align_param.sampling_ratio == 0
    assert defaults.roi_align_param.aligned is False
    assert defaults.deformable_convolution_param.deformable_group == 4
    assert defaults.prior_box_param.offset == 0.5
    assert defaults.norm_param.eps == pytest.approx(1e-10)
    assert defaults.multibox_loss_param.overlap_threshold == 0.5
    assert defaults.detection_output_param.nms_param.nms_threshold == pytest.approx(0.3)
    assert defaults.batch_norm_param.eps == pytest.approx(1e-5)


def test_field_numbers_are_those_of_caffe() -> None:
    """What we write is read by Caffe: BVLC's and SSD's numbers."""
    numbers = {field.name: field.number for field in LayerParameter.DESCRIPTOR.fields}
    assert [numbers[name] for name in ("name", "type", "bottom", "top", "blobs")] == [1, 2, 3, 4, 7]
    assert [numbers[name] for name in ("convolution_param", "clip_param", "swish_param")] == [106, 148, 147]
    assert [numbers[name] for name in ("annotated_data_param", "norm_param", "prior_box_param")] == [200, 206, 203]
    assert numbers["roi_pooling_param"] == 8266711
    assert [field.number for field in BlobProto.DESCRIPTOR.fields][:9] == [7, 5, 6, 8, 9, 1, 2, 3, 4]
    assert len(set(numbers.values())) == len(numbers)


def test_the_generated_module_is_that_of_the_schema(tmp_path: Path) -> None:
    protoc = pytest.importorskip("grpc_tools.protoc", reason="grpcio-tools is not installed")
    if version("grpcio-tools") != "1.51.3":
        pytest.skip("the module is generated by grpcio-tools 1.51.3, this is another version")
    schema = ROOT / "boxpresso" / "proto" / "boxpresso.proto"
    assert protoc.main(["protoc", f"-I{ROOT}", f"--python_out={tmp_path}", str(schema)]) == 0
    generated = tmp_path / "boxpresso" / "proto" / "boxpresso_pb2.py"
    assert generated.read_text() == schema.with_name("boxpresso_pb2.py").read_text()


# -- what is warned of, or refused by strict ---------------------------------------------------------------------------

UNKNOWN = """
layer { kernal_size: 3 name: "conv1" type: "Convolution"
  convolution_param { num_output: 1 kernel_siz: 3 fancy { a: 1 b { c: "x" "y" } d: [1, -2] e: [ { }, < > ] f: -inf } }
  convolution_param { group: 2 }
}
new_thing: BIG
"""


def test_one_warning_names_field_layer_and_line() -> None:
    with pytest.warns(BoxpressoWarning) as caught:
        net = parse_net(UNKNOWN, source="my.prototxt")
    assert len(caught) == 1
    text = str(caught[0].message)
    assert text.startswith("my.prototxt: unknown, skipped: 'kernal_size' in layer 'conv1' (line 2")
    assert "'convolution_param.kernel_siz' in layer 'conv1' (line 3; did you mean 'kernel_size'?)" in text
    assert "'convolution_param.fancy' in layer 'conv1' (line 3)" in text
    assert "'new_thing' (line 6" in text
    assert "given twice, the last one counts: 'convolution_param' in layer 'conv1' (line 4)" in text
    assert caught[0].filename == __file__
    assert (net.layer[0].convolution_param.num_output, net.layer[0].convolution_param.group) == (1, 2)


def test_a_scalar_given_twice_takes_the_last() -> None:
    with pytest.warns(BoxpressoWarning, match="given twice"):
        assert layer('name: "a" name: "b"').name == "b"


def test_warnings_stay_short() -> None:
    with pytest.warns(BoxpressoWarning, match="and 988 more") as caught:
        parse_net("layer { name: 'a' } " + "zzz: 1 " * 1000)
    assert len(str(caught[0].message)) < 2000


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("layer {\n  nam: 'a' }", "f:2:3: nam: no such field in LayerParameter.*did you mean 'name'"),
        ("layer { name: 'a'\n\n name: 'b' }", "f:3:2: name is given twice in layer 'a'"),
        ("layer { name: 'a' lrn_param { } lrn_param { } }", "f:1:33: lrn_param is given twice in layer 'a'"),
    ],
)
def test_strict(text: str, says: str) -> None:
    with pytest.raises(ModelError, match=says):
        parse_net(text, strict=True, source="f")


# -- errors ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('layer {\n name: "a"\n', r"f:3:1: the file ends inside a message; the one opened on line 1 lacks its '}'"),
        ("layer { name: 'a' > }", "expected the name of a field or '}', saw '>'"),
        ('layer { name "a" }', "f:1:14: expected ':' after 'name', saw '\"a\"'"),
        ("layer { name: a }", "'name' takes a string in quotes, saw 'a'"),
        ("layer { type: CONVOLUTION }", "old types without quotes go with 'layers {'"),
        ("layers { type: 'Convolution' }", "takes an old type without quotes, such as CONVOLUTION"),
        ('layer { name: "a }\n', "saw a string without its closing quote"),
        ("layer { pooling_param { pool: MAXX } }", "'pool' has no value 'MAXX'; did you mean 'MAX'"),
        ("layer { pooling_param { pool: Q } }", "'pool' has no value 'Q'; it takes MAX, AVE, STOCHASTIC"),
        ("layer { pooling_param { pool: 99 } }", "'pool' has no value 99"),
        ("layer { pooling_param { pool: 4294967296 } }", "'pool' has no value 4294967296"),  # 0 in 32 bits
        ("layer { pooling_param { kernel_size: 2.5 } }", "'kernel_size' takes an integer, saw '2.5'"),
        ("layer { pooling_param { kernel_size: -1 } }", "from 0 to 4294967295, saw -1"),
        ("layer { loss_weight: 'x' }", "'loss_weight' takes a number"),
        ("layer { loss_weight: 1.2.3 }", "'loss_weight' takes a number"),
        ("layer { loss_weight: 3px }", "'loss_weight' takes a number"),
        ("layer { convolution_param { bias_term: yes } }", "'bias_term' takes true or false, saw 'yes'"),
        ("layer { convolution_param { bias_term: 2 } }", "'bias_term' takes true or false, saw '2'"),
        ("layer { top: ['a' 'b' } ", "expected ',' or ']' in a list"),
        ("layer { convolution_param: 3 }", "expected '{' after 'convolution_param', which is a message, saw '3'"),
        ("layr 3", "expected ':' or '{' after 'layr', saw '3'; did you mean 'layer'"),
        ("layer { foo { bar: } }", "expected a value for 'bar', saw '}'"),
        ("layer { } }", "expected the name of a field, saw '}'"),
        ("name: 'x' / 'y'", "saw '/'"),
        ("name: 'n' // comment", "saw '/' .a comment starts with '#'"),
        ("layer " + "{ foo " * 500, "nested more than"),
    ],
)
def test_errors_say_where_what_was_seen_and_what_is_near(text: str, says: str) -> None:
    with pytest.raises(ModelError, match=says) as raised:
        parse_net(text, source="f")
    assert str(raised.value).startswith("f:")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is empty"),
        (b" \n\t", "is empty"),
        (b"\n<!DOCTYPE html><html>", "HTML"),
        (b"<html lang='en'>", "HTML"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "Git LFS pointer"),
        (b'{"name": "net"}', "JSON"),
        (b"404: Not Found", "failed download"),
        (b"\x89HDF\r\n\x1a\n\0\0", "an HDF5 file"),
        (b"PK\x03\x04", "a zip archive"),
        (b"\x0a\x04LeNet\x00\x12\x00", "a binary file"),
        (b"base_lr: 0.1 net: 'x' display: 3", "is a solver"),
        (b"item { name: 'cat' label: 1 }", "is a label map"),
    ],
)
def test_files_that_are_something_else(data: bytes, says: str, tmp_path: Path) -> None:
    path = tmp_path / "net.prototxt"
    path.write_bytes(data)
    with pytest.raises(ModelError, match=says) as raised:
        read_net(path)
    assert str(path) in str(raised.value)


def test_a_net_read_as_a_solver_and_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"is a net .*not a solver"):
        parse_solver('name: "n" layer { name: "a" }')
    with pytest.raises(ModelError, match=r"cannot read .*none\.prototxt: No such file"):
        read_solver(tmp_path / "none.prototxt")
    with pytest.raises(ModelError, match="cannot read"):
        read_net(tmp_path)


def test_broken_models_of_the_collection() -> None:
    for path in sorted(need("models/broken").iterdir()):
        if path.suffix != ".prototxt":
            with pytest.raises(ModelError):
                read_net(path)


# -- back to text ------------------------------------------------------------------------------------------------------


def test_to_text_prints_as_caffe_does() -> None:
    text = """name: "n"
layer {
  name: "a"
  loss_weight: 1
  loss_weight: 0.1
  loss_weight: -3
  loss_weight: 1e-05
  param {
    name: "1.0"
    lr_mult: 2
  }
  pooling_param {
    pool: AVE
    kernel_size: 3
  }
}
"""
    assert to_text(quiet_net(text)) == text


def test_label_maps_and_solvers() -> None:
    labels = parse_text('item { name: "none" label: 0 display_name: "b" }', LabelMap(), strict=True)
    assert labels.item[0].display_name == "b"
    solver = parse_text("test_iter: 1 test_iter: 2 solver_mode: CPU snapshot_format: HDF5", SolverParameter())
    assert (list(solver.test_iter), solver.solver_mode) == ([1, 2], solver.CPU)
