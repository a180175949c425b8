"""Arrays of one element as numbers: numpy took them for that until 2.4, and scripts hand them to int, math and `%d`."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from .libraries import say

KINDS = ("int", "float", "complex", "long")
HELPERS = """
from boxpresso.caffe.one_element import call as _call_of_numbers, formatted as _formatted_numbers, put as _put_number
"""


def refused() -> bool:
    """Whether this numpy refuses them."""
    try:
        float(np.ones(1))
    except TypeError:
        return True
    return False


class Numbers(ast.NodeTransformer):
    """Makes the calls of int and its like and of math's functions, `text % values` and `array[i] = value` take such arrays."""

    def __init__(self) -> None:
        self.changed = False
        self.of_math: set[str] = set()  # names that the script takes out of math

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        if node.module == "math":
            self.of_math |= {alias.asname or alias.name for alias in node.names}
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        function = node.func
        named = isinstance(function, ast.Name) and (function.id in KINDS or function.id in self.of_math)
        owner = function.value if isinstance(function, ast.Attribute) else None
        of_math = isinstance(owner, ast.Name) and owner.id == "math"
        plain = node.args and not node.keywords and not any(isinstance(arg, ast.Starred) for arg in node.args)
        if not plain or not (named or of_math) or all(isinstance(arg, ast.Constant) for arg in node.args):
            return node
        return self.helper("_call_of_numbers", node, function, *node.args)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if (
            not isinstance(node.op, ast.Mod)
            or not isinstance(node.left, ast.Constant)
            or not isinstance(node.left.value, str)
        ):
            return node
        return self.helper("_formatted_numbers", node, node.left, node.right)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        target = node.targets[0]
        if len(node.targets) > 1 or not isinstance(target, ast.Subscript) or isinstance(node.value, ast.Constant):
            return node
        index = target.slice
        if any(isinstance(part, (ast.Slice, ast.Starred)) for part in ast.walk(index)):
            return node
        put = self.helper("_put_number", node, node.value, target.value, index)
        return ast.copy_location(ast.Expr(put), node)  # type: ignore[arg-type]

    def helper(self, name: str, node: ast.AST, *arguments: ast.expr) -> ast.AST:
        """A call of one of the functions below in the place of a node."""
        self.changed = True
        return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), list(arguments), []), node)


def number_of(value: Any) -> Any:
    """The number that a value is, if it is an array of one element; else the value."""
    single = isinstance(value, np.ndarray) and value.ndim > 0 and value.size == 1 and value.dtype.kind in "biufc"
    return value.item() if single else value


def call(function: Any, *values: Any) -> Any:
    """function(*values), where arrays of one element may stand for numbers.

    Examples
    --------
    >>> call(int, np.array([3.5])), call(int, "12", 3)
    (3, 5)
    """
    try:
        return function(*values)
    except TypeError:
        numbers = [number_of(value) for value in values]
        if all(a is b for a, b in zip(numbers, values)):
            raise
        result = function(*numbers)
    say(f"{getattr(function, '__name__', function)} takes an array of one element for its number")
    return result


class Shown:
    """An array of one element that `%` formats as its number or, by %s and %r, as an array."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __float__(self) -> float:
        return float(self.array.item())

    def __int__(self) -> int:
        return int(self.array.item())

    def __index__(self) -> int:
        return self.array.item().__index__()  # type: ignore[no-any-return]

    def __str__(self) -> str:
        return str(self.array)

    def __repr__(self) -> str:
        return repr(self.array)


def formatted(text: str, values: Any) -> Any:
    """text % values, where arrays of one element may stand for numbers.

    Examples
    --------
    >>> formatted("%d %.1f %s", (np.array([3]), np.array([[2.5]]), np.array([1])))
    '3 2.5 [1]'
    """
    try:
        return text % values
    except TypeError:
        many = values if isinstance(values, tuple) else (values,)
        shown = tuple(Shown(value) if number_of(value) is not value else value for value in many)
        if all(a is b for a, b in zip(shown, many)):
            raise
        result = text % shown
    say("% takes an array of one element for its number")
    return result


def put(value: Any, into: Any, index: Any) -> None:
    """into[index] = value, where an array of one element may stand for a number.

    Examples
    --------
    >>> numbers = np.zeros(2)
    >>> put(np.array([5.0]), numbers, 1)
    >>> numbers.tolist()
    [0.0, 5.0]
    """
    try:
        into[index] = value
    except (TypeError, ValueError):
        number = number_of(value)
        if number is value or not isinstance(into, np.ndarray):
            raise
        into[index] = number
        say("an element of an array takes an array of one element for its number")
