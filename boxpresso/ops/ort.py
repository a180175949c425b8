"""The operators as those of onnxruntime, under the names that mmcv and mmdeploy export.

onnxruntime loads a library and calls its RegisterCustomOps; ours (ort.cpp) calls `register_all` here, which describes the
operators by onnxruntime's C interface (onnxruntime_c_api.h, version 16: onnxruntime 1.16 and later). That interface is stable:
a table of functions that only grows. What of it is used is declared here with ctypes; numbers are places in that table.
"""

from __future__ import annotations

import ctypes
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..device import Kernels
from ..device.host import entry_library
from ..proto.errors import BoxpressoError
from . import OPERATORS, nms_rotated

ENTRY = Kernels(Path(__file__).with_name("ort.cpp"))
VERSION = 16
DOMAINS = (b"mmcv", b"mmdeploy")
FAIL, INVALID_ARGUMENT = 1, 2  # OrtErrorCode
ANY, FLOAT, INT64 = 0, 1, 7  # ONNXTensorElementDataType
REQUIRED, OPTIONAL = 0, 1  # OrtCustomOpInputOutputCharacteristic
DTYPES = {1: np.float32, 2: np.uint8, 3: np.int8, 6: np.int32, 7: np.int64, 9: np.bool_, 10: np.float16, 11: np.float64}
Address, Size, Text = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p
Out = ctypes.POINTER
Int64 = ctypes.c_int64
FUNCTIONS: dict[str, tuple[int, Any, tuple[Any, ...]]] = {  # of OrtApi: place, what it returns, arguments
    "CreateStatus": (0, Address, (ctypes.c_int, Text)),
    "ReleaseStatus": (93, None, (Address,)),
    "GetErrorMessage": (2, Text, (Address,)),
    "CreateCustomOpDomain": (26, Address, (Text, Out(Address))),
    "CustomOpDomain_Add": (27, Address, (Address, Address)),
    "AddCustomOpDomain": (28, Address, (Address, Address)),
    "GetTensorMutableData": (51, Address, (Address, Out(Address))),
    "GetTensorElementType": (60, Address, (Address, Out(ctypes.c_int))),
    "GetDimensionsCount": (61, Address, (Address, Out(Size))),
    "GetDimensions": (62, Address, (Address, Out(Int64), Size)),
    "GetTensorTypeAndShape": (65, Address, (Address, Out(Address))),
    "ReleaseTensorTypeAndShapeInfo": (99, None, (Address,)),
    "KernelInfoGetAttribute_float": (85, Address, (Address, Text, Out(ctypes.c_float))),
    "KernelInfoGetAttribute_int64": (86, Address, (Address, Text, Out(Int64))),
    "KernelInfoGetAttribute_string": (87, Address, (Address, Text, Address, Out(Size))),
    "KernelContext_GetInputCount": (88, Address, (Address, Out(Size))),
    "KernelContext_GetInput": (90, Address, (Address, Size, Out(Address))),
    "KernelContext_GetOutput": (91, Address, (Address, Size, Out(Int64), Size, Out(Address))),
    "KernelInfoGetAttributeArray_int64": (163, Address, (Address, Text, Address, Out(Size))),
}
MEMBERS: dict[str, tuple[Any, tuple[Any, ...]]] = {  # of OrtCustomOp, in its order behind the version
    "CreateKernel": (Address, (Address,) * 3),
    "GetName": (Address, (Address,)),
    "GetExecutionProviderType": (Address, (Address,)),
    "GetInputType": (ctypes.c_int, (Address, Size)),
    "GetInputTypeCount": (Size, (Address,)),
    "GetOutputType": (ctypes.c_int, (Address, Size)),
    "GetOutputTypeCount": (Size, (Address,)),
    "KernelCompute": (None, (Address,) * 2),
    "KernelDestroy": (None, (Address,)),
    "GetInputCharacteristic": (ctypes.c_int, (Address, Size)),
    "GetOutputCharacteristic": (ctypes.c_int, (Address, Size)),
    "GetInputMemoryType": (ctypes.c_int, (Address, Size)),
    "GetVariadicInputMinArity": (ctypes.c_int, (Address,)),
    "GetVariadicInputHomogeneity": (ctypes.c_int, (Address,)),
    "GetVariadicOutputMinArity": (ctypes.c_int, (Address,)),
    "GetVariadicOutputHomogeneity": (ctypes.c_int, (Address,)),
    "CreateKernelV2": (Address, (Address, Address, Address, Out(Address))),
    "KernelComputeV2": (Address, (Address,) * 2),
}
TYPES = {name: ctypes.CFUNCTYPE(result, *args) for name, (result, args) in MEMBERS.items()}


