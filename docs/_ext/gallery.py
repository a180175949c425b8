"""The gallery of layers and the list of decoders, from their classes, docstrings and parameter messages.

`layer-table` is one line for each layer type; `layer-family NAME` explains the layers of one folder of boxpresso/layers;
`decoders` documents the decoders.
"""

from __future__ import annotations

import inspect
import re
from functools import cache
from html import escape
from pathlib import Path

from diagrams import drawing
from docstrings import as_rst, plain
from docutils import nodes
from links import address
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from boxpresso.decoders import decoders
from boxpresso.layers.core import Layer, Trait, catalogue
from boxpresso.proto import LayerParameter

ROOT = Path(__file__).resolve().parents[2]
FAMILIES = {
    "regions": "Regions",
    "detection": "Detection",
    "dense": "Convolution, products and recurrence",
    "norm": "Normalisation",
    "neuron": "Activations and arithmetic",
    "shape": "Shape",
    "loss": "Losses",
    "data": "Data",
    "core": "Your own, in Python",
}


def family(cls: type[Layer]) -> str:
    """The folder of boxpresso/layers that a layer lies in."""
    return cls.__module__.split(".")[2]


def layers_of(name: str) -> list[type[Layer]]:
    """The layers of a family, by name."""
    return [cls for cls in catalogue.layer_types() if family(cls) == name]


def anchor(cls: type[Layer]) -> str:
    """What a layer's section is called in a link."""
    return re.sub(r"[^a-z0-9]", "", cls.type.lower())


def counts(cls: type[Layer]) -> str:
    """How many bottoms and tops a layer has, and what else its class says."""
    said = [f"Bottoms: {catalogue.count(cls.bottoms)}", f"tops: {catalogue.count(cls.tops)}"]
    said += ["may work in place"] if cls.in_place else []
    said += ["is a loss"] if Trait.LOSS in cls.traits else []
    return "; ".join(said)


def rows(table: list[list[str]], widths: str) -> list[str]:
    """A table, its first row the head."""
    out = [".. list-table::", "   :header-rows: 1", f"   :widths: {widths}", ""]
    for row in table:
        out += [f"   {'* ' if i == 0 else '  '}- {cell}".rstrip() for i, cell in enumerate(row)]
    return [*out, ""]


def html(text: str) -> list[str]:
    """A piece of HTML."""
    return [".. raw:: html", "", f"   {text}", ""]


def heading(text: str) -> list[str]:
    """The title of a section."""
    return [text, "-" * len(text), ""]


def marked(text: str) -> str:
    """A plain text as HTML, what is between backticks as code."""
    code = r'<code class="docutils literal notranslate">\1</code>'
    return re.sub(r"`([^`]+)`", code, escape(text, quote=False))


@cache
def fields(name: str) -> list[str]:
    """The fields of a parameter message, folded; as HTML, which takes a tenth of the time of a table of reStructuredText."""
    message = LayerParameter.DESCRIPTOR.fields_by_name[name].message_type
    about, listed = catalogue.message_fields(message.name)
    table = []
    for f in listed:
        if not f.fork:
            enum = message.fields_by_name[f.name].enum_type
            kind = " or ".join(v.name for v in enum.values) if enum else f.type.rpartition(".")[2]
            kind += ", repeated" if f.label == "repeated" else ""
            table.append((f"`{f.name}`", kind, f.default, f.about))
    forks = ", ".join(f"`{f.name}`" for f in listed if f.fork)
    if not table and not forks:
        return []
    out = f"<details><summary>All fields of {name}</summary>"
    out += f"<p>{marked(about)}</p>" if about else ""
    if table:
        head = "".join(f"<th>{word}</th>" for word in ("field", "type", "default", "meaning"))
        body = "".join(f"<tr>{''.join(f'<td>{marked(cell)}</td>' for cell in row)}</tr>" for row in table)
        lines = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
        out += (
            f'<div class="table-wrapper docutils container"><table class="docutils align-default">{lines}</table></div>'
        )
    out += f"<p>Of forks, not all of them supported: {marked(forks)}</p>" if forks else ""
    return html(f"{out}</details>")


class LayerFamily(SphinxDirective):
    """A section for each layer of a family."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        lines: list[str] = []
        for cls in layers_of(self.arguments[0]):
            python = Path(inspect.getfile(cls)).resolve()
            kernels = dict.fromkeys(Path(each.path).resolve() for each in cls.kernel_files())
            files = [python, *(path for path in kernels if path.suffix == ".cu")]
            links = [f"`{path.name} <{address(path, ROOT, self.config)}>`__" for path in files]
            doc = inspect.cleandoc(cls.__doc__ or catalogue.summary(cls))
            titles = {"Parameters": "Bottoms and parameters", "Returns": "Tops", "Examples": "Example"}
            lines += [f".. _{anchor(cls)}:", "", *heading(cls.type)]
            others = [f"``{name}``" for name in cls.types[1:]]
            lines += [f"Also called {', '.join(others)}.", ""] if others else []
            lines += html(picture) if (picture := drawing(cls.type)) else []
            lines += as_rst(doc, links=False, titles=titles)
            lines += [".. rubric:: In a prototxt", "", ".. code-block:: prototxt", ""]
            lines += [*(f"   {line}" for line in catalogue.example(cls).splitlines()), ""]
            for name in catalogue.parameter_names(cls.type):
                lines += fields(name)
            lines += [f"{counts(cls)}. Read it: {', '.join(links)}.", ""]
            self.env.note_dependency(str(python))
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


class LayerTable(SphinxDirective):
    """All layer types by family, one line each."""

    def run(self) -> list[nodes.Node]:
        lines: list[str] = []
        for name, title in FAMILIES.items():
            table = [["layer", "what it computes"]]
            for cls in layers_of(name):
                names = ", ".join(f":ref:`{type} <{anchor(cls)}>`" for type in cls.types)
                table.append([names, plain(summary(cls), links=False)])
            lines += [*heading(title), *rows(table, "30 70")]
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def summary(cls: type[Layer]) -> str:
    """The first sentence about a layer, of its own docstring where its file has several layers."""
    text = catalogue.summary(cls)
    own = " ".join((inspect.cleandoc(cls.__doc__ or "")).split("\n\n")[0].split())
    shared = sum(other.__module__ == cls.__module__ for other in catalogue.layer_types()) > 1
    text = re.split(r"(?<=\.) ", own)[0] if shared and own else text
    return text[:1].upper() + text[1:]


class Decoders(SphinxDirective):
    """Each decoder with its docstring."""

    def run(self) -> list[nodes.Node]:
        lines: list[str] = []
        for decoder in decoders():
            lines += [f".. autoclass:: {decoder.__module__}.{decoder.__name__}", "   :no-members:", ""]
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app: Sphinx) -> dict[str, bool]:
    """Adds the directives."""
    app.add_directive("layer-family", LayerFamily)
    app.add_directive("layer-table", LayerTable)
    app.add_directive("decoders", Decoders)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
