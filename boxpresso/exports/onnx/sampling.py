"""Bilinear samples of feature maps at places that are computed, by GridSample; and rows of weights for upright bins."""

from __future__ import annotations

from .graph import OnnxGraph


def stacked(g: OnnxGraph, features: str) -> str:
    """(1, C, N * H, W): the images one below another, so that a sample of any image is one of a single map."""
    turned = g.transpose(features, 1, 0, 2, 3)  # (C, N, H, W)
    rows = g.op("Reshape", turned, g.concat([g.size(features, 1), g.ints(-1), g.size(features, 3)], 0))
    return g.unsqueeze(rows, 0)


def sample(g: OnnxGraph, features: str, height: int, width: int, image: str, y: str, x: str) -> str:
    """(1, C, *): samples of maps (N, C, H, W) at y, x of two axes, which must lie in 0 to H - 1 and 0 to W - 1.

    image: numbers of images, of a shape that broadcasts to y's.
    """
    whole = stacked(g, features)
    rows = g.cast(g.size(whole, 2), "float")
    at_y = g.add(y, g.mul(image, float(height)))
    # -1 and 1 are the middles of the first and the last pixel; with one pixel any number stands for it
    on_y = g.sub(g.div(g.mul(at_y, 2.0), g.larger(g.sub(rows, 1.0), 1.0)), 1.0)
    on_x = g.sub(g.div(g.mul(x, 2.0), float(max(width - 1, 1))), 1.0)
    grid = g.concat([g.unsqueeze(v, 2) for v in (on_x, on_y)], 2)
    mode = "linear" if g.opset >= 20 else "bilinear"
    return g.op("GridSample", whole, g.unsqueeze(grid, 0), mode=mode, padding_mode="border", align_corners=1)


def inside(g: OnnxGraph, c: str, size: int, margin: float = 1.0) -> str:
    """1 where a coordinate lies from -margin to size - 1 + margin, else 0; NaN gives 0."""
    low = g.op("GreaterOrEqual", c, g.const(-margin))
    return g.cast(g.op("And", low, g.op("LessOrEqual", c, g.const(size - 1 + margin))), "float")


def on_map(g: OnnxGraph, c: str, size: int) -> str:
    """A coordinate moved to the nearest pixel where it lies beyond the border."""
    return g.clamp(c, 0.0, float(size - 1))
