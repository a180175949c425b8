"""The other programs on a case. Only numpy and the program itself are needed here.

A function raises ImportError where its program is not installed, and any other error where that cannot compute the case.
mmcv's and detectron2's operators: as `mmcv` and `detectron2`, or as extensions `mmcv_cpu` and `detectron2_cpu` on PYTHONPATH
that bind their CPU kernels alone (roi_align_forward, roi_align_rotated_forward and so on, with their arguments).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from .cases import TRUNKS, Case, weights_of

Results = Mapping[str, Any]
Call = Callable[[], Results]
Arrays = dict[str, np.ndarray]
# Which programs are asked for which kind of case; of a region's kernels these use one thread however many there are.
PROGRAMS = {
    "net": ["opencv", "onnxruntime", "openvino"],
    "train": ["torch", "torch channels last"],
    "region": ["torchvision", "onnxruntime", "openvino", "mmcv", "detectron2"],
    "convolution": ["torch", "torch channels last", "onnxruntime", "openvino"],
    "permute": ["numpy", "torch", "onnxruntime"],
}
ONE_THREAD = {"region": {"torchvision", "mmcv", "detectron2"}, "permute": {"numpy"}}


def make(program: str, case: Case, arrays: Arrays, folder: Path, threads: int) -> tuple[Call, str]:
    """The call, and the version of the program."""
    makers = {
        "opencv": opencv, "onnxruntime": onnxruntime, "openvino": openvino, "torch": torch_cpu, "numpy": numpy_alone,
        "torch channels last": torch_cpu, "torchvision": torchvision, "mmcv": mmcv, "detectron2": detectron2,
    }  # fmt: skip
    return makers[program](program, case, arrays, folder, threads)


def nothing(program: str, case: Case) -> Any:
    raise NotImplementedError(f"no such operator: {case.get('op', case['kind'])}")


def opencv(program: str, case: Case, arrays: Arrays, folder: Path, threads: int) -> tuple[Call, str]:
    cv2: Any = import_module("cv2")
    if not hasattr(cv2.dnn, "readNetFromCaffe"):
        raise NotImplementedError(f"OpenCV {cv2.__version__} has no reader of Caffe's files")
    cv2.setNumThreads(threads)
    net = cv2.dnn.readNetFromCaffe(str(folder / "p.prototxt"), str(folder / "w.caffemodel"))
    outputs = list(net.getUnconnectedOutLayersNames())

    def call() -> Results:
        for name, value in arrays.items():
            net.setInput(value, name if len(arrays) > 1 else "")
        results = dict(zip(outputs, net.forward(outputs)))
        if wanted is not None and set(wanted) - set(results) and len(results) == len(wanted):
            return dict(zip(wanted, results.values()))  # named for layers, where ours are named for blobs
        return results

    wanted = None
    if (folder / "ours.npz").exists():
        with np.load(folder / "ours.npz") as ours:
            wanted = ours.files
    return call, cv2.__version__


def onnx_model(
    op: str, inputs: dict[str, np.ndarray], constants: Arrays | None = None, opset: int = 16, **attributes: Any
) -> bytes:
    """A model of one node: inputs, then constants, to y."""
    onnx: Any = import_module("onnx")
    h, types = onnx.helper, {np.dtype(np.float32): 1, np.dtype(np.int64): 7}
    constants = constants or {}
    node = h.make_node(op, [*inputs, *constants], ["y"], **attributes)
    input_infos = [h.make_tensor_value_info(name, types[a.dtype], list(a.shape)) for name, a in inputs.items()]
    held = [onnx.numpy_helper.from_array(a, name) for name, a in constants.items()]
    graph = h.make_graph([node], "g", input_infos, [h.make_tensor_value_info("y", 1, None)], held)
    return h.make_model(graph, opset_imports=[h.make_opsetid("", opset)], ir_version=8).SerializeToString()


def onnxruntime(program: str, case: Case, arrays: Arrays, folder: Path, threads: int) -> tuple[Call, str]:
    ort: Any = import_module("onnxruntime")
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = threads, 4

    def open_session(model: Any) -> Any:
        return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    if case["kind"] == "net":
        session = open_session(exported(folder))
        names = [output.name for output in session.get_outputs()]
        return lambda: dict(zip(names, session.run(None, arrays))), ort.__version__
    if case["kind"] == "permute":
        feed = {"x": arrays["x"]}
        model = onnx_model("Transpose", feed, perm=[0, 2, 3, 1])
    elif case["kind"] == "convolution" and case["want"] == "forward":
        feed = {"x": arrays["x"]}
        pairs = {name: [case[of]] * n for name, of, n in (("kernel_shape", "kernel", 2), ("strides", "stride", 2),
                                                         ("pads", "pad", 4), ("dilations", "dilation", 2))}  # fmt: skip
        model = onnx_model("Conv", feed, {"w": arrays["w"], "b": arrays["b"]}, group=case["group"], **pairs)
    elif case.get("op") in ("roi_align", "roi_align_max") and not case["backward"] and case["op"] == "roi_align":
        rois = arrays["rois"]
        feed = {"x": arrays["x"], "r": rois[:, 1:].copy(), "b": rois[:, 0].astype(np.int64)}
        model = onnx_model("RoiAlign", feed, output_height=7, output_width=7, spatial_scale=case["scale"],
                           sampling_ratio=case["ratio"], coordinate_transformation_mode="half_pixel")  # fmt: skip
    elif case.get("op") == "roi_pool" and not case["backward"]:
        feed = {"x": arrays["x"], "r": arrays["rois"]}
        model = onnx_model("MaxRoiPool", feed, pooled_shape=[7, 7], spatial_scale=case["scale"])
    else:
        nothing(program, case)
    session = open_session(model)
    return lambda: {"top": session.run(None, feed)[0]}, ort.__version__


def exported(folder: Path) -> str:
    """The net as ONNX, which Boxpresso has written."""
    path = folder / "m.onnx"
    if not path.exists():
        why = folder / "m.txt"
        raise NotImplementedError(why.read_text() if why.exists() else "the net could not be written as ONNX")
    return str(path)


def openvino(program: str, case: Case, arrays: Arrays, folder: Path, threads: int) -> tuple[Call, str]:
    """In float32, as all others: on machines with bf16 units its default is bf16."""
    ov: Any = import_module("openvino")
    hints = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY"}
    if case["kind"] == "net":
        compiled = ov.Core().compile_model(exported(folder), "CPU", hints)
        names = [next(iter(port.names)) for port in compiled.outputs]
        return lambda: dict(zip(names, compiled(arrays).values())), ov.__version__
    o: Any = import_module("openvino.opset8")
    x = o.parameter(arrays["x"].shape, np.float32)
    inputs, values = [x], [arrays["x"]]
    if case["kind"] == "convolution" and case["want"] == "forward":
        two = {"strides": [case["stride"]] * 2, "pads_begin": [case["pad"]] * 2, "pads_end": [case["pad"]] * 2,
               "dilations": [case["dilation"]] * 2}  # fmt: skip
        group, weight = case["group"], arrays["w"]
        if group > 1:
            node = o.group_convolution(x, weight.reshape(group, -1, *weight.shape[1:]), **two)
        else:
            node = o.convolution(x, weight, **two)
        node = o.add(node, arrays["b"].reshape(1, -1, 1, 1))
    elif case.get("op") in ("roi_pool", "ps_roi_pool") and not case["backward"]:
        rois = o.parameter(arrays["rois"].shape, np.float32)
        inputs, values = [x, rois], [arrays["x"], arrays["rois"]]
        if case["op"] == "roi_pool":
            node = o.roi_pooling(x, rois, [7, 7], case["scale"], "max")
        else:
            node = o.psroi_pooling(x, rois, case["shape"][1] // 49, 7, case["scale"], 1, 1, "average")
    else:
        nothing(program, case)
    request = ov.Core().compile_model(ov.Model([node], inputs), "CPU", hints).create_infer_request()
    return lambda: {"top": next(iter(request.infer(values).values()))}, ov.__version__


def numpy_alone(program: str, case: Case, arrays: Arrays, folder: Path, threads: int) -> tuple[Call, str]:
    return lambda: {"top": np.ascontiguousarray(arrays["x"].transpose(0, 2, 3, 1))}, np.__version__


def torch_cpu(program: str, case: Case, arrays: Arrays, folder: Path, threads: int) -> tuple[Call, str]:
    """In torch's own layout, or with the channels last."""
    torch: Any = import_module("torch")
    torch.set_num_threads(threads)
    layout = torch.channels_last if "last" in program else torch.contiguous_format
    tensors = {name: torch.from_numpy(a) for name, a in arrays.items()}
    if case["kind"] == "permute":
        return lambda: {"top": tensors["x"].permute(0, 2, 3, 1).contiguous()}, torch.__version__
    tensors = {name: t.contiguous(memory_format=layout) if t.ndim == 4 else t for name, t in tensors.items()}
    if case["kind"] == "train":
        return train_torch(torch, case, tensors["x"], tensors["g"], layout), torch.__version__
    step, pad, dilation = ([case[name]] * 2 for name in ("stride", "pad", "dilation"))
    x, w, b, g = (tensors[name] for name in "xwbg")
    if case["want"] == "forward":
        call = lambda: {"top": torch.nn.functional.conv2d(x, w, b, step, pad, dilation, case["group"])}  # noqa: E731
    else:
        mask = [case["want"] == "data", *[case["want"] == "weights"] * 2]
        back, sizes = torch.ops.aten.convolution_backward, [case["outputs"]]

        def call() -> Results:
            data, weights, _ = back(g, x, w, sizes, step, pad, dilation, False, [0, 0], case["group"], mask)
            return {"gradient": data if mask[0] else weights}

    return without_gradients(torch, call), torch.__version__


