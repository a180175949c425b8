"""From every age of Caffe to today's form: pure functions, message in, new message out.

    V0       layers { layer { name type num_output .. } bottom top }    2013; padding was a layer of its own
    V1       layers { name type: CONVOLUTION blobs_lr param: "w" .. }   2014
    today    layer { name type: "Convolution" param { name lr_mult } .. }

The results are those of BVLC Caffe's upgrade tools, except that an upgrade from V0 keeps what Caffe drops: the net's
state, debug_info and input_shape, V1 layers between V0 ones, and V1 fields (such as include) beside a V0 layer.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from google.protobuf.message import Message

from .boxpresso_pb2 import (
    LayerParameter,
    NetParameter,
    SolverParameter,
    V0LayerParameter,
    V1LayerParameter,
)
from .errors import BoxpressoWarning, ModelError, nearest

# V0 layer type -> V1 layer type; all others are upper case of themselves
_V0_TYPES = {
    "conv": "CONVOLUTION",
    "images": "IMAGE_DATA",
    "innerproduct": "INNER_PRODUCT",
    "pool": "POOLING",
    **{name: name.upper() for name in ("accuracy", "bnll", "concat", "data", "dropout", "euclidean_loss", "flatten")},
    **{name: name.upper() for name in ("hdf5_data", "hdf5_output", "im2col", "infogain_loss", "lrn", "relu")},
    **{name: name.upper() for name in ("multinomial_logistic_loss", "sigmoid", "softmax", "softmax_loss", "split")},
    **{name: name.upper() for name in ("tanh", "window_data")},
}

# V0 field -> where it goes: {V0 layer type: "message.field"}; "*" is any type
_CONV, _POOL, _IP = "convolution_param", "pooling_param", "inner_product_param"
_DATA = {"data": "data_param", "images": "image_data_param", "window_data": "window_data_param"}
_FED = {**_DATA, "hdf5_data": "hdf5_data_param"}
_V0_FIELDS: dict[str, dict[str, str]] = {
    "num_output": {"conv": f"{_CONV}.num_output", "innerproduct": f"{_IP}.num_output"},
    "biasterm": {"conv": f"{_CONV}.bias_term", "innerproduct": f"{_IP}.bias_term"},
    "weight_filler": {"conv": f"{_CONV}.weight_filler", "innerproduct": f"{_IP}.weight_filler"},
    "bias_filler": {"conv": f"{_CONV}.bias_filler", "innerproduct": f"{_IP}.bias_filler"},
    "pad": {"conv": f"{_CONV}.pad", "pool": f"{_POOL}.pad"},
    "kernelsize": {"conv": f"{_CONV}.kernel_size", "pool": f"{_POOL}.kernel_size"},
    "group": {"conv": f"{_CONV}.group"},
    "stride": {"conv": f"{_CONV}.stride", "pool": f"{_POOL}.stride"},
    "pool": {"pool": f"{_POOL}.pool"},
    "dropout_ratio": {"dropout": "dropout_param.dropout_ratio"},
    "local_size": {"lrn": "lrn_param.local_size"},
    "alpha": {"lrn": "lrn_param.alpha"},
    "beta": {"lrn": "lrn_param.beta"},
    "k": {"lrn": "lrn_param.k"},
    "source": {**{t: f"{m}.source" for t, m in _FED.items()}, "infogain_loss": "infogain_loss_param.source"},
    "batchsize": {t: f"{m}.batch_size" for t, m in _FED.items()},
    "rand_skip": {"data": "data_param.rand_skip", "images": "image_data_param.rand_skip"},
    "shuffle_images": {"images": "image_data_param.shuffle"},
    "new_height": {"images": "image_data_param.new_height"},
    "new_width": {"images": "image_data_param.new_width"},
    "concat_dim": {"concat": "concat_param.concat_dim"},
    "scale": {"*": "transform_param.scale"},
    "meanfile": {"*": "transform_param.mean_file"},
    "cropsize": {"*": "transform_param.crop_size"},
    "mirror": {"*": "transform_param.mirror"},
    "det_fg_threshold": {"window_data": "window_data_param.fg_threshold"},
    "det_bg_threshold": {"window_data": "window_data_param.bg_threshold"},
    "det_fg_fraction": {"window_data": "window_data_param.fg_fraction"},
    "det_context_pad": {"window_data": "window_data_param.context_pad"},
    "det_crop_mode": {"window_data": "window_data_param.crop_mode"},
    "hdf5_output_param": {"hdf5_output": "hdf5_output_param"},
}
_V0_COMMON = {"name", "type", "blobs", "blobs_lr", "weight_decay"}

# Today's name of a V1 type is its words with capitals, but for these words
_V1_WORDS = (
    "AbsVal ArgMax BN BNLL Convolution3D CReLU Deconvolution3D DeformableConvolution ELU HDF5 LRN MVN Pooling3D PReLU "
    "PriorBox PSROI ReLU ReLU6 ROI "
    "ROIPooling RPN SPP TanH YuvToNormalizedGray YuvToRgb"
)
# and these types
_V1_TYPES = {"NONE": "", "NORM": "Normalize", "SOFTMAX_LOSS": "SoftmaxWithLoss", "TRANSFORM": "Transformation"}
_V1_RENAMED = {"param", "blobs_lr", "weight_decay", "blob_share_mode", "type", "other_type", "others", "layer"}
_TRANSFORMED = {"DATA": "data_param", "IMAGE_DATA": "image_data_param", "WINDOW_DATA": "window_data_param"}

_SOLVER_TYPES = {
    "SGD": "SGD",
    "NESTEROV": "Nesterov",
    "ADAGRAD": "AdaGrad",
    "RMSPROP": "RMSProp",
    "ADADELTA": "AdaDelta",
    "ADAM": "Adam",
}


def upgrade_net(net: NetParameter, *, source: str = "the net") -> NetParameter:
    """Today's form of a net of any age, as a new message; a net of today gives an equal copy.

    A V0 parameter that its layer type does not have is dropped, as in Caffe, with a BoxpressoWarning.

    Parameters
    ----------
    source : the name of the net in errors.

    Raises
    ------
    ModelError: both `layer` and `layers`, an unknown V0 type, a padding layer that feeds something else than one
    convolution or pooling, input sizes that do not fit the inputs.

    Source
    ------
    BVLC Caffe's upgrade tools.

    Examples
    --------
    >>> old = NetParameter(input=["data"], input_dim=[1, 3, 8, 8])
    >>> layer = upgrade_net(old).layer[0]
    >>> layer.type, list(layer.input_param.shape[0].dim)
    ('Input', [1, 3, 8, 8])
    """
    net = _copy(net)
    if net.layers and net.layer:
        raise ModelError(
            f"{source} has both 'layer' (today's form) and 'layers' (the old form): rewrite one of them; "
            f"{len(net.layer)} and {len(net.layers)} were seen"
        )
    if any(layer.HasField("layer") for layer in net.layers):
        net = _upgrade_v0(net, source)
    _upgrade_transforms(net.layers)
    net.layer.extend(_upgrade_v1_layer(layer) for layer in net.layers)
    net.ClearField("layers")
    if net.input:
        net = _upgrade_input(net, source)
    _upgrade_batch_norm(net.layer)
    for layer in net.layer:
        _upgrade_volumes(layer)
        _upgrade_dilation(layer)
    return net


def upgrade_solver(solver: SolverParameter, *, source: str = "the solver") -> SolverParameter:
    """Today's form of a solver: the old `solver_type` becomes `type`, and nets given inside are upgraded.

    Parameters
    ----------
    source : the name of the solver in errors.

    Raises
    ------
    ModelError: both `solver_type` and `type`, or a net inside that cannot be upgraded.

    Examples
    --------
    >>> upgrade_solver(SolverParameter(solver_type=SolverParameter.NESTEROV)).type
    'Nesterov'
    """
    solver = _copy(solver)
    if solver.HasField("solver_type"):
        if solver.HasField("type"):
            raise ModelError(f"{source} has both 'solver_type' (old) and 'type' ({solver.type!r}): remove solver_type")
        old = solver.DESCRIPTOR.fields_by_name["solver_type"].enum_type.values_by_number[solver.solver_type].name
        solver.type = _SOLVER_TYPES.get(old, old)  # a fork's own (SAG): the Solver refuses it by that name
        solver.ClearField("solver_type")
    for field in ("net_param", "train_net_param"):
        if solver.HasField(field):
            getattr(solver, field).CopyFrom(upgrade_net(getattr(solver, field), source=f"{field} of {source}"))
    for net in solver.test_net_param:
        net.CopyFrom(upgrade_net(net, source=f"test_net_param of {source}"))
    return solver


def layer_type_of_v1(number: int) -> str:
    """Today's type name of a V1 type number. Raises ModelError for a number that no dialect has.

    Examples
    --------
    >>> layer_type_of_v1(4)
    'Convolution'
    """
    known = V1LayerParameter.DESCRIPTOR.fields_by_name["type"].enum_type.values_by_number
    if number not in known:
        raise ModelError(f"{number} is not a type of a V1 layer ('layers {{ type: .. }}')")
    return _today(known[number].name)


def _today(name: str) -> str:
    """Today's name of a V1 type, or of a type that a fork has in the V1 form."""
    spelled = {word.upper(): word for word in _V1_WORDS.split()}
    return _V1_TYPES.get(name, "".join(spelled.get(word, word.capitalize()) for word in name.split("_")))


