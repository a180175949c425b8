"""A prototxt as an ONNX model, layer by layer and without folding anything: what onnxruntime makes of a net by other code than ours.

    model = written(parse_net(text), {"conv": [weight, bias]}, shapes)   # every blob is an output, in float32

Nothing is shared with `boxpresso.exports`. PriorBox is a constant, for it reads no values; what is not written here raises Unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import reference
from onnx import ModelProto, TensorProto, helper, numpy_helper
from reference import Unknown, number_of, spatial
from reference import sizes as sizes_of

Shape = tuple[int, ...]
OPSET = 18
OPERATORS = {
    "Sigmoid": "Sigmoid",
    "TanH": "Tanh",
    "AbsVal": "Abs",
    "BNLL": "Softplus",
    "Split": "Identity",
}
LAYERS: dict[str, Callable] = {}


class Graph:
    """Nodes and constants while they are collected; values are named by their numbers."""

    def __init__(self) -> None:
        self.nodes, self.constants = [], []

    def const(self, values: object, kind: type = np.float32) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values, kind), name))
        return name

    def scalar(self, value: float) -> str:
        self.constants.append(helper.make_tensor(f"c{len(self.constants)}", TensorProto.FLOAT, (), [value]))
        return self.constants[-1].name

    def ints(self, values: Sequence[int]) -> str:
        return self.const(np.array(values, np.int64), np.int64)

    def ops(self, type: str, inputs: Sequence[object], count: int, **attributes: object) -> list[str]:
        names = [name if isinstance(name, str) else self.const(name) for name in inputs]
        made = [f"v{len(self.nodes)}_{i}" for i in range(count)]
        self.nodes.append(helper.make_node(type, names, made, **attributes))
        return made

    def op(self, type: str, *inputs: object, **attributes: object) -> str:
        return self.ops(type, inputs, 1, **attributes)[0]


def writes(*types: str) -> Callable[[Callable], Callable]:
    """Notes a function of a graph, a layer's message, its parameters, names and shapes of its bottoms; it gives the tops' names."""

    def note(function: Callable) -> Callable:
        LAYERS.update(dict.fromkeys(types, function))
        return function

    return note


def written(net, weights: Mapping[str, Sequence[np.ndarray]], shapes: Mapping[str, Shape]) -> ModelProto:
    """The model of a parsed prototxt; `shapes` are those of all blobs."""
    graph, names, inputs = Graph(), dict[str, str](), []
    for layer in net.layer:
        if layer.type == "Input":
            for top in layer.top:
                names[top] = f"in_{top}"
                inputs.append(helper.make_tensor_value_info(f"in_{top}", TensorProto.FLOAT, shapes[top]))
            continue
        params = [np.asarray(w, np.float32) for w in weights.get(layer.name, ())]
        bottoms, sizes = [names[b] for b in layer.bottom], [shapes[b] for b in layer.bottom]
        if layer.type in OPERATORS:
            tops = graph.op(OPERATORS[layer.type], *bottoms)
        elif layer.type in LAYERS:
            tops = LAYERS[layer.type](graph, layer, params, bottoms, sizes, shapes)
        else:
            raise Unknown(layer.type)
        tops = tops if isinstance(tops, list) else [tops] * len(layer.top)
        names.update(zip(layer.top, tops))
    outputs = []
    for blob, name in names.items():
        graph.nodes.append(helper.make_node("Identity", [name], [f"out_{blob}"]))
        outputs.append(helper.make_tensor_value_info(f"out_{blob}", TensorProto.FLOAT, shapes[blob]))
    made = helper.make_graph(graph.nodes, "net", inputs, outputs, graph.constants)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)


def run(model: ModelProto, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """All blobs, by onnxruntime without its own optimisations."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    results = session.run(None, {f"in_{name}": np.asarray(value, np.float32) for name, value in inputs.items()})
    return {one.name.removeprefix("out_"): value for one, value in zip(session.get_outputs(), results)}


def broadcast(values: np.ndarray, rank: int, axis: int) -> np.ndarray:
    return values.reshape((1,) * axis + values.shape + (1,) * (rank - axis - values.ndim))


