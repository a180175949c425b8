"""What operators are called with, which kernels they launch and how long they take, by Python's logging.

BOXPRESSO_LOG=info or debug asks for it. Without it nothing here is called: functions are wrapped once, when boxpresso.ops is
imported.
"""

from __future__ import annotations

import functools
import logging
import os
import time
from collections.abc import Callable, Iterable
from typing import Any

from ..device.cuda import Cuda
from ..device.host import Cpu
from ..device.tape import HostTape, Tape
from ..proto.errors import BoxpressoError
from .operator import Call, Operator

LOGGER = logging.getLogger("boxpresso.ops")
LEVELS = {"info": logging.INFO, "debug": logging.DEBUG}


def shown(value: Any) -> str:
    """An argument in a line: an array by its shape and dtype."""
    if isinstance(value, (list, tuple)) and value and hasattr(value[0], "shape"):
        return f"[{', '.join(map(shown, value))}]"
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"{tuple(value.shape)} {str(value.dtype).removeprefix('torch.')}"
    return repr(value)


def logged(name: str, said: str, work: Callable[[], Any]) -> Any:
    """What `work` gives, with a line before it and one behind it."""
    LOGGER.info("%s: %s", name, said)
    start = time.perf_counter()
    try:
        result = work()
    except BaseException as error:
        LOGGER.info("%s: %s after %.3f ms", name, type(error).__name__, (time.perf_counter() - start) * 1e3)
        raise
    LOGGER.info("%s: gave %s after %.3f ms", name, shown(result), (time.perf_counter() - start) * 1e3)
    return result


def wrapped_call(function: Callable[..., Any], subject: str) -> Callable[..., Any]:
    """Call.forward or Call.backward with lines."""

    @functools.wraps(function)
    def wrapper(call: Call, *args: Any, **kwargs: Any) -> Any:
        names = zip(call.op.inputs, call.inputs)
        parts = [f"{n} {shown(a)}" for n, a in names] + [f"{n}={v!r}" for n, v in call.options.items()]
        name: str = call.op.__name__  # type: ignore[attr-defined]
        said = f"{', '.join(parts)}; by {call.layer.type} on {call.device.name}"
        return logged(name + subject, said, lambda: function(call, *args, **kwargs))

    return wrapper


def wrapped(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is no Operator with lines."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        said = ", ".join([*map(shown, args), *(f"{n}={shown(v)}" for n, v in kwargs.items())])
        return logged(name, said, lambda: function(*args, **kwargs))

    return wrapper


def wrapped_launch(function: Callable[..., Any]) -> Callable[..., Any]:
    """A device's launch with a line."""

    @functools.wraps(function)
    def wrapper(device: Any, kernel: Any, real: Any, args: Any) -> Any:
        LOGGER.debug("  %s, n=%s, %s", kernel, args[0], real)
        return function(device, kernel, real, args)

    return wrapper


def wrapped_play(function: Callable[..., Any]) -> Callable[..., Any]:
    """A tape's play with a line."""

    @functools.wraps(function)
    def wrapper(tape: Any, addresses: Any) -> Any:
        names = [str(launch[0]) for launch in tape.launches] if isinstance(tape, HostTape) else [len(tape.launches)]
        LOGGER.debug("  launches of the call before again: %s", ", ".join(map(str, names)))
        return function(tape, addresses)

    return wrapper


def start(functions: dict[str, Any], names: Iterable[str]) -> None:
    """Wraps what is to be logged, where BOXPRESSO_LOG asks for it.

    functions: those of boxpresso.ops, by name. Raises BoxpressoError for another word than info and debug.
    """
    wanted = os.environ.get("BOXPRESSO_LOG", "")
    if not wanted:
        return
    if wanted not in LEVELS:
        raise BoxpressoError(f"BOXPRESSO_LOG must be info or debug, got {wanted!r}")
    LOGGER.setLevel(LEVELS[wanted])
    if not LOGGER.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(levelname)s %(name)s %(message)s"))
        LOGGER.addHandler(handler)
    one: Any = Call
    one.forward, one.backward = wrapped_call(Call.forward, ""), wrapped_call(Call.backward, "_backward")
    for name in names:
        function = functions[name]
        if not isinstance(function, Operator) and getattr(function, "__func__", None) is not Operator.backward:
            functions[name] = wrapped(name, function)
    if wanted == "debug":
        for device in (Cpu, Cuda):
            kind: Any = device
            kind.launch = wrapped_launch(kind.launch)
        for tape in (HostTape, Tape):
            kind = tape
            kind.play = wrapped_play(kind.play)
