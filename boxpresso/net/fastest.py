"""In which precision a net is fastest on this machine: a plan in each, measured in turns."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from ..layers.core.lowering import bf16_available
from ..run.runner import Runner

if TYPE_CHECKING:
    from ..graph.quantization import Quantization

TURNS = 2
SECONDS = 0.3  # that the forwards of a precision take in each turn, about


def use(runner: Runner, precision: str, scales: Quantization | None) -> None:
    """Lets a plan run in "float32", "bf16" or "int8"."""
    runner.bf16 = precision == "bf16"
    runner.use_int8(scales.narrow(runner.source) if precision == "int8" and scales else None)
    runner.forget_plan()


def measure(runner: Runner, scales: Quantization | None) -> dict[str, float]:
    """{precision: the least milliseconds of a forward on what the inputs hold}, the fastest first; it is the one in use then.

    Only "float32", unmeasured (0.0), where a forward cannot be done several times over: with layers that read files, draw
    random numbers, or are Python; or where the layers run by themselves.

    Parameters
    ----------
    runner
        Of a net on the CPU.
    scales
        By which it runs in 8 bits; None without.
    """
    kinds = {"float32": float("inf")}
    if bf16_available(runner.device):
        kinds["bf16"] = float("inf")
    if scales is not None:
        kinds["int8"] = float("inf")
    if len(kinds) == 1 or any(layer.type != "Input" and not layer.repeatable for layer in runner.source.layers):
        use(runner, "float32", None)
        return {"float32": 0.0}
    for _ in range(TURNS):
        for kind in kinds:
            use(runner, kind, scales)
            if not runner.run(()):
                return {"float32": 0.0}
            end = perf_counter() + SECONDS
            for _ in range(20):
                start = perf_counter()
                runner.run(())
                now = perf_counter()
                kinds[kind] = min(kinds[kind], 1e3 * (now - start))
                if now > end:
                    break
    result = dict(sorted(kinds.items(), key=lambda item: item[1]))
    use(runner, next(iter(result)), scales)
    return result
