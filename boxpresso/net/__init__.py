"""From text to a Net that runs: prepare (phase rules, splits), net, gradients, weights."""

from .net import Net

__all__ = ["Net"]
