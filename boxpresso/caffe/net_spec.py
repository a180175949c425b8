"""pycaffe's net_spec: `layers`, `params`, `NetSpec` and `to_proto`, as boxpresso.net_spec with pycaffe's freedoms.

A name may be assigned again, a layer may be given names of bottoms and tops as fields, True may be 1, and what `to_proto`
returns is a caffe_pb2.NetParameter.
"""

from __future__ import annotations

from typing import Any, cast

from ..net_spec import Enums, owner, to_net
from ..net_spec import Function as SpecFunction
from ..net_spec import NetSpec as SpecNet
from ..net_spec import Top as SpecTop
from ..proto import LayerParameter, ModelError, NetParameter
from .proto import caffe_pb2


def to_proto(*tops: Any) -> Any:
    """The caffe_pb2.NetParameter of some tops: their layers and all that these need, named after their types."""
    return caffe_message(to_net([owner(top) for top in tops], {}))


def caffe_message(net: NetParameter) -> Any:
    """A NetParameter as caffe_pb2 has it; both schemas have the same numbers."""
    return caffe_pb2.NetParameter.FromString(net.SerializeToString())


class Top(SpecTop):
    """One top of a layer: number `n` of the layer `fn`."""

    def to_proto(self) -> Any:
        """The net of this top."""
        return to_proto(self)


class Function(SpecFunction):
    """A layer of a net under construction: type_name, inputs, params, tops.

    Raises
    ------
    TypeError
        For an input that is not a Top.
    """

    top_class = Top
    names_its_top = False
    counts_bottoms = False  # in place without bottoms has no tops but those that the field `top` names

    def __init__(self, type_name: str, inputs: tuple[Any, ...], params: dict[str, Any]) -> None:
        for index, bottom in enumerate(inputs):
            if not isinstance(bottom, SpecTop):
                raise TypeError(f"{type_name} input {index} is not a Top (type is {type(bottom)})")
        fields = dict(params)
        ntop, in_place = int(fields.pop("ntop", 1)), bool(fields.pop("in_place", False))
        super().__init__(type_name, inputs, ntop, in_place, fields)

    def to_proto(self) -> Any:
        """The net of this layer."""
        return to_proto(self)

    def assign(self, message: LayerParameter, key: str, value: Any) -> None:
        before = LayerParameter()
        before.CopyFrom(message)
        try:
            super().assign(message, key, value)
        except ModelError as error:
            message.CopyFrom(before)
            try:
                assign_proto(self._home(message, key), key, value)
            except (TypeError, ValueError, AttributeError):
                raise error from None

    def _home(self, message: LayerParameter, key: str) -> Any:
        """The message that has a field: the type's own, or else the layer's."""
        name = _param_names.get(self.type_name)
        own = getattr(message, f"{name}_param") if name and not key.endswith("param") else None
        return own if own is not None and key in own.DESCRIPTOR.fields_by_name else message


class Layers:
    """`layers.Convolution(bottom, ..., ntop=1, in_place=False, **fields)` describes a layer and returns its Top or Tops."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def layer(*inputs: Any, **params: Any) -> Any:
            function = Function(name, inputs, params)
            return function.tops[0] if function.ntop == 1 else function.tops or function

        layer.__name__ = layer.__qualname__ = name
        return layer


class Parameters:
    """`params.Pooling.MAX`: the value of an enum of PoolingParameter."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(caffe_pb2, f"{name}Parameter", None) or getattr(Enums(), name)


class NetSpec(SpecNet):
    """A net under construction; assigning a Top to an attribute or an item names its blob, and its layer.

    Examples
    --------
    >>> from boxpresso.caffe import NetSpec, layers as L
    >>> n = NetSpec()
    >>> n.data = L.Input(shape=dict(dim=[1, 3]))
    >>> n.fc = L.InnerProduct(n.data, num_output=2)
    >>> n.keys(), n.fc.fn.type_name, [layer.name for layer in n.to_proto().layer]
    (['data', 'fc'], 'InnerProduct', ['data', 'fc'])
    """

    def __init__(self) -> None:
        super().__init__()

    def __setattr__(self, name: str, top: Any) -> None:
        self._tops[name] = top

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name not in self._tops:
            raise KeyError(name)  # as in pycaffe
        return self._tops[name]

    def __delattr__(self, name: str) -> None:
        del self._tops[name]

    __setitem__, __getitem__, __delitem__ = __setattr__, __getattr__, __delattr__

    @property
    def tops(self) -> dict[str, Any]:
        """{name: what was assigned}, which may be changed."""
        return cast("dict[str, Any]", self._tops)

    def to_proto(self) -> Any:
        """The net as a caffe_pb2.NetParameter; its str is the prototxt."""
        layers = list(dict.fromkeys(owner(top) for top in self._tops.values()))
        return caffe_message(to_net(layers, {top: name for name, top in self._tops.items()}))

    def __str__(self) -> str:
        return str(self.to_proto())


def assign_proto(proto: Any, name: str, val: Any) -> None:
    """proto.name = val, where a list fills a repeated field, one value makes a list of one, and a dict fills a message.
    True is 1 for a number or an enum, as protobuf took it until its fourth version."""
    field, about = getattr(proto, name), proto.DESCRIPTOR.fields_by_name[name]

    def plain(value: Any) -> Any:
        number = isinstance(value, bool) and about.cpp_type not in (about.CPPTYPE_BOOL, about.CPPTYPE_STRING)
        return int(value) if number else value

    if hasattr(field, "extend"):
        for each in val if isinstance(val, (list, tuple)) else [val]:
            if isinstance(each, dict):
                item = field.add()
                for key, value in each.items():
                    assign_proto(item, key, value)
            else:
                field.append(plain(each))
    elif isinstance(val, dict):
        for key, value in val.items():
            assign_proto(field, key, value)
    else:
        setattr(proto, name, plain(val))


def param_name_dict() -> dict[str, str]:
    """{layer type: the name of its message without _param}, as {"Convolution": "convolution"}; the first of several."""
    fields = caffe_pb2.LayerParameter.DESCRIPTOR.fields
    messages = [f for f in fields if f.name.endswith("_param") and f.message_type is not None]
    return {f.message_type.name.removesuffix("Parameter"): f.name.removesuffix("_param") for f in reversed(messages)}


_param_names = param_name_dict()
layers = Layers()
params = Parameters()
