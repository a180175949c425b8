"""Settings that a prototxt leaves to a file beside it, found from the layers that read what a layer makes."""

from __future__ import annotations

from ..layers.core.param_str import read_param_str
from ..proto import LayerParameter, NetParameter
from ..proto.errors import LayerError

TARGETS = {"frcnnproposaltarget": 2, "fpnproposaltarget": 5}  # which top holds box offsets, four for each class
SAME = {"pooling", "reshape", "relu", "scale", "flatten", "dropout", "split"}  # keep the channels, or join what follows
LOSSES = {"smoothl1loss", "smoothl1lossohem", "euclideanloss"}


def settle(net: NetParameter) -> NetParameter:
    """The net with the number of classes of each FrcnnProposalTarget and FPNProposalTarget that does not give it.

    It is a fourth of the outputs of the layer whose offsets are compared with the targets. makefile/frcnn keeps it in a JSON file.

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
    wanting = [layer for layer in net.layer if wants_classes(layer)]
    if not wanting:
        return net
    result = NetParameter()
    result.CopyFrom(net)
    for layer in result.layer:
        if wants_classes(layer) and (count := classes_of(result, layer)):
            layer.proposal_target_param.cls_num = count
    return result


def kind_of(layer: LayerParameter) -> str:
    """The type of a layer, or the one that a Module or Python layer names, lower-case."""
    if layer.type == "Module":
        return str(layer.module_param.type).lower()
    if layer.type == "Python" and layer.python_param.layer.endswith("TargetLayer") and len(layer.top) == 8:
        return "fpnproposaltarget"
    return str(layer.type).lower()


def wants_classes(layer: LayerParameter) -> bool:
    """Whether a layer needs a number of classes that its prototxt does not give."""
    p = layer.proposal_target_param
    if kind_of(layer) not in TARGETS or p.cls_num or p.HasField("n_classes"):
        return False
    text = layer.module_param.param_str if layer.type == "Module" else layer.python_param.param_str
    try:
        given = read_param_str(text)
    except LayerError:
        return False
    return not (isinstance(given, dict) and "num_classes" in {str(name).lower() for name in given})


def classes_of(net: NetParameter, layer: LayerParameter) -> int:
    """How many classes the offsets are of that are compared with a layer's targets; 0 if that cannot be seen."""
    at = TARGETS[kind_of(layer)]
    if at >= len(layer.top):
        return 0
    targets = {layer.top[at]}
    for reader in net.layer:
        kind = reader.type.lower()
        if kind in LOSSES and len(reader.bottom) > 1 and reader.bottom[1] in targets:
            outputs = outputs_of(net, reader.bottom[0])
            return outputs // 4 if outputs % 4 == 0 else 0
        if set(reader.bottom) & targets and kind not in LOSSES and kind in SAME | {"concat"}:
            targets |= set(reader.top)
    return 0


def outputs_of(net: NetParameter, blob: str) -> int:
    """The channels of a blob, as far as the layer that makes it says."""
    for _ in range(16):
        maker = next((layer for layer in reversed(net.layer) if blob in layer.top and blob not in layer.bottom), None)
        if maker is None:
            return 0
        for count in (
            maker.inner_product_param.num_output, maker.convolution_param.num_output, maker.psroi_pooling_param.output_dim,
            maker.psroi_align_param.output_dim, maker.deformable_psroi_pooling_param.output_dim,
        ):  # fmt: skip
            if count:
                return int(count)
        if maker.type.lower() not in SAME or not maker.bottom:
            return 0
        blob = maker.bottom[0]
    return 0
