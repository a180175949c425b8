"""Training: the Solver, its rates and updates, snapshots, several ranks, and the curves of a log. Read solver.py first."""

from .solver import Solver

__all__ = ["Solver"]