def only_images(layer, bottoms, sizes) -> None:
    """Raises Unknown for several bottoms, channels of another axis, and what ONNX has no operator for."""
    if len(bottoms) > 1 or layer.convolution_param.axis % len(sizes[0]) != 1 or len(sizes[0]) < 3 or 0 in sizes[0]:
        raise Unknown("a convolution of another form")


@writes("Convolution", "DepthwiseConvolution")
def convolution(g, layer, params, bottoms, sizes, shapes):
    only_images(layer, bottoms, sizes)
    kernel, stride, pad, dilation = spatial(layer.convolution_param, len(sizes[0]) - 2)
    bias = [params[1].reshape(-1)] if len(params) > 1 else []
    group = sizes[0][1] // params[0].shape[1]
    return g.op(
        "Conv",
        *bottoms,
        params[0],
        *bias,
        kernel_shape=kernel,
        strides=stride,
        pads=[*pad, *pad],
        dilations=dilation,
        group=group,
    )


@writes("Deconvolution")
def deconvolution(g, layer, params, bottoms, sizes, shapes):
    only_images(layer, bottoms, sizes)
    kernel, stride, pad, dilation = spatial(layer.convolution_param, len(sizes[0]) - 2)
    bias = [params[1].reshape(-1)] if len(params) > 1 else []
    group = layer.convolution_param.group
    return g.op(
        "ConvTranspose",
        *bottoms,
        params[0],
        *bias,
        kernel_shape=kernel,
        strides=stride,
        pads=[*pad, *pad],
        dilations=dilation,
        group=group,
    )


@writes("InnerProduct")
def inner_product(g, layer, params, bottoms, sizes, shapes):
    p, top = layer.inner_product_param, shapes[layer.top[0]]
    axis = p.axis % len(sizes[0])
    rows = g.op(
        "Reshape", *bottoms, g.ints([int(np.prod(sizes[0][:axis])), int(np.prod(sizes[0][axis:]))]), allowzero=1
    )
    bias = [params[1].reshape(-1)] if len(params) > 1 else []
    return g.op(
        "Reshape", g.op("Gemm", rows, params[0], *bias, transB=0 if p.transpose else 1), g.ints(top), allowzero=1
    )


@writes("Pooling")
def pooling(g, layer, params, bottoms, sizes, shapes):
    p = layer.pooling_param
    kind = p.PoolMethod.Name(p.pool)
    if len(layer.top) > 1 or kind not in ("MAX", "AVE", "AVE_EXC_PAD"):
        raise Unknown("Pooling of another form")
    inside = kind == "AVE_EXC_PAD" or not p.avg_include_pad
    if p.global_pooling:
        return g.op("GlobalMaxPool" if p.pool == 0 else "GlobalAveragePool", *bottoms)
    kernel, stride, pad = sizes_of(p, "kernel", 0), sizes_of(p, "stride", 1), sizes_of(p, "pad", 0)
    image, size = sizes[0][2:], shapes[layer.top[0]][2:]
    if any((m - 1) * s - d >= n for m, s, d, n in zip(size, stride, pad, image)):
        raise Unknown("a window without elements")
    end = [max(0, (m - 1) * s + k - n - d) for m, s, k, n, d in zip(size, stride, kernel, image, pad)]
    if p.pool == 0:
        out = g.op("Pad", *bottoms, g.ints([0, 0, *pad, 0, 0, *end]), np.float32(-np.inf))
        return g.op("MaxPool", out, kernel_shape=kernel, strides=stride)
    areas = []
    for m, s, k, n, d in zip(size, stride, kernel, image, pad):
        start = np.arange(m) * s - d
        last = np.minimum(start + k, n + d)
        areas.append(np.minimum(last, n) - np.maximum(start, 0) if inside else last - start)
    out = g.op("Pad", *bottoms, g.ints([0, 0, *pad, 0, 0, *end]))
    out = g.op("AveragePool", out, kernel_shape=kernel, strides=stride)
    return g.op("Mul", out, kernel[0] * kernel[1] / np.outer(*areas).astype(np.float64))


