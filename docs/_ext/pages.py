"""What is special about reading the pages.

The index leaves out what is not written yet: pages of COMING alone, any other missing page is an error. Blocks of code may say
that they are prototxt.
"""

from __future__ import annotations

import re
from pathlib import Path

from pygments.lexers import ProtoBufLexer
from sphinx.application import Sphinx

COMING = (
    "start", "train_your_own", "from_py_faster_rcnn", "write_a_layer", "write_a_kernel", "training", "what_it_reads", "serve",
    "finish", "reports",
)  # fmt: skip


def leave_out(app: Sphinx, page: str, source: list[str]) -> None:
    """Takes the lines of missing pages out of the index."""
    missing = [name for name in COMING if not (Path(app.srcdir) / f"{name}.md").exists()]
    if page == "index" and missing:
        names = "|".join(missing)
        source[0] = re.sub(rf"(?m)^(?:.* <)?(?:{names})>?\n|^.*\((?:{names})\.md\).*\n", "", source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Connects with the reading of pages."""
    app.add_lexer("prototxt", ProtoBufLexer)
    app.connect("source-read", leave_out)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
