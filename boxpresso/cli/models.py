"""The verb models: the table of well-known public models, or which of them a file is."""

from __future__ import annotations

import json
import os
import shutil
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from ..proto.errors import ModelError, nearest
from ..tables import table
from .output import Progress

if TYPE_CHECKING:
    from ..decoders.known_models import KnownModel
    from ..decoders.published import Published

NAME = "models"
SHORT = "list and fetch well-known public models, or say which one a file is"
TEXT = """\
List well-known public caffemodels, with the input that each expects; explain
one by its name; or say which one a file is, by the names and shapes of its
layers. `boxpresso detect` recognises a model so, and takes mean, scale, order
of channels and labels from the table where no options say other.

A fact that could not be established is "unknown".

--get fetches some of them from where their authors publish them, a file of a
fixed commit whose SHA-256 is known, into the cache folder (BOXPRESSO_CACHE);
`boxpresso detect`, `serve` and Detector take their names and fetch them by
themselves. BOXPRESSO_MIRROR names another place to fetch them from.
"""
EPILOG = """\
examples:
  boxpresso models
  boxpresso models mobilenet-ssd
  boxpresso models street.caffemodel
  boxpresso models --get
  boxpresso models --get ultralight-face mtcnn
"""
HINT = (
    "  say how its pictures are prepared: boxpresso detect --mean M --scale S,\n"
    "  --swap-rb; they are in the transform_param of its training prototxt"
)
HEAD = """\
# Known models

Well-known public caffemodels, recognised by the names and the shapes of their layers with weights: `boxpresso detect`
then takes the input's mean, scale and order of channels, the anchors of YOLO and the labels from this table where no
options say other, and prints what it assumed; `--explain` shows why. `boxpresso models FILE` says which model it is.

The input is (pixel - mean) * scale, with pixels from 0 to 255 and the mean in the order of the channels. The size is
width x height; "-" is the size of the prototxt. A fact that could not be established is "unknown". The models
themselves are not part of Boxpresso; their licences are those of their authors, and are named as their pages name
them.

`boxpresso models --get NAME` fetches those with a name in the last column from their authors' repositories, each file from a
fixed commit and checked by its SHA-256 ([published.json](../boxpresso/decoders/published.json)); `boxpresso detect NAME
street.jpg`, `boxpresso serve NAME` and `Detector("NAME")` fetch them by themselves, once, into the cache folder
(`BOXPRESSO_CACHE`). A transfer that broke is gone on with. Without a way to GitHub `BOXPRESSO_MIRROR` names another address,
`file://` too, below which a file is OWNER/REPOSITORY/COMMIT/PATH. Their licences bind you: read them.

This page is written by `boxpresso models --markdown` from [known_models.json](../boxpresso/decoders/known_models.json); a new
model is a new entry there, with the fingerprint that `boxpresso models --fingerprint MODEL` prints.
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of the verb."""
    text = "a name of the table, or a .caffemodel, .h5 or .prototxt to recognise"
    parser.add_argument("which", metavar="NAME|FILE", nargs="?", help=text)
    text = "fetch these, from where their authors publish them, and print their folders; without a name list what can be had"
    parser.add_argument("--get", metavar="NAME", nargs="*", help=text)
    parser.add_argument("--json", action="store_true", help="print JSON in place of a table")
    parser.add_argument("--markdown", action="store_true", help="print the table as docs/models.md has it")
    text = "print the fingerprint of the file, for a new entry of the table"
    parser.add_argument("--fingerprint", action="store_true", help=text)


def run(args: Namespace) -> int:
    """Prints the table, one entry of it, or what a file is. 1 for a file that is not recognised."""
    from ..decoders.known_models import fingerprint, known_models
    from ..decoders.published import published

    if args.get is not None:
        return get(args.get, args.json)
    if args.which is None:
        models = list(known_models().values())
        text = json.dumps([as_json(model) for model in models], indent=2) if args.json else "\n".join(lines(models))
        print(markdown(models) if args.markdown else text, end="" if args.markdown else "\n")
        return 0
    if args.fingerprint:
        print(json.dumps(fingerprint(source_of(args.which))))
        return 0
    if args.which in known_models() and not os.path.exists(args.which):
        model = known_models()[args.which]
        print(json.dumps(as_json(model), indent=2) if args.json else "\n".join(facts(model)))
        return 0
    entry = published().get(args.which)
    if entry is not None and not os.path.exists(args.which):
        print(json.dumps({**asdict(entry), "page": entry.page}, indent=2) if args.json else "\n".join(about(entry)))
        return 0
    return recognised(args.which, args.json)