@writes("Dropout")
def dropout(g, layer, params, bottoms, sizes, shapes):
    p = layer.dropout_param
    return g.op("Identity", *bottoms) if p.scale_train else g.op("Mul", *bottoms, 1 - p.dropout_ratio)


@writes("ReLU")
def relu(g, layer, params, bottoms, sizes, shapes):
    return g.op("LeakyRelu", *bottoms, alpha=layer.relu_param.negative_slope)


@writes("ReLU6", "Clip")
def clip(g, layer, params, bottoms, sizes, shapes):
    low, high = (0, 6) if layer.type == "ReLU6" else (layer.clip_param.min, layer.clip_param.max)
    return g.op("Clip", *bottoms, np.float32(low), np.float32(high))


@writes("PReLU")
def prelu(g, layer, params, bottoms, sizes, shapes):
    return g.op("PRelu", *bottoms, params[0].reshape(-1, *[1] * (len(sizes[0]) - 2)))


@writes("ELU")
def elu(g, layer, params, bottoms, sizes, shapes):
    return g.op("Elu", *bottoms, alpha=layer.elu_param.alpha)


@writes("Swish")
def swish(g, layer, params, bottoms, sizes, shapes):
    return g.op("Mul", *bottoms, g.op("Sigmoid", g.op("Mul", *bottoms, layer.swish_param.beta)))


@writes("Threshold")
def threshold(g, layer, params, bottoms, sizes, shapes):
    return g.op("Cast", g.op("Greater", *bottoms, layer.threshold_param.threshold), to=TensorProto.FLOAT)


@writes("Power")
def power(g, layer, params, bottoms, sizes, shapes):
    p = layer.power_param
    if p.scale == 0 or p.power == 0:
        raise Unknown("Power that does not read its bottom")
    out = g.op("Add", g.op("Mul", *bottoms, p.scale), p.shift)
    return out if p.power == 1 else g.op("Pow", out, p.power)


@writes("Exp")
def exponential(g, layer, params, bottoms, sizes, shapes):
    p = layer.exp_param
    out = g.op("Add", g.op("Mul", *bottoms, p.scale), p.shift)
    return g.op("Exp", out if p.base == -1 else g.op("Mul", out, np.log(p.base)))


@writes("Log")
def logarithm(g, layer, params, bottoms, sizes, shapes):
    p = layer.log_param
    out = g.op("Log", g.op("Add", g.op("Mul", *bottoms, p.scale), p.shift))
    return out if p.base == -1 else g.op("Div", out, np.log(p.base))


@writes("BatchNorm")
def batch_norm(g, layer, params, bottoms, sizes, shapes):
    p = layer.batch_norm_param
    if (p.HasField("use_global_stats") and not p.use_global_stats) or len(params) > 3 or len(sizes[0]) < 2:
        raise Unknown("BatchNorm of the batch, of five parameters, or of one axis")
    factor = params[2].reshape(-1)[0]
    mean, variance = (params[i].reshape(-1) * (1 / factor if factor else 0) for i in (0, 1))
    ones = np.ones_like(mean)
    return g.op("BatchNormalization", *bottoms, ones, 0 * ones, mean, variance, epsilon=p.eps)


@writes("Scale")
def scale(g, layer, params, bottoms, sizes, shapes):
    p, rank = layer.scale_param, len(sizes[0])
    other = sizes[1] if len(bottoms) == 2 else params[0].shape
    axis = p.axis % rank if other else 0
    if len(bottoms) == 2:
        shape = [*[1] * axis, *other, *[1] * (rank - axis - len(other))]
        factor: object = g.op("Reshape", bottoms[1], g.ints(shape), allowzero=1)
        rest = params
    else:
        factor, rest = broadcast(params[0], rank, axis), params[1:]
    out = g.op("Mul", bottoms[0], factor)
    return g.op("Add", out, broadcast(rest[0].reshape(other), rank, axis)) if p.bias_term else out