def layer_type_of_v0(name: str) -> str:
    """Today's type name of a V0 type. Raises ModelError for an unknown one.

    Examples
    --------
    >>> layer_type_of_v0("innerproduct")
    'InnerProduct'
    """
    return layer_type_of_v1(_v1_type_of_v0(name, name))


def _copy(message: Any) -> Any:
    copied = type(message)()
    copied.CopyFrom(message)
    return copied


# -- V0 ----------------------------------------------------------------------------------------------------------------


def _upgrade_v0(net: NetParameter, source: str) -> NetParameter:
    """V0 to V1. Padding layers vanish into the convolution or pooling that they feed."""
    upgraded = _copy(net)
    upgraded.ClearField("layers")
    producers: dict[str, V1LayerParameter | None] = dict.fromkeys(net.input)
    for old in net.layers:
        new = _upgrade_v0_layer(old, source)
        for i, blob in enumerate(old.bottom):
            if blob not in producers:
                raise ModelError(
                    f"{source}: layer {old.layer.name!r} reads {blob!r}, which is not a top of a layer before it"
                    f"{nearest(blob, producers)}"
                )
            producer = producers[blob]
            if producer is not None and producer.layer.type == "padding":
                _absorb_padding(producer, old, new, source)
                new.bottom[i] = producer.bottom[0]
        producers.update(dict.fromkeys(old.top, old))
        if old.layer.type != "padding":
            upgraded.layers.append(new)
    return upgraded


