"""A net and its weights, as the verbs that run one load them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..net import Net


def load(model: str, weights: str, **options: Any) -> Net:
    """A Net with its weights; `options` are further arguments of Net.

    Warns of layers for which the file has no weights. Raises ModelError when these are all.
    """
    from ..decoders import files

    return files.load(model, weights, **options)
