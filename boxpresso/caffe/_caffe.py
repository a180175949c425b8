"""The names of pycaffe's compiled module, `caffe._caffe`, which some scripts compare types with.

Its vectors are lists and tuples here: `type(net.params["conv1"]) is caffe._caffe.BlobVec` holds.
"""

from __future__ import annotations

from ..device import Blob
from ..layers.core.python import PythonLayer as Layer
from ..proto import LayerParameter, SolverParameter
from .pycaffe import Net
from .settings import (
    NCCL,
    Timer,
    has_nccl,
    init_log,
    layer_type_list,
    log,
    set_device,
    set_mode_cpu,
    set_mode_gpu,
    set_multiprocess,
    set_phase_test,
    set_phase_train,
    set_random_seed,
    set_solver_count,
    set_solver_rank,
    solver_count,
    solver_rank,
)
from .solvers import (
    AdaDeltaSolver,
    AdaGradSolver,
    AdamSolver,
    NesterovSolver,
    RMSPropSolver,
    SGDSolver,
    Solver,
    get_solver,
)

BlobVec = RawBlobVec = LayerVec = StringVec = DtypeVec = NetVec = BoolVec = list
IntVec: type = tuple  # the shape of a blob

__all__ = [
    "NCCL",
    "AdaDeltaSolver",
    "AdaGradSolver",
    "AdamSolver",
    "Blob",
    "BlobVec",
    "BoolVec",
    "DtypeVec",
    "IntVec",
    "Layer",
    "LayerParameter",
    "LayerVec",
    "NesterovSolver",
    "Net",
    "NetVec",
    "RMSPropSolver",
    "RawBlobVec",
    "SGDSolver",
    "Solver",
    "SolverParameter",
    "StringVec",
    "Timer",
    "get_solver",
    "has_nccl",
    "init_log",
    "layer_type_list",
    "log",
    "set_device",
    "set_mode_cpu",
    "set_mode_gpu",
    "set_multiprocess",
    "set_phase_test",
    "set_phase_train",
    "set_random_seed",
    "set_solver_count",
    "set_solver_rank",
    "solver_count",
    "solver_rank",
]
