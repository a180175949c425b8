"""From text to a Net that runs and learns: prepare (phase rules, splits), net, gradients, weights, solver."""

from .net import Net
from .solver import Solver

__all__ = ["Net", "Solver"]
