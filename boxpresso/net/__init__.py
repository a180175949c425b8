"""From text to a Net that runs: prepare (phase rules, splits), net, gradients, weights; summaries and times of a net."""

from .net import Net

__all__ = ["Net"]
