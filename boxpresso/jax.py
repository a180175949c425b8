"""The region operators for jax on the CPU.

    import boxpresso.jax as ops
    jax.grad(lambda x: ops.roi_align(x, rois, 7).sum())(x)

The functions are those of `boxpresso.ops`, with their arguments and defaults; docs/jax.md says what they can.
"""

from __future__ import annotations

from .ops.jax import *  # noqa: F403
from .ops.jax import __all__ as OPERATORS

__all__ = [*OPERATORS]
