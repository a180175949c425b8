"""The documentation site: `python -m sphinx -W docs site` builds it without a network, and every warning is an error."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE / "_ext"), str(ROOT)]

os.environ.setdefault("BOXPRESSO_PROGRESS", "0")  # no lines about the compilation of kernels in the notebooks

from boxpresso import __version__  # noqa: E402

# Where links to files outside docs/ lead: the address that pyproject.toml names.
named = re.search(
    r'(?mi)^"?(?:repository|source(?: code)?)"? *= *"(https:.*?)/?"',
    (ROOT / "pyproject.toml").read_text(encoding="utf-8"),
)
repository = named[1] if named else "https://github.com/boxpresso/boxpresso"
repository_branch = "main"

project = "Boxpresso"
copyright = "the authors of Boxpresso, BSD 2-Clause licence"
version = release = __version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "pages",
    "docstrings",
    "links",
    "operators",
    "gallery",
    "command_line",
]
exclude_patterns = ["_build", "_ext", "**/.ipynb_checkpoints"]
nitpicky = True
nitpick_ignore_regex = [
    ("py:obj", ".*"),  # a name between backticks of a docstring is a link where the reference has it
    ("py:class", r"boxpresso\.proto\.boxpresso_pb2\..*"),  # messages of boxpresso.proto
    # inner types that a signature names, which nobody makes himself
    (
        "py:class",
        r"boxpresso\.(caffe\.pycaffe\.BuiltNet|device\.(array\.Buffer|chain\.Chain)|graph\.graph\.(Plan|Source)|layers\.core\.lowering\.Scale)",
    ),
    ("py:class", r"boxpresso\.device\.(kernel|signature)\.\w+"),
    ("py:class", r"boxpresso\.layers\.core\.(gpu_lowering|training)\.\w+|boxpresso\.layers\.core\.layer\.Window"),
    ("py:class", r"(?!boxpresso\.).*"),  # numpy's, Python's and others' types: their pages are elsewhere
]
default_role = "code"  # `name` in a docstring
highlight_language = "none"
smartquotes = False

# Markdown
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]

# Notebooks run in each build, and an error in one is an error of the build.
nb_execution_mode = "force"
nb_execution_timeout = 300  # seconds for a cell; the first may compile kernels
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True

# The reference
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
autodoc_preserve_defaults = True
autodoc_mock_imports = ["torch"]
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 140

# The pages
html_theme = "furo"
html_title = "Boxpresso"
html_logo = html_favicon = (
    "../boxpresso/serve/static/icon.svg"  # one file for the site, the README and the page of serve
)
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_search_scorer = str(HERE / "_static" / "search.js")
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "source_repository": repository,
    "source_branch": repository_branch,
    "source_directory": "docs/",
}
copybutton_prompt_text = r">>> |\.\.\. |\$ |In \[\d*\]: | {2,5}\.\.\.: "
copybutton_prompt_is_regexp = True
