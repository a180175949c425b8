"""The table of a benchmark, in 80 columns, and its picture."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

WIDTH = 80
SHORT = {
    "onnxruntime": "onnxrt",
    "torchvision": "torchvis",
    "torch channels last": "torch cl",
    "detectron2": "detectr2",
}
COLUMN = 10
Row = Mapping[
    str, Mapping[str, Any]
]  # of each program what its worker printed: ms and error, or missing, cannot, failed


def valid(result: Mapping[str, Any] | None) -> bool:
    """Whether a program computed the case, with our results."""
    return result is not None and "ms" in result and bool(result["same"])


def ratio(row: Row) -> float | None:
    """Our time over that of the fastest peer; None without one."""
    peers = [r["ms"] for name, r in row.items() if name != "boxpresso" and valid(r)]
    ours = row.get("boxpresso", {})
    return ours["ms"] / min(peers) if peers and "ms" in ours else None


def geometric_mean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def milliseconds(ms: float) -> str:
    return f"{ms:.3f}" if ms < 10 else f"{ms:.2f}" if ms < 100 else f"{ms:.1f}" if ms < 10000 else f"{ms:.0f}"


def cell(result: Mapping[str, Any] | None) -> str:
    if result is None or "missing" in result or "cannot" in result:
        return "-"
    if "failed" in result:
        return "failed"
    return milliseconds(result["ms"]) + ("" if valid(result) else "!")


class Table:
    """Rows of a benchmark, printed as they come."""

    def __init__(self, programs: Sequence[str], one_thread: Mapping[str, bool]) -> None:
        self.programs = list(programs)
        self.one_thread = {name for name, alone in one_thread.items() if alone}
        self.rows: list[tuple[str, Row]] = []
        self.missing: Mapping[str, str] = {}  # programs that are not installed, and what their import said
        columns = COLUMN * len(self.programs) + (8 if len(self.programs) > 1 else 0)
        self.name = WIDTH - columns
        self.own_line = self.name < 26  # too narrow for a name: that gets a line

    def head(self) -> str:
        names = "".join(f"{SHORT.get(p, p) + '*' * (p in self.one_thread):>{COLUMN}}" for p in self.programs)
        return f"{'ms':{self.name}}{names}" + (f"{'ratio':>8}" if len(self.programs) > 1 else "")

    def add(self, title: str, row: Row) -> str:
        self.rows.append((title, row))
        cells = "".join(f"{cell(row.get(p)):>{COLUMN}}" for p in self.programs)
        quotient = ratio(row)
        last = "" if len(self.programs) < 2 else f"{quotient:8.2f}" if quotient is not None else f"{'-':>8}"
        if self.own_line or len(title) >= self.name:
            return "\n".join(textwrap.wrap(title, WIDTH)) + f"\n{'':{self.name}}{cells}{last}"
        return f"{title:{self.name}}{cells}{last}"

    def foot(self) -> str:
        """What the numbers mean, what is missing and why, and the geometric mean last."""
        lines, ratios = [], [r for _, row in self.rows if (r := ratio(row)) is not None]
        if len(self.programs) > 1:
            lines.append("ratio: Boxpresso's time / the fastest peer's. Lower is better; below 1: faster")
        if self.one_thread & {p for _, row in self.rows for p, r in row.items() if "ms" in r}:
            lines.append("*: its kernel runs in one thread, however many it is given.")
        if any("ms" in r and not valid(r) for _, row in self.rows for r in row.values()):
            lines.append("!: its results differ from Boxpresso's by more than float32 does: not counted.")
        lines += self.told()
        slowest = sorted(((r, title) for title, row in self.rows if (r := ratio(row)) is not None), reverse=True)[:3]
        if len(slowest) > 1:
            lines.append("slowest against the peers: " + "; ".join(f"{title} {r:.2f}" for r, title in slowest))
            lines[-1] = textwrap.fill(lines[-1], WIDTH, subsequent_indent="    ")
        if ratios:
            mean = f"geometric mean of Boxpresso / fastest peer over {len(ratios)} rows: {geometric_mean(ratios):.2f}"
            lines.append(mean)
        return "\n".join(lines)

    def told(self) -> list[str]:
        """What was not measured, and why; not the operators that a library just does not have."""
        lines = [f"without {program}: {why}" for program, why in self.missing.items()]
        rows: dict[tuple[str, str], list[str]] = {}  # by what is said: the titles
        for title, row in self.rows:
            for program, result in row.items():
                why = result.get("cannot", "no such operator")
                if "no ONNX writer" in why:
                    rows[why, ""] = []
                elif not why.startswith("no such operator"):
                    rows.setdefault((f"{program} cannot run", why), []).append(title)
                elif "failed" in result:
                    rows.setdefault((f"{program} failed at", result["failed"]), []).append(title)
        lines += [f"{said} {', '.join(titles)}: {why}" if why else said for (said, why), titles in rows.items()]
        return [textwrap.fill(line[:300], WIDTH, subsequent_indent="    ") for line in lines]


def draw(path: Path, title: str, table: Table) -> None:
    """A bar for each row: Boxpresso's time over the fastest peer's. Raises ImportError without matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = [(name, r) for name, row in table.rows if (r := ratio(row)) is not None]
    figure, axes = pyplot.subplots(figsize=(9, 1.4 + 0.28 * len(rows)))
    names, values = [name for name, _ in rows][::-1], [r for _, r in rows][::-1]
    axes.barh(names, values, color=["tab:green" if v <= 1 else "tab:red" for v in values])
    axes.axvline(1, color="black", linewidth=1)
    axes.set_xscale("log")
    axes.set_xlabel("Boxpresso's time / the fastest peer's; lower is better, below 1 Boxpresso is faster")
    axes.set_title(title, fontsize=9)
    axes.tick_params(axis="y", labelsize=7)
    for at, value in enumerate(values):
        axes.text(value, at, f" {value:.2f}", va="center", fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
