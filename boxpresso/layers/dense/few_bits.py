"""What Ristretto's layers share: weights and inputs of few bits, as a fixed-point machine holds them."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import AnyArray, Blob, Kernels
from ..core import Layer


class FewBits(Layer):
    """A layer of weights that are rounded as its quantization_param says, and inputs and outputs that are at TEST."""

    rounding = Kernels("ristretto.cu")

    bias_term: bool
    outputs: int

    def set_rounding(self) -> None:
        """Reads quantization_param; the parameters of the layer are there by then."""
        p = self.q = self.param.quantization_param
        self.need(p.precision != p.MINIFLOAT, "precision: MINIFLOAT is not supported; use DYNAMIC_FIXED_POINT")
        self.powers = p.precision == p.INTEGER_POWER_OF_2_WEIGHTS
        self.fixed = not self.powers and not p.int8_term
        self.own_bias = p.HasField("bw_bias_params") or p.HasField("fl_bias_params")
        count = max(1, len(p.weight_scale))
        self.need(
            self.outputs % count == 0, f"weight_scale has {count} numbers, which do not divide {self.outputs} outputs"
        )
        self.need(min([p.data_scale, *p.weight_scale], default=1) > 0, "data_scale and weight_scale must be above 0")
        self.rounded = [self.device.empty(blob.shape, self.dtype) for blob in self.blobs]

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().reshape(bottom, top)
        if self.rounds_inputs:
            for i, blob in enumerate(bottom):
                self.scratch(f"input {i}", blob.shape)

    @property
    def rounds_inputs(self) -> bool:
        """Whether bottoms are computed with as numbers of few bits."""
        return not self.powers and (self.phase == "TEST" or bool(self.q.int8_term))

    @staticmethod
    def first(values: Sequence[int], default: int) -> int:
        """The first of a list that the prototxt gives."""
        return int(values[0]) if values else default

    def round(self, source: AnyArray, target: AnyArray, scale: float, low: float, high: float, key: int = 0) -> None:
        """round(x * scale) / scale between two whole numbers; a key above 0 draws up or down."""
        self.rounding.round_fixed(source.size, source, target, scale, low, high, key)

    def fix(self, source: AnyArray, target: AnyArray, bits: int, fraction: int, key: int = 0) -> None:
        """As a number of that many bits has it."""
        self.round(source, target, 2.0**fraction, -(2.0 ** (bits - 1)), 2.0 ** (bits - 1) - 1, key)

    def weights(self) -> tuple[AnyArray, AnyArray | None]:
        """Weights and bias as they are computed with."""
        p, parts = self.q, [blob.data for blob in self.blobs]
        key = 0
        if self.phase == "TRAIN" or p.rounding_scheme == p.STOCHASTIC:
            key = int(self.draws().integers(1, 2**31))
        if p.int8_term:
            scales = list(p.weight_scale) or [1.0]
            each = parts[0].size // len(scales)
            for i, scale in enumerate(scales):
                self.round(
                    self.device.part(parts[0], i * each, (each,)), self.device.part(self.rounded[0], i * each, (each,)),
                    scale, -128, 127,
                )  # fmt: skip
            return self.rounded[0], parts[1] if self.bias_term else None
        if self.powers:
            self.rounding.round_powers(parts[0].size, parts[0], self.rounded[0], p.exp_min, p.exp_max, key)
            return self.rounded[0], parts[1] if self.bias_term else None
        fraction = self.first(p.fl_params, 16)
        self.fix(parts[0], self.rounded[0], p.bw_params, fraction, key)
        if not self.bias_term:
            return self.rounded[0], None
        if self.own_bias:
            self.fix(parts[1], self.rounded[1], p.bw_bias_params, p.fl_bias_params)
        else:
            self.fix(parts[1], self.rounded[1], p.bw_params, fraction, key)
        return self.rounded[0], self.rounded[1]

    def input_of(self, index: int, blob: Blob) -> AnyArray:
        """A bottom as it is computed with."""
        p = self.q
        if not self.rounds_inputs:
            return blob.data
        rounded = self.room(f"input {index}")
        if p.int8_term:
            self.round(blob.data, rounded, p.data_scale, -128, 127)
        else:
            self.fix(blob.data, rounded, p.bw_layer_in, self.first(p.fl_layer_in, 16))
        return rounded

    def finish(self, top: Blob) -> None:
        """Rounds a top at TEST, where its program does."""
        if self.phase == "TEST" and self.fixed and not self.own_bias:
            self.fix(top.data, top.data, self.q.bw_layer_out, self.first(self.q.fl_layer_out, 16))
