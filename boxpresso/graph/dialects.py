"""Settings that a prototxt leaves to a file beside it, found from the layers that read what a layer makes."""

from __future__ import annotations

from typing import Any

from ..layers.core import Trait, traits_of
from ..layers.core.param_str import read_param_str
from ..layers.core.registry import known_type
from ..proto import LayerParameter, NetParameter
from ..proto.errors import LayerError
from .crops import align_crops

KEEPS = (
    Trait.REARRANGES | Trait.BY_CHANNEL | Trait.ELEMENTWISE
)  # with one of them a layer has as many channels as its bottom
SIDES = ("pad_l", "pad_r", "pad_t", "pad_b")  # fields of Synopsys' Caffe, in the messages of these layers
PADDED = {"Convolution": "convolution_param", "Pooling": "pooling_param"}


def settle(net: NetParameter, whole: NetParameter | None = None) -> NetParameter:
    """The net with the settings that other layers tell.

    The number of classes of each FrcnnProposalTarget and FPNProposalTarget that does not give it is a fourth of the
    outputs of the layer whose offsets are compared with the targets; makefile/frcnn keeps it in a JSON file. A PriorBox
    whose locations are twice as many as its boxes is TextBoxes' (`denser_prior_boxes`); one with sizes of 32, 64 and
    128 pixels and locations for 21 boxes is FaceBoxes', and so are the others of its net (`faceboxes`). Their programs
    make more boxes without a word in the prototxt. A Pooling, Reshape or Flatten in place keeps the name of its top, and
    its input has another. A Sum of several bottoms (R*CNN's) is an Eltwise, a LinearTransform (DeViSE's) an InnerProduct
    without a bias. The pads of single sides that Synopsys' Caffe has are pad_h and pad_w where opposite sides have the
    same, else those of a Pad before the layer, NAME/pad; its Reshape with a `pixelshuffler` is a Tiling. A MAE of scores
    that an OrdinalRegressionLoss reads, too, is of ranks (`ordinal`); `whole`, the net of all phases, tells it where that
    loss is of another. Where a Crop without crop_param cuts is told by `crops.align_crops`.

    Examples
    --------
    >>> from boxpresso.proto import parse_net
    >>> net = parse_net('''layer { name: "x" type: "Input" top: "x" }
    ...     layer { name: "data" type: "FrcnnProposalTarget" bottom: "x" bottom: "x"
    ...         top: "rois" top: "labels" top: "targets" top: "inside" top: "outside" }
    ...     layer { name: "box" type: "InnerProduct" bottom: "x" top: "box" inner_product_param { num_output: 84 } }
    ...     layer { name: "loss" type: "SmoothL1Loss" bottom: "box" bottom: "targets" top: "loss" }''')
    >>> settle(net).layer[1].proposal_target_param.cls_num
    21
    """
    net = align_crops(net)
    wanting = [layer for layer in net.layer if wants_classes(layer)]
    marks = priors(net)
    pools = [i for i, layer in enumerate(net.layer) if shapes_in_place(net, layer)]
    ranked = {each.bottom[0] for each in (whole or net).layer if each.type == "OrdinalRegressionLoss" and each.bottom}
    if not wanting and not marks and not pools and not ranked and not any(map(renamed, net.layer)):
        return net
    result = NetParameter()
    result.CopyFrom(net)
    pad_apart(result)
    for at in pools:
        part_in_place(result, at)
    for layer in result.layer:
        if wants_classes(layer) and (count := classes_of(result, layer)):
            layer.proposal_target_param.cls_num = count
        if layer.type == "PriorBox" and layer.name in marks:
            setattr(layer.prior_box_param, marks[layer.name], True)
        if adds_bottoms(layer):
            layer.type = "Eltwise"
        if layer.type == "LinearTransform":
            make_inner_product(layer)
        if shuffles_pixels(layer):
            layer.type, layer.tiling_param.tile_dim = "Tiling", layer.reshape_param.pixelshuffler
            layer.ClearField("reshape_param")
        if layer.type == "MAE" and ranked & set(layer.bottom[:1]):
            layer.mae_param.ordinal = True
    return result


def adds_bottoms(layer: LayerParameter) -> bool:
    """Whether a layer is R*CNN's Sum; those of other programs have fields or a single bottom, and stay unknown."""
    return layer.type == "Sum" and len(layer.bottom) > 1 == len(layer.top) and not layer.HasField("sum_param")


def renamed(layer: LayerParameter) -> bool:
    """Whether a layer is one of another type under a name of its program."""
    return adds_bottoms(layer) or layer.type == "LinearTransform" or shuffles_pixels(layer) or bool(sides_of(layer))


