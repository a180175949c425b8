"""Numbers of a few bits with a point, as an FPGA holds them, and layers whose parameters are rounded so."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...device import AnyArray, Blob, Kernels
from .layer import Layer

KERNELS = Kernels(Path(__file__).with_name("fixed_point.cu"))
PLACES = {"OVER_FLOW": 0, "DIFF_S": 5, "DIFF_A": 5, "DIFF_S_SIGMOID": 10}  # that are tried behind the first, by method


class FixedPoint:
    """Finds the point of arrays, and rounds them.

    A number of `bits` bits whose point is at place p is a whole number from -2^(bits - 1) to 2^(bits - 1) - 1, times 2^-p.

    Parameters
    ----------
    layer
        Whose fixed_param says the bits and the method. OVER_FLOW: the last place at which no number is too large; DIFF_S and
        DIFF_A: of it and the four behind it the one with the least sum of squared errors; DIFF_S_SIGMOID: of ten, that of
        their sigmoids.

    Raises
    ------
    LayerError
        Without bits, or for more than 24.
    """

    def __init__(self, layer: Layer) -> None:
        self.layer, self.p, self.kernels = layer, layer.param.fixed_param, KERNELS.on(layer.device)
        self.bits, self.method = self.p.bit_width, self.p.FixedMethod.Name(self.p.fixed_method)
        layer.need(0 < self.bits <= 24, f"bit_width must be from 1 to 24, got {self.bits}")
        self.place = layer.device.empty((1,), layer.dtype)
        self.blocks, self.steps, self.errors = (
            0,
            layer.device.empty((0,), np.float64),
            layer.device.empty((0,), np.float64),
        )

    def find(self, numbers: AnyArray) -> None:
        """Puts the point of some numbers, by the method."""
        blocks, places = -(-numbers.size // self.kernels.constants["PIECE"]), PLACES[self.method]
        if blocks != self.blocks:
            device, self.blocks = self.layer.device, blocks
            self.steps, self.errors = (device.empty((blocks * k,), np.float64) for k in (1, max(1, places)))
        self.kernels.fixed_steps(blocks, numbers, self.steps, numbers.size, self.bits)
        self.kernels.first_place(1, self.steps, self.place, blocks)
        if places:
            sigmoid = int(self.method == "DIFF_S_SIGMOID")
            how = numbers.size, places, self.bits, sigmoid
            self.kernels.fixed_errors(blocks * places, numbers, self.place, self.errors, *how)
            self.kernels.best_place(1, self.errors, self.place, blocks, places)

    def hold(self, source: AnyArray, target: AnyArray, place: AnyArray, way: str) -> None:
        """Rounds an array with the point at a place; way: HALVES_AWAY, HALVES_UP or TOWARDS_ZERO."""
        self.kernels.hold_fixed(source.size, source, target, place, self.bits, self.kernels.constants[way])


class FixedParameters(Layer):
    """Comes before a plain layer, which computes forward with parameters that are rounded, each with a point of its own, and
    backward with them as they are."""

    fixed_kernels = KERNELS

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().setup(bottom, top)
        self.need(
            self.param.HasField("fixed_param"), "without fixed_param it is another program's, which is not supported"
        )
        self.point = FixedPoint(self)
        self.need(
            self.point.method in ("OVER_FLOW", "DIFF_S"),
            f"fixed_method: {self.point.method} is of FixedNeuron alone; parameters take OVER_FLOW or DIFF_S",
        )
        self.rounded = [Blob(blob.shape, self.dtype, self.device) for blob in self.blobs]

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if not self.param.fixed_param.enable:
            super().forward(bottom, top)
            return
        for blob, rounded in zip(self.blobs, self.rounded):
            self.point.find(blob.data)
            self.point.hold(blob.data, rounded.data, self.point.place, "HALVES_AWAY")
        own, self.blobs = self.blobs, self.rounded
        try:
            super().forward(bottom, top)
        finally:
            self.blobs = own
