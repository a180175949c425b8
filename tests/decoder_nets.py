"""For the tests of decoders: nets whose outputs have given names and shapes, suppression by loops, and what to compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from boxpresso import Net
from boxpresso.decoders import recognise
from boxpresso.proto import parse_net

HIGH, WIDE = 200, 300  # of the pictures, in pixels


def dims(shape: Sequence[int]) -> str:
    return " ".join(f"dim: {side}" for side in shape)


def net_of(
    outputs: Mapping[str, Sequence[int]],
    size: Sequence[int] = (64, 96),
    channels: int = 3,
    last: str = "DummyData",
    more: str = "",
) -> Net:
    """A net with an input of (height, width) and outputs of these shapes; by layers of type `last`."""
    text = (
        f'layer {{ name: "in" type: "Input" top: "data" input_param {{ shape {{ {dims((1, channels, *size))} }} }} }}'
    )
    for name, shape in outputs.items():
        source = name if last == "DummyData" else f"{name}_source"
        text += f'layer {{ name: "{source}" type: "DummyData" top: "{source}" dummy_data_param {{ shape {{ {dims(shape)} }} }} }}'
        if last == "Convolution":
            own = f"convolution_param {{ num_output: {shape[1]} kernel_size: 1 }}"
            text += f'layer {{ name: "{name}" type: "Convolution" bottom: "{source}" top: "{name}" {own} }}'
        elif last != "DummyData":
            text += f'layer {{ name: "{name}" type: "{last}" bottom: "{source}" top: "{name}" {more} }}'
    text += 'layer { name: "end" type: "Silence" bottom: "data" }'
    return Net(parse_net(text), device="cpu")


def overlap_of(a: Sequence[float], b: Sequence[float], last: float = 0) -> float:
    """Intersection over union of two boxes; `last` is added to widths and heights."""
    wide = min(a[2], b[2]) - max(a[0], b[0]) + last
    high = min(a[3], b[3]) - max(a[1], b[1]) + last
    shared = max(0.0, wide) * max(0.0, high)
    areas = [(box[2] - box[0] + last) * (box[3] - box[1] + last) for box in (a, b)]
    return shared / (sum(areas) - shared)


def suppressed(boxes: Sequence[Sequence[float]], scores: Sequence[float], most: float, last: float = 0) -> list[int]:
    """The indices that stay, best first, when a box goes that overlaps a better one by more than `most`."""
    left = sorted(range(len(boxes)), key=lambda i: -scores[i])
    stay = []
    while left:
        first = left.pop(0)
        stay.append(first)
        left = [i for i in left if overlap_of(boxes[first], boxes[i], last) <= most]
    return stay


def numbers(*shape: int, seed: int = 0, spread: float = 1.0) -> np.ndarray:
    """Random numbers, float32."""
    return (np.random.default_rng(seed).normal(size=shape) * spread).astype(np.float32)


def logistic(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x.astype(np.float64)))


def same(detections, boxes, scores, landmarks=None, tolerance=1e-3):
    """Whether detections have these boxes, scores and landmarks, in the order of their scores."""
    order = sorted(range(len(boxes)), key=lambda i: -scores[i])
    assert len(boxes) > 1
    np.testing.assert_allclose(detections.scores, [scores[i] for i in order], atol=1e-5)
    np.testing.assert_allclose(detections.boxes, [boxes[i] for i in order], atol=tolerance * max(HIGH, WIDE))
    if landmarks is not None:
        np.testing.assert_allclose(
            detections.landmarks, [landmarks[i] for i in order], atol=tolerance * max(HIGH, WIDE)
        )


def read(net, values, name, **settings):
    """The decoder that the net is recognised by, and what it makes of these outputs for a picture of 200 x 300 pixels."""
    decoder = recognise([net])
    assert decoder is not None
    assert name == decoder.NAME
    detections = decoder.read(values, (HIGH, WIDE), decoder.settings.given(**settings))
    return decoder, detections.sorted()