def shuffles_pixels(layer: LayerParameter) -> bool:
    """Whether a Reshape makes pixels of channels, as that of Synopsys' Caffe can."""
    return bool(layer.type == "Reshape" and layer.reshape_param.pixelshuffler > 1)


def message_of(layer: LayerParameter) -> Any:
    """The message of a layer in which such pads can stand; None of another layer, or one without it."""
    name = PADDED.get(layer.type.removesuffix("Depthwise"))
    return getattr(layer, name) if name and layer.HasField(name) else None


def sides_of(layer: LayerParameter) -> dict[str, int]:
    """The pads of single sides that a Convolution or Pooling of Synopsys' Caffe has; empty where they stand beside other pads,
    which its program refuses, or where a Pooling has another one than opposite."""
    p = message_of(layer)
    if p is None:
        return {}
    sides = {side: int(getattr(p, side)) for side in SIDES}
    fields = {field.name for field, _ in p.ListFields()}
    if not any(sides.values()) or fields & {"pad", "pad_h", "pad_w", "pad_type"}:
        return {}
    return {} if layer.type == "Pooling" and not is_even(sides) else sides


def is_even(sides: dict[str, int]) -> bool:
    """Whether opposite sides have the same pad."""
    return sides["pad_l"] == sides["pad_r"] and sides["pad_t"] == sides["pad_b"]


def pad_apart(net: NetParameter) -> None:
    """Writes the pads of single sides as pad_h and pad_w, or as Pad layers before theirs."""
    layers: list[LayerParameter] = []
    for layer in net.layer:
        if sides := sides_of(layer):
            p = message_of(layer)
            for side in SIDES:
                p.ClearField(side)
            if is_even(sides):
                p.pad_h, p.pad_w = sides["pad_t"], sides["pad_l"]
            else:
                layers += padded(layer, sides)
        layers.append(layer)
    if len(layers) > len(net.layer):
        whole = [LayerParameter.FromString(layer.SerializeToString()) for layer in layers]
        del net.layer[:]
        net.layer.extend(whole)


def padded(layer: LayerParameter, sides: dict[str, int]) -> list[LayerParameter]:
    """A Pad for each bottom of a layer, which reads them in their place."""
    pads = []
    for i, bottom in enumerate(layer.bottom):
        name = f"{layer.name}/pad" + (f"_{i}" if i else "")
        pad = LayerParameter(name=name, type="Pad", bottom=[bottom], top=[name])
        pad.include.extend(layer.include)
        pad.exclude.extend(layer.exclude)
        p = pad.pad_param
        p.pad_u, p.pad_d, p.pad_l, p.pad_r = sides["pad_t"], sides["pad_b"], sides["pad_l"], sides["pad_r"]
        layer.bottom[i] = name
        pads.append(pad)
    return pads


def make_inner_product(layer: LayerParameter) -> None:
    """Makes an InnerProduct of DeViSE's LinearTransform."""
    p, own = layer.linear_transform_param, layer.inner_product_param
    layer.type = "InnerProduct"
    own.num_output, own.axis, own.bias_term = p.num_output, p.axis, False
    own.weight_filler.CopyFrom(p.weight_filler)
    if not p.backprop:
        layer.propagate_down[:] = [False]
    layer.ClearField("linear_transform_param")


def shapes_in_place(net: NetParameter, layer: LayerParameter) -> bool:
    """Whether a layer gives its bottom, which an earlier layer computes, another shape and the same name."""
    traits = traits_of(layer.type)
    another = Trait.POOLS in traits or (Trait.VIEW in traits and Trait.ELEMENTWISE not in traits)
    if not another or not layer.bottom or list(layer.top) != list(layer.bottom):
        return False
    blob = layer.bottom[0]
    return any(blob in other.top and blob not in other.bottom and other.bottom for other in net.layer)


def part_in_place(net: NetParameter, at: int) -> None:
    """Gives the input of a layer that works in place another name, in the layers before it too."""
    blob = net.layer[at].bottom[0]
    other = f"{blob}_of_{net.layer[at].name}"
    for i, layer in enumerate(net.layer[: at + 1]):
        for names in (layer.bottom, layer.top) if i < at else (layer.bottom,):
            for k, name in enumerate(names):
                if name == blob:
                    names[k] = other


