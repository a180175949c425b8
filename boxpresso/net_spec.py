"""NetSpec: nets written in Python, as pycaffe's NetSpec.

>>> from boxpresso import L, NetSpec, P
>>> n = NetSpec(name="small")
>>> n.data = L.Input(shape=dict(dim=[1, 3, 32, 32]))
>>> n.conv1 = L.Convolution(n.data, num_output=8, kernel_size=3, weight_filler=dict(type="xavier"))
>>> n.relu1 = L.ReLU(n.conv1, in_place=True)
>>> n.pool1 = L.Pooling(n.relu1, pool=P.Pooling.AVE, kernel_size=2, stride=2)
>>> [layer.name for layer in n.to_proto().layer]  # what Net takes; str(n) is the prototxt
['data', 'conv1', 'relu1', 'pool1']

A keyword is a field of the type's own message (`num_output` of convolution_param) or else of LayerParameter (`param`,
`include`, `transform_param`). Messages are dicts, repeated fields lists, or one value for a list of one; enums are names or
numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from .layers.core.catalogue import parameter_names
from .proto import LayerParameter, ModelError, NetParameter, boxpresso_pb2, nearest, to_text

# Words that mean the same for every type, whatever the type's own message calls its fields.
COMMON = ("name", "param", "blobs", "phase", "loss_weight", "propagate_down", "include", "exclude")


class Top:
    """One top of a layer, which further layers take as a bottom: top number `n` of the layer `fn`, in pycaffe's words."""

    def __init__(self, layer: Function, index: int) -> None:
        self.layer, self.index = self.fn, self.n = layer, index

    def to_proto(self) -> NetParameter:
        """The net of this blob: its layer and all that it needs, named after their types."""
        return to_net([self.layer], {})

    def __str__(self) -> str:
        return to_text(self.to_proto())


class Function:
    """A layer of a net under construction. Its fields are checked when it is created; it gets its name later.

    Attributes
    ----------
    type_name, inputs, params, tops, ntop, in_place
        As pycaffe's: the type, the bottoms, the fields, which may still be changed, and the tops.
    """

    top_class: ClassVar[type[Top]] = Top
    names_its_top: ClassVar[bool] = True  # whether a first top without a name has the layer's
    counts_bottoms: ClassVar[bool] = True  # whether in_place needs a bottom for each top

    def __init__(self, type: str, bottoms: tuple[Any, ...], ntop: int, in_place: bool, fields: dict[str, Any]) -> None:
        self.type, self.name, self.bottoms, self.in_place = type, fields.pop("name", ""), bottoms, in_place
        self.type_name, self.inputs, self.params, self.ntop = type, bottoms, fields, ntop
        if in_place and self.counts_bottoms and not 0 < ntop <= len(bottoms):
            raise ModelError(
                f"{self}: in_place means that its tops are its first bottoms; it has {len(bottoms)} and ntop={ntop}"
            )
        for bottom in bottoms:
            if not isinstance(bottom, (Top, str)):
                advice = (
                    "give them one by one" if isinstance(bottom, (tuple, list)) else "give a blob of this or its name"
                )
                raise ModelError(f"{self}: {bottom!r} is not a bottom; {advice}")
        self.tops = tuple(self.top_class(self, i) for i in range(ntop))
        self.message  # noqa: B018  # raises for what is wrong in the fields

    @property
    def message(self) -> LayerParameter:
        """The layer with its fields, without a name, bottoms and tops."""
        message = LayerParameter(type=self.type)
        for key, value in self.params.items():
            self.assign(message, key, value)
        return message

    def assign(self, message: LayerParameter, key: str, value: Any) -> None:
        """Puts one keyword where the schema has a field of its name."""
        own = parameter_names(self.type) if key not in COMMON else ()
        messages = LayerParameter.DESCRIPTOR.fields_by_name
        for name in own:
            if key in messages[name].message_type.fields_by_name:
                return set_field(getattr(message, name), key, value, f"{self}: {name}.{key}")
        if key in ("type", "bottom", "top") or key not in messages:
            fields = [field for name in own for field in messages[name].message_type.fields_by_name]
            where = " or ".join([*own, "LayerParameter"])
            raise ModelError(f"{self}: {where} has no field {key!r}{nearest(key, [*fields, *messages])}")
        set_field(message, key, value, f"{self}: {key}")

    def __str__(self) -> str:
        return f"{self.type} layer {self.name!r}" if self.name else f"{self.type} layer"


class Layers:
    """`L.Convolution(bottom, .., ntop=1, in_place=False, name=None, **fields)` describes a layer.

    It returns a Top, a tuple of `ntop` of them, or for ntop=0 the layer itself, which can get a name in a NetSpec too. A
    field is one of the type's own message, or else of LayerParameter. Raises ModelError for any other.

    >>> L.Pooling("data", kernel_size=2).to_proto().layer[0].pooling_param.kernel_size
    2
    """

    def __getattr__(self, type: str) -> Any:
        if type.startswith("__"):
            raise AttributeError(type)

        def make(*bottoms: Any, ntop: int = 1, in_place: bool = False, **fields: Any) -> Any:
            layer = Function(type, bottoms, ntop, in_place, fields)
            return layer.tops[0] if ntop == 1 else layer.tops if ntop else layer

        make.__name__ = make.__qualname__ = type
        return make