def get(names: list[str], as_text: bool) -> int:
    """Fetches models, or lists those that can be."""
    from ..decoders.published import fetch, megabytes, published

    rows: list[dict[str, Any]] = []
    if not names:
        for entry in published().values():
            rows.append({**asdict(entry), "size": entry.size, "here": not entry.missing(), "page": entry.page})
        if not as_text:
            head = ("name", "size", "licence", "here", "what")
            cells = [
                (
                    r["name"],
                    megabytes(r["size"]),
                    r["licence"] or "none stated",
                    "yes" if r["here"] else "-",
                    r["title"],
                )
                for r in rows
            ]
            print("\n".join(table(head, cells, "<><<<")))
    for name in names:
        entry = entry_of(name)
        if not as_text:
            for line in about(entry):
                print(line, flush=True)
        progress = Progress("fetching", "bytes")
        fetch(name, partial(said, progress))
        progress.end()
        models, weights = entry.paths()
        rows.append({"name": entry.name, "models": list(map(str, models)), "weights": list(map(str, weights))})
        if not as_text:
            print(f"  {'folder':10} {entry.folder}")
    if as_text:
        print(json.dumps(rows, indent=2))
    return 0


def said(progress: Progress, file: str, have: int, size: int) -> None:
    """Shows how much of a file is there."""
    progress.tell(have, size)


def entry_of(name: str) -> Published:
    """The entry of a name. Raises ModelError."""
    from ..decoders.known_models import known_models
    from ..decoders.published import find, published

    entry = find(name)
    if entry is None:
        part = next((e.name for e in published().values() if name in e.models), None)
        known = known_models().get(name)
        if part:
            raise ModelError(f"{name} is a part of {part}: boxpresso models --get {part}")
        if known:
            raise ModelError(f"{name} cannot be fetched by its name; it is published at {known.published or 'unknown'}")
        raise ModelError(f"no model is called {name!r}{nearest(name, [*published(), *known_models()])}")
    return entry


def about(entry: Published) -> list[str]:
    """What is to be fetched, from where, and under which licence."""
    lines = [
        f"{entry.name}: {entry.title}",
        f"  {'licence':10} {entry.licence or 'none stated'}",
        f"  {'from':10} {entry.page}",
    ]
    for file in entry.files:
        lines.append(f"  {file.name:24} {file.size:9,} bytes, SHA-256 {file.sha256[:16]}..")
    return lines


def recognised(path: str, as_text: bool) -> int:
    """Prints which model a file is."""
    from ..decoders.known_models import known_models, recognise
    from ..decoders.published import published

    if not os.path.exists(path):
        known = [*known_models(), *published()]
        raise ModelError(f"there is no file {path!r}, and no model of that name{nearest(path, known)}")
    recognition = recognise(source_of(path))
    if as_text:
        result: dict[str, Any] = {"file": path, "kind": None, "model": None}
        if recognition:
            result.update(
                kind=recognition.kind,
                evidence=recognition.evidence(),
                alike=recognition.alike,
                model=as_json(recognition.model),
            )
        print(json.dumps(result, indent=2))
    else:
        print(
            "\n".join(
                [f"{path}:", *recognition.explain()]
                if recognition
                else [f"{path}: none of the {len(known_models())} models", HINT]
            )
        )
    return 0 if recognition else 1


def source_of(path: str) -> Any:
    """A Net of a .prototxt, or the weights of another file."""
    from ..net import Net
    from ..net.weights import read_weights

    return Net(path, device="cpu", optimize=False) if path.endswith((".prototxt", ".txt")) else read_weights(path)


