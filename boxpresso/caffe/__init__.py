"""pycaffe's surface: `from boxpresso import caffe`, or scripts with `import caffe`, unchanged.

    python -m boxpresso.caffe SCRIPT.py ARGS        # runs a script whose `import caffe` means this package
    import boxpresso.caffe; boxpresso.caffe.install()    # the same for what is imported afterwards

Nothing that is called `caffe` is installed. docs/from_pycaffe.md says what differs.
"""

from __future__ import annotations

from google.protobuf import text_format  # noqa: F401  # scripts `import google.protobuf as pb2` and use pb2.text_format

from ..layers.core.python import Phase
from ..layers.core.python import PythonLayer as Layer
from . import _caffe, io
from .classifier import Classifier
from .detector import Detector
from .importing import install, uninstall
from .net_spec import NetSpec, layers, params, to_proto
from .proto import caffe_pb2
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

TRAIN, TEST = Phase(0), Phase(1)
__version__ = "1.0.0"  # of the pycaffe whose surface this is

__all__ = [
    "NCCL",
    "TEST",
    "TRAIN",
    "AdaDeltaSolver",
    "AdaGradSolver",
    "AdamSolver",
    "Classifier",
    "Detector",
    "Layer",
    "NesterovSolver",
    "Net",
    "NetSpec",
    "RMSPropSolver",
    "SGDSolver",
    "Solver",
    "Timer",
    "_caffe",
    "caffe_pb2",
    "get_solver",
    "has_nccl",
    "init_log",
    "install",
    "io",
    "layer_type_list",
    "layers",
    "log",
    "params",
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
    "to_proto",
    "uninstall",
]
