"""Small drawings of what the region layers read: a map's pixels, a region, its bins, and where each bin looks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

SIDE, STEP = 8, 24  # pixels of the map, and the size at which one is drawn
CENTRE, SIZE, BINS = (3.9, 4.1), (4.6, 3.8), (2, 2)
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")  # told apart by all eyes
Point = tuple[float, float]


def place(x: float, y: float, angle: float) -> Point:
    """A point of the region, 0 to 1 in both directions, on the drawing."""
    dx, dy = (x - 0.5) * SIZE[0], (y - 0.5) * SIZE[1]
    cos, sin = math.cos(angle), math.sin(angle)
    return (CENTRE[0] + dx * cos - dy * sin) * STEP, (CENTRE[1] + dx * sin + dy * cos) * STEP


def polygon(corners: list[Point], style: str) -> str:
    """A closed outline."""
    return f'<polygon points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in corners)}" {style}/>'


def square(x: float, y: float, wide: float, high: float, angle: float) -> list[Point]:
    """The corners of a part of the region."""
    return [place(*at, angle) for at in ((x, y), (x + wide, y), (x + wide, y + high), (x, y + high))]


def bins() -> Iterator[tuple[int, float, float, float, float]]:
    """The bins: number, left, top, width and height in parts of the region."""
    wide, high = 1 / BINS[0], 1 / BINS[1]
    for row in range(BINS[1]):
        for column in range(BINS[0]):
            yield row * BINS[0] + column, column * wide, row * high, wide, high


def outlines(angle: float, coloured: bool = False, faint: bool = False) -> str:
    """The bins of the region."""
    parts = []
    for i, x, y, wide, high in bins():
        fill = f'fill="{COLOURS[i]}" fill-opacity="0.3"' if coloured else 'fill="none"'
        stroke = 'stroke-opacity="0.35" stroke-dasharray="4 3"' if faint else ""
        parts.append(
            polygon(square(x, y, wide, high, angle), f'{fill} stroke="{COLOURS[0]}" stroke-width="2" {stroke}')
        )
    return "".join(parts)


def dots(angle: float, shift: bool = False) -> str:
    """Two by two samples in each bin; `shift` moves each bin, as learned offsets do."""
    offsets = ((0.10, -0.12), (0.08, 0.09), (-0.13, 0.05), (0.05, 0.14))
    parts = []
    for i, x, y, wide, high in bins():
        dx, dy = offsets[i] if shift else (0.0, 0.0)
        if shift:
            corners = square(x + dx, y + dy, wide, high, angle)
            (x1, y1), (x2, y2) = (place(x + a + wide / 2, y + b + high / 2, angle) for a, b in ((0, 0), (dx, dy)))
            parts += [polygon(corners, f'fill="none" stroke="{COLOURS[0]}" stroke-width="2"')]
            parts += [f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{COLOURS[1]}" stroke-width="2"/>']
        for part in (0.25, 0.75):
            for other in (0.25, 0.75):
                cx, cy = place(x + dx + part * wide, y + dy + other * high, angle)
                parts.append(f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="3.2" fill="{COLOURS[1]}"/>')
    return "".join(parts)


def cells(i: int, columns: tuple[int, int], rows: tuple[int, int]) -> str:
    """The whole pixels of a bin, from a first column and row up to, and without, a last."""
    at = f'x="{columns[0] * STEP}" y="{rows[0] * STEP}"'
    size = f'width="{(columns[1] - columns[0]) * STEP}" height="{(rows[1] - rows[0]) * STEP}"'
    return f'<rect {at} {size} fill="{COLOURS[i]}" fill-opacity="0.22" stroke="{COLOURS[i]}" stroke-width="2"/>'


def touched() -> str:
    """The pixels that each bin touches."""
    left, top = CENTRE[0] - SIZE[0] / 2, CENTRE[1] - SIZE[1] / 2
    parts = []
    for i, x, y, wide, high in bins():
        columns = math.floor(left + x * SIZE[0]), math.ceil(left + (x + wide) * SIZE[0])
        rows = math.floor(top + y * SIZE[1]), math.ceil(top + (y + high) * SIZE[1])
        parts.append(cells(i, columns, rows))
    return "".join(parts) + outlines(0, faint=True)


def rounded() -> str:
    """The pixels of each bin of a region whose corners are rounded to whole pixels first, the last one included."""
    lows = [math.floor(CENTRE[axis] - SIZE[axis] / 2) for axis in (0, 1)]  # a pixel's centre is its whole number
    sizes = [math.floor(CENTRE[axis] + SIZE[axis] / 2) - lows[axis] + 1 for axis in (0, 1)]
    parts = []
    for i, x, y, wide, high in bins():
        columns = lows[0] + math.floor(x * sizes[0]), lows[0] + math.ceil((x + wide) * sizes[0])
        rows = lows[1] + math.floor(y * sizes[1]), lows[1] + math.ceil((y + high) * sizes[1])
        parts.append(cells(i, columns, rows))
    return "".join(parts) + polygon(square(0, 0, 1, 1, 0), f'fill="none" stroke="{COLOURS[0]}" stroke-width="2"')


Drawing = tuple[Callable[[], str], str]
TURN = 0.45
DRAWINGS: dict[str, Drawing] = {
    "ROIPooling": (rounded, "the region is rounded to whole pixels, which bins may share; the largest of each counts"),
    "ROIAlign": (lambda: outlines(0) + dots(0), "bilinear samples at even distances in each bin"),
    "MultiScaleROIAlign": (lambda: outlines(0) + dots(0), "as ROIAlign, on the level that fits the region's size"),
    "PSROIAlign": (
        lambda: outlines(0, coloured=True) + dots(0),
        "a colour is a group of channels: each bin looks into its own",
    ),
    "PSROIPooling": (
        touched,
        "a colour is a group of channels: each bin averages pixels of its own",
    ),
    "PrROIPooling": (lambda: outlines(0, coloured=True), "no samples: the integral of the surface over each bin"),
    "ROIAlignRotated": (lambda: outlines(TURN) + dots(TURN), "bilinear samples in the bins of a turned region"),
    "RiROIAlignRotated": (lambda: outlines(TURN) + dots(TURN), "as ROIAlignRotated, the channels turned as well"),
    "RotateROIPooling": (lambda: outlines(TURN, coloured=True), "the largest pixel of each turned bin"),
    "DeformROIPooling": (lambda: outlines(0, faint=True) + dots(0, True), "each bin is moved by a learned offset"),
    "ModulatedDeformROIPooling": (
        lambda: outlines(0, faint=True) + dots(0, True),
        "each bin is moved by a learned offset, and weighted",
    ),
    "DeformablePSROIPooling": (
        lambda: outlines(0, coloured=True, faint=True) + dots(0, True),
        "bins are moved by learned offsets, each in channels of its own",
    ),
}


def drawing(type: str) -> str:
    """The drawing of a layer type as HTML with SVG inside, or nothing."""
    if type not in DRAWINGS:
        return ""
    inner, caption = DRAWINGS[type]
    edge = SIDE * STEP
    lines = "".join(f"M{i * STEP} 0V{edge}M0 {i * STEP}H{edge}" for i in range(SIDE + 1))
    grid = f'<path d="{lines}" stroke="currentColor" stroke-opacity="0.3" fill="none"/>'
    head = f'viewBox="-1 -1 {edge + 2} {edge + 2}" width="{edge}" role="img" aria-label="{caption}"'
    picture = f"<svg {head}>{grid}{inner()}</svg>"
    return f'<figure class="region">{picture}<figcaption>{caption[0].upper()}{caption[1:]}.</figcaption></figure>'
