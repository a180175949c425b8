# ruff: noqa: C408  (messages are dict(name=value))
"""What nets that are written by a program stand on: a Writer over NetSpec, and trunks (VGG16, ZF, ResNet-18 and 50, MobileNet).

Names of layers and blobs are those of the published models, so that weights trained on ImageNet fit them.
"""

from __future__ import annotations

from typing import Any

from ..net_spec import L, NetSpec

KINDS = ("train", "test", "deploy")


class Writer:
    """A NetSpec `n` and the layers that come again and again.

    Parameters
    ----------
    name
        Of the net.
    kind
        "train" adds fillers and learning rates, and like "test" reads data and knows the truth; "deploy" has inputs.
    width
        Multiplies the channels of trunks, for nets that fit a test.
    folded
        Whether `normed` writes a convolution with a bias in place of BatchNorm and Scale, as in published weights whose
        BatchNorm was folded into the convolutions.
    average
        The moving_average_fraction of BatchNorm; None leaves Caffe's 0.999.
    still
        Whether BatchNorm keeps the statistics that it came with, and Scale its weights: for batches of one picture.

    Raises
    ------
    ValueError
        For another kind.

    Examples
    --------
    >>> w = Writer("small", "deploy")
    >>> w.n.data = L.Input(shape=dict(dim=[1, 3, 32, 32]))
    >>> top = normed(w, "conv1", w.n.data, 8, 3, stride=2)
    >>> [layer.name for layer in w.n.to_proto().layer]
    ['data', 'conv1', 'conv1/bn', 'conv1/scale', 'conv1/relu']
    """

    def __init__(
        self,
        name: str,
        kind: str,
        width: float = 1.0,
        folded: bool = False,
        average: float | None = None,
        still: bool = False,
    ) -> None:
        if kind not in KINDS:
            raise ValueError(f"kind is one of {', '.join(KINDS)}, got {kind!r}")
        self.n, self.kind, self.train, self.width = NetSpec(name=name), kind, kind == "train", width
        self.folded, self.average, self.still = folded, average, still

    def wide(self, channels: int) -> int:
        """Channels of a trunk at this width: a multiple of 4, at least 8."""
        return channels if self.width == 1 else max(8, int(channels * self.width) // 4 * 4)

    def learning(self, bias: bool, learns: bool, filler: dict[str, Any]) -> dict[str, Any]:
        """The keywords of a layer with weights and perhaps a bias: what only training asks for."""
        if not self.train:
            return {}
        rates = [dict(lr_mult=1, decay_mult=1), dict(lr_mult=2, decay_mult=0)] if learns else [dict(lr_mult=0)] * 2
        fields: dict[str, Any] = {"param": rates if bias else rates[:1], "weight_filler": filler}
        return fields | ({"bias_filler": dict(type="constant", value=0)} if bias else {})

    def conv(
        self,
        name: str,
        bottom: Any,
        outputs: int,
        kernel: int = 3,
        *,
        relu: str = "",
        bias: bool = True,
        learns: bool = True,
        type: str = "Convolution",
        filler: dict[str, Any] | None = None,
        **fields: Any,
    ) -> Any:
        """A convolution `name` that keeps the size unless pad or stride say otherwise, and, if it is named, a ReLU."""
        fields = {"num_output": outputs, "kernel_size": kernel, "pad": kernel // 2} | fields
        fields |= {} if bias else {"bias_term": False}
        fields |= self.learning(bias, learns, filler or dict(type="xavier"))
        self.n[name] = getattr(L, type)(*(bottom if isinstance(bottom, tuple) else (bottom,)), **fields)
        return self.relu(relu, self.n[name]) if relu else self.n[name]

    def dense(
        self, name: str, bottom: Any, outputs: int, *, learns: bool = True, std: float = 0.01, relu: str = ""
    ) -> Any:
        """A fully connected layer and, if it is named, a ReLU."""
        fields = self.learning(True, learns, dict(type="gaussian", std=std))
        self.n[name] = L.InnerProduct(bottom, num_output=outputs, **fields)
        return self.relu(relu, self.n[name]) if relu else self.n[name]

    def relu(self, name: str, bottom: Any) -> Any:
        self.n[name] = L.ReLU(bottom, in_place=True)
        return self.n[name]

    def norm(self, norm: str, scale: str, bottom: Any, learns: bool = True) -> Any:
        """BatchNorm and Scale in place; those that do not learn keep the statistics they came with."""
        fixed: dict[str, Any] = {} if learns else {"use_global_stats": True}
        if self.train and learns and self.average is not None:
            fixed["moving_average_fraction"] = self.average
        still = {"param": [dict(lr_mult=0)] * 3} if self.train else {}
        self.n[norm] = L.BatchNorm(bottom, in_place=True, **fixed, **still)
        rates = {"param": [dict(lr_mult=int(learns), decay_mult=0)] * 2} if self.train else {}
        self.n[scale] = L.Scale(self.n[norm], in_place=True, bias_term=True, **rates)
        return self.n[scale]

    def pool(self, name: str, bottom: Any, kernel: int = 2, stride: int = 2, **fields: Any) -> Any:
        self.n[name] = L.Pooling(bottom, pool="MAX", kernel_size=kernel, stride=stride, **fields)
        return self.n[name]


def vgg16(w: Writer, image: Any, frozen: int = 0) -> Any:
    """Conv1_1 to conv5_3 of VGG16 (Simonyan and Zisserman 2014), at 1/16 of the image; `frozen` blocks do not learn."""
    top = image
    for block, (layers, channels) in enumerate([(2, 64), (2, 128), (3, 256), (3, 512), (3, 512)], 1):
        if block > 1:
            top = w.pool(f"pool{block - 1}", top)
        for i in range(1, layers + 1):
            label = f"{block}_{i}"
            top = w.conv(f"conv{label}", top, w.wide(channels), relu=f"relu{label}", learns=block > frozen)
    return top


def zf(w: Writer, image: Any) -> Any:
    """The five convolutions of Zeiler and Fergus's net (2013), at 1/16 of the image."""
    top = image
    for i, (channels, kernel, stride) in enumerate([(96, 7, 2), (256, 5, 2)], 1):
        top = w.conv(f"conv{i}", top, w.wide(channels), kernel, stride=stride, relu=f"relu{i}")
        w.n[f"norm{i}"] = L.LRN(top, local_size=3, alpha=5e-5, beta=0.75, norm_region="WITHIN_CHANNEL")
        top = w.pool(f"pool{i}", w.n[f"norm{i}"], 3, pad=1)
    for i, channels in ((3, 384), (4, 384), (5, 256)):
        top = w.conv(f"conv{i}", top, w.wide(channels), relu=f"relu{i}")
    return top


def resnet50_stem(w: Writer, image: Any) -> Any:
    """Conv1 to res4f of ResNet-50 (He et al. 2015), at 1/16 of the image. Statistics and the first two stages are frozen."""
    top = w.conv("conv1", image, w.wide(64), 7, stride=2, bias=False, learns=False)
    top = w.relu("conv1_relu", w.norm("bn_conv1", "scale_conv1", top, learns=False))
    top = w.pool("pool1", top, 3)
    for stage, blocks, channels, stride in ((2, "abc", 64, 1), (3, "abcd", 128, 2), (4, "abcdef", 256, 2)):
        for block in blocks:
            top = bottleneck(w, f"{stage}{block}", top, channels, stride if block == "a" else 1, learns=stage > 2)
    return top


def resnet50_last(w: Writer, bottom: Any, stride: int = 2, dilation: int = 1, deformable: bool = False) -> Any:
    """Res5a to res5c. stride 1 with dilation 2 keeps the resolution; deformable moves the taps of the 3 x 3 convolutions."""
    for block in "abc":
        bottom = bottleneck(
            w, f"5{block}", bottom, 512, stride if block == "a" else 1, dilation=dilation, deformable=deformable
        )
    return bottom


def bottleneck(
    w: Writer,
    name: str,
    bottom: Any,
    channels: int,
    stride: int,
    learns: bool = True,
    dilation: int = 1,
    deformable: bool = False,
) -> Any:
    """1 x 1, 3 x 3, 1 x 1 and a short cut, which has a convolution where the block is the first of its stage."""

    def step(
        branch: str, bottom: Any, outputs: int, kernel: int, stride: int = 1, relu: bool = True, **fields: Any
    ) -> Any:
        top = w.conv(f"res{name}_{branch}", bottom, outputs, kernel, stride=stride, bias=False, learns=learns, **fields)
        top = w.norm(f"bn{name}_{branch}", f"scale{name}_{branch}", top, learns=False)
        return w.relu(f"res{name}_{branch}_relu", top) if relu else top

    inner, outer = w.wide(channels), w.wide(channels * 4)
    short = step("branch1", bottom, outer, 1, stride, relu=False) if name[-1] == "a" else bottom
    top: Any = step("branch2a", bottom, inner, 1, stride)
    taps: dict[str, Any] = dict(pad=dilation, dilation=dilation)
    if deformable:
        groups, zero = 4, dict(type="constant", value=0)
        offsets = w.conv(f"res{name}_branch2b_offset", top, 2 * 9 * groups, filler=zero, **taps)
        top, taps = (top, offsets), taps | dict(deformable_group=groups, type="DeformableConvolution")
    top = step("branch2b", top, inner, 3, **taps)
    top = step("branch2c", top, outer, 1, relu=False)
    w.n[f"res{name}"] = L.Eltwise(short, top)
    return w.relu(f"res{name}_relu", w.n[f"res{name}"])


def resnet18(w: Writer, image: Any, last: int = 5) -> Any:
    """Conv1 to res5b of ResNet-18 (He et al. 2015), at 1/32 of the image; of another last stage, res4b at 1/16.

    The names are those of HolmesShuan's model for ImageNet, whose first block has a convolution in its short cut, too.
    """

    def step(name: str, top: str, bottom: Any, outputs: int, kernel: int, stride: int = 1) -> Any:
        top = w.conv(top, bottom, outputs, kernel, stride=stride, bias=False, filler=dict(type="msra"))
        return w.norm(f"bn{name}", f"scale{name}", top, learns=not w.still)

    top = w.relu("conv1_relu", step("_conv1", "conv1", image, w.wide(64), 7, 2))
    top = w.pool("pool1", top, 3)
    for stage in range(2, last + 1):
        channels = w.wide(32 * 2 ** (stage - 1))
        for block in "ab":
            name, stride = f"{stage}{block}", 2 if block == "a" and stage > 2 else 1
            short = step(f"{name}_branch1", f"res{name}_branch1", top, channels, 1, stride) if block == "a" else top
            top = step(f"{name}_branch2a", f"res{name}_branch2a", top, channels, 3, stride)
            top = w.relu(f"res{name}_branch2a_relu", top)
            top = step(f"{name}_branch2b", f"res{name}_branch2b", top, channels, 3)
            w.n[f"res{name}"] = L.Eltwise(short, top)
            top = w.relu(f"res{name}_relu", w.n[f"res{name}"])
    return top


def mobilenet(w: Writer, image: Any, last: int = 13) -> Any:
    """Conv0 to conv13, or another last one, of MobileNet (Howard et al. 2017), at 1/32 of the image; conv11 is at 1/16."""
    top = normed(w, "conv0", image, w.wide(32), 3, stride=2)
    plan = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1)]
    before = w.wide(32)
    for i, (channels, stride) in enumerate(plan[:last], 1):
        top = normed(w, f"conv{i}/dw", top, before, 3, stride=stride, group=before)
        before = w.wide(channels)
        top = normed(w, f"conv{i}", top, before, 1)
    return top


def normed(w: Writer, name: str, bottom: Any, outputs: int, kernel: int, **fields: Any) -> Any:
    """Convolution without a bias, BatchNorm, Scale, ReLU; of a folded net a convolution with a bias and ReLU."""
    if w.folded:
        return w.conv(name, bottom, outputs, kernel, relu=f"{name}/relu", filler=dict(type="msra"), **fields)
    top = w.conv(name, bottom, outputs, kernel, bias=False, filler=dict(type="msra"), **fields)
    return w.relu(f"{name}/relu", w.norm(f"{name}/bn", f"{name}/scale", top, learns=not w.still))