def without_gradients(torch: Any, call: Call) -> Call:
    def run() -> Results:
        with torch.no_grad():
            return call()

    return run


def train_torch(torch: Any, case: Case, x: Any, g: Any, layout: Any) -> Call:
    """Forward and backward of a trunk, as ours: the loss is the sum of the result times given numbers."""
    nn, modules, weights, channels = torch.nn, [], iter(weights_of(case["name"])), 3

    def convolve(outputs: int, kernel: int = 3, stride: int = 1, group: int = 1, normalised: bool = True) -> None:
        nonlocal channels
        layer = nn.Conv2d(channels, outputs, kernel, stride, kernel // 2, groups=group, bias=not normalised)
        for parameter in layer.parameters():
            parameter.data = torch.from_numpy(next(weights))
        modules.extend([layer, *([nn.BatchNorm2d(outputs)] if normalised else []), nn.ReLU(True)])
        channels = outputs

    for layer in TRUNKS[case["name"]][2]:
        if layer == "p":
            modules.append(nn.MaxPool2d(2, 2, ceil_mode=True))
        elif layer[0] == "c":
            convolve(layer[1], normalised=False)
        elif layer[0] == "s":
            convolve(layer[1], stride=2)
        else:
            convolve(layer[1], stride=layer[3], group=layer[1])
            convolve(layer[2], kernel=1)
    net = nn.Sequential(*modules).train().to(device=x.device, memory_format=layout)

    def call() -> Results:
        net.zero_grad()
        loss = (net(x) * g).sum()
        loss.backward()
        return {"loss": loss.detach(), "gradient": modules[0].weight.grad}

    return call


def torchvision(program: str, case: Case, arrays: Arrays, folder: Path, threads: int) -> tuple[Call, str]:
    torch: Any = import_module("torch")
    vision: Any = import_module("torchvision")
    torch.set_num_threads(threads)
    x, rois, g = (torch.from_numpy(arrays[name]) for name in ("x", "rois", "g"))
    op, scale, ratio = case["op"], case["scale"], case["ratio"] or -1
    if op == "roi_align" and case["backward"]:
        back = torch.ops.torchvision._roi_align_backward
        call = lambda: {"x": back(g, rois, scale, 7, 7, *x.shape, ratio, True)}  # noqa: E731
    elif op == "roi_pool" and case["backward"]:
        _, places = torch.ops.torchvision.roi_pool(x, rois, scale, 7, 7)
        back = torch.ops.torchvision._roi_pool_backward
        call = lambda: {"x": back(g, rois, places, scale, 7, 7, *x.shape)}  # noqa: E731
    elif op == "roi_align":
        call = lambda: {"top": vision.ops.roi_align(x, rois, 7, scale, ratio, True)}  # noqa: E731
    elif op in ("roi_pool", "ps_roi_pool") and not case["backward"]:
        call = lambda: {"top": getattr(vision.ops, op)(x, rois, 7, scale)}  # noqa: E731
    else:
        nothing(program, case)
    return without_gradients(torch, call), vision.__version__


def extension(names: tuple[str, ...]) -> Any:
    """The first of some modules that can be imported."""
    for name in names[:-1]:
        try:
            return import_module(name)
        except ImportError:
            pass
    return import_module(names[-1])


def mmcv(program: str, case: Case, arrays: Arrays, folder: Path, threads: int) -> tuple[Call, str]:
    torch: Any = import_module("torch")
    ext = extension(("mmcv._ext", "mmcv_cpu"))
    torch.set_num_threads(threads)
    x, rois, g = (torch.from_numpy(arrays[name]) for name in ("x", "rois", "g"))
    op, scale, ratio, none = case["op"], case["scale"], case["ratio"], torch.empty(0)
    if op not in ("roi_align", "roi_align_rotated"):
        nothing(program, case)

    def call() -> Results:
        out = torch.zeros(x.shape if case["backward"] else g.shape)
        if op == "roi_align":
            if case["backward"]:
                ext.roi_align_backward(g, rois, none, none, out, 7, 7, scale, ratio, 1, True)
            else:
                ext.roi_align_forward(x, rois, out, none, none, 7, 7, scale, ratio, 1, True)
        elif case["backward"]:
            ext.roi_align_rotated_backward(g, rois, out, 7, 7, scale, ratio, True, False)
        else:
            ext.roi_align_rotated_forward(x, rois, out, 7, 7, scale, ratio, True, False)
        return {"x" if case["backward"] else "top": out}

    return call, getattr(ext, "__version__", "?")


def detectron2(program: str, case: Case, arrays: Arrays, folder: Path, threads: int) -> tuple[Call, str]:
    torch: Any = import_module("torch")
    ext = extension(("detectron2._C", "detectron2_cpu"))
    torch.set_num_threads(threads)
    if case["op"] != "roi_align_rotated":
        nothing(program, case)
    rows = np.c_[arrays["rois"][:, :5], -np.degrees(arrays["rois"][:, 5:])].astype(np.float32)  # counter-clockwise
    x, g, rois, scale, ratio = (
        *(torch.from_numpy(arrays[n]) for n in "xg"),
        torch.from_numpy(rows),
        case["scale"],
        case["ratio"],
    )
    if case["backward"]:
        return lambda: {"x": ext.roi_align_rotated_backward(g, rois, scale, 7, 7, *x.shape, ratio)}, "?"
    return lambda: {"top": ext.roi_align_rotated_forward(x, rois, scale, 7, 7, ratio)}, "?"
