"""Chain: launches on the CPU that are checked once, kept, and run again and again as one launch.

The arguments of each kernel lie ready in memory, and the workers are woken once for all kernels, so that a step costs what its
kernel costs and nothing in Python.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np

from ..proto.errors import DeviceError, KernelError
from .host import Cpu, lacking
from .kernel import Kernels
from .schedule import Schedule
from .signature import DType, Kernel

CHAIN = Kernels(Path(__file__).with_name("chain.cpp"))
SLOT = 8  # bytes of an argument
OWNER = threading.local()  # its `layer`: whose launches are recorded now (layers/core/boundary.py), None for nobody's


class Chain:
    """Launches in their order.

    Parameters
    ----------
    device
        The CPU.
    real
        float32 or float64: what every kernel of the chain computes in.

    Examples
    --------
    >>> from boxpresso.device import open_device
    >>> from boxpresso.layers.neuron.relu import ReLU
    >>> x, y = np.array([-1, 2], np.float32), np.zeros(2, np.float32)
    >>> chain = Chain(open_device("cpu"), np.dtype(np.float32))
    >>> chain.add(ReLU.kernels.relu_forward, 2, x, y, 0.5, np.inf)
    >>> chain.run()
    >>> y.tolist()
    [-0.5, 2.0]
    """

    def __init__(self, device: Cpu, real: DType) -> None:
        self.device, self.real = device, np.dtype(real)
        self.operands: list[Any] = []  # arrays and structs that the arguments point to
        self.flags: list[np.ndarray[Any, Any]] = []  # that kernels set where their numbers are not to be used
        self.blocks: list[np.ndarray[Any, Any]] = []  # each step's arguments
        self.addresses: list[int] = []  # each step's function
        self.names: list[tuple[Kernel, object]] = []  # each step's kernel, and the layer that it is of, if any
        self.most = 0  # items of the largest launch
        self.size = 0  # bytes of all arrays
        self.schedule = Schedule(waits=True)
        self.passed: list[Any] = []
        self.function: Any = None

    def __len__(self) -> int:
        return len(self.blocks)

    def add(self, kernel: Kernel, *args: Any) -> None:
        """Appends a launch of a kernel with the arguments that its signature names; nothing for 0 items.

        Raises
        ------
        KernelError
            For arguments that do not fit.
        """
        if len(args) != len(kernel.parameters):
            raise KernelError(f"{kernel.name} takes {len(kernel.parameters)} arguments, got {len(args)}")
        step, wanted, scalars = self.device.step(kernel, self.real)
        passed, size = self.device.arguments(kernel, wanted, args)
        if int(args[0]) <= 0:
            return
        block = np.zeros(len(args), np.uint64)
        at = block.__array_interface__["data"][0]
        try:
            for i, (kind, value) in enumerate(zip(scalars, passed)):
                if kind is None:
                    block[i] = value or 0
                else:
                    kind.from_address(at + SLOT * i).value = value
        except TypeError as error:
            raise kernel.reject_scalars(args, error) from None
        self.operands.extend(arg for arg in args if arg is not None and not isinstance(arg, (int, float)))
        self.blocks.append(block)
        self.addresses.append(step)
        self.names.append((kernel, getattr(OWNER, "layer", None)))
        self.most, self.size, self.function = max(self.most, int(args[0])), self.size + size, None

    def run(self) -> None:
        """Runs all launches in their order.

        Raises
        ------
        DeviceError
            Where a worker lacked memory; it names the layer that the launch is of.
        """
        if not self.blocks:
            return
        if self.function is None:
            pairs = [x for step in zip(self.addresses, self.blocks) for x in (step[0], step[1].ctypes.data)]
            self.steps = np.array(pairs, np.uint64).view(np.int32)
            self.meeting = np.zeros(32, np.int32)
            self.function, wanted = self.device.function(CHAIN.chain, self.real)
            args = [len(self.blocks), self.steps, self.meeting]
            self.passed = self.device.arguments(CHAIN.chain, wanted, args)[0]
        self.schedule.always_all = self.device.schedule.always_all
        workers = min(self.device.workers, self.most)
        lacks = self.schedule.run(CHAIN, workers, len(self.blocks), self.size, self.function, self.passed)
        if lacks:
            kernel, layer = self.names[max(int(self.meeting[24]), 1) - 1]
            self.meeting[24] = 0
            raise DeviceError(f"{layer or 'a chain of kernels'}: there is no memory left ({lacking(lacks, kernel)})")
