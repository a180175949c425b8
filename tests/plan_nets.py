"""The nets of test_plan.py, and what writes their prototxts."""

from __future__ import annotations

DATA = 'layer {{ name: "data" type: "Input" top: "data" input_param {{ shape {{ {} }} }} }}'


def data(*shape):
    return DATA.format(" ".join(f"dim: {n}" for n in shape))


def layer(name, type, bottoms, tops=None, text=""):
    bottoms = [bottoms] if isinstance(bottoms, str) else bottoms
    tops = [name] if tops is None else [tops] if isinstance(tops, str) else tops
    names = " ".join([*(f'bottom: "{b}"' for b in bottoms), *(f'top: "{t}"' for t in tops)])
    return f'layer {{ name: "{name}" type: "{type}" {names} {text} }}'


def conv(name, bottom, outputs, text="kernel_size: 3 pad: 1", **more):
    filler = 'weight_filler { type: "gaussian" std: 0.2 } bias_filler { type: "gaussian" std: 0.5 }'
    return layer(
        name,
        more.get("type", "Convolution"),
        bottom,
        text=f"convolution_param {{ num_output: {outputs} {text} {filler} }}",
    )


def normal(name, bottom, top=None):
    text = 'scale_param { bias_term: true filler { type: "gaussian" std: 1 } bias_filler { type: "gaussian" std: 1 } }'
    return layer(f"{name}_bn", "BatchNorm", bottom, top or bottom) + layer(
        f"{name}_scale", "Scale", top or bottom, top or bottom, text
    )


def relu(name, blob, text="", type="ReLU"):
    return layer(name, type, blob, blob, text)


def permuted(name, bottom, outputs):
    return (
        conv(name, bottom, outputs)
        + layer(f"{name}_perm", "Permute", name, text="permute_param { order: 0 order: 2 order: 3 order: 1 }")
        + layer(f"{name}_flat", "Flatten", f"{name}_perm")
    )


def halve(name, bottom):
    return layer(name, "Pooling", bottom, text="pooling_param { kernel_size: 2 stride: 2 }")


RESIDUAL = (
    data(1, 16, 12, 13) + conv("a", "data", 24) + normal("a", "a") + relu("a_relu", "a")
    + conv("b", "a", 24) + normal("b", "b")
    + layer("sum", "Eltwise", ["a", "b"]) + relu("sum_relu", "sum")
    + conv("c", "sum", 8, "kernel_size: 1")
)  # fmt: skip
HEADS = (
    data(2, 3, 30, 31) + conv("a", "data", 20, "kernel_size: 3 stride: 2") + relu("r", "a") + conv("b", "a", 33)
    + permuted("a_loc", "a", 8) + permuted("b_loc", "b", 12)
    + layer("loc", "Concat", ["a_loc_flat", "b_loc_flat"], text="concat_param { axis: 1 }")
    + layer("rows", "Reshape", "loc", text="reshape_param { shape { dim: 0 dim: -1 dim: 4 } }")
    + layer("prob", "Softmax", "rows", text="softmax_param { axis: 2 }")
)  # fmt: skip
FIRE = (
    data(1, 3, 33, 35) + conv("a", "data", 16, "kernel_size: 3 stride: 2") + relu("a_relu", "a")
    + conv("b1", "a", 10, "kernel_size: 1") + relu("b1_relu", "b1") + conv("b3", "a", 12) + relu("b3_relu", "b3")
    + layer("cat", "Concat", ["b1", "b3"]) + layer("drop", "Dropout", "cat", "cat")
    + layer("pool", "Pooling", "cat", text="pooling_param { pool: MAX kernel_size: 3 stride: 2 }")
    + conv("d", "pool", 7, "kernel_size: 1") + relu("d_relu", "d")
    + layer("global", "Pooling", "d", text="pooling_param { pool: AVE global_pooling: true }")
    + layer("prob", "Softmax", "global")
)  # fmt: skip


