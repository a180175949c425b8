"""Where the boxes of a graph lie: rows from top to bottom, and lanes, in which a wire that passes several rows stays straight.

A thing lies one row below the lowest that it reads. A wire to a row further down takes a lane of its own in the rows between,
which it shares with others that end at the same things.
Rows are as high and lanes as wide as what lies in them, so that places follow from sizes by two sums; report.js does these sums
again when a block is unfolded.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

# Between lanes and rows, around them, and below them, in pixels; report.js is given these numbers.
GAP_X, GAP_Y, MARGIN, FOOT = 18, 34, 10, 24
THREAD = 10  # the width of a wire that passes a row
Cell = tuple[int, int]  # row, lane


@dataclass
class Layout:
    """The cell of each thing, and of each wire the cells that it passes; rows and lanes are counted from 0."""

    cells: dict[Hashable, Cell] = field(default_factory=dict)
    passed: dict[tuple[Hashable, Hashable], list[Cell]] = field(default_factory=dict)
    rows: int = 0
    lanes: int = 0


def lay_out(things: Sequence[Hashable], wires: Sequence[tuple[Hashable, Hashable]], last: Sequence[Hashable]) -> Layout:
    """Gives each thing a row and a lane.

    Parameters
    ----------
    things
        In an order in which each comes after all that it reads.
    wires
        (from, to), each pair once.
    last
        Things that belong into the lowest row.

    Examples
    --------
    >>> made = lay_out("abcd", [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")], [])
    >>> made.cells, made.passed["a", "c"]
    ({'a': (0, 0), 'b': (1, 0), 'c': (2, 0), 'd': (3, 0)}, [(1, 1)])
    """
    before: dict[Hashable, list[Hashable]] = {thing: [] for thing in things}
    after: dict[Hashable, list[Hashable]] = {thing: [] for thing in things}
    for source, target in wires:
        before[target].append(source)
        after[source].append(target)
    row = rows_of(things, before, after, last)
    layout = Layout(rows=max(row.values(), default=-1) + 1)
    by_row: list[list[Hashable]] = [[] for _ in range(layout.rows)]
    for thing in things:
        by_row[row[thing]].append(thing)
    open_threads: dict[Hashable, tuple[int, set[Hashable]]] = {}  # who gave it: its lane, and who is still to read it
    for number, here in enumerate(by_row):
        reading = set(here)
        passing = {source: lane for source, (lane, left) in open_threads.items() if left - reading}
        straight = {s: lane for s, lane in passing.items() if row[s] < number - 1}  # it already has a lane of its own
        taken = set(straight.values())
        for thing in here:
            lanes = [open_threads[source][0] for source in before[thing]]
            lane = nearest(min(lanes, default=0), taken)
            taken.add(lane)
            layout.cells[thing] = number, lane
        buses = {frozenset(open_threads[source][1] - reading): lane for source, lane in straight.items()}
        for source, lane in passing.items():
            if source not in straight:
                to = frozenset(open_threads[source][1] - reading)
                if to not in buses:
                    buses[to] = nearest(lane, taken)
                straight[source] = buses[to]
                taken.add(buses[to])
        for source, (_, left) in list(open_threads.items()):
            left -= reading
            if not left:
                del open_threads[source]
                continue
            for target in left:
                layout.passed.setdefault((source, target), []).append((number, straight[source]))
            open_threads[source] = straight[source], left
        for thing in here:
            if after[thing]:
                open_threads[thing] = layout.cells[thing][1], set(after[thing])
        layout.lanes = max(layout.lanes, max(taken, default=-1) + 1)
    return layout


def rows_of(
    things: Sequence[Hashable],
    before: Mapping[Hashable, Sequence[Hashable]],
    after: Mapping[Hashable, Sequence[Hashable]],
    last: Sequence[Hashable],
) -> dict[Hashable, int]:
    """The row of each thing: below all that it reads; what reads nothing lies just above its first reader."""
    row: dict[Hashable, int] = {}
    for thing in things:
        row[thing] = max((row[source] + 1 for source in before[thing]), default=0)
    for thing in things:
        if not before[thing] and after[thing]:
            row[thing] = min(row[target] for target in after[thing]) - 1
    lowest = max((number for thing, number in row.items() if thing not in set(last)), default=-1)
    row.update(dict.fromkeys(last, lowest + 1))
    return row


def nearest(lane: int, taken: set[int]) -> int:
    """The free lane nearest to one, rather to its right."""
    for step in range(len(taken) + 1):
        for each in (lane + step, lane - step):
            if each >= 0 and each not in taken:
                return each
    return max(taken) + 1


@dataclass
class Places:
    """A layout in pixels: left and width of lanes, top and height of rows, and the size of all."""

    left: list[float]
    width: list[float]
    top: list[float]
    height: list[float]
    size: tuple[float, float]

    def middle(self, lane: int) -> float:
        """The middle of a lane."""
        return self.left[lane] + self.width[lane] / 2


def place(layout: Layout, sizes: Mapping[Hashable, tuple[float, float]], room: Mapping[Hashable, float]) -> Places:
    """Sums up the places of rows and lanes; room: the width that a thing takes with what is written below it."""
    width, height = [float(THREAD)] * layout.lanes, [float(THREAD)] * layout.rows
    for thing, (row, lane) in layout.cells.items():
        width[lane] = max(width[lane], sizes[thing][0], room[thing])
        height[row] = max(height[row], sizes[thing][1])
    left, top = sums(width, MARGIN, GAP_X), sums(height, MARGIN, GAP_Y)
    size = (left[-1] - GAP_X + MARGIN if width else 2 * MARGIN, top[-1] - GAP_Y + FOOT if height else 2 * MARGIN)
    return Places(left[:-1], width, top[:-1], height, size)


def sums(sizes: Sequence[float], start: float, gap: float) -> list[float]:
    """Where each of some sizes begins after one another, and where the next would."""
    result = [start]
    for each in sizes:
        result.append(result[-1] + each + gap)
    return result


@dataclass(frozen=True)
class End:
    """Where a wire begins or ends: the cell of a thing, and the height of the thing in it."""

    cell: Cell
    height: float


def path(places: Places, source: End, passed: Sequence[Cell], target: End) -> str:
    """The SVG path of a wire: from the bottom of a thing through the rows between to the top of another."""
    row, lane = source.cell
    x, y = places.middle(lane), places.top[row] + (places.height[row] + source.height) / 2
    parts = [f"M{x:.1f} {y:.1f}"]
    for next_row, next_lane in (*passed, target.cell):
        edge, end, at = places.top[row] + places.height[row], places.top[next_row], places.middle(next_lane)
        if edge > y:
            parts.append(f"V{edge:.1f}")
        half = (edge + end) / 2
        parts.append(f"V{end:.1f}" if at == x else f"C{x:.1f} {half:.1f} {at:.1f} {half:.1f} {at:.1f} {end:.1f}")
        row, x, y = next_row, at, end
    inside = places.top[row] + (places.height[row] - target.height) / 2
    if inside > y:
        parts.append(f"V{inside:.1f}")
    return "".join(parts)
