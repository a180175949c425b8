"""The report of a quantisation: a row a layer, what the whole loses and takes, and the pictures with the largest difference."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import ImageDraw
from PIL.Image import Image as PillowImage

from ..decoders.detections import Detections
from ..drawing import draw_frame, inside
from ..graph.quantization import Quantization
from ..image import read_image
from ..proto.errors import BoxpressoError
from .page import Column, bar, escape, facts, page, picture_tag, section, table, tiles, write_page

SIDE = 480  # pixels of the longer side of a picture
IN_FLOAT, IN_INT8 = (46, 160, 67), (219, 58, 52)


@dataclass(frozen=True)
class Apart:
    """A picture, how far its results in 8 bits are from those in float, and its boxes in both, None for a net without."""

    path: str
    difference: float
    before: Detections | None = None
    after: Detections | None = None


def write_quantize_report(
    path: str | os.PathLike[str],
    scales: Quantization,
    *,
    about: Sequence[tuple[str, str]] = (),
    pictures: Sequence[Apart] = (),
) -> None:
    """Writes which layers run in 8 bits, why others do not, and what that costs and gains, as one HTML file.

    Parameters
    ----------
    path
        The file; it is replaced when the report is whole.
    scales
        Of `quantize`.
    about
        (name, value) of what was quantised, such as the model and the command.
    pictures
        Those to be shown, the largest difference first.

    Raises
    ------
    BoxpressoError
        Where the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from boxpresso.graph.quantization import LayerNote
    >>> scales = Quantization({"c": [(0.0, 6.0)]}, {"c": LayerNote("int8", error=0.01)}, notes={"lost": 0.0})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_quantize_report(f"{folder}/int8.html", scales)
    ...     "0 .. 6" in Path(f"{folder}/int8.html").read_text(encoding="utf-8")
    True
    """
    notes = scales.notes
    count = f"{len(scales.chosen)} of {len(scales.layers)}"
    items = [("layers in 8 bits", count)]
    if "lost" in notes:
        items.append(("lost", f"{notes['lost']:.5f}"))
    if "ms" in notes:
        before, after = notes["ms"]
        items += [("ms in float32", f"{before:.3g}"), ("ms with 8 bits", f"{after:.3g}")]
        items.append(("of float32", f"{after / before:.2f}"))
    words = {
        "lost is of": "lost_of", "may be lost": "drop", "mAP in float32": "mean_precision", "pictures": "pictures",
        "ranges": "ranges", "machine": "machine",
    }  # fmt: skip
    shown = [pair for pair in about if pair[0] != "title"]
    for name, key in words.items():
        if key in notes:
            shown.append((name, f"{notes[key]:.6g}" if isinstance(notes[key], float) else str(notes[key])))
    parts = [tiles(items) + facts(shown), layers_part(scales)]
    links = [("layers", "Layers")]
    if pictures:
        parts.append(pictures_part(pictures))
        links.append(("pictures", "Pictures"))
    title = dict(about).get("title", "Inference in 8 bits")
    write_page(path, page(title, f"{count} layers in 8 bits", parts, links))


def layers_part(scales: Quantization) -> str:
    """A row for each layer that can run in 8 bits."""
    errors = [note.error for note in scales.layers.values() if math.isfinite(note.error)]
    largest = max(errors, default=0.0) or 1.0
    slowest = max((max(note.times) for note in scales.layers.values() if note.times), default=0.0) or 1.0
    rows = []
    for name, note in scales.layers.items():
        low, high = (scales.ranges.get(name) or [(0.0, 0.0)])[0]
        known = math.isfinite(note.error)
        cells: list[tuple[str, float | None]] = [(escape(name), None), (note.kind, None)]
        cells.append((bar(note.error / largest, f"{note.error:.5f}", "back"), note.error) if known else ("", -1.0))
        cells.append((f"{low:.4g} .. {high:.4g}", high - low))
        for i, kind in enumerate(("bytes", "macs")):
            ms = note.times[i] if note.times else None
            cells.append(("", -1.0) if ms is None else (bar(ms / slowest, f"{ms:.3f}", kind), ms))
        rows.append(("", [*cells, (escape(note.why), None)]))
    heads = [Column("layer"), Column("runs in")]
    heads.append(Column("error", bars=True, number=True, title="of the outputs, with this layer alone in 8 bits"))
    heads.append(Column("range", number=True, title="of what it computes, over the pictures"))
    heads += [Column(name, bars=True, number=True) for name in ("ms float32", "ms int8")]
    heads.append(Column("why"))
    return section("Layers", table(heads, rows, "layers"), "layers")


def pictures_part(pictures: Sequence[Apart]) -> str:
    """The pictures with the largest difference, with the boxes of both."""
    figures = []
    for each in pictures:
        caption = f"{escape(Path(each.path).name)}<small>difference {each.difference:.4f}</small>"
        try:
            image = picture_tag(drawing(each, read_image(each.path)), Path(each.path).name)
        except BoxpressoError as error:  # it was there a moment ago
            image, caption = "", escape(error)
        figures.append(f"<figure>{image}<figcaption>{caption}</figcaption></figure>")
    note = "The largest first: the distance of the outputs over their length."
    if any(each.before is not None for each in pictures):
        note = (
            "The largest first: of a picture's boxes in float the largest 1 - overlap with what takes its place. "
            "Green: in float; red: in 8 bits."
        )
    body = f'<div class="gallery">{"".join(figures)}</div>'
    return section("Pictures with the largest difference", body, "pictures", note)


def drawing(each: Apart, image: PillowImage) -> PillowImage:
    """A small copy of a picture with its boxes in float, and over these those in 8 bits."""
    scale = SIDE / max(image.size)
    picture = image.convert("RGB").resize((max(1, round(image.width * scale)), max(1, round(image.height * scale))))
    canvas = ImageDraw.Draw(picture)
    for detections, colour, line in ((each.before, IN_FLOAT, 4), (each.after, IN_INT8, 2)):
        for box in detections.boxes if detections is not None else ():
            if frame := inside([float(value) * scale for value in box], *picture.size):
                draw_frame(canvas, frame, colour, line, 1)
    return picture
