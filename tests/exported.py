"""One layer as a net of its own, and the same as an ONNX file run by onnxruntime or OpenVINO: what the tests of exports ask."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format

from boxpresso import Net
from boxpresso.proto import parse_net


def net_of(text: str, bottoms: Sequence[np.ndarray], params: Sequence[np.ndarray] = (), tops: int = 1) -> Net:
    """`type: "ReLU" ...` between Inputs of the bottoms' shapes; bottoms and tops are called bottom_0 .. and top_0 .."""
    inputs = [input_text(f"bottom_{i}", np.shape(b)) for i, b in enumerate(bottoms)]
    reads = " ".join(f'bottom: "bottom_{i}"' for i in range(len(bottoms)))
    writes = " ".join(f'top: "top_{i}"' for i in range(tops))
    net = Net(parse_net(" ".join(inputs) + f' layer {{ name: "layer" {text} {reads} {writes} }}'), device="cpu", seed=1)
    for blob, value in zip(net.layer_dict["layer"].blobs, params):
        blob.data[...] = np.asarray(value).reshape(blob.shape)
    return net


def input_text(name: str, shape: Sequence[int]) -> str:
    """An Input layer; a shape without axes is one number."""
    dims = " ".join(f"dim: {n}" for n in shape)
    return f'layer {{ name: "{name}" type: "Input" top: "{name}" input_param {{ shape {{ {dims} }} }} }}'


def values(net: Net, scale: float = 1.0, seed: int = 0) -> dict[str, np.ndarray]:
    """A random array for each input."""
    rng = np.random.default_rng(seed)
    return {n: (scale * rng.standard_normal(net.blobs[n].shape)).astype(np.float32) for n in net.inputs}