class CustomOp(ctypes.Structure):
    """OrtCustomOp of version 16."""

    _fields_ = [("version", ctypes.c_uint32), *TYPES.items()]


class Api:
    """OrtApi: its functions by name. What they return as a status is raised."""

    def __init__(self, base: int) -> None:
        """base: the address of OrtApiBase."""
        get = ctypes.CFUNCTYPE(Address, ctypes.c_uint32)(ctypes.cast(base, Out(Address))[0] or 0)
        table = get(VERSION)
        if not table:
            raise BoxpressoError("this onnxruntime is older than 1.16")
        places = ctypes.cast(table, Out(Address))
        self.functions = {
            name: ctypes.CFUNCTYPE(result, *args)(places[at] or 0) for name, (at, result, args) in FUNCTIONS.items()
        }

    def __call__(self, name: str, *args: Any) -> None:
        status = self.functions[name](*args)
        if status:
            text = self.functions["GetErrorMessage"](status).decode(errors="replace")
            self.functions["ReleaseStatus"](status)
            raise BoxpressoError(f"onnxruntime's {name}: {text}")

    def status(self, error: BaseException) -> Any:
        """An exception as a status."""
        ours = isinstance(error, BoxpressoError)
        text = str(error) if ours else f"{type(error).__name__}: {error}"
        return self.functions["CreateStatus"](INVALID_ARGUMENT if ours else FAIL, text.encode("utf-8", "replace"))


# What nodes of ONNX are

Attributes = dict[str, Any]  # by name the default, whose type is the attribute's; a type: there is no default


@dataclass
class Node:
    """A kind of nodes: its inputs, as letters, and what it computes of arrays and attributes."""

    inputs: str  # one letter each: f for float32, f? for one that may be missing, * for any type
    attributes: Attributes
    compute: Callable[..., Any]  # gives a result, or an operator with its inputs and options
    output: int = FLOAT
    types: list[int] = field(default_factory=list)
    optional: list[bool] = field(default_factory=list)

    def __post_init__(self) -> None:
        for word in self.inputs.split():
            self.types.append(ANY if word[0] == "*" else FLOAT)
            self.optional.append(word.endswith("?"))


SIZE: Attributes = {"output_height": int, "output_width": int, "spatial_scale": 1.0, "sampling_ratio": 0}
TAPS: Attributes = {"stride": (1, 1), "padding": (0, 0), "dilation": (1, 1), "groups": 1, "deform_groups": 1}
MODES = ("top", "bottom", "left", "right")


def bins(said: Attributes, axis_name: str = "output") -> tuple[int, int]:
    return said[f"{axis_name}_height"], said[f"{axis_name}_width"]


def roi_align(x: Any, rois: Any, said: Attributes) -> Any:
    options = {
        "spatial_scale": said["spatial_scale"], "sampling_ratio": said["sampling_ratio"], "aligned": bool(said["aligned"]),
    }  # fmt: skip
    return "roi_align", (x, rois, bins(said)), {**options, "pool_mode": said["mode"]}


def roi_align_rotated(x: Any, rois: Any, said: Attributes) -> Any:
    options = {name: said[name] for name in ("spatial_scale", "sampling_ratio")}
    turned = {name: bool(said[name]) for name in ("aligned", "clockwise")}
    return "roi_align_rotated", (x, rois, bins(said)), {**options, **turned}