@writes("Bias")
def bias(g, layer, params, bottoms, sizes, shapes):
    if len(bottoms) == 2:
        raise Unknown("Bias of two bottoms")
    axis = layer.bias_param.axis % len(sizes[0]) if params[0].ndim else 0
    return g.op("Add", *bottoms, broadcast(params[0], len(sizes[0]), axis))


@writes("LRN")
def lrn(g, layer, params, bottoms, sizes, shapes):
    p = layer.lrn_param
    if p.norm_region == 0 and (p.alpha <= 0 or p.beta <= 0):
        raise Unknown("LRN that onnxruntime refuses")
    if p.norm_region == 0:
        return g.op("LRN", *bottoms, size=p.local_size, alpha=p.alpha, beta=p.beta, bias=p.k)
    half = (p.local_size - 1) // 2
    mean = g.op(
        "AveragePool",
        g.op("Mul", *bottoms, *bottoms),
        kernel_shape=[p.local_size] * 2,
        pads=[half] * 4,
        count_include_pad=1,
    )
    return g.op("Mul", *bottoms, g.op("Pow", g.op("Add", g.op("Mul", mean, p.alpha), 1.0), -p.beta))


@writes("Normalize")
def normalize(g, layer, params, bottoms, sizes, shapes):
    p = layer.norm_param
    axes = g.ints(range(1, len(sizes[0])) if p.across_spatial else (1,))
    norm = g.op("Sqrt", g.op("Add", g.op("ReduceSum", g.op("Mul", *bottoms, *bottoms), axes, keepdims=1), p.eps))
    return g.op("Mul", g.op("Div", *bottoms, norm), params[0].reshape(1, -1, *[1] * (len(sizes[0]) - 2)))


@writes("MVN")
def mvn(g, layer, params, bottoms, sizes, shapes):
    p = layer.mvn_param
    if p.add_eps_before_sqrt or len(sizes[0]) < 3:
        raise Unknown("MVN of another form")
    axes = list(range(1 if p.across_channels else 2, len(sizes[0])))
    out = g.op("Sub", *bottoms, g.op("ReduceMean", *bottoms, g.ints(axes), keepdims=1))
    if not p.normalize_variance:
        return out
    return g.op(
        "Div",
        out,
        g.op("Add", g.op("Sqrt", g.op("ReduceMean", g.op("Mul", out, out), g.ints(axes), keepdims=1)), p.eps),
    )


@writes("Softmax")
def softmax(g, layer, params, bottoms, sizes, shapes):
    return g.op("Softmax", *bottoms, axis=layer.softmax_param.axis)


@writes("Eltwise")
def eltwise(g, layer, params, bottoms, sizes, shapes):
    p = layer.eltwise_param
    if p.operation == 2:
        return g.op("Max", *bottoms)
    parts = [g.op("Mul", b, c) for b, c in zip(bottoms, p.coeff)] if p.coeff and p.operation == 1 else bottoms
    out = parts[0]
    for part in parts[1:]:
        out = g.op("Add" if p.operation == 1 else "Mul", out, part)
    return out


@writes("Concat")
def concat(g, layer, params, bottoms, sizes, shapes):
    return g.op("Concat", *bottoms, axis=number_of(layer.concat_param, "axis", "concat_dim"))


@writes("Slice")
def slice_(g, layer, params, bottoms, sizes, shapes):
    axis = number_of(layer.slice_param, "axis", "slice_dim")
    return g.ops("Split", [*bottoms, g.ints([shapes[t][axis] for t in layer.top])], len(layer.top), axis=axis)


@writes("Silence")
def silence(g, layer, params, bottoms, sizes, shapes):
    return []


@writes("Axpy")
def axpy(g, layer, params, bottoms, sizes, shapes):
    factor = g.op("Reshape", bottoms[0], g.ints([*sizes[0][:2], *[1] * (len(sizes[1]) - 2)]), allowzero=1)
    return g.op("Add", g.op("Mul", bottoms[1], factor), bottoms[2])