def _absorb_padding(padding: V1LayerParameter, old: V1LayerParameter, new: V1LayerParameter, source: str) -> None:
    where = f"{source}: padding layer {padding.layer.name!r} feeding {old.layer.name!r}"
    if old.layer.type not in ("conv", "pool"):
        raise ModelError(f"{where}: only conv and pool layers can be padded, saw {old.layer.type!r}")
    if (len(old.bottom), len(padding.bottom), len(padding.top)) != (1, 1, 1):
        raise ModelError(f"{where}: both need one bottom, and the padding layer one top")
    if old.layer.type == "conv":
        new.convolution_param.pad[:] = [padding.layer.pad]
    else:
        new.pooling_param.pad = padding.layer.pad


def _upgrade_v0_layer(old: V1LayerParameter, source: str) -> V1LayerParameter:
    if not old.HasField("layer"):
        return _copy(old)
    inner: V0LayerParameter = old.layer
    new = _copy(old)
    new.ClearField("layer")
    if inner.HasField("name"):
        new.name = inner.name
    if inner.HasField("type") and inner.type != "padding":
        new.type = _v1_type_of_v0(inner.type, f"{source}: layer {inner.name!r}")
    new.blobs.extend(inner.blobs)
    new.blobs_lr.extend(inner.blobs_lr)
    new.weight_decay.extend(inner.weight_decay)
    dropped = []
    for field, value in inner.ListFields():
        if field.name in _V0_COMMON or inner.type == "padding":
            continue
        homes = _V0_FIELDS.get(field.name, {})
        home = homes.get(inner.type) or homes.get("*")
        if home is None:
            dropped.append(field.name)
        else:
            _put(new, home, value)
    if dropped:
        warnings.warn(
            f"{source}: layer {inner.name!r} of type {inner.type!r} does not take {', '.join(dropped)}: dropped",
            BoxpressoWarning,
            stacklevel=5,
        )
    return new


