"""The class statement of a layer declares the messages of a LayerParameter that its code reads: `param="pooling_param"`."""

from __future__ import annotations

import ast
import functools
import inspect
import sys
import textwrap
from types import FunctionType, ModuleType

import pytest

from boxpresso import Layer, LayerError
from boxpresso.layers.core import REGISTRY
from boxpresso.layers.core.catalogue import layer_types, parameter_names
from boxpresso.proto import LayerParameter

MESSAGES = {name for name in LayerParameter.DESCRIPTOR.fields_by_name if name.endswith(("_param", "_params"))}
OURS = [cls for cls in layer_types() if cls.__module__.startswith("boxpresso.")]


@functools.cache  # layers share their bases, and to find a class in its file takes milliseconds
def body_of(thing: type | FunctionType) -> ast.AST:
    return ast.parse(textwrap.dedent(inspect.getsource(thing))).body[0]


def is_param(node: ast.AST, owners: set[str]) -> bool:
    """Whether an expression is a layer's LayerParameter: `self.param`, `layer.param`, `self.layer.param`, or a class's argument `param`."""
    if isinstance(node, ast.Name):
        return node.id == "param" and "self" in owners
    if not (isinstance(node, ast.Attribute) and node.attr == "param"):
        return False
    owner = node.value
    return (isinstance(owner, ast.Name) and owner.id in owners) or (
        isinstance(owner, ast.Attribute) and owner.attr == "layer"
    )


def reads(body: ast.AST, owners: set[str]) -> list[str]:
    """The messages that a class or a function reads, in the order of its text."""
    names = []
    other = {id(argument) for call in ast.walk(body) if asks_other_message(call, owners) for argument in call.args}
    for node in ast.walk(body):
        name = ""
        if isinstance(node, ast.Attribute) and is_param(node.value, owners):
            name = node.attr
        elif isinstance(node, ast.Constant) and id(node) not in other and node.lineno > statement_end(body):
            name = node.value
        if name in MESSAGES:
            names.append((node.lineno, node.col_offset, name))
    return [name for _, _, name in sorted(names)]


def asks_other_message(call: ast.AST, owners: set[str]) -> bool:
    """Whether it is `message.HasField(..)` of another message than the LayerParameter."""
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr in ("HasField", "ClearField")
        and not is_param(call.func.value, owners)
    )


def statement_end(body: ast.AST) -> int:
    """The last line of `class ..(..):`, whose own words are what is declared, not what is read."""
    return body.body[0].lineno - 1 if isinstance(body, ast.ClassDef) else 0


def helpers(body: ast.AST, module: ModuleType) -> list[type | FunctionType]:
    """The functions and classes of this package, other than layers, that a body calls: `f(..)` or `module.f(..)`."""
    called = []
    for node in ast.walk(body):
        if not isinstance(node, ast.Call):
            continue
        function, scope = node.func, vars(module)
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            scope = vars(scope[function.value.id]) if isinstance(scope.get(function.value.id), ModuleType) else {}
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        called.append(scope.get(name))
    ours = [thing for thing in called if getattr(thing, "__module__", "").startswith("boxpresso.layers.")]
    return [t for t in ours if isinstance(t, FunctionType) or (isinstance(t, type) and not issubclass(t, Layer))]


@functools.cache
def messages_read(cls: type[Layer]) -> set[str]:
    """What the classes that a layer is made of, and the functions that they call, read of its LayerParameter."""
    names: set[str] = set()
    waiting: list[type | FunctionType] = [base for base in cls.__mro__ if issubclass(base, Layer) and base is not Layer]
    seen = set(waiting)
    while waiting:
        thing = waiting.pop()
        body = body_of(thing)
        names |= set(reads(body, {"self", "layer"} if thing in cls.__mro__ else {"layer"}))
        new = [each for each in helpers(body, sys.modules[thing.__module__]) if each not in seen]
        seen |= set(new)
        waiting += new
    return names


@pytest.mark.parametrize("cls", OURS, ids=lambda cls: cls.type)
def test_a_layer_declares_what_it_reads(cls):
    assert set(cls.messages) == messages_read(cls)


@pytest.mark.later
def test_most_layers_read_a_message():
    assert sum(bool(messages_read(cls)) for cls in OURS) > 90, "the reading of sources has become blind"
    assert messages_read(REGISTRY["pooling"]) == {"pooling_param"}
    assert messages_read(REGISTRY["rotateproposal"]) == {"proposal_param", "python_param"}  # by a base and a function


def test_the_message_of_the_type_comes_first():
    assert parameter_names("AnnotatedData") == ("annotated_data_param", "data_param", "transform_param")
    assert parameter_names("ReLU6") == ("relu6_param", "relu_param")
    assert parameter_names("Sigmoid") == ("sigmoid_param",)  # no number of it is read, yet old nets have it
    assert parameter_names("DeformRoIPool") == ("deform_roi_pooling_param",)


def test_a_class_takes_the_messages_of_its_base():
    from boxpresso.layers.dense.pooling import Pooling

    class MessageTestPooling(Pooling, type="MessageTestPooling", bottoms=1, tops=1):
        pass

    try:
        assert parameter_names("MessageTestPooling") == ("pooling_param",)
    finally:
        del REGISTRY["messagetestpooling"]


def test_a_message_that_the_schema_lacks_is_refused():
    with pytest.raises(LayerError, match=r"no message 'poolin_param'.*did you mean 'pooling_param'"):

        class Wrong(Layer, type="MessageTestWrong", param="poolin_param"):
            pass

    assert "messagetestwrong" not in REGISTRY
