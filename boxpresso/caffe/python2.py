"""Python 2 scripts under Python 3: told apart, converted by lib2to3 or fissix, with Python 2's division and rounding.

Most scripts for pycaffe are Python 2. A file counts as such if Python 3 cannot compile it, or if it uses a name or a module
that Python 3 has no more and that it does not define itself. When the main script is one, so is all that it imports from
outside the installed packages.
"""

from __future__ import annotations

import ast
import importlib.util
import math
import operator
import re
import sys
import sysconfig
import types
import warnings
from collections.abc import Sequence
from functools import cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from typing import Any

import numpy as np

from ..proto.errors import BoxpressoError
from . import one_element, text2
from .generated import renewed
from .legacy import wanted

NAMES = {"basestring", "execfile", "long", "raw_input", "reduce", "unichr", "unicode", "xrange"}
METHODS = {"has_key", "iteritems", "iterkeys", "itervalues"}
MODULES = {
    "ConfigParser", "Queue", "StringIO", "Tkinter", "__builtin__", "cPickle", "cStringIO", "commands", "httplib", "thread",
    "urllib2", "urlparse", "Image", "ImageDraw", "ImageFont",
}  # fmt: skip
HELPERS = """
from boxpresso.caffe.python2 import compare as _compare2, divide as _divide2, divide_in_place as _divide_in_place2
from boxpresso.caffe.python2 import bound as _bound2, round2 as round
from boxpresso.caffe.python2 import cmp, following as next
from boxpresso.caffe.builtins2 import filter, map, max, min, sorted, sort as _sort2
from boxpresso.caffe.builtins2 import ceil as _ceil2, floor as _floor2, message as _message2, parts as _parts2, rich as _rich2
from boxpresso.caffe.text2 import binary as _binary2
from functools import cmp_to_key as _cmp_to_key2
"""
BYTES = """
from boxpresso.caffe.text2 import call as _call2, decode as _decode2, encode as _encode2, set_to as _set2
from boxpresso.caffe.text2 import is_instance as isinstance, open_file as open, open_file as file
"""
FRAMES = (
    "inspect",
    "sys",
    "warnings",
    "logging",
    "pdb",
    "plt",
    "pylab",
)  # whose functions look at who calls them, or draw
NEW = (
    ast.AnnAssign, ast.AsyncFor, ast.AsyncFunctionDef, ast.AsyncWith, ast.JoinedStr, ast.MatMult, ast.NamedExpr, ast.Nonlocal,
    ast.YieldFrom,
)  # fmt: skip
# What the converter changes by itself: names of modules that legacy.py gives back, and builtins that builtins2 has
LEFT = ("fix_filter", "fix_map")
GIVEN_BACK = ("fix_itertools", "fix_itertools_imports", "fix_types")
RENAMED = {"__div__": "__truediv__", "__rdiv__": "__rtruediv__", "__idiv__": "__itruediv__"}
COMPARING = ("__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__")
FLOATS = ("ceil", "floor")  # of math, which gave floats
ORDER: dict[type[ast.cmpop], str] = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge"}
SAME: dict[type[ast.cmpop], str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
}  # with a list that is written there, as `boxes == []`


class _State:
    """How files are told apart: None by themselves, True all are Python 2, False none."""

    forced: bool | None = None


# Telling


def is_python2(text: str) -> bool:
    """Whether a text is Python 2.

    Examples
    --------
    >>> is_python2("print 'x'"), is_python2("print('x')"), is_python2("for i in xrange(3): pass")
    (True, False, True)
    >>> is_python2("xrange = range\\nfor i in xrange(3): pass")  # written for both
    False
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return parses_as_python2(text)
    defined = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    guarded = {id(inner) for node in ast.walk(tree) if isinstance(node, ast.Try) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            defined |= {alias.asname or alias.name for alias in node.names}
        if isinstance(node, ast.Try) and node.handlers and all(map(imports_old, branches(node))):
            return True
    return any(is_mark(node, defined) for node in ast.walk(tree) if id(node) not in guarded)


def branches(node: ast.Try) -> list[list[ast.stmt]]:
    """What a try does, and what it does after each exception."""
    return [node.body, *[handler.body for handler in node.handlers]]


def imports_old(branch: Sequence[ast.stmt]) -> bool:
    """Whether a branch itself imports what only Python 2 has: where all of a try do, there is none for Python 3."""
    return any(isinstance(node, (ast.Import, ast.ImportFrom)) and is_mark(node, set()) for node in branch)


def needs_python3(text: str) -> bool:
    """Whether a text has what only Python 3 has, so that it is none of a Python 2 project's own files.

    Examples
    --------
    >>> needs_python3("def f(x: int): pass"), needs_python3("f'{x}'"), needs_python3("def f(x): print(x)")
    (True, True, False)
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError):
        return False
    for node in nodes:
        if isinstance(node, NEW) or (isinstance(node, ast.Raise) and node.cause is not None):
            return True
        if isinstance(node, ast.arguments) and node.kwonlyargs:
            return True
        if isinstance(node, ast.arg) and node.annotation is not None:
            return True
        if isinstance(node, ast.FunctionDef) and node.returns is not None:
            return True
    return False


