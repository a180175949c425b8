"""What layers are made of: the Layer base and its registry, fillers, and what several families share.

Read layer.py first.
"""

from .filler import fill
from .layer import REGISTRY, Layer
from .registry import check_arity, discover, layer_class, make_layer, traits_of
from .run import run_layer
from .traits import Trait

__all__ = [
    "REGISTRY",
    "Layer",
    "Trait",
    "check_arity",
    "discover",
    "fill",
    "layer_class",
    "make_layer",
    "run_layer",
    "traits_of",
]