def deform_roi_pool(x: Any, rois: Any, offset: Any, said: Attributes) -> Any:
    options = {
        "spatial_scale": said["spatial_scale"],
        "sampling_ratio": int(said["sampling_ratio"]),
        "gamma": said["gamma"],
    }
    offset = None if offset is None or not offset.size else offset
    return "deform_roi_pool", (x, rois, offset, bins(said, "pooled")), options


def deform_conv(x: Any, offset: Any, weight: Any, said: Attributes) -> Any:
    return modulated_deform_conv(x, offset, None, weight, None, said)


def modulated_deform_conv(x: Any, offset: Any, mask: Any, weight: Any, bias: Any, said: Attributes) -> Any:
    groups, kernel = said["deform_groups"], math.prod(weight.shape[2:])
    if offset.shape[1:2] != (2 * groups * kernel,) or x.shape[1] != weight.shape[1] * said["groups"]:
        raise BoxpressoError(
            f"offset {offset.shape} of {groups} groups and x {x.shape} of {said['groups']} do not fit weight {weight.shape}"
        )
    options = {name: tuple(said[name]) for name in ("stride", "padding", "dilation")}
    return "deform_conv2d", (x, offset, weight, bias), {**options, "mask": mask}


def attention(*args: Any) -> Any:
    return "multi_scale_deformable_attn", args[:-1], {}


def corner_pool(x: Any, said: Attributes) -> Any:
    if not 0 <= said["mode"] < len(MODES):
        raise BoxpressoError(f"mode must be 0 to 3 ({', '.join(MODES)}), got {said['mode']}")
    return "corner_pool", (x, MODES[said["mode"]]), {}


def carafe(x: Any, masks: Any, said: Attributes) -> Any:
    return "carafe", (x, masks, said["kernel_size"], said["group_size"], int(said["scale_factor"])), {}


def suppress_rotated(boxes: Any, scores: Any, said: Attributes) -> np.ndarray:
    """(boxes that stay, 3): image, class and number of each, in each class best first, of scores above a threshold."""
    if boxes.ndim != 3 or boxes.shape[2] != 5 or scores.ndim != 3 or scores.shape[::2] != boxes.shape[:2]:
        raise BoxpressoError(
            f"boxes must be (B, N, 5) and scores (B, classes, N), got {boxes.shape} and {scores.shape}"
        )
    descriptions = []
    for image, of_image in enumerate(scores):
        for kind, values in enumerate(of_image):
            stay = nms_rotated(boxes[image], values, said["iou_threshold"])
            stay = stay[values[stay] > said["score_threshold"]]
            descriptions.append(np.stack([np.full_like(stay, image), np.full_like(stay, kind), stay], 1))
    return np.concatenate([np.zeros((0, 3), np.int64), *descriptions])


NODES = {
    "MMCVRoiAlign": Node("f f", {**SIZE, "mode": "avg", "aligned": 1}, roi_align),
    "MMCVRoIAlignRotated": Node("f f", {**SIZE, "aligned": 1, "clockwise": 0}, roi_align_rotated),
    "MMCVDeformRoIPool": Node(
        "f f f?",
        {"pooled_height": int, "pooled_width": int, "spatial_scale": 1.0, "sampling_ratio": 0.0, "gamma": 0.1},
        deform_roi_pool,
    ),
    "MMCVDeformConv2d": Node("f f f", TAPS, deform_conv),
    "MMCVModulatedDeformConv2d": Node("f f f f f?", TAPS, modulated_deform_conv),
    "MMCVMultiScaleDeformableAttention": Node("f * * f f", {}, attention),
    "MMCVCornerPool": Node("f", {"mode": int}, corner_pool),
    "MMCVCARAFE": Node("f f", {"kernel_size": int, "group_size": 1, "scale_factor": 2.0}, carafe),
    "MMCVCARAFENaive": Node("f f", {"kernel_size": int, "group_size": 1, "scale_factor": 2.0}, carafe),
    "NMSRotated": Node("f f", {"iou_threshold": float, "score_threshold": -math.inf}, suppress_rotated, INT64),
}