def priors(net: NetParameter) -> dict[str, str]:
    """{name of a PriorBox layer: the field that says how its program makes more boxes}, where the locations show it."""
    marks: dict[str, str] = {}
    made = {top: layer for layer in net.layer for top in layer.top if top not in layer.bottom}
    boxes = [layer for layer in net.layer if layer.type == "PriorBox"]
    if not boxes or any(b.prior_box_param.faceboxes or b.prior_box_param.denser_prior_boxes for b in boxes):
        return marks
    for reader in net.layer:
        if len(reader.bottom) < 3:
            continue
        locations, priors = (joined(made, reader.bottom[i]) for i in (0, 2))
        if len(locations) != len(priors):
            continue
        each = locations_of_a_box(reader)
        for blob, prior in zip(locations, priors):
            layer, outputs = made.get(prior), outputs_of(net, blob)
            if layer is None or layer.type != "PriorBox" or not outputs or outputs % (4 * each):
                continue
            outputs //= each
            p = layer.prior_box_param
            if not all(0 < ratio < float("inf") for ratio in (*p.aspect_ratio, *p.min_size)):
                continue  # the layer refuses them
            kind: Any = known_type(layer.type)
            count = kind.boxes(p)
            if outputs == 8 * count:
                marks[layer.name] = "denser_prior_boxes"
            elif outputs == 84 and sorted(map(int, p.min_size)) == [32, 64, 128] and count == 3:
                return {layer.name: "faceboxes" for layer in boxes}
    return marks


def locations_of_a_box(reader: LayerParameter) -> int:
    """How many locations a layer reads for each of the boxes: with `share_location: false` one a class."""
    for _, message in reader.ListFields():
        if "share_location" in getattr(message, "DESCRIPTOR", reader.DESCRIPTOR).fields_by_name:
            return 1 if message.share_location else max(1, message.num_classes)
    return 1


def joined(made: dict[str, LayerParameter], blob: str) -> list[str]:
    """The blobs that a Concat joins to make a blob, also when reshaped afterwards; a blob of another layer stands for
    itself."""
    for _ in range(4):
        layer = made.get(blob)
        traits = traits_of(layer.type) if layer is not None else Trait.NONE
        if layer is None or not layer.bottom or not traits & (Trait.JOINS | Trait.VIEW):
            return [blob]
        if Trait.JOINS in traits:
            return list(layer.bottom)
        blob = layer.bottom[0]
    return [blob]


def kind_of(layer: LayerParameter) -> str:
    """The type of a layer, or the one that a Module or Python layer names."""
    if layer.type == "Module":
        return str(layer.module_param.type)
    if layer.type == "Python" and layer.python_param.layer.endswith("TargetLayer") and len(layer.top) == 8:
        return "FPNProposalTarget"
    return str(layer.type)


def offsets_of(layer: LayerParameter) -> int | None:
    """Which top of a layer holds the targets of offsets that tell how many classes there are; None where none does."""
    known = known_type(kind_of(layer)) if len(layer.top) > 4 else None
    return known.offsets_top if known is not None else None


def wants_classes(layer: LayerParameter) -> bool:
    """Whether a layer needs a number of classes that its prototxt does not give."""
    p = layer.proposal_target_param
    if offsets_of(layer) is None or p.cls_num or p.HasField("n_classes"):
        return False
    text = layer.module_param.param_str if layer.type == "Module" else layer.python_param.param_str
    try:
        settings = read_param_str(text)
    except LayerError:
        return False
    return not (isinstance(settings, dict) and "num_classes" in {str(name).lower() for name in settings})


def classes_of(net: NetParameter, layer: LayerParameter) -> int:
    """How many classes the offsets are of that are compared with a layer's targets; 0 if that cannot be seen."""
    at = offsets_of(layer)
    if at is None or at >= len(layer.top):
        return 0
    targets = {layer.top[at]}
    for reader in net.layer:
        if not set(reader.bottom) & targets:
            continue
        traits = traits_of(reader.type)
        if Trait.LOSS | Trait.COMPARES in traits and len(reader.bottom) > 1 and reader.bottom[1] in targets:
            outputs = outputs_of(net, reader.bottom[0])
            return outputs // 4 if outputs % 4 == 0 else 0
        if traits & (KEEPS | Trait.JOINS):
            targets |= set(reader.top)
    return 0


def outputs_of(net: NetParameter, blob: str) -> int:
    """The channels of a blob, as far as the layer that makes it says."""
    for _ in range(16):
        maker = next((layer for layer in reversed(net.layer) if blob in layer.top and blob not in layer.bottom), None)
        if maker is None:
            return 0
        for count in (
            maker.inner_product_param.num_output, maker.convolution_param.num_output,
            maker.psroi_pooling_param.output_dim, maker.psroi_align_param.output_dim,
            maker.deformable_psroi_pooling_param.output_dim,
        ):  # fmt: skip
            if count:
                return int(count)
        if not maker.bottom or not traits_of(maker.type) & KEEPS:
            return 0
        blob = maker.bottom[0]
    return 0
