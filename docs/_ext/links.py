"""Links of a page to files of the repository that are not pages (`../examples/shapes`) lead to the repository's address."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform


def address(path: Path, root: Path, config: Any) -> str:
    """Where a file or folder of the repository is to be seen."""
    kind = "tree" if path.is_dir() else "blob"
    return f"{config.repository}/{kind}/{config.repository_branch}/{path.relative_to(root).as_posix()}"


class RepositoryLinks(SphinxTransform):
    """Replaces what myst makes of such a link, a download or a reference to nothing, by a link to the repository."""

    default_priority = 5

    def apply(self, **kwargs: Any) -> None:
        pages = Path(self.app.srcdir)
        root = pages.parent
        found = [*self.document.findall(addnodes.pending_xref), *self.document.findall(addnodes.download_reference)]
        for node in [node for node in found if node.get("reftype") == "myst"]:
            target, _, anchor = node["reftarget"].partition("#")
            if node.get("refdomain") == "doc":  # a page; myst takes a Markdown file outside docs/ for one, too
                target, anchor = f"{target}.md", node.get("reftargetid") or ""
            path = Path(os.path.normpath((pages / self.env.docname).parent / target))
            inside = path.is_relative_to(pages) and node.get("refdomain") == "doc"
            if not target or inside or not path.exists() or not path.is_relative_to(root):
                continue
            link = nodes.reference(
                "", "", refuri=address(path, root, self.config) + (f"#{anchor}" if anchor else ""), internal=False
            )
            link += node.children if node["refexplicit"] else nodes.literal(target, path.relative_to(root).as_posix())
            for child in link.children:  # a link, not a download
                if isinstance(child, nodes.inline):
                    child["classes"] = []
            node.replace_self(link)


def setup(app: Sphinx) -> dict[str, bool]:
    """Adds the transform and the address to the project."""
    app.add_config_value("repository", "", "env")
    app.add_config_value("repository_branch", "main", "env")
    app.add_transform(RepositoryLinks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