# Reading what onnxruntime gives


KINDS = (int, float, str, tuple)  # of attributes that can be read


def read(api: Api, info: int, name: str, kind: type) -> Any:
    """An attribute of a node. Raises BoxpressoError where it has none of this name that is of this type."""
    text = name.encode()
    if kind is int:
        whole = Int64()
        api("KernelInfoGetAttribute_int64", info, text, ctypes.byref(whole))
        return whole.value
    if kind is float:
        number = ctypes.c_float()
        api("KernelInfoGetAttribute_float", info, text, ctypes.byref(number))
        return number.value
    size = Size(0)
    if kind is str:
        api("KernelInfoGetAttribute_string", info, text, None, ctypes.byref(size))
        letters = ctypes.create_string_buffer(size.value)
        api("KernelInfoGetAttribute_string", info, text, letters, ctypes.byref(size))
        return letters.value.decode()
    api("KernelInfoGetAttributeArray_int64", info, text, None, ctypes.byref(size))
    if not size.value:  # what onnxruntime says of one that is no list, too
        raise BoxpressoError(f"{name} has no numbers")
    numbers = (Int64 * size.value)()
    api("KernelInfoGetAttributeArray_int64", info, text, numbers, ctypes.byref(size))
    return tuple(numbers)


def has(api: Api, info: int, name: str, kind: type) -> bool:
    """Whether a node has an attribute of this name and type."""
    try:
        read(api, info, name, kind)
    except BoxpressoError:
        return False
    return True


def attribute(api: Api, info: int, name: str, default: Any) -> Any:
    """An attribute of a node; its default where the node has none of the name."""
    kind = default if isinstance(default, type) else type(default)
    try:
        return read(api, info, name, kind)
    except BoxpressoError as error:
        if not isinstance(default, type) and not any(
            has(api, info, name, other) for other in KINDS if other is not kind
        ):
            return default
        word = "a list of ints" if kind is tuple else kind.__name__
        raise BoxpressoError(f"the attribute {name} is missing, or of another type than {word}") from error


def array_of(api: Api, value: Any) -> np.ndarray | None:
    """A tensor of onnxruntime over its memory; None for none."""
    if not value:
        return None
    info, kind, axes, data = Address(), ctypes.c_int(), Size(), Address()
    api("GetTensorTypeAndShape", value, ctypes.byref(info))
    try:
        api("GetTensorElementType", info, ctypes.byref(kind))
        api("GetDimensionsCount", info, ctypes.byref(axes))
        sizes = (Int64 * axes.value)()
        api("GetDimensions", info, sizes, axes.value)
    finally:
        api.functions["ReleaseTensorTypeAndShapeInfo"](info)
    if kind.value not in DTYPES:
        raise BoxpressoError(f"a tensor of ONNX's type number {kind.value} cannot be taken")
    dtype, shape = np.dtype(DTYPES[kind.value]), tuple(sizes)
    count = math.prod(shape)
    if not count:
        return np.empty(shape, dtype)
    api("GetTensorMutableData", value, ctypes.byref(data))
    memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(data.value or 0)
    return np.frombuffer(memory, dtype).reshape(shape)


def output(api: Api, context: int, shape: Sequence[int]) -> np.ndarray:
    """The memory of a node's result."""
    value, sizes = Address(), (Int64 * len(shape))(*shape)
    api("KernelContext_GetOutput", context, 0, sizes, len(shape), ctypes.byref(value))
    array = array_of(api, value)
    assert array is not None
    return array


