"""Our operators in the place of another library's: as kernels in torch's dispatcher, or as functions of its module of C++."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch

from ..proto.errors import BoxpressoError

Table = dict[str, Callable[..., Any]]


def kernel(table: Table) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Puts a function into a table, under its name; what it says of wrong arguments is a RuntimeError, as in torch."""

    def put(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def safe(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            except BoxpressoError as error:
                raise RuntimeError(str(error)) from error

        table[function.__name__] = safe
        return safe

    return put


class Extension(ModuleType):
    """A library's module of C++, where it is missing, with the functions of a table; any other is an error when called."""

    def __init__(self, name: str, functions: Table) -> None:
        super().__init__(name)
        self.functions = functions

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in self.functions:
            return self.functions[name]

        def missing(*args: Any, **kwargs: Any) -> Any:
            raise NotImplementedError(f"{self.__name__} cannot be imported here, and Boxpresso has no {name}")

        return missing


def alone(function: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel below autograd."""

    @functools.wraps(function)
    def without(*args: Any) -> Any:
        before = torch.is_grad_enabled()
        torch._C._set_grad_enabled(False)  # torch.no_grad() takes ten times as long
        try:
            return function(*args)
        finally:
            torch._C._set_grad_enabled(before)

    return without


def put_in(namespace: str, schemas: dict[str, str], forward: Table, others: Table) -> Callable[[], None]:
    """Makes functions the kernels of a namespace's operators, on the CPU, and on CUDA where torch has it.

    schemas: of the operators, for where the library that defines them could not be loaded. forward: functions with autograd;
    others: those without a gradient of their own. Gives the function that takes them back.
    """
    libraries: list[Any] = []
    known = {schema.name for schema in torch._C._jit_get_all_schemas()}
    missing = {name: schema for name, schema in schemas.items() if f"{namespace}::{name}" not in known}
    if missing:
        library = torch.library.Library(namespace, "FRAGMENT")
        for name, schema in missing.items():
            library.define(name + schema)
        libraries.append(library)
    library = torch.library.Library(namespace, "IMPL")
    libraries.append(library)
    devices = ["CPU", "CUDA"] if torch.cuda.is_available() else ["CPU"]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Warning only once for all operators")
        for device in devices:
            for name, function in (forward | others).items():
                library.impl(name, alone(function), device, allow_override=True)
            for name, function in forward.items():
                library.impl(name, function, f"Autograd{device}", allow_override=True)

    def back() -> None:
        for each in reversed(libraries):
            each._destroy()

    return back
