"""The report of a test: average precision by class, precision-recall curves, and the worst faults as pictures."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from PIL import ImageDraw
from PIL.Image import Image as PillowImage

from ..data.evaluation import Curve
from ..data.folders import Scene
from ..data.image import read_annotated
from ..drawing import PALETTE, draw_frame, draw_tag, font_for, inside
from ..evaluation import Evaluation, fixed
from ..proto.errors import BoxpressoError
from .misses import WHY_FALSE, WHY_MISSED, Fault, Judged, best_score, judge_pictures
from .page import Column, bar, escape, facts, page, picture_tag, section, table, tiles, write_page

PICTURES = 24  # of each kind
SIDE = 480  # pixels of the longer side
NAMED = 12  # curves with a colour
TRUE, FALSE, MISSED = (46, 160, 67), (219, 58, 52), (255, 149, 0)
POINTS = 120  # of a curve
COLOURS = {"missed": "orange: missed; red: what comes nearest to it", "false": "red: wrong detections"}


@dataclass(frozen=True)
class Pictures:
    """What was found in each picture of a folder, its objects, and how many faults of each kind to show."""

    detections: Sequence[Iterable[Any]]
    scenes: Sequence[Scene]
    most: int = PICTURES


def write_test_report(
    path: str | os.PathLike[str],
    evaluation: Evaluation,
    *,
    about: Sequence[tuple[str, str]] = (),
    pictures: Pictures | None = None,
    skipped: Sequence[str] = (),
) -> None:
    """Writes how good a detector is, and where it is wrong, as one HTML file.

    Parameters
    ----------
    path
        The file; it is replaced when the report is whole.
    evaluation
        Of `evaluate`.
    about
        (name, value) of what was tested, such as the model and the command.
    pictures
        What was found where; None leaves out the faults.
    skipped
        Why some pictures were left out.

    Raises
    ------
    BoxpressoError
        Where the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from boxpresso.evaluation import evaluate
    >>> result = evaluate([[(1, 0.9, 10, 10, 50, 50)]], [[(1, 12, 10, 50, 52)]], {1: "cat"})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_test_report(f"{folder}/test.html", result, about=[("model", "net.prototxt")])
    ...     "cat" in Path(f"{folder}/test.html").read_text(encoding="utf-8")
    True
    """
    score, f1 = best_score(evaluation.curves)
    judged = None
    if pictures is not None:
        judged = judge_pictures(pictures.detections, pictures.scenes, evaluation.overlap, score)
    parts = [head(evaluation, about, pictures, (score, f1)), coco_part(evaluation)]
    parts += [curves_part(evaluation), classes_part(evaluation)]
    if pictures is not None and judged is not None:
        parts += faults_parts(evaluation, pictures, judged)
    if skipped:
        lines = "".join(f"<li>{escape(line)}</li>" for line in skipped)
        parts.append(section(f"Left out: {len(skipped)} pictures", f"<ul>{lines}</ul>", "skipped"))
    links = [("curves", "Curves"), ("classes", "Classes"), ("faults", "Faults"), ("missed", "Missed"), ("false", "Wrong"),
             ("skipped", "Left out")]  # fmt: skip
    whole = [part for part in parts if part]
    present = [(name, text) for name, text in links if any(f'<section id="{name}"' in part for part in whole)]
    subtitle = f"mean average precision {fixed(evaluation.mean)} at an overlap of {evaluation.overlap:g}"
    write_page(path, page(dict(about).get("title", "Test"), subtitle, whole, present))


def head(
    evaluation: Evaluation, about: Sequence[tuple[str, str]], pictures: Pictures | None, best: tuple[float, float]
) -> str:
    """The numbers of the whole test, and what was tested."""
    curves = evaluation.curves.values()
    items = [("mean average precision", fixed(evaluation.mean)), ("objects", f"{sum(c.truths for c in curves):,}")]
    items.append(("detections", f"{sum(len(c.right) for c in curves):,}"))
    if pictures is not None:
        items.append(("pictures", f"{len(pictures.scenes):,}"))
    if best[1]:
        items.append(("best F1, of all classes", f"{best[1]:.3f} from {best[0]:.2f} on"))
    return tiles(items) + facts([pair for pair in about if pair[0] != "title"])


def coco_part(evaluation: Evaluation) -> str:
    """COCO's own numbers."""
    if evaluation.coco is None:
        return ""
    return tiles([(name, fixed(value)) for name, value in evaluation.coco.stats.items()])


# Curves


def points(curve: Curve, width: float, height: float) -> str:
    """A curve of precision over recall as an SVG path in a frame of some size, with as many points as can be seen."""
    recall, precision = curve.recall, curve.precision
    if not len(recall):
        return ""
    points = np.unique(np.append(np.searchsorted(recall, np.linspace(0, recall[-1], POINTS)), len(recall) - 1))
    points = points[points < len(recall)]
    pairs = [(0.0, float(precision[points[0]])), *zip(recall[points].tolist(), precision[points].tolist())]
    return "M" + "L".join(f"{width * r:.1f} {height * (1 - p):.1f}" for r, p in pairs)