def compute(api: Api, context: int, name: str, said: Attributes) -> None:
    """Runs a node."""
    node, count, settings = NODES[name], Size(), []
    api("KernelContext_GetInputCount", context, ctypes.byref(count))
    for i in range(len(node.types)):
        value = Address()
        if i < count.value:
            api("KernelContext_GetInput", context, i, ctypes.byref(value))
        settings.append(array_of(api, value))
    result = node.compute(*settings, said)
    if isinstance(result, np.ndarray):
        output(api, context, result.shape)[...] = result
        return
    op, (inputs, options) = OPERATORS[result[0]], OPERATORS[result[0]].bind(*result[1], **result[2])
    call = op.open(inputs, options, ("onnxruntime",))
    with call.into(lambda shape, dtype: output(api, context, shape)):
        call.forward()
    call.close()


# Registering

kernels: dict[int, Attributes] = {}  # of nodes in sessions, by a number that is their address for onnxruntime
addresses = itertools.count(1)
held: list[Any] = []  # what onnxruntime has the address of


def described(name: str, node: Node) -> CustomOp:
    """An operator as onnxruntime asks for it."""
    text = ctypes.create_string_buffer(name.encode())
    apis: list[Api] = []

    def create(op: Any, table: Any, info: int, kernel: Any) -> Any:
        try:
            said = {key: attribute(apis[0], info, key, default) for key, default in node.attributes.items()}
        except BaseException as error:  # none may go through C
            return apis[0].status(BoxpressoError(f"{name}: {error}"))
        number = next(addresses)  # sessions may be made in several threads
        kernels[number] = said
        kernel[0] = number
        return None

    def run(kernel: int, context: int) -> Any:
        try:
            compute(apis[0], context, name, kernels[kernel])
        except BoxpressoError as error:
            return apis[0].status(BoxpressoError(f"{name}: {error}"))
        except BaseException as error:
            return apis[0].status(error)
        return None

    op = CustomOp(VERSION)
    members: dict[str, Any] = {
        "GetName": lambda op: ctypes.addressof(text),
        "GetExecutionProviderType": lambda op: None,  # the CPU's
        "GetInputType": lambda op, i: node.types[i],
        "GetInputTypeCount": lambda op: len(node.types),
        "GetOutputType": lambda op, i: node.output,
        "GetOutputTypeCount": lambda op: 1,
        "KernelDestroy": lambda kernel: kernels.pop(kernel, None) and None,
        "GetInputCharacteristic": lambda op, i: OPTIONAL if node.optional[i] else REQUIRED,
        "GetOutputCharacteristic": lambda op, i: REQUIRED,
        "GetInputMemoryType": lambda op, i: 0,
        "GetVariadicInputMinArity": lambda op: 1,
        "GetVariadicInputHomogeneity": lambda op: 1,
        "GetVariadicOutputMinArity": lambda op: 1,
        "GetVariadicOutputHomogeneity": lambda op: 1,
        "CreateKernelV2": create,
        "KernelComputeV2": run,
    }
    for member, function in members.items():
        setattr(op, member, TYPES[member](function))
    held.extend([text, op, apis])
    return op


DESCRIBED: dict[str, CustomOp] = {}


def register_all(options: int, base: int) -> Any:
    """Called by RegisterCustomOps: adds the domains to the options of a session."""
    api = None
    try:
        api = Api(base)
        for name, node in NODES.items():
            if name not in DESCRIBED:
                DESCRIBED[name] = described(name, node)
                held[-1].append(api)
        for domain in DOMAINS:
            made = Address()
            api("CreateCustomOpDomain", domain, ctypes.byref(made))
            for op in DESCRIBED.values():
                api("CustomOpDomain_Add", made, ctypes.addressof(op))
            api("AddCustomOpDomain", options, made)
    except BaseException as error:
        return api.status(error) if api is not None else None
    return None


REGISTER = ctypes.CFUNCTYPE(Address, Address, Address)(register_all)


def library() -> str:
    """The path of the library that onnxruntime is to load, connected with `register_all`.

    Raises DeviceError where it was not compiled ahead and there is no compiler.
    """
    loaded = entry_library(ENTRY)
    loaded.boxpresso_ort_connect(REGISTER)
    held.append(loaded)
    return loaded._name