class Enums:
    """`P.Pooling.MAX`: the value of an enum of PoolingParameter; `P.TRAIN` and `P.TEST`.

    >>> P.Pooling.AVE, P.TEST
    (1, 1)
    """

    def __getattr__(self, name: str) -> Any:
        message = getattr(boxpresso_pb2, f"{name}Parameter", None) or getattr(boxpresso_pb2, name, None)
        if message is None:
            raise AttributeError(f"the schema has no message {name}Parameter")
        return message


L, P = Layers(), Enums()


class NetSpec:
    """A net under construction.

    Assigning a Top to an attribute (or an item, for names such as "res2a/relu") names the blob, and its layer where it has no
    `name`; layers come in the order of assignment, each after those that it needs. One name may be given to several layers
    if all of them have include or exclude rules, as the two data layers of a net for training and testing.

    Parameters
    ----------
    fields
        Of NetParameter, such as name="..." or force_backward=True.

    Raises
    ------
    ModelError
        For a field that the schema lacks, here and in `L.Type(..)`, with the nearest that it has.

    Source
    ------
    pycaffe's net_spec.

    Examples
    --------
    >>> n = NetSpec(force_backward=True)
    >>> n.x = L.Input(shape=dict(dim=[2]))
    >>> n["y/twice"] = L.Power(n.x, scale=2)
    >>> print(n, end="")
    force_backward: true
    layer {
      name: "x"
      type: "Input"
      top: "x"
      input_param {
        shape {
          dim: 2
        }
      }
    }
    layer {
      name: "y/twice"
      type: "Power"
      bottom: "x"
      top: "y/twice"
      power_param {
        scale: 2
      }
    }
    """

    _net: NetParameter
    _tops: dict[str, Top | Function]
    _layers: list[Function]  # layers, in order of assignment
    _names: dict[Top | Function, str]

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(_net=NetParameter(), _tops={}, _layers=[], _names={})
        for key, value in fields.items():
            set_field(self._net, key, value, f"NetSpec: {key}")

    def __setattr__(self, name: str, top: Top | Function) -> None:
        if not isinstance(top, (Top, Function)):
            raise ModelError(f"{name!r} is given {type(top).__name__}; a NetSpec takes what L.Type(..) returns")
        layer = top if isinstance(top, Function) else top.layer
        if name in self._tops and not (ruled(layer) and ruled(owner(self._tops[name]))):
            raise ModelError(
                f"{layer}: {name!r} is the name of {owner(self._tops[name])} already; `del` it or take another"
            )
        self._tops[name] = top
        self._names[top] = name
        if layer not in self._layers:
            self._layers.append(layer)

    def __getattr__(self, name: str) -> Top | Function:
        if name.startswith("__"):
            raise AttributeError(name)
        if name not in self._tops:
            raise ModelError(f"the NetSpec has no blob {name!r}{nearest(name, self._tops)}")
        return self._tops[name]

    def __delattr__(self, name: str) -> None:
        layer = owner(getattr(self, name))
        del self._names[self._tops.pop(name)]
        if layer in self._layers and layer not in map(owner, self._tops.values()):
            self._layers.remove(layer)

    __setitem__, __getitem__, __delitem__ = __setattr__, __getattr__, __delattr__

    def __contains__(self, name: str) -> bool:
        return name in self._tops

    def __iter__(self) -> Iterator[str]:
        return iter(self._tops)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._tops]

    def keys(self) -> list[str]:
        """The names that were assigned, in order; `net.keys()[-1]` is the last."""
        return list(self._tops)

    def vals(self) -> list[Top | Function]:
        """What was assigned, in order."""
        return list(self._tops.values())

    def update(self, name: str, params: Mapping[str, Any]) -> None:
        """Changes fields of the layer of a name.

        Parameters
        ----------
        name
            Of a blob of the net.
        params
            Fields and their new values.
        """
        layer = owner(getattr(self, name))
        before = layer.params
        layer.params = {**before, **params}
        try:
            layer.message  # noqa: B018  # raises for what is wrong
        except ModelError:
            layer.params = before
            raise

    def to_proto(self) -> NetParameter:
        """The net as a message.

        Returns
        -------
        NetParameter
            What Net takes; `str` of the NetSpec is its prototxt.

        Raises
        ------
        ModelError
            Where two layers or blobs would have one name.
        """
        net = NetParameter()
        net.CopyFrom(self._net)
        net.MergeFrom(to_net(self._layers, self._names))
        return net

    def __str__(self) -> str:
        return to_text(self.to_proto())


def ruled(layer: Function) -> bool:
    """Whether the layer has include or exclude rules."""
    return bool(layer.message.include or layer.message.exclude)