def curves_part(evaluation: Evaluation) -> str:
    """The curves of all classes: the best and the worst have colours and names, the others are grey."""
    aps = {label: ap for label, ap in evaluation.aps.items() if not math.isnan(ap)}
    if not aps:
        return ""
    order = sorted(aps, key=lambda label: -aps[label])
    named = order if len(order) <= NAMED else order[: NAMED // 2] + order[-NAMED // 2 :]
    wide, high, left, top = 560, 360, 46, 10
    grid = "".join(f'<path class="grid" d="M0 {high * i / 5:g}H{wide}M{wide * i / 5:g} 0V{high}"/>' for i in range(6))
    ticks = "".join(
        f'<text x="-8" y="{high * (1 - i / 5) + 4:g}" text-anchor="end">{i / 5:g}</text>'
        f'<text x="{wide * i / 5:g}" y="{high + 18}" text-anchor="middle">{i / 5:g}</text>'
        for i in range(6)
    )
    lines, legend = [], []
    for label in sorted(order, key=lambda each: each in named):  # grey ones below
        colour = PALETTE[named.index(label) % len(PALETTE)] if label in named else ""
        style = f' style="stroke:{colour}"' if colour else ""
        title = f"<title>{escape(evaluation.name(label))}: AP {aps[label]:.4f}</title>"
        d = points(evaluation.curves[label], wide, high)
        lines.append(f'<path class="curve{"" if colour else " dim"}"{style} d="{d}">{title}</path>')
    for i, label in enumerate(named):
        y = 14 + 20 * i
        legend.append(
            f'<path class="curve" style="stroke:{PALETTE[i % len(PALETTE)]};stroke-width:3" d="M{wide + 20} {y - 4}h18"/>'
            f'<text x="{wide + 46}" y="{y}">{aps[label]:.3f} {escape(evaluation.name(label)[:28])}</text>'
        )
    drawn = (
        f'<svg class="curves" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide + left + 260} {high + top + 44}" '
        f'width="{wide + left + 260}" height="{high + top + 44}" role="img"><title>precision over recall</title>'
        f'<g transform="translate({left} {top})">{grid}{ticks}{"".join(lines)}{"".join(legend)}'
        f'<text x="{wide / 2}" y="{high + 34}" text-anchor="middle">recall</text>'
        f'<text transform="translate(-34 {high / 2}) rotate(-90)" text-anchor="middle">precision</text></g></svg>'
    )
    note = f"The {len(named)} best and worst of {len(order)} classes have names." if len(order) > len(named) else ""
    return section("Precision over recall", drawn, "curves", note)


def classes_part(evaluation: Evaluation) -> str:
    """The table of the classes, with a small curve of each."""
    aps, coco, rows = evaluation.aps, evaluation.coco, []
    for label, curve in evaluation.curves.items():
        right, ap = int(curve.right.sum()), aps[label]
        recall = right / curve.truths if curve.truths else math.nan
        drawn = (
            f'<svg class="spark" viewBox="-2 -2 94 40"><path d="{points(curve, 90, 36)}"/></svg>'
            if curve.truths
            else ""
        )
        cells: list[tuple[str, float | None]] = [
            (escape(evaluation.name(label)), None),
            (f"{curve.truths:,}", curve.truths), (f"{len(curve.right):,}", len(curve.right)), (f"{right:,}", right),
            (bar(0 if math.isnan(recall) else recall, fixed(recall), "bytes"), -1 if math.isnan(recall) else recall),
            (bar(0 if math.isnan(ap) else ap, fixed(ap), "macs"), -1 if math.isnan(ap) else ap),
        ]  # fmt: skip
        if coco is not None:
            own = coco.by_class.get(label, math.nan)
            cells.append((bar(0 if math.isnan(own) else own, fixed(own), "params"), -1 if math.isnan(own) else own))
        rows.append(("", [*cells, (drawn, None)]))
    heads = [
        Column("class"),
        Column("objects", number=True),
        Column("detections", number=True),
        Column("right", number=True),
    ]
    heads += [Column("recall", bars=True, number=True, title="of all detections from the test's threshold on")]
    heads += [Column(f"AP@{evaluation.overlap:g}", bars=True, number=True, title=evaluation.method)]
    heads += [Column("AP@.5:.95", bars=True, number=True)] if coco is not None else []
    heads.append(Column("curve"))
    return section("Classes", table(heads, rows, "classes"), "classes") if rows else ""


# Faults


def faults_parts(evaluation: Evaluation, pictures: Pictures, judged: Judged) -> list[str]:
    """How many faults there are of each kind, and the worst as pictures."""
    objects = judged.right + len(judged.missed)
    note = (
        f"Counted from a score of {judged.score:.3f} on, at which all classes together have the highest F1; "
        "the precision-recall curves count every detection."
    )
    rows = [("", [("right", None), *share_cells(judged.right, objects, "bytes")])]
    for word, faults, reasons in (("missed", judged.missed, WHY_MISSED), ("wrong", judged.false, WHY_FALSE)):
        for key, text in reasons.items():
            number = sum(fault.why == key for fault in faults)
            rows.append(("", [(f"{word}: {text}", None), *share_cells(number, objects, "back")]))
    heads = [Column("what"), Column("number", number=True), Column("beside the objects", bars=True, number=True)]
    parts = [section("Faults", table(heads, rows, "faults"), "faults", note)]
    kinds = [("missed", "Missed objects", judged.missed, caption_missed, "the largest first"),
             ("false", "Wrong detections", judged.false, caption_false, "the highest scores first")]  # fmt: skip
    for name, title, faults, caption, order in kinds:
        if faults:
            figures, shown = gallery(evaluation, pictures, faults, caption)
            about = f"{shown:,} of {len(faults):,}, {order}. Green: objects; {COLOURS[name]}."
            parts.append(section(title, figures, name, about))
    return parts


def share_cells(number: int, whole: int, kind: str) -> list[tuple[str, float | None]]:
    """A number, and its part of the objects."""
    share = number / whole if whole else 0.0
    return [(f"{number:,}", number), (bar(share, f"{share:.1%}", kind), share)]


def caption_missed(evaluation: Evaluation, fault: Fault) -> str:
    """What is said of a missed object."""
    text = f"{evaluation.name(fault.label)}: {WHY_MISSED[fault.why]}"
    if fault.near is None:
        return text
    label, score, _ = fault.near
    return f"{text} ({evaluation.name(label)} {score:.2f}, overlap {fault.overlap:.2f})"


def caption_false(evaluation: Evaluation, fault: Fault) -> str:
    """What is said of a wrong detection."""
    text = f"{evaluation.name(fault.label)} {fault.weight:.2f}: {WHY_FALSE[fault.why]}"
    return text if fault.near is None else f"{text} ({evaluation.name(fault.near[0])}, overlap {fault.overlap:.2f})"


def gallery(
    evaluation: Evaluation,
    pictures: Pictures,
    faults: Sequence[Fault],
    caption: Callable[[Evaluation, Fault], str],
) -> tuple[str, int]:
    """The pictures with the worst faults, and how many faults these show."""
    order = list(dict.fromkeys(fault.picture for fault in faults))[: pictures.most]
    by_picture = {
        n: list(of_picture) for n, of_picture in groupby(sorted(faults, key=lambda f: f.picture), lambda f: f.picture)
    }
    parts, shown = [], 0
    for number in order:
        of_picture = sorted(by_picture[number], key=lambda fault: -fault.weight)
        scene = pictures.scenes[number]
        try:
            picture = drawing(evaluation, scene, of_picture, read_annotated(scene.path, (scene.width, scene.height)))
        except BoxpressoError as error:  # it was there a moment ago
            parts.append(f"<figure><figcaption>{escape(error)}</figcaption></figure>")
            continue
        lines = "".join(f"<small>{escape(caption(evaluation, fault))}</small>" for fault in of_picture[:4])
        more = f"<small>and {len(of_picture) - 4} more</small>" if len(of_picture) > 4 else ""
        parts.append(
            f"<figure>{picture_tag(picture, scene.path.name)}"
            f"<figcaption>{escape(scene.path.name)}{lines}{more}</figcaption></figure>"
        )
        shown += len(of_picture)
    return f'<div class="gallery">{"".join(parts)}</div>', shown


def drawing(evaluation: Evaluation, scene: Scene, faults: Sequence[Fault], image: PillowImage) -> PillowImage:
    """A small copy of a picture with its objects and some faults drawn on it."""
    scale = SIDE / max(image.size)
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    picture = image.convert("RGB").resize(size)
    canvas = ImageDraw.Draw(picture)
    taken: list[tuple[int, int, int, int]] = []
    boxes: list[tuple[Sequence[float], str, tuple[int, int, int], int]] = [
        (corners, "", TRUE, 2) for corners in scene.corners.tolist()
    ]
    for fault in reversed(faults):  # the worst is drawn last
        if fault.missed and fault.near is not None:
            boxes.append((fault.near[2], f"{evaluation.name(fault.near[0])} {fault.near[1]:.0%}", FALSE, 2))
        text = evaluation.name(fault.label) if fault.missed else f"{evaluation.name(fault.label)} {fault.weight:.0%}"
        boxes.append((fault.box, text, MISSED if fault.missed else FALSE, 3))
    font = font_for((text for _, text, *_ in boxes), 13)
    for box, _, colour, line in boxes:
        if frame := inside([value * scale for value in box], *size):
            draw_frame(canvas, frame, colour, line, 1)
    for box, text, colour, _ in reversed(boxes):
        if text and (frame := inside([value * scale for value in box], *size)):
            draw_tag(canvas, frame, text, font, colour, taken)
    return picture