def _put(message: Message, path: str, value: Any) -> None:
    """Set a field by a dotted path, whether it is a scalar, a message or repeated."""
    *parents, name = path.split(".")
    for parent in parents:
        message = getattr(message, parent)
    target = getattr(message, name)
    if isinstance(value, Message):
        target.CopyFrom(value)
    elif hasattr(target, "append"):
        target.append(value)
    else:
        setattr(message, name, value)


def _v1_type_of_v0(name: str, where: str) -> int:
    if name not in _V0_TYPES:
        raise ModelError(f"{where}: no layer type {name!r} in the oldest (V0) form{nearest(name, _V0_TYPES)}")
    return int(V1LayerParameter.LayerType.Value(_V0_TYPES[name]))


# -- V1 ----------------------------------------------------------------------------------------------------------------


def _upgrade_transforms(layers: Iterable[V1LayerParameter]) -> None:
    """scale, mean_file, crop_size and mirror move from the data layers' own messages to transform_param."""
    fed = [(layer, _TRANSFORMED[name]) for layer in layers if (name := _v1_name(layer)) in _TRANSFORMED]
    moved = ("scale", "mean_file", "crop_size", "mirror")
    if not any(getattr(layer, own).HasField(name) for layer, own in fed for name in moved):
        return
    for layer, own in fed:
        parameters = getattr(layer, own)
        parameters.SetInParent()  # once one data layer needs it, Caffe writes both messages into all of them
        layer.transform_param.SetInParent()
        for name in moved:
            if parameters.HasField(name):
                setattr(layer.transform_param, name, getattr(parameters, name))
                parameters.ClearField(name)


def _v1_name(layer: V1LayerParameter) -> str:
    return str(layer.DESCRIPTOR.fields_by_name["type"].enum_type.values_by_number[layer.type].name)


def _upgrade_v1_layer(old: V1LayerParameter) -> LayerParameter:
    """Messages of the same name move over; the parallel lists about parameters become `param` messages."""
    new = LayerParameter()
    new.CopyFrom(old.others)
    if old.HasField("type"):
        new.type = layer_type_of_v1(old.type)
    elif old.other_type:
        new.type = _today(old.other_type)
    for field, value in old.ListFields():
        if field.name not in _V1_RENAMED:
            target = getattr(new, field.name)
            if isinstance(value, Message):
                target.CopyFrom(value)
            elif hasattr(target, "extend"):
                target.extend(value)
            else:
                setattr(new, field.name, value)
    columns = {
        "name": old.param,
        "share_mode": old.blob_share_mode,
        "lr_mult": old.blobs_lr,
        "decay_mult": old.weight_decay,
    }
    for name, values in columns.items():
        for i, value in enumerate(values):
            if i == len(new.param):
                new.param.add()
            setattr(new.param[i], name, value)
    return new


# -- net fields, BatchNorm ---------------------------------------------------------------------------------------------


def _upgrade_input(net: NetParameter, source: str) -> NetParameter:
    """`input` with `input_shape` or `input_dim` (four each) becomes a first layer named "input".

    An `input` without any size is what an old caffemodel holds: it is taken out, as in Caffe. An Input layer without a top
    beside them is passed over, as OpenCV does.
    """
    count = len(net.input)
    upgraded = _copy(net)
    for field in ("input", "input_shape", "input_dim", "layer"):
        upgraded.ClearField(field)
    if net.input_shape or net.input_dim:
        if net.input_shape and len(net.input_shape) != count:
            raise ModelError(f"{source} has {count} input but {len(net.input_shape)} input_shape: give one for each")
        if not net.input_shape and len(net.input_dim) != 4 * count:
            raise ModelError(
                f"{source} has {count} input but {len(net.input_dim)} input_dim: give four for each "
                "(number, channels, height, width), or input_shape"
            )
        layer = upgraded.layer.add(name="input", type="Input", top=net.input)
        if net.input_shape:
            layer.input_param.shape.extend(net.input_shape)
        else:
            for i in range(count):
                layer.input_param.shape.add(dim=net.input_dim[4 * i : 4 * i + 4])
    for old in net.layer:
        if old.type == "Input" and not old.top:
            warnings.warn(
                f"{source}: Input layer {old.name!r} gives no top, beside input {', '.join(net.input)}: passed over",
                BoxpressoWarning,
                stacklevel=4,
            )
        else:
            upgraded.layer.append(old)
    return upgraded


