"""The directive `verbs`: the help of each verb of the command, from its own parser."""

from __future__ import annotations

import os
from argparse import _SubParsersAction

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from boxpresso.cli.main import VERBS, make_parser


class Verbs(SphinxDirective):
    """A section for each verb, with what `boxpresso VERB --help` prints."""

    def run(self) -> list[nodes.Node]:
        os.environ["COLUMNS"] = "80"
        parsers = next(a for a in make_parser()._actions if isinstance(a, _SubParsersAction)).choices
        lines: list[str] = []
        for verb in VERBS:
            lines += [f"## {verb.NAME}", "", f"{verb.SHORT[0].upper()}{verb.SHORT[1:]}.", ""]
            lines += ["````text", *parsers[verb.NAME].format_help().splitlines(), "````", ""]
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Adds the directive."""
    app.add_directive("verbs", Verbs)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
