"""The operators of boxpresso.ops, objects that are called as functions, shown as functions.

`operators` documents those that it names; `backward` is what all of their backward passes share.
"""

from __future__ import annotations

import inspect
import textwrap

from docstrings import as_rst
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from boxpresso import ops
from boxpresso.ops.operator import Operator

MODULE = "boxpresso.ops"


class Backward(SphinxDirective):
    """What all backward passes share: the docstring of Operator.backward."""

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes("\n".join(as_rst(inspect.getdoc(Operator.backward) or "")))


class Operators(SphinxDirective):
    """Each name with its signature and its docstring; of an operator with a gradient NAME_backward too."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        lines: list[str] = []
        for name in " ".join(self.content).split():
            text = "\n".join(as_rst(inspect.getdoc(getattr(ops, name)) or ""))
            lines += [f".. py:function:: {MODULE}.{name}{signature(name)}", ""]
            lines += [textwrap.indent(text, "   "), ""]
            back = getattr(ops, f"{name}_backward", None)
            if getattr(back, "__self__", None) is not None:
                lines += [f"   .. py:function:: {MODULE}.{name}_backward(grad, *args, wanted=None, **kwargs)", ""]
                about = (
                    f"The gradients of the inputs of {name} by their names, from that of its result and its arguments"
                )
                lines += [f"      {about}: see :ref:`gradients <backward>`.", ""]
        return self.parse_text_to_nodes("\n".join(lines))


def signature(name: str) -> str:
    """The arguments of a function of boxpresso.ops, without the types, which all arrays share."""
    found = inspect.signature(getattr(ops, name))
    plain = [p.replace(annotation=p.empty) for p in found.parameters.values()]
    return str(found.replace(parameters=plain, return_annotation=found.empty))


def setup(app: Sphinx) -> dict[str, bool]:
    """Adds the directive."""
    app.add_directive("operators", Operators)
    app.add_directive("backward", Backward)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
