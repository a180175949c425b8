"""Attention that samples where queries say: multi-scale deformable attention."""

from __future__ import annotations

from typing import Any

from .operator import Plan, operator

LEVELS = ("spatial_shapes", "level_start_index")


@operator("value", *LEVELS, "sampling_locations", "attention_weights", constant=LEVELS, linear=("value", "attention_weights"))
def multi_scale_deformable_attn(
    value: Any, spatial_shapes: Any, level_start_index: Any, sampling_locations: Any, attention_weights: Any
) -> Plan:
    """Multi-scale deformable attention: for each query and head the weighted sum of bilinear samples of several maps.

    Parameters
    ----------
    value : (N, S, M, D): the pixels of all levels one after another, M heads of D channels.
    spatial_shapes : (L, 2), height and width of each level. level_start_index : (L,), the first pixel of each.
    sampling_locations : (N, Q, M, L, P, 2), x and y in parts of the level's width and height.
    attention_weights : (N, Q, M, L, P).

    Returns
    -------
    (N, Q, M D)

    Source
    ------
    Zhu et al. 2020 (Deformable DETR), as mmcv's function of that name; see the layer MultiScaleDeformableAttention.

    Examples
    --------
    >>> import numpy as np
    >>> value, place = np.arange(4, dtype=np.float32).reshape(1, 4, 1, 1), np.full((1, 1, 1, 1, 1, 2), 0.5, np.float32)
    >>> multi_scale_deformable_attn(value, [[2, 2]], [0], place, np.ones((1, 1, 1, 1, 1), np.float32)).item()
    1.5
    """
    return Plan("MultiScaleDeformableAttention", {}, remembers=False)