def _upgrade_batch_norm(layers: Iterable[LayerParameter]) -> None:
    """Old BatchNorm layers name three parameters, to keep the solver off them; the statistics are never learned."""
    for layer in layers:
        if layer.type == "BatchNorm" and len(layer.param) == 3:
            for spec in layer.param:
                spec.lr_mult = 0
                spec.decay_mult = 0


# -- volumes -----------------------------------------------------------------------------------------------------------

_OF_VOLUMES = {
    "convolution3d": "Convolution", "ndconvolution": "Convolution", "deconvolution3d": "Deconvolution",
    "nddeconvolution": "Deconvolution", "ndpooling": "Pooling3D", "poolingnd": "Pooling",
}  # fmt: skip


def _upgrade_volumes(layer: LayerParameter) -> None:
    """Convolutions and poolings over three axes in the forms of forks: C3D's kernel_depth, kernel_shape, the messages of
    Pooling3D and Convolution3D, and a Pooling of several kernel_size become a Convolution, and a Pooling or Pooling3D."""
    kind = _OF_VOLUMES.get(layer.type.lower(), layer.type)
    if layer.HasField("convolution3d_param"):
        own = layer.convolution3d_param
        for field, value in own.ListFields():
            if field.name in ("num_output", "bias_term", "group", "kernel_depth", "temporal_stride", "temporal_pad"):
                setattr(layer.convolution_param, field.name, value)
            elif field.name in ("kernel_size", "stride", "pad"):
                getattr(layer.convolution_param, field.name).append(value)
            elif field.name in ("weight_filler", "bias_filler"):
                getattr(layer.convolution_param, field.name).CopyFrom(value)
            elif field.name == "filter_group":
                layer.convolution_param.filter_group = value
        layer.ClearField("convolution3d_param")
    if kind in ("Convolution", "Deconvolution") and layer.HasField("convolution_param"):
        p = layer.convolution_param
        for name, (short, along, usual) in _AXES.items():
            values = getattr(p, name)
            if p.HasField(f"{short}_shape"):
                values[:] = _sizes(layer, p, f"{short}_shape")
                p.ClearField(f"{short}_shape")
            elif p.HasField("kernel_depth"):
                side = [*values, usual][0]
                values[:] = [getattr(p, along), side, side]
        if p.filter_group > 1:
            p.group = p.filter_group
        for name in ("kernel_depth", "temporal_stride", "temporal_pad", "filter_group"):
            p.ClearField(name)
    if layer.HasField("pooling3d_param"):
        _flatten_pooling(layer)
    if layer.HasField("pooling_nd_param"):
        _pooling_of_any_axes(layer)
    if kind in ("Pooling", "Pooling3D") and layer.HasField("pooling_param"):
        kind = _upgrade_pooling(layer)
    if kind != layer.type:
        layer.type = kind


# of each field: what its _shape is called, what C3D has along time, and its default
_AXES = {
    "kernel_size": ("kernel", "kernel_depth", 1),
    "stride": ("stride", "temporal_stride", 1),
    "pad": ("pad", "temporal_pad", 0),
}


def _sizes(layer: LayerParameter, param: Any, field: str) -> list[int]:
    """The numbers of a shape in place of sizes. Raises ModelError for those that a size cannot be."""
    sizes = [int(n) for n in getattr(param, field).dim]
    if any(not 0 <= n < 1 << 32 for n in sizes):
        raise ModelError(f"layer {layer.name!r}: {field} must be whole numbers from 0 to 4294967295, got {sizes}")
    return sizes


def _upgrade_dilation(layer: LayerParameter) -> None:
    """The `hole` of DeepLab's first version and the `filter_stride` of ParseNet, for both axes or as _h and _w, as dilation.

    Raises ModelError for two of them, one of them beside dilation, and for _h without _w.
    """
    if not layer.HasField("convolution_param"):
        return
    p = layer.convolution_param
    names = [name for name in ("dilation", "hole", "filter_stride") if _spellings(p, name)]
    if len(names) > 1:
        raise ModelError(
            f"layer {layer.name!r}: convolution_param has both {names[0]} and {names[1]}; remove one of them"
        )
    for name in names:
        if name == "dilation":
            return
        spelled = _spellings(p, name)
        if spelled not in ([name], [f"{name}_h", f"{name}_w"]):
            raise ModelError(
                f"layer {layer.name!r}: {name}, or {name}_h and {name}_w, is wanted; got {', '.join(spelled)}"
            )
        values = [getattr(p, field) for field in spelled]
        if spelled == [name]:
            p.dilation[:] = values
        else:
            p.dilation_h, p.dilation_w = values
        for field in spelled:
            p.ClearField(field)


