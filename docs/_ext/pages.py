"""What is special about reading the pages: blocks of code may say that they are prototxt."""

from __future__ import annotations

from pygments.lexers import ProtoBufLexer
from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, bool]:
    """Adds the lexer."""
    app.add_lexer("prototxt", ProtoBufLexer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