def run_onnxruntime(model: Any, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The outputs by name."""
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    wanted = {i.name for i in session.get_inputs()}
    results = session.run(None, {k: np.asarray(v, np.float32) for k, v in inputs.items() if k in wanted})
    return {o.name: r for o, r in zip(session.get_outputs(), results)}


def run_openvino(model: Any, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The same by OpenVINO, in float32."""
    openvino = pytest.importorskip("openvino", reason="OpenVINO is not installed")
    core = openvino.Core()
    read = core.read_model(model.SerializeToString())
    exact = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
    compiled = core.compile_model(read, "CPU", exact)
    result = compiled({i.any_name: np.asarray(inputs[i.any_name], np.float32) for i in compiled.inputs})
    return {name: np.asarray(result[o]) for o in compiled.outputs for name in o.names}


def run_opencv(model: Any, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The same by OpenCV 5."""
    cv2 = pytest.importorskip("cv2", reason="OpenCV is not installed")
    if int(cv2.__version__.split(".")[0]) < 5:
        pytest.skip(f"OpenCV {cv2.__version__} is older than 5")
    net = cv2.dnn.readNetFromONNX(np.frombuffer(model.SerializeToString(), np.uint8))
    for one in model.graph.input:
        net.setInput(np.ascontiguousarray(inputs[one.name], np.float32), one.name)
    names = [one.name for one in model.graph.output]
    return {name: np.asarray(value) for name, value in zip(names, net.forward(names))}


RUNNERS = {"onnxruntime": run_onnxruntime, "openvino": run_openvino, "opencv5": run_opencv}


def check(
    net: Net,
    inputs: dict[str, np.ndarray],
    target: str = "onnxruntime",
    runner: str = "",
    atol: float = 1e-4,
    **how: Any,
) -> float:
    """Writes the net, checks the file, runs it and compares all outputs; returns the largest difference."""
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    from boxpresso.exports import onnx_model

    model = onnx_model(net, target=target, **how)
    onnx.checker.check_model(model, full_check=True)
    assert {node.domain for node in model.graph.node} <= {""}
    expected = net.forward(**inputs)
    outputs = RUNNERS[runner or target](model, inputs)
    worst = 0.0
    for name, wanted in expected.items():
        got = outputs[name if name not in net.inputs else f"{name}_out"]
        assert got.shape == wanted.shape, f"{name}: {got.shape}, not {wanted.shape}"
        assert np.array_equal(np.isnan(got), np.isnan(wanted)), name
        scale = max(1.0, float(np.abs(wanted[np.isfinite(wanted)]).max(initial=0)))
        with np.errstate(invalid="ignore"):
            apart = np.where((got == wanted) | np.isnan(wanted), 0, np.abs(got - wanted)) / scale
        worst = max(worst, float(apart.max(initial=0)))
    assert worst <= atol, f"{worst:.3g} apart"
    return worst


def caffe_case(path: Path) -> tuple[str, list[np.ndarray], list[np.ndarray], int]:
    """The layer, the bottoms, the parameters and the number of tops of a recorded case of golden/caffe."""
    with np.load(path) as case:
        c = {key: case[key] for key in case.files}
    layer = parse_net(str(c["layer"])).layer[0]
    tops = max(1, len(layer.top))
    for field in ("bottom", "top", "name"):
        layer.ClearField(field)
    arrays = [[c[f"{prefix}_{i}"] for i in range(9) if f"{prefix}_{i}" in c] for prefix in ("bottom", "param")]
    return text_format.MessageToString(layer, as_one_line=True), *arrays, tops


def region_case(path: Path) -> tuple[str, list[np.ndarray]]:
    """The layer and the bottoms of a recorded case of golden/roi."""
    with np.load(path) as case:
        c = {key: case[key] for key in case.files}
    p = json.loads(str(c["params"]))
    bottoms = [c[key] for key in ("input", "rois", "offset", "trans", "mask", "image_info") if key in c]
    kind = path.parent.name
    if kind == "Permute":
        order = " ".join(f"order: {n}" for n in p["order"])
        return f'type: "Permute" permute_param {{ {order} }}', bottoms
    scale, pooled = f"spatial_scale: {p['spatial_scale']!r}", ""
    if "pooled_height" in p:
        pooled = f"pooled_h: {p['pooled_height']} pooled_w: {p['pooled_width']}"
    outputs = c["input"].shape[1] // max(1, p.get("pooled_height", 1) * p.get("pooled_width", 1))
    clockwise = f"clockwise: {str(p.get('clockwise', False)).lower()}"
    ratio = f"sampling_ratio: {p.get('sampling_ratio', p.get('num_samples', 0))}"
    aligned = f"aligned: {str(p.get('aligned', False)).lower()}"
    texts: dict[str, str] = {
        "RoIPooling": f'type: "ROIPooling" roi_pooling_param {{ {pooled} {scale} }}',
        "RoIAlign": f'type: "ROIAlign" roi_align_param {{ {pooled} {scale} {ratio} {aligned} '
        f"pool_mode: {p.get('pool_mode', 'avg').upper()} }}",
        "RoIAlignRotated": f'type: "ROIAlignRotated" roi_align_rotated_param {{ {pooled} {scale} {ratio} {aligned} {clockwise} }}',
        "RiRoIAlignRotated": f'type: "RiROIAlignRotated" riroi_align_rotated_param {{ {pooled} {scale} {ratio} {clockwise} '
        f"num_orientations: {p.get('num_orientations')} }}",
        "PrRoIPool": f'type: "PrROIPooling" prroi_pooling_param {{ {pooled} {scale} }}',
        "RROIPooling": f'type: "RotateROIPooling" rotate_pooling_param {{ {pooled} {scale} }}',
        "PSROIPooling": f'type: "PSROIPooling" psroi_pooling_param {{ output_dim: {p.get("output_dim")} '
        f"group_size: {p.get('group_size')} {scale} }}",
        "PSRoIAlign": f'type: "PSROIAlign" psroi_align_param {{ output_dim: {outputs} group_size: {p.get("pooled_height")} '
        f"{scale} {ratio} }}",
        "DeformRoIPool": f'type: "DeformROIPooling" deform_roi_pooling_param {{ {pooled} {scale} {ratio} gamma: {p.get("gamma")} }}',
        "ModulatedDeformRoIPool": f'type: "ModulatedDeformROIPooling" deform_roi_pooling_param {{ {pooled} {scale} {ratio} '
        f"gamma: {p.get('gamma')} }}",
    }  # fmt: skip
    if kind == "DeformablePSROIPooling":
        names = ("output_dim", "group_size", "pooled_size", "part_size", "sample_per_part", "trans_std")
        values = " ".join(f"{name}: {p[name]}" for name in names)
        no_trans = str(p["no_trans"]).lower()
        param = f"deformable_psroi_pooling_param {{ {scale} {values} no_trans: {no_trans} }}"
        return f'type: "DeformablePSROIPooling" {param}', bottoms
    return texts[kind], bottoms