def owner(top: Top | Function) -> Function:
    """The layer of a top, or the layer itself."""
    return top if isinstance(top, Function) else top.layer


def to_net(layers: list[Function], names: dict[Top | Function, str]) -> NetParameter:
    """The layers and all that they need, in order. Layers without a name are called after their first blob, blobs without one
    after their type and a number, the first also after a layer that has one."""
    net, done = NetParameter(), dict[Function, LayerParameter]()
    taken = set(names.values())

    def automatic(type: str) -> str:
        number = next(i for i in range(1, len(taken) + 2) if f"{type}{i}" not in taken)
        taken.add(f"{type}{number}")
        return f"{type}{number}"

    def add(layer: Function) -> LayerParameter:
        bottoms = [b if isinstance(b, str) else done[b.layer].top[b.index] for b in layer.bottoms]
        if layer.in_place:
            tops, first = bottoms[: layer.ntop], names.get(layer.tops[0], "") if layer.tops else ""
        else:
            own = [layer.name if layer.names_its_top else "", *[""] * layer.ntop]
            tops = [names.get(top) or own[i] or automatic(layer.type) for i, top in enumerate(layer.tops)]
            first = tops[0] if tops else names.get(layer, "")
        message = net.layer.add(
            name=layer.name or first or automatic(layer.type), type=layer.type, bottom=bottoms, top=tops
        )
        message.MergeFrom(layer.message)
        return message

    for layer in layers:
        waiting = [layer]
        while waiting:  # a loop, not a recursion: nets are deeper than Python's stack likes
            missing = [b.layer for b in waiting[-1].bottoms if isinstance(b, Top) and b.layer not in done]
            if missing:
                waiting += reversed(missing)
            else:
                last = waiting.pop()
                if last not in done:
                    done[last] = add(last)
    refuse_doubles(done)
    return net


def refuse_doubles(layers: dict[Function, LayerParameter]) -> None:
    """Raises ModelError for two layers with one top, unless include and exclude rules may keep them apart."""
    owners: dict[str, Function] = {}
    for layer, message in layers.items():
        for top in message.top:
            if layer.in_place:
                continue
            before = owners.setdefault(top, layer)
            if before is not layer and not (ruled(before) and ruled(layer)):
                raise ModelError(f"{layer} ({message.name!r}) and {before} both have the top {top!r}; rename one")


# -- values ------------------------------------------------------------------------------------------------------------


def set_field(message: Message, name: str, value: Any, where: str) -> None:
    """message.name = value for dicts, lists, enums' names and numpy's numbers; `where` names it in errors."""
    field = message.DESCRIPTOR.fields_by_name.get(name)
    if field is None:
        known = message.DESCRIPTOR.fields_by_name
        raise ModelError(f"{where}: {message.DESCRIPTOR.name} has no field {name!r}{nearest(name, known)}")
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not repeated(message, name):
        if field.message_type:
            set_message(getattr(message, name), value, where)
        else:
            set_scalar(message, field, value, where)
        return
    values = list(value) if isinstance(value, (list, tuple, range)) else [value]
    for each in values:
        if field.message_type:
            set_message(getattr(message, name).add(), each, where)
        else:
            set_scalar(message, field, each, where)


def repeated(message: Message, name: str) -> bool:
    """Whether a field holds a list."""
    return hasattr(getattr(message, name), "extend")


def set_message(message: Message, value: Any, where: str) -> None:
    if isinstance(value, Message) and value.DESCRIPTOR is message.DESCRIPTOR:
        message.SetInParent()
        message.MergeFrom(value)
    elif isinstance(value, dict):  # an empty one is no message, as in pycaffe
        for key, each in value.items():
            set_field(message, key, each, f"{where}.{key}")
    else:
        raise ModelError(f"{where} is a message, a dict of its fields; got {value!r}")


def set_scalar(message: Message, field: FieldDescriptor, value: Any, where: str) -> None:
    value = value.item() if isinstance(value, np.generic) else value
    if field.enum_type and isinstance(value, str):
        known = field.enum_type.values_by_name
        if value not in known:
            raise ModelError(f"{where}: no value {value!r}{nearest(value, known) or ', only ' + ', '.join(known)}")
        value = known[value].number
    wrong = isinstance(value, bool) != (field.cpp_type == field.CPPTYPE_BOOL)
    try:
        if wrong:
            raise TypeError
        if repeated(message, field.name):
            getattr(message, field.name).append(value)
        else:
            setattr(message, field.name, value)
    except (TypeError, ValueError):
        kinds = {field.CPPTYPE_BOOL: "True or False", field.CPPTYPE_STRING: "a string", field.CPPTYPE_FLOAT: "a number"}
        kinds |= {field.CPPTYPE_DOUBLE: "a number", field.CPPTYPE_ENUM: "a value of its enum"}
        whole = "a whole number" + (" from 0" if field.cpp_type in (field.CPPTYPE_UINT32, field.CPPTYPE_UINT64) else "")
        raise ModelError(f"{where} takes {kinds.get(field.cpp_type, whole)}, got {value!r}") from None
