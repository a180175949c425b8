"""The directive `operators NAME..`: operators of boxpresso.ops, objects that are called as functions, shown as functions."""

from __future__ import annotations

import inspect
import textwrap

from docstrings import as_rst
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from boxpresso import ops

MODULE = "boxpresso.ops"


class Operators(SphinxDirective):
    """Each name with its signature and its docstring; of an operator with a gradient also NAME_backward's signature."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        lines: list[str] = []
        for name in " ".join(self.content).split():
            text = "\n".join(as_rst(inspect.getdoc(getattr(ops, name)) or ""))
            lines += [f".. py:function:: {MODULE}.{name}{signature(name)}", ""]
            lines += [textwrap.indent(text, "   "), ""]
            back = f"{name}_backward"
            if getattr(getattr(ops, back, None), "__self__", None) is not None:
                lines += [f"   .. py:function:: {MODULE}.{back}(grad, {signature(name)[1:-1]}, *, wanted=None)", ""]
                lines += [f"      The gradients of sum(grad * {name}(...)), by the names of its inputs; ", ""]
                lines += [
                    "      ``wanted`` names the inputs to give one; see :func:`boxpresso.ops.roi_align_backward`.",
                    "",
                ]
        return self.parse_text_to_nodes("\n".join(lines))


def signature(name: str) -> str:
    """The arguments of a function of boxpresso.ops, without the types, which all arrays share."""
    found = inspect.signature(getattr(ops, name))
    plain = [p.replace(annotation=p.empty) for p in found.parameters.values()]
    return str(found.replace(parameters=plain, return_annotation=found.empty))


def setup(app: Sphinx) -> dict[str, bool]:
    """Adds the directive."""
    app.add_directive("operators", Operators)
    return {"parallel_read_safe": True}
