"""A net and its weights, as the verbs that run one load them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from ..proto.errors import BoxpressoWarning, ModelError
from .output import listed

if TYPE_CHECKING:
    from ..net import Net


def load(model: str, weights: str, **options: Any) -> Net:
    """A Net with its weights; `options` are further arguments of Net.

    Warns of layers for which the file has no weights. Raises ModelError when these are all.
    """
    from ..net import Net

    net = Net(model, **options)
    report = net.copy_from(weights)
    if report.missing and not report.matched:
        raise ModelError(f"{model} and {weights} do not belong together: no layer of one is in the other")
    if report.missing:
        message = f"{weights} has no weights for {listed(report.missing)} of {model}: results will be wrong"
        warnings.warn(message, BoxpressoWarning, stacklevel=2)
    return net