# Passes, text in, text out
NETS = {
    "large images": data(3, 8, 96, 90) + conv("a", "data", 8) + relu("r", "a") + conv("b", "a", 12) + layer("p", "Pooling", "b", text="pooling_param { kernel_size: 2 stride: 2 }")
    + conv("c", "p", 16) + conv("e", "p", 16) + layer("sum", "Eltwise", ["c", "e"]) + conv("f", "sum", 40, "kernel_size: 1") + layer("q", "Pooling", "f", text="pooling_param { kernel_size: 8 stride: 8 }")
    + layer("ip", "InnerProduct", "q", text='inner_product_param { num_output: 5 weight_filler { type: "xavier" } }'),
    "residual": RESIDUAL,
    "heads": HEADS,
    "fire": FIRE,
    "winograd": data(2, 32, 21, 20) + conv("a", "data", 40) + relu("r", "a") + conv("b", "a", 33, "kernel_size: 3 group: 1"),
    "halved": data(2, 32, 21, 20) + conv("a", "data", 40) + relu("r", "a") + halve("p", "a") + conv("b", "p", 34, "kernel_size: 3 pad: 2 group: 2")
    + normal("b", "b") + halve("q", "b"),
    "halved sum": data(1, 16, 23, 12) + conv("a", "data", 16) + conv("b", "a", 16) + layer("sum", "Eltwise", ["a", "b"]) + relu("r", "sum") + halve("p", "sum"),
    "not halved": data(1, 16, 21, 21) + conv("a", "data", 16) + layer("p", "Pooling", "a", text="pooling_param { kernel_size: 2 stride: 2 round_mode: FLOOR }")
    + conv("b", "p", 16) + layer("q", "Pooling", "b", text="pooling_param { pool: AVE kernel_size: 2 stride: 2 }") + conv("c", "q", 16) + halve("s", "c")
    + conv("d", "s", 17) + layer("t", "Pooling", "d", text="pooling_param { kernel_size: 2 stride: 1 }"),
    "dilated": data(1, 17, 20, 21) + conv("a", "data", 19, "kernel_size: 3 pad: 2 dilation: 2 stride: 2"),
    "wide": data(1, 64, 9, 9) + conv("a", "data", 70, "kernel_h: 1 kernel_w: 5 pad_h: 0 pad_w: 2") + conv("b", "a", 3, "kernel_size: 7 pad: 3"),
    "page": data(1, 1024, 5, 5) + conv("a", "data", 100, "kernel_size: 1"),
    "groups": data(1, 24, 10, 11) + conv("a", "data", 36, "kernel_size: 3 pad: 1 group: 2") + conv("b", "a", 36, "kernel_size: 1 group: 3"),
    "depthwise": data(2, 20, 15, 16) + conv("a", "data", 20, "kernel_size: 3 pad: 1 group: 20") + normal("a", "a") + relu("r", "a")
    + conv("b", "a", 20, "kernel_size: 3 stride: 2 group: 20") + conv("c", "b", 40, "kernel_size: 5 pad: 2", type="DepthwiseConvolution")
    + conv("d", "c", 40, "kernel_size: 3 pad: 4 dilation: 4 group: 40"),
    "depthwise rows": data(2, 37, 9, 31) + conv("a", "data", 37, "kernel_size: 3 pad: 1 group: 37") + relu("p", "a", type="PReLU")
    + conv("b", "data", 37, "kernel_size: 3 pad: 1 group: 37 bias_term: false") + layer("s", "Eltwise", ["a", "b"]) + relu("r", "s")
    + conv("c", "s", 37, "kernel_size: 3 pad: 2 stride: 2 group: 37") + relu("six", "c", type="ReLU6")
    + conv("d", "s", 37, "kernel_size: 3 stride: 2 group: 37") + relu("l", "d", "relu_param { negative_slope: 0.1 }")
    + conv("e", "d", 37, "kernel_size: 3 pad: 1 group: 37"),
    "depthwise of few places": data(1, 16, 2, 1) + conv("a", "data", 16, "kernel_size: 3 pad: 1 group: 16") + relu("r", "a")
    + conv("b", "a", 16, "kernel_size: 3 pad: 2 stride: 2 group: 16") + conv("c", "b", 16, "kernel_size: 3 pad: 3 group: 16"),
    "gray": data(2, 1, 9, 21) + normal("first", "data", "n") + relu("l", "n", "relu_param { negative_slope: 0.1 }") + conv("a", "n", 1, "kernel_size: 1")
    + layer("s", "Eltwise", ["a", "n"]) + relu("p", "s", type="PReLU") + normal("second", "s", "m") + relu("clip", "m", "clip_param { min: -0.5 max: 0.25 }", type="Clip")
    + conv("b", "m", 20),
    "one channel": data(1, 1, 17, 19) + conv("a", "data", 1) + relu("r", "a") + conv("b", "a", 24),
    "slopes": data(1, 5, 9, 9) + conv("a", "data", 10) + relu("p", "a", type="PReLU") + conv("b", "a", 6)
    + relu("l", "b", "relu_param { negative_slope: 0.1 }") + conv("c", "b", 6) + relu("six", "c", type="ReLU6")
    + conv("e", "c", 6) + relu("clip", "e", "clip_param { min: -0.5 max: 0.25 }", type="Clip") + conv("s", "e", 4) + relu("sig", "s", type="Sigmoid"),
    "unfused": data(1, 6, 9, 9) + normal("first", "data", "n") + relu("r", "n") + layer("p", "Pooling", "n", text="pooling_param { kernel_size: 2 }")
    + normal("second", "p") + layer("t", "Power", "p", text="power_param { scale: 0.5 shift: 2 }") + relu("tanh", "t", type="TanH"),
    "pools": data(1, 19, 14, 15) + layer("a", "Pooling", "data", text="pooling_param { kernel_size: 3 stride: 2 pad: 1 }")
    + layer("b", "Pooling", "a", text="pooling_param { pool: AVE kernel_size: 3 stride: 2 pad: 1 }")
    + layer("c", "Pooling", "data", text="pooling_param { pool: AVE kernel_size: 3 stride: 2 pad: 1 avg_include_pad: false }"),
    "dense": data(3, 8, 5, 4) + conv("a", "data", 12) + layer("ip", "InnerProduct", "a", text='inner_product_param { num_output: 30 weight_filler { type: "xavier" } }')
    + relu("r", "ip") + layer("drop", "Dropout", "ip", "ip") + layer("out", "InnerProduct", "ip", text='inner_product_param { num_output: 7 transpose: true weight_filler { type: "xavier" } }')
    + layer("prob", "Softmax", "out"),
    "cropped": data(1, 8, 9, 9) + conv("a", "data", 8) + layer("up", "Deconvolution", "a", text='convolution_param { num_output: 8 group: 8 kernel_size: 4 stride: 2 pad: 1 bias_term: false weight_filler { type: "bilinear" } }')
    + layer("crop", "Crop", ["up", "data"], text="crop_param { axis: 2 offset: 1 }") + layer("sum", "Eltwise", ["crop", "a"]) + relu("r", "sum"),
    "sums": data(1, 8, 6, 6) + conv("a", "data", 8) + conv("b", "data", 8) + layer("s", "Eltwise", ["a", "b"], text="eltwise_param { coeff: 0.5 coeff: 1 }")
    + layer("m", "Eltwise", ["a", "s"], text="eltwise_param { operation: MAX }") + layer("p", "Eltwise", ["m", "b"], text="eltwise_param { operation: PROD }") + layer("x", "Eltwise", ["p", "p"]),
    "sliced": data(1, 6, 7, 7) + layer("slice", "Slice", "data", ["x", "y"]) + conv("a", "x", 5) + conv("b", "y", 5) + layer("cat", "Concat", ["a", "b", "x"]) + conv("c", "cat", 4, "kernel_size: 1"),
    "nested": data(1, 6, 7, 7) + conv("a", "data", 5) + conv("b", "data", 6) + layer("ab", "Concat", ["a", "b"]) + conv("c", "ab", 7) + layer("abc", "Concat", ["ab", "c"]) + conv("d", "abc", 4, "kernel_size: 1") + layer("again", "Concat", ["c", "c"]),
    "batches joined": data(2, 3, 5, 5) + conv("a", "data", 4) + conv("b", "data", 4) + layer("cat", "Concat", ["a", "b"], text="concat_param { axis: 0 }") + conv("c", "cat", 4),
    "other axes joined": data(5, 6, 7) + layer("t", "TanH", "data") + layer("r", "Reverse", "data", text="reverse_param { axis: 0 }")
    + layer("cat", "Concat", ["t", "r", "data"], text="concat_param { axis: 2 }") + layer("rows", "Concat", ["t", "r"], text="concat_param { axis: 0 }")
    + layer("both", "Concat", ["cat", "cat"], text="concat_param { axis: 1 }"),
    "images joined by rows": data(2, 3, 6, 5) + conv("a", "data", 4) + conv("b", "data", 4) + layer("cat", "Concat", ["a", "b"], text="concat_param { axis: 2 }") + conv("c", "cat", 3),
    "split ends": data(1, 4, 6, 6) + conv("a", "data", 4) + layer("s", "Split", "a", ["x", "y"]) + relu("r", "y"),
    "outputs in the middle": data(1, 4, 6, 6) + conv("a", "data", 4) + layer("drop", "Dropout", "a") + layer("flat", "Flatten", "a"),
    "only shapes": data(1, 4, 6, 6) + conv("a", "data", 4) + layer("prior", "PriorBox", ["a", "data"], text="prior_box_param { min_size: 3 }"),
    "upsampled": data(2, 18, 5, 6)
    + layer("up", "Deconvolution", "data", text='convolution_param { num_output: 18 group: 18 kernel_size: 5 stride: 3 pad: 1 weight_filler { type: "gaussian" std: 1 } bias_filler { type: "gaussian" std: 1 } }')
    + relu("r", "up")
    + conv("b", "up", 4),
    "lrn": data(1, 9, 8, 8) + conv("a", "data", 9) + layer("n", "LRN", "a") + conv("b", "n", 5) + layer("norm", "Normalize", "b"),
    "lrn of a wide window": data(2, 9, 8, 8) + conv("a", "data", 20) + layer("n", "LRN", "a", text="lrn_param { local_size: 7 alpha: 0.5 beta: 0.6 k: 2 }")
    + conv("b", "n", 3) + layer("m", "LRN", "b", text="lrn_param { local_size: 9 }") + conv("c", "m", 3),
    "three at once": data(2, 4, 6, 6) + conv("a", "data", 8) + conv("b", "data", 8) + conv("c", "data", 8)
    + layer("s", "Eltwise", ["a", "b", "c"], text="eltwise_param { coeff: 0.5 coeff: -1 coeff: 2 }") + relu("r", "s")
    + layer("m", "Eltwise", ["s", "b", "c"], text="eltwise_param { operation: MAX }") + layer("p", "Eltwise", ["a", "m", "c"], text="eltwise_param { operation: PROD }")
    + layer("cat", "Concat", ["m", "p"]) + conv("d", "cat", 4) + layer("two", "Eltwise", ["d", "data"], text="eltwise_param { coeff: 1 coeff: -1 }"),
    "negative": data(1, 4, 6, 6) + conv("a", "data", 4) + layer("bias", "Bias", "a", text='bias_param { filler { type: "gaussian" } }')
    + layer("scale", "Scale", ["bias", "a"], text="scale_param { axis: 0 }") + layer("abs", "AbsVal", "scale"),
}  # fmt: skip
