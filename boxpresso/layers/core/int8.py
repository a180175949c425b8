"""Values in 8 bits on the CPU: turned from floats and back, and what their lowerings share. The arithmetic: device/int8.h."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from ...device import UNFUSED, Device, Kernels
from ...device.chain import Chain
from ...proto.errors import LayerError
from .lowering import VECTOR, Activation, Last, Scale

TURN = Kernels(Path(__file__).with_name("turn_int8.cpp"), UNFUSED)
MOST = 2**31 - 1  # of a sum
LARGEST = 255 * 127  # product of a number and a weight

Numbers = np.ndarray[Any, np.dtype[Any]]


def turn_int8(chain: Chain, source: Last, target: Last, scale: Scale) -> None:
    """Appends the launch that takes an array in 8 bits to floats, from them, or to another place. Floats of pitch 0 are planes.

    A number that is not finite has no place in 8 bits: it raises a flag of the chain, so that the layers run by themselves.
    """
    of_bytes, other = (source, target) if source.scale else (target, source)
    places = of_bytes.places
    sizes = TURN.struct(
        "Int8Turn", channels=of_bytes.channels, places=places, pitch=other.pitch, step=other.step, byte_pitch=of_bytes.pitch,
        byte_step=of_bytes.step, zero=scale.zero, scale=float(scale.scale), inverse=1 / float(scale.scale),
    )  # fmt: skip
    blocks = source.images * -(-places // TURN.constants["PLACES"])
    if source.scale and target.scale:
        sizes = TURN.struct(
            "Int8Turn", channels=source.channels, places=source.places, pitch=source.pitch, step=source.step,
            byte_pitch=target.pitch, byte_step=target.step, zero=0, scale=1.0, inverse=1.0,
        )  # fmt: skip
        chain.add(TURN.copy_int8, blocks, source.memory, target.memory, sizes)
    elif source.scale:
        factors = padded_to(chain.device, np.array(scale.factors), np.float32) if scale.factors else None
        chain.add(TURN.dequantise, blocks, source.memory, target.memory, factors, sizes)
    else:
        if source.pitch == target.pitch == target.channels:  # nothing lies between: one plane
            places *= target.channels
            blocks = source.images * -(-places // TURN.constants["PLACES"])
            sizes = TURN.struct(
                "Int8Turn", **{**sizes.values, "channels": 1, "places": places, "pitch": 0, "byte_pitch": 1}
            )
        odd = np.zeros(blocks, np.int32)
        chain.flags.append(odd)
        chain.add(TURN.quantise, blocks, source.memory, target.memory, odd, sizes)


class Filters:
    """The weights of a linear map in 8 bits, symmetric by filter, for a bottom's scale.

    Parameters
    ----------
    weights
        (filters, channels of a group, height, width), or (filters, terms), with what follows folded into them; finite.
    bias
        (filters), or None.
    scale
        Of the bottom. Its factors are those of weights. With its means the bias is less what the weights' rounding adds to a
        sum on average (Nagel et al., Data-Free Quantization Through Weight Equalization and Bias Correction, 2019).

    Attributes
    ----------
    weights
        (filters, terms), int8 from -127 to 127: the nearest whole number of steps, ties to even.
    steps
        The step of each filter's weights, float64: its largest weight / 127, or more where its bias would not fit.
    bias
        int32, in steps of the sums, which are scale * steps.

    Raises
    ------
    LayerError
        For weights or a bias that are not finite.

    Examples
    --------
    >>> filters = Filters(np.array([[1.0, -0.5], [0, 0]]), np.array([0.25, 3]), Scale(0.1, 0))
    >>> filters.weights.tolist(), filters.bias[:1].tolist()
    ([[127, -64], [0, 0]], [318])
    >>> np.allclose(filters.bias * filters.steps * 0.1, [0.25, 3], rtol=2e-3)
    True
    """

    def __init__(self, weights: Numbers, bias: Numbers | None, scale: Scale) -> None:
        shape = weights.shape
        weights = np.asarray(weights, np.float64).reshape(len(weights), -1)
        if scale.factors:
            weights = weights * of_terms(np.array(scale.factors), shape)
        added = np.zeros(len(weights)) if bias is None else np.asarray(bias, np.float64)
        need_finite("its weights", weights, added)
        largest = np.abs(weights).max(1, initial=0.0)
        least = np.abs(added) / (scale.scale * (MOST - weights.shape[1] * LARGEST))
        self.steps = np.maximum(largest / 127, least)
        self.steps[self.steps == 0] = 1
        self.weights = np.clip(np.rint(weights / self.steps[:, None]), -127, 127).astype(np.int8)
        if scale.means:
            means = np.array(scale.means) / (scale.factors or 1.0)
            errors = self.weights * self.steps[:, None] - weights
            added = added - (errors * of_terms(means, shape)).sum(1)
        limit = MOST - weights.shape[1] * LARGEST
        self.bias = np.clip(np.rint(added / (scale.scale * self.steps)), -limit, limit).astype(np.int32)


def need_finite(what: str, *arrays: Numbers) -> None:
    """Raises LayerError where a number is not finite, for `what` they are."""
    if not all(np.isfinite(array).all() for array in arrays):
        raise LayerError(
            f"{what} are not all finite, and 8 bits have no place for NaN and infinity; run it with precision='float32', or "
            "train it again"
        )


def of_terms(numbers: Numbers, shape: tuple[int, ...]) -> Numbers:
    """For each term of each filter, (filters, terms), the number of its bottom's channel.

    shape: that of the weights, (filters, channels of a group, ...), or (filters, terms) of all channels.

    >>> of_terms(np.array([1, 2]), (2, 1, 2)).tolist(), of_terms(np.array([1, 2]), (1, 4)).tolist()
    ([[1, 1], [2, 2]], [[1, 1, 2, 2]])
    """
    filters, channels = shape[0], shape[1] if len(shape) > 2 else len(numbers)
    groups = np.repeat(numbers.reshape(-1, channels), np.prod(shape[1:], dtype=int) // channels, axis=1)
    return np.repeat(groups, filters // len(groups), axis=0)


def bounds(activation: Activation | None, top: Scale | None) -> tuple[float, float]:
    """From what to what the top goes, in its own steps: those of the activation, and what 8 bits hold."""
    kind = activation.kind if activation else ""
    low, high = (
        (0.0, inf)
        if kind == "RELU"
        else (activation.low, activation.high)
        if kind == "CLIP" and activation
        else (-inf, inf)
    )
    if top is None:
        return low, high
    return max(low / top.scale, -top.zero), min(high / top.scale, 255 - top.zero)


def slopes_of(activation: Activation | None, channels: int) -> Numbers | None:
    """What numbers below 0 are multiplied by, of each channel; None for an activation without slopes.

    Raises LayerError for slopes that are not finite: a kernel's bounds would make numbers of what they give.
    """
    if activation is None or activation.kind not in ("LEAKY", "SLOPES"):
        return None
    slopes = np.broadcast_to(activation.slope if activation.kind == "LEAKY" else activation.slopes, (channels,))  # type: ignore[arg-type]
    need_finite("the slopes of the activation behind it", slopes)
    return slopes


def padded_to(device: Device, values: Numbers, dtype: Any) -> Numbers:
    """A number a channel, with room for whole vectors from any channel on."""
    array: Numbers = device.empty((len(values) + 2 * VECTOR,), dtype)
    array[: len(values)] = values
    return array


def layout_int8(
    kernels: Any,
    bottom: Last,
    top: Last,
    addend: Last | None,
    activation: Activation | None,
    high: int = 1,
    across: int = 1,
    band: bool = False,
) -> Any:
    """int8.h's Int8Layout."""
    assert bottom.scale is not None
    low, most = bounds(activation, top.scale)
    step = top.scale.scale if top.scale else 1.0
    return kernels.struct(
        "Int8Layout", images=top.images, bottom_pitch=bottom.pitch, bottom_step=bottom.step, top_pitch=top.pitch,
        top_step=top.step, other_pitch=addend.pitch if addend else 0, other_step=addend.step if addend else 0,
        zero=bottom.scale.zero, top_zero=top.scale.zero if top.scale else 0,
        other_zero=addend.scale.zero if addend and addend.scale else 0, high=high, across=across,
        other_scale=float(addend.scale.scale / step) if addend and addend.scale else 0.0, least=float(low),
        most=float(most), inverse=1 / float(bottom.scale.scale), band=int(band),
    )  # fmt: skip
