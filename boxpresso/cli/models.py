"""The verb models: the table of well-known public models, or which of them a file is."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ..proto.errors import ModelError
from ..tables import table

if TYPE_CHECKING:
    from ..decoders.known_models import KnownModel

NAME = "models"
SHORT = "list well-known public models, or say which one a file is"
TEXT = """\
List well-known public caffemodels, with the input that each expects; explain
one by its name; or say which one a file is, by the names and shapes of its
layers. `boxpresso detect` recognises a model so, and takes mean, scale, order
of channels and labels from the table where no options say other.

A fact that could not be established is "unknown".
"""
EPILOG = """\
examples:
  boxpresso models
  boxpresso models mobilenet-ssd
  boxpresso models street.caffemodel
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

This page is written by `boxpresso models --markdown` from [known_models.json](../boxpresso/decoders/known_models.json); a new
model is a new entry there, with the fingerprint that `boxpresso models --fingerprint MODEL` prints.
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of the verb."""
    text = "a name of the table, or a .caffemodel, .h5 or .prototxt to recognise"
    parser.add_argument("which", metavar="NAME|FILE", nargs="?", help=text)
    parser.add_argument("--json", action="store_true", help="print JSON in place of a table")
    parser.add_argument("--markdown", action="store_true", help="print the table as docs/models.md has it")
    text = "print the fingerprint of the file, for a new entry of the table"
    parser.add_argument("--fingerprint", action="store_true", help=text)


def run(args: Namespace) -> int:
    """Prints the table, one entry of it, or what a file is. 1 for a file that is not recognised."""
    from ..decoders.known_models import fingerprint, known_models

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
    return recognised(args.which, args.json)


def recognised(path: str, as_text: bool) -> int:
    """Prints which model a file is."""
    from ..decoders.known_models import known_models, recognise

    if not os.path.exists(path):
        from ..proto import nearest

        raise ModelError(f"there is no file {path!r}, and no model of that name{nearest(path, list(known_models()))}")
    found = recognise(source_of(path))
    if as_text:
        result: dict[str, Any] = {"file": path, "kind": None, "model": None}
        if found:
            result.update(kind=found.kind, evidence=found.evidence(), alike=found.alike, model=as_json(found.model))
        print(json.dumps(result, indent=2))
    else:
        print(
            "\n".join(
                [f"{path}:", *found.explain()] if found else [f"{path}: none of the {len(known_models())} models", HINT]
            )
        )
    return 0 if found else 1


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
    rows = [(m.name, m.family, *inputs(m), labels(m)) for m in models]
    head = ("name", "family", "mean", "scale", "order", "size", "labels")
    return list(table(head, rows, "<<<<<<<"))


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
    ]  # fmt: skip
    return [f"{model.name}: {model.title}", *(f"  {name:10} {value or 'unknown'}" for name, value in rows)]


def markdown(models: Iterable[KnownModel]) -> str:
    """The page docs/models.md."""
    rows = ["| model | family | mean | scale | order | size | labels | licence | documented |", "|" + "---|" * 9]
    for m in models:
        name = f"[{m.name}]({m.published})" if m.published else m.name
        source = f"[source]({m.source})" if m.source else "unknown"
        cells = [f"{name}: {m.title}", m.family, *inputs(m), labels(m), m.licence or "unknown", source]
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    notes = [f"- {m.name}: {m.note}." for m in models if m.note]
    return "\n".join([HEAD, *rows, "", "## Notes", "", *notes, ""])
