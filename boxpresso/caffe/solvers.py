"""pycaffe's solvers: boxpresso.Solver by the names and with the methods of `caffe.SGDSolver` and its sisters."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, ClassVar

from ..net import Net as BoxpressoNet
from ..proto import SolverParameter, read_solver
from ..proto.reading import FilePath
from ..train import Solver as BoxpressoSolver
from ..train.nets import find_file
from . import settings
from .pycaffe import BuiltNet, MissingFile


class Solver(BoxpressoSolver):
    """A solver of a prototxt; `caffe.get_solver(path)` makes it of the type that the prototxt names.

    Parameters
    ----------
    solver_file
        The path of a solver prototxt. Paths in it are looked for from the working directory, then beside it.

    Attributes
    ----------
    net, test_nets
        caffe.Nets.
    iter, param, lr
        The iterations that are done, the SolverParameter, and the learning rate.

    Raises
    ------
    RuntimeError
        For a file that cannot be opened; it is a ModelError too.
    ModelError
        For what is wrong in the prototxt.
    """

    net_class: ClassVar[type[BoxpressoNet]] = BuiltNet
    update_rule: ClassVar[str | None] = None  # the prototxt's

    def __init__(self, solver_file: FilePath) -> None:
        if not isinstance(solver_file, (str, os.PathLike)):
            raise TypeError(f"{type(self).__name__} takes the path of a solver prototxt, got {solver_file!r}")
        if not os.access(solver_file, os.R_OK):
            raise MissingFile(f"Could not open file {os.fspath(solver_file)}")
        param = located(read_solver(solver_file), Path(solver_file).parent)
        if self.update_rule is not None:
            param.type = self.update_rule
        seed = settings.next_seed()
        if param.random_seed < 0 and seed is not None:
            param.random_seed = seed
        super().__init__(param, device=settings.device_name(), log=settings.log)

    @property
    def lr(self) -> float:
        """The learning rate of the next update."""
        return self.rates.at(self.iter, self.smoothed_loss)

    def apply_update(self) -> None:
        """Updates the parameters from their diffs, and counts an iteration."""
        self._update(display=False)
        self.iter += 1

    def share_weights(self, net: BoxpressoNet) -> None:
        """Makes a net use the memory of this solver's parameters, for layers of the same name."""
        net.share_with(self.net)


class SGDSolver(Solver):
    """Stochastic gradient descent with momentum, whatever type the prototxt names."""

    update_rule = "SGD"


class NesterovSolver(SGDSolver):
    """Nesterov's accelerated gradient."""

    update_rule = "Nesterov"


class AdaGradSolver(SGDSolver):
    """AdaGrad."""

    update_rule = "AdaGrad"


class RMSPropSolver(SGDSolver):
    """RMSProp."""

    update_rule = "RMSProp"


class AdaDeltaSolver(SGDSolver):
    """AdaDelta."""

    update_rule = "AdaDelta"


class AdamSolver(SGDSolver):
    """Adam."""

    update_rule = "Adam"


SOLVERS = {
    cls.update_rule: cls
    for cls in (SGDSolver, NesterovSolver, AdaGradSolver, RMSPropSolver, AdaDeltaSolver, AdamSolver)
}


def get_solver(solver_file: FilePath) -> Solver:
    """The solver of a prototxt, of the class that its `type` names.

    Raises
    ------
    ModelError
        For an unknown type, and for all that is wrong in the prototxt.
    """
    if not os.access(solver_file, os.R_OK):
        raise MissingFile(f"Could not open file {os.fspath(solver_file)}")
    kinds: dict[str, Any] = {str(name).lower(): cls for name, cls in SOLVERS.items()}
    solver: Solver = kinds.get(read_solver(solver_file).type.lower(), Solver)(solver_file)
    return solver


def located(param: SolverParameter, folder: Path) -> SolverParameter:
    """A solver's message with the paths of its files as they are found from the working directory, or else beside it."""
    for name in ("net", "train_net"):
        if param.HasField(name):
            setattr(param, name, str(find_file(getattr(param, name), folder)))
    for name in ("test_net", "weights"):
        paths = [",".join(str(find_file(p, folder)) for p in path.split(",")) for path in getattr(param, name)]
        getattr(param, name)[:] = paths
    return param