def _spellings(param: Any, name: str) -> list[str]:
    """Those of a field, its _h and its _w that a message gives a value."""
    fields = {field.name for field, _ in param.ListFields()}
    return [each for each in (name, f"{name}_h", f"{name}_w") if each in fields]


def _flatten_pooling(layer: LayerParameter) -> None:
    """pooling3d_param as the lists of pooling_param: depth, height and width."""
    own, p = layer.pooling3d_param, layer.pooling_param
    p.pool = p.PoolMethod.Value(own.PoolMethod.Name(own.pool))
    p.global_pooling = own.global_pooling
    depth = own.kernel_d or own.kernel_depth or own.kernel_size
    high, wide = (
        (own.kernel_h or own.kernel_height or own.kernel_size),
        (own.kernel_w or own.kernel_width or own.kernel_size),
    )
    if depth or high or wide:
        p.kernel_size_3d.extend([depth, high, wide])
    along = own.temporal_stride if own.HasField("temporal_stride") or own.HasField("kernel_depth") else own.stride
    p.stride_3d.extend([own.stride_d or along, own.stride_h or own.stride, own.stride_w or own.stride])
    ends = [(own.pad_d0, own.pad_d1), (own.pad_h0, own.pad_h1), (own.pad_w0, own.pad_w1)]
    if any(first != last for first, last in ends):
        raise ModelError(
            f"layer {layer.name!r}: pooling3d_param pads the two ends of an axis differently, which is not known"
        )
    p.pad_3d.extend(
        first or (own.pad if i or not own.HasField("kernel_depth") else 0) for i, (first, _) in enumerate(ends)
    )
    p.ceil_mode = own.ceil_mode or not (own.HasField("kernel_d") or own.HasField("ceil_mode"))
    layer.ClearField("pooling3d_param")


def _pooling_of_any_axes(layer: LayerParameter) -> None:
    """pooling_nd_param as pooling_param, whose fields have one number, or those of kernel_size_3d and so on several."""
    own, p = layer.pooling_nd_param, layer.pooling_param
    for field, value in own.ListFields():
        if field.name in ("kernel_size", "stride", "pad"):
            if len(value) == 1:
                setattr(p, field.name, value[0])
            else:
                getattr(p, f"{field.name}_3d").extend(value)
        elif field.name == "pool":
            p.pool = p.PoolMethod.Value(own.PoolMethod.Name(value))
        elif field.name != "engine":
            setattr(p, field.name, value)
    layer.ClearField("pooling_nd_param")


def _upgrade_pooling(layer: LayerParameter) -> str:
    """The type of a pooling layer, whose sizes are brought into one form: lists for volumes, _h and _w for two numbers."""
    p = layer.pooling_param
    for name, (short, along, usual) in _AXES.items():
        values = getattr(p, f"{name}_3d")
        if p.HasField(f"{short}_shape"):
            values[:] = _sizes(layer, p, f"{short}_shape")
            p.ClearField(f"{short}_shape")
        elif p.HasField("kernel_depth"):
            values[:] = [getattr(p, along), *[getattr(p, name) if p.HasField(name) else usual] * 2]
        if len(values) == 2 and layer.type.lower() != "pooling3d":
            setattr(p, f"{short}_h", values[0])
            setattr(p, f"{short}_w", values[1])
            p.ClearField(name)
            p.ClearField(f"{name}_3d")
    for name in ("kernel_depth", "temporal_stride", "temporal_pad"):
        p.ClearField(name)
    if not any(len(getattr(p, f"{name}_3d")) for name in _AXES) and layer.type.lower() != "pooling3d":
        return "Pooling"
    for name in _AXES:
        values = getattr(p, f"{name}_3d")
        if p.HasField(name) and not values:
            values.append(getattr(p, name))
        p.ClearField(name)
    return "Pooling3D"