def is_mark(node: ast.AST, defined: set[str]) -> bool:
    """Whether a piece of code would fail in Python 3, or mean something else."""
    if isinstance(node, ast.Name):
        return node.id in NAMES and node.id not in defined
    if isinstance(node, ast.Attribute):
        printed = isinstance(node.value, ast.Call) and is_print(node.value)
        return printed or (node.attr in METHODS and not (isinstance(node.value, ast.Name) and node.value.id == "six"))
    if isinstance(node, ast.BinOp):  # print ("%d") % 3
        return isinstance(node.left, ast.Call) and is_print(node.left)
    if isinstance(node, ast.Expr):  # a bare `print`
        return isinstance(node.value, ast.Name) and node.value.id == "print"
    if isinstance(node, ast.Import):
        return any(alias.name.split(".")[0] in MODULES for alias in node.names)
    return isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").split(".")[0] in MODULES


def is_print(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id == "print"


def parses_as_python2(text: str) -> bool:
    """Whether the converter can read what Python 3 cannot; without a converter, whether it has a print statement."""
    if not converter_name():
        return re.search(r"^\s*(print +[^(=\s]|except [\w., ()]+, *\w+:|exec +[^(=\s])", text, re.MULTILINE) is not None
    try:
        refactor(text, "<text>")
    except BoxpressoError:
        return False
    return True


# Converting


def converter_name() -> str | None:
    """The package that converts: lib2to3, which Python had until 3.12, or fissix, its successor; None for neither."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("lib2to3", "fissix"):
            if importlib.util.find_spec(name) is not None:
                return name
    return None


@cache
def converter(main: bool) -> Any:
    """The converter with its standard rules; a main script, or a module that is in no package, has no relative imports."""
    name = converter_name()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        refactoring = importlib.import_module(f"{name}.refactor")
        rules = refactoring.get_fixers_from_package(f"{name}.fixes")
        passed_over = [*LEFT, *(GIVEN_BACK if wanted() else ()), *(["fix_import"] if main else ())]
        return refactoring.RefactoringTool([rule for rule in rules if rule.rpartition(".")[2] not in passed_over])


def refactor(text: str, path: str, main: bool = True) -> str:
    """A Python 2 text in Python 3's grammar.

    Raises
    ------
    BoxpressoError
        Without a converter, and for a text that it cannot read.
    """
    if not converter_name():
        raise BoxpressoError(
            f"{path} is Python 2, and this Python ({sys.version_info[0]}.{sys.version_info[1]}) has no converter: "
            "pip install fissix, or run it with Python 3.10 to 3.12, which have lib2to3"
        )
    text = re.sub(r"^[ \t]+", lambda match: match[0].expandtabs(8), text, flags=re.MULTILINE)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return str(converter(main).refactor_string(text if text.endswith("\n") else text + "\n", path))
    except Exception as error:  # the converter has errors of its own for its tokens, its grammar and its rules
        raise BoxpressoError(f"{path} is neither Python 3 nor Python 2 that can be converted: {error}") from None


class Operators(ast.NodeTransformer):
    """Makes `/` and `<` those of Python 2, bounds of slices whole numbers, `array.tostring()` tobytes, and files that are
    pickled binary ones."""

    def __init__(self, true_division: bool, bytes: bool) -> None:
        self.true_division, self.bytes = true_division, bytes
        self.imported: set[str] = set()  # names that the script takes out of modules
        self.math = {"math"}  # what it calls that module
        self.caught: list[str] = []  # names of the exceptions that are handled where it is read

    def visit_Import(self, node: ast.Import) -> ast.AST:
        self.math |= {alias.asname for alias in node.names if alias.name == "math" and alias.asname}
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        if node.module == "math" and (floats := [alias for alias in node.names if alias.name in FLOATS]):
            node.names = [alias for alias in node.names if alias not in floats]
            ours = ast.copy_location(ast.ImportFrom("boxpresso.caffe.builtins2", floats, 0), node)
            return [ours, node] if node.names else ours
        if self.bytes and node.module == "io" and [alias.name for alias in node.names] == ["StringIO"]:
            node.module, node.names = "boxpresso.caffe.text2", [ast.alias("Buffer", node.names[0].asname or "StringIO")]
        if node.module != "__future__":
            self.imported |= {alias.asname or alias.name for alias in node.names}
        return node

    def at_border(self, node: ast.Call, function: ast.Attribute) -> ast.AST:
        """A call of a method or of a module's function, where text may be bytes (text2.py)."""
        owner = function.value
        if function.attr in ("encode", "decode"):
            name, first = f"_{function.attr}2", owner
        elif isinstance(owner, ast.Name) and owner.id in FRAMES:
            return node
        else:
            name, first = "_call2", function
        return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), [first, *node.args], node.keywords), node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.value, ast.Name) or not isinstance(node.ctx, ast.Load):
            return node
        if node.value.id in self.math and node.attr in FLOATS:
            return ast.copy_location(ast.Name(f"_{node.attr}2", ast.Load()), node)
        if node.value.id in self.caught and node.attr == "message":
            return ast.copy_location(ast.Call(ast.Name("_message2", ast.Load()), [node.value], []), node)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id in self.caught and isinstance(node.ctx, ast.Load):
            node.value = ast.copy_location(ast.Call(ast.Name("_parts2", ast.Load()), [node.value], []), node)
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        self.caught.append(node.name or "")
        self.generic_visit(node)
        self.caught.pop()
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.generic_visit(node)
        methods = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
        lines = [f"{new} = {old}" for old, new in RENAMED.items() if old in methods and new not in methods]
        if "__cmp__" in methods and not methods.intersection(COMPARING):
            lines += [f"{', '.join(COMPARING)} = _rich2(__cmp__)"]
            lines += ["__hash__ = object.__hash__"] if "__hash__" not in methods else []
        node.body += ast.parse("\n".join(lines)).body
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        target = node.targets[0]
        if not self.bytes or len(node.targets) > 1 or not isinstance(target, ast.Attribute):
            return node
        if isinstance(target.value, ast.Name) and target.value.id == "self":
            return node  # of the script's own, which takes anything; its name may be private
        args = [target.value, ast.Constant(target.attr), node.value]
        return ast.copy_location(ast.Expr(ast.Call(ast.Name("_set2", ast.Load()), args, [])), node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        kinds = {**ORDER, **SAME} if any(isinstance(n, ast.List) for n in (node.left, node.comparators[0])) else ORDER
        if len(node.ops) > 1 or type(node.ops[0]) not in kinds:
            return node
        name = ast.Constant(kinds[type(node.ops[0])])
        call = ast.Call(ast.Name("_compare2", ast.Load()), [name, node.left, node.comparators[0]], [])
        return ast.copy_location(call, node)

    def visit_Slice(self, node: ast.Slice) -> ast.AST:
        self.generic_visit(node)
        for name in ("lower", "upper", "step"):
            value = getattr(node, name)
            if value is not None and not isinstance(value, ast.Constant):
                setattr(node, name, ast.copy_location(ast.Call(ast.Name("_bound2", ast.Load()), [value], []), value))
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if self.true_division or not isinstance(node.op, ast.Div):
            return node
        call = ast.Call(ast.Name("_divide2", ast.Load()), [node.left, node.right], [])
        return ast.copy_location(call, node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if self.true_division or not isinstance(node.op, ast.Div):
            return node
        old = ast.parse(ast.unparse(node.target), mode="eval").body
        call = ast.Call(ast.Name("_divide_in_place2", ast.Load()), [old, node.value], [])
        return ast.copy_location(ast.Assign([node.target], call), node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        rename_tostring(node)
        for keyword in node.keywords:  # sorted(.., cmp=f) and .sort(cmp=f)
            if keyword.arg == "cmp":
                keyword.arg = "key"
                keyword.value = ast.Call(ast.Name("_cmp_to_key2", ast.Load()), [keyword.value], [])
        method = node.func if isinstance(node.func, ast.Attribute) else None
        if method and method.attr == "next" and not node.args and not node.keywords:
            return ast.copy_location(ast.Call(ast.Name("next", ast.Load()), [method.value], []), node)
        if method and method.attr == "sort" and len(node.args) < 2:
            call = ast.Call(ast.Name("_sort2", ast.Load()), [method.value, *node.args], node.keywords)
            return ast.copy_location(call, node)
        if self.bytes and method and not is_pickle(node):
            return self.at_border(node, method)
        if self.bytes and isinstance(node.func, ast.Name) and node.func.id in self.imported:
            return ast.copy_location(
                ast.Call(ast.Name("_call2", ast.Load()), [node.func, *node.args], node.keywords), node
            )
        if is_pickle(node):
            at = 0 if node.func.attr == "load" else 1  # type: ignore[attr-defined]
            if len(node.args) > at:
                node.args[at] = ast.Call(ast.Name("_binary2", ast.Load()), [node.args[at]], [])
            if not at and not node.keywords:  # what Python 2 has pickled
                node.keywords = [ast.keyword("encoding", ast.Constant("latin1"))]
        return node


def rename_tostring(node: ast.AST) -> None:
    """Makes a call of `array.tostring()`, which numpy has dropped, one of tobytes; others, as ElementTree's, have arguments."""
    call = node if isinstance(node, ast.Call) and not node.args + node.keywords else None
    if call and isinstance(call.func, ast.Attribute) and call.func.attr == "tostring":
        call.func.attr = "tobytes"


def python3_tree(text: str, path: str) -> ast.Module:
    """The tree of a Python 3 text, with tobytes for `array.tostring()` unless the text defines such a method itself."""
    tree = ast.parse(text, path)
    if ".tostring()" in text and "def tostring" not in text:
        for node in ast.walk(tree):
            rename_tostring(node)
    return ast.fix_missing_locations(tree) if take_one_element(tree) else tree


def take_one_element(tree: ast.Module) -> bool:
    """Makes a tree take arrays of one element for numbers, where this numpy does not; whether anything was changed."""
    if not (wanted() and one_element.refused()):
        return False
    numbers = one_element.Numbers()
    numbers.visit(tree)
    if numbers.changed:
        begin_with(tree, one_element.HELPERS)
    return numbers.changed


def begin_with(tree: ast.Module, text: str) -> None:
    """Puts lines into a module, behind its docstring and what it takes from __future__."""
    start = 0
    for start, node in enumerate(tree.body):  # noqa: B007
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not docstring and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            break
    tree.body[start:start] = ast.parse(text).body


def is_pickle(node: ast.Call) -> bool:
    """Whether this is a call of pickle's load or dump; the converter has named cPickle pickle."""
    at = node.func
    return (
        isinstance(at, ast.Attribute)
        and at.attr in ("load", "dump")
        and isinstance(at.value, ast.Name)
        and at.value.id in ("pickle", "cPickle")
    )


def convert(text: str, path: str, main: bool) -> ast.Module:
    """A Python 2 text as a module of Python 3.

    Raises
    ------
    BoxpressoError
        When that cannot be.
    """
    converted = refactor(text, path, main)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(converted, path)
    except SyntaxError as error:
        raise BoxpressoError(f"{path} was converted from Python 2, but line {error.lineno}: {error.msg}") from None
    true_division = re.search(r"^from __future__ import .*\bdivision\b", text, re.MULTILINE) is not None
    bytes_too = text2.active()
    take_one_element(tree)
    Operators(true_division, bytes_too).visit(tree)
    begin_with(tree, HELPERS + BYTES * bytes_too)
    return ast.fix_missing_locations(tree)


def compile_source(data: bytes, path: str, main: bool = False, alone: bool = False) -> types.CodeType:
    """The code of a file, converted if it is Python 2.

    Parameters
    ----------
    data, path
        What is in the file, and its name.
    main
        Whether it is the script that runs.
    alone
        Whether it is a module in no package, whose imports are never relative, whatever lies beside it.

    Raises
    ------
    BoxpressoError
        For Python 2 that cannot be converted.
    SyntaxError
        For what is no Python at all.
    """
    try:
        text = importlib.util.decode_source(data)
    except (UnicodeDecodeError, SyntaxError):
        text = data.decode("latin-1")
    text = renewed(text)
    old = is_python2(text) if _State.forced is None else _State.forced and not needs_python3(text)
    if main and _State.forced is None and old:
        _State.forced = True
    if not old:
        return compile(python3_tree(text, path), path, "exec", dont_inherit=True)
    try:
        tree = convert(text, path, main or alone)
    except BoxpressoError:
        if main or is_python2(text):
            raise
        return compile(python3_tree(text, path), path, "exec", dont_inherit=True)
    return compile(tree, path, "exec", dont_inherit=True)


# Importing


class UserLoader(SourceFileLoader):
    """Loads a module of the user, converted if it is Python 2; its byte code is not kept in files."""

    def get_code(self, fullname: str) -> types.CodeType:
        path = self.get_filename(fullname)
        alone = "." not in fullname and not self.is_package(fullname)
        return compile_source(self.get_data(path), path, alone=alone)


class UserFinder(MetaPathFinder):
    """Finds the user's own modules, which are not in the folders of Python and its packages."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path)
        if spec is None or not isinstance(spec.loader, SourceFileLoader) or not spec.origin:
            return None
        if any(Path(spec.origin).resolve().is_relative_to(folder) for folder in installed()):
            return None
        spec.loader = UserLoader(fullname, spec.origin)
        return spec


@cache
def installed() -> tuple[Path, ...]:
    """The folders of Python, of its packages, and of Boxpresso: also those on the path that pip has written to (--target)."""
    folders = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    packages = [
        folder
        for folder in sys.path
        if folder and (Path(folder).name in ("site-packages", "dist-packages") or any(Path(folder).glob("*.dist-info")))
    ]
    return tuple(Path(f).resolve() for f in [*folders, *packages, str(Path(__file__).parents[1])] if f)


def install(forced: bool | None = None) -> None:
    """Converts the user's modules while they are imported, from now on.

    Parameters
    ----------
    forced
        True if all of them are Python 2, False if none is; None tells them apart.
    """
    _State.forced = forced
    installed()  # before the finder is there, as sysconfig imports modules
    if not any(isinstance(finder, UserFinder) for finder in sys.meta_path):
        place = next((i for i, finder in enumerate(sys.meta_path) if finder is PathFinder), len(sys.meta_path))
        sys.meta_path.insert(place, UserFinder())


# What converted files call


def whole(value: Any) -> bool:
    """Whether Python 2 divides a value as a whole number."""
    dtype = getattr(value, "dtype", None)
    return isinstance(value, (int, np.integer)) or (isinstance(dtype, np.dtype) and dtype.kind in "iub")


def divide(a: Any, b: Any) -> Any:
    """a / b of Python 2: rounded down for two whole numbers.

    Examples
    --------
    >>> divide(7, 2), divide(7.0, 2)
    (3, 3.5)
    """
    return a // b if whole(a) and whole(b) else a / b


def divide_in_place(a: Any, b: Any) -> Any:
    """a /= b of Python 2."""
    if whole(a) and whole(b):
        a //= b
    else:
        a /= b
    return a


def bound(value: Any) -> Any:
    """A bound of a slice; numpy took 3.0 for 3 until 2016.

    Examples
    --------
    >>> bound(3.0), bound(None), bound(2)
    (3, None, 2)
    """
    return int(value) if isinstance(value, (float, np.floating)) and value == int(value) else value


def compare(name: str, a: Any, b: Any) -> Any:
    """a < b, or by `name` another order, of Python 2: None is least, then numbers, then all else by the name of its type.

    With "eq" and "ne", arrays whose shapes do not fit are not equal, as numpy had it until 2023.

    Examples
    --------
    >>> compare("lt", None, 3), compare("gt", len, 0), compare("ge", 2, 3), compare("eq", np.zeros((2, 5)), [])
    (True, True, False, False)
    """
    order = getattr(operator, name)
    try:
        return order(a, b)
    except TypeError:
        return order(rank(a), rank(b))
    except ValueError:
        if name not in SAME.values():
            raise
        return name == "ne"


def rank(value: Any) -> tuple[int, str]:
    """What Python 2 orders values of different types by."""
    return (0, "") if value is None else (1, "") if isinstance(value, (int, float)) else (2, type(value).__name__)


def cmp(a: Any, b: Any) -> int:
    """cmp of Python 2: -1, 0 or 1.

    >>> cmp(1, 2), cmp("b", "a"), cmp(None, 0)
    (-1, 1, -1)
    """
    return int(compare("gt", a, b)) - int(compare("lt", a, b))


def following(of: Any, *default: Any) -> Any:
    """next, which the converter makes of every `x.next()`; of what is no iterator, as an lmdb cursor, the method of that name.

    Examples
    --------
    >>> class Cursor:
    ...     def next(self):
    ...         return True
    >>> following(Cursor()), following(iter([1])), following(iter([]), 2)
    (True, 1, 2)
    """
    if not default and not hasattr(type(of), "__next__") and callable(method := getattr(of, "next", None)):
        return method()
    return next(of, *default)


def round2(number: Any, ndigits: int = 0) -> float:
    """round of Python 2: a float, and halves are rounded away from zero. Arrays of one element are numbers, as numpy had it.

    Examples
    --------
    >>> round2(2.5), round2(-0.5), round2(1.25, 1), round2(np.array([[2.5]]))
    (3.0, -1.0, 1.3, 3.0)
    """
    scale, value = 10.0**ndigits, float(one_element.number_of(number))
    return math.copysign(math.floor(abs(value) * scale + 0.5) / scale, value)