@writes("Crop")
def crop(g, layer, params, bottoms, sizes, shapes):
    p = layer.crop_param
    axes = list(range(p.axis % len(sizes[0]), len(sizes[0])))
    starts = list(p.offset) * (len(axes) if len(p.offset) == 1 else 1) or [0] * len(axes)
    return g.op(
        "Slice", bottoms[0], g.ints(starts), g.ints([s + sizes[1][a] for s, a in zip(starts, axes)]), g.ints(axes)
    )


@writes("Permute")
def permute(g, layer, params, bottoms, sizes, shapes):
    order = list(layer.permute_param.order)
    return g.op("Transpose", *bottoms, perm=order + [i for i in range(len(sizes[0])) if i not in order])


@writes("Reshape", "Flatten")
def reshape(g, layer, params, bottoms, sizes, shapes):
    return g.op("Reshape", *bottoms, g.ints(shapes[layer.top[0]]), allowzero=1)


@writes("Tile")
def tile(g, layer, params, bottoms, sizes, shapes):
    times = [layer.tile_param.tiles if i == layer.tile_param.axis % len(sizes[0]) else 1 for i in range(len(sizes[0]))]
    return g.op("Tile", *bottoms, g.ints(times))


@writes("Reduction")
def reduction(g, layer, params, bottoms, sizes, shapes):
    p = layer.reduction_param
    kind = {1: "ReduceSum", 2: "ReduceL1", 3: "ReduceSumSquare", 4: "ReduceMean"}[p.operation]
    axes = g.ints(range(p.axis % len(sizes[0]), len(sizes[0])))
    return g.op("Mul", g.op(kind, *bottoms, axes, keepdims=0), g.scalar(p.coeff))


@writes("ArgMax")
def argmax(g, layer, params, bottoms, sizes, shapes):
    p = layer.argmax_param
    if p.top_k > 1 or not p.HasField("axis"):
        raise Unknown("ArgMax of several, or of all axes")
    if p.out_max_val:
        return g.op("ReduceMax", *bottoms, g.ints([p.axis]), keepdims=1)
    return g.op("Cast", g.op("ArgMax", *bottoms, axis=p.axis, keepdims=1, select_last_index=1), to=TensorProto.FLOAT)


@writes("ShuffleChannel")
def shuffle_channel(g, layer, params, bottoms, sizes, shapes):
    n, c, *rest = sizes[0]
    group, rest = layer.shuffle_channel_param.group, [int(np.prod(rest))]
    out = g.op("Reshape", *bottoms, g.ints([n, group, c // group, *rest]), allowzero=1)
    return g.op("Reshape", g.op("Transpose", out, perm=[0, 2, 1, 3]), g.ints(sizes[0]), allowzero=1)


@writes("Reorg")
def reorg(g, layer, params, bottoms, sizes, shapes):
    s = layer.reorg_param.stride
    if layer.reorg_param.reverse or 0 in sizes[0]:
        raise Unknown("Reorg backwards")
    n, c, h, w = sizes[0]
    out = g.op("SpaceToDepth", g.op("Reshape", *bottoms, g.ints([n, c // s**2, h * s, w * s])), blocksize=s)
    return g.op("Reshape", out, g.ints([n, c * s**2, h // s, w // s]))


@writes("Upsample", "Interp")
def resized(g, layer, params, bottoms, sizes, shapes):
    if len(bottoms) > 1 or layer.interp_param.pad_beg or layer.interp_param.pad_end or 0 in sizes[0]:
        raise Unknown("places of a maximum, or a part of an image")
    how = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    if layer.type == "Interp":
        how = {"mode": "linear", "coordinate_transformation_mode": "align_corners"}
    return g.op("Resize", *bottoms, "", "", g.ints(shapes[layer.top[0]]), **how)


@writes("PriorBox")
def prior_box(g, layer, params, bottoms, sizes, shapes):
    return g.op("Identity", reference.prior_box(layer, params, *(np.empty(s) for s in sizes)))


@writes("ROIPooling")
def roi_pooling(g, layer, params, bottoms, sizes, shapes):
    p = layer.roi_pooling_param
    return g.op("MaxRoiPool", *bottoms, pooled_shape=[p.pooled_h, p.pooled_w], spatial_scale=p.spatial_scale)