def as_json(model: KnownModel) -> dict[str, Any]:
    """An entry of the table, with the names of its classes, and without its fingerprint."""
    values = {name: value for name, value in asdict(model).items() if name not in ("code", "shapes")}
    return {**values, "layers": len(model.layers), "classes": list(model.class_names) or None}


def lines(models: Iterable[KnownModel]) -> list[str]:
    """The table for a terminal."""
    head = ["name", "get", "size", "order", "mean", "scale", "family", "labels"]
    rows = []
    for m in models:
        mean, scale, order, size = inputs(m)
        rows.append([m.name, fetched_by(m) or "-", size, order, mean, scale, m.family, labels(m)])
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    return fitting(head, rows, width)


def fitting(head: list[str], rows: list[list[str]], width: int | None) -> list[str]:
    """A table without its last columns, as many as make it too wide for a terminal; None is any width.

    >>> fitting(["name", "size"], [["lenet", "28x28"]], 8)
    ['name', 'lenet', '1 column more in a wider terminal, or in a pipe']
    """
    shown = list(table(head, rows, "<" * len(head)))
    left_out = 0
    while width is not None and len(head) - left_out > 1 and max(map(len, shown)) > width:
        left_out += 1
        shown = list(table(head[:-left_out], [row[:-left_out] for row in rows], "<" * (len(head) - left_out)))
    more = f"{left_out} column{'s' * (left_out != 1)} more in a wider terminal, or in a pipe"
    return [line.rstrip() for line in shown] + ([more] if left_out else [])


def inputs(model: KnownModel) -> tuple[str, str, str, str]:
    """Mean, scale, order and size, as short texts."""
    unknown = "unknown"
    mean = unknown
    if model.mean is not None:
        mean = ",".join(f"{m:g}" for m in (model.mean if len(set(model.mean)) > 1 else model.mean[:1]))
    scale = unknown if model.scale is None else f"{model.scale:.6g}"
    size = f"{model.size[0]}x{model.size[1]}" if model.size else "-"
    return mean, scale, model.order or unknown, size


def labels(model: KnownModel) -> str:
    """The name of the list of labels, or the number of names."""
    if isinstance(model.labels, str) or model.labels is None:
        return model.labels or "unknown"
    return ", ".join(model.labels) if len(model.labels) < 3 else f"{len(model.labels)} names"


def facts(model: KnownModel) -> list[str]:
    """All that is known of a model, a line each."""
    names = model.class_names
    shown = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
    listed = f"{labels(model)}{f': {shown}' if len(names) > 2 else ''}"
    rows = [
        ("family", model.family), ("decoder", model.decoder), ("input", model.describe()), ("labels", listed),
        ("published", model.published), ("licence", model.licence), ("source", model.source), ("note", model.note or "-"),
        ("anchors", ", ".join(f"{a:g}" for a in model.anchors or ()) or "-"),
        ("layers", f"{len(model.layers)} with weights"),
        ("get", f"boxpresso models --get {name}" if (name := fetched_by(model)) else "-"),
    ]  # fmt: skip
    return [f"{model.name}: {model.title}", *(f"  {name:10} {value or 'unknown'}" for name, value in rows)]


def fetched_by(model: KnownModel) -> str:
    """The name that `--get` takes for a model, empty where it cannot be fetched."""
    from ..decoders.published import published

    return next((entry.name for entry in published().values() if model.name in entry.models), "")


def markdown(models: Iterable[KnownModel]) -> str:
    """The page docs/models.md."""
    rows = ["| model | family | mean | scale | order | size | labels | licence | documented | get |", "|" + "---|" * 10]
    for m in models:
        name = f"[{m.name}]({m.published})" if m.published else m.name
        source = f"[source]({m.source})" if m.source else "unknown"
        cells = [
            f"{name}: {m.title}",
            m.family,
            *inputs(m),
            labels(m),
            m.licence or "unknown",
            source,
            fetched_by(m) or "-",
        ]
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    notes = [f"- {m.name}: {m.note}." for m in models if m.note]
    return "\n".join([HEAD, *rows, "", "## Notes", "", *notes, ""])
