"""Notebooks as scripts: the code of an .ipynb, and a get_ipython() for its magics."""

from __future__ import annotations

import builtins
import json
import os
import re
import subprocess
import sys
from typing import Any

from ..proto.errors import BoxpressoError
from .python2 import compile_source

ONCE = ("time", "timeit", "capture", "prun")  # magics whose code runs once, without what else they do


def script(data: bytes, path: str) -> str:
    """The code cells of a notebook as one script; magics and shell lines become calls of get_ipython().

    Raises
    ------
    BoxpressoError
        For a file that is not a notebook, or one in another language.
    """
    try:
        content = json.loads(data)
        sheets = content.get("worksheets")
        cells = [cell for sheet in sheets for cell in sheet["cells"]] if sheets else content["cells"]
        sources = [cell.get("source", cell.get("input", "")) for cell in cells if cell["cell_type"] == "code"]
        texts = [source if isinstance(source, str) else "".join(source) for source in sources]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BoxpressoError(f"{path} is not a Jupyter notebook: {error}") from None
    return "".join(f"# In [{number}]\n{cell(text)}\n" for number, text in enumerate(texts, 1))


def cell(text: str) -> str:
    """A cell as Python.

    Examples
    --------
    >>> print(cell("%matplotlib inline\\nif x:\\n    !ls -l"))
    get_ipython().run_line_magic('matplotlib', 'inline')
    if x:
        get_ipython().system('ls -l')
    """
    first, _, body = text.partition("\n")
    if first.startswith("%%"):
        name, _, options = first[2:].partition(" ")
        if name in ONCE:
            return cell(body)
        return f"get_ipython().run_cell_magic({name!r}, {options.strip()!r}, {body!r})"
    lines = []
    for line in logical_lines(text):
        match = re.fullmatch(r"(\s*)(?:(\w[\w, ]*)= *)?([%!])(.*)", line)
        if match is None:
            lines.append(re.sub(r"^(\s*)([\w.]+)\?+\s*$", r"\1pass  # help of \2", line))
            continue
        indent, target, kind, rest = match[1], match[2], match[3], match[4]
        if kind == "%":
            magic, _, options = rest.strip().partition(" ")
            if magic in ONCE and options:
                lines.append(indent + options)
                continue
            call = f"get_ipython().run_line_magic({magic!r}, {options.strip()!r})"
        else:
            call = f"get_ipython().{'getoutput' if target else 'system'}({rest!r})"
        lines.append(f"{indent}{target + '= ' if target else ''}{call}")
    return "\n".join(lines)


def logical_lines(text: str) -> list[str]:
    """The lines of a cell; a magic or a command that ends with a backslash goes on in the next."""
    lines: list[str] = []
    for line in text.split("\n"):
        if lines and lines[-1].endswith("\\") and lines[-1].lstrip()[:1] in ("!", "%"):
            lines[-1] = lines[-1][:-1] + line.lstrip()
        else:
            lines.append(line)
    return lines


class Shell:
    """What notebooks, and scripts that nbconvert makes of them, ask of IPython."""

    def run_line_magic(self, name: str, line: str = "", *more: Any) -> None:
        """cd and env do what they say, those of ONCE run their code; others, such as matplotlib inline, do nothing."""
        if name in ("cd", "pushd"):
            os.chdir(os.path.expanduser(line))
        elif name in ONCE:
            self.run_cell_magic(name, "", line)
        elif name in ("env", "set_env") and "=" in line:
            key, _, value = line.partition("=")
            os.environ[key.strip()] = value.strip()
        elif name == "matplotlib":
            os.environ.setdefault("MPLBACKEND", "Agg")

    def magic(self, text: str) -> None:
        """The old spelling of run_line_magic."""
        name, _, line = text.partition(" ")
        self.run_line_magic(name.lstrip("%"), line.strip())

    def run_cell_magic(self, name: str, line: str, body: str) -> None:
        """time, timeit, capture and prun run the cell once, bash and sh run it in a shell; others do nothing."""
        if name in ("bash", "sh"):
            self.system(body)
        elif name in ONCE:
            exec(compile_source(cell(body).encode(), f"<%{name}>"), vars(sys.modules["__main__"]))

    def system(self, command: str) -> None:
        """Runs a command in a shell, `{name}` and `$name` of Python's variables replaced."""
        subprocess.run(self.expand(command), shell=True, check=False)

    def getoutput(self, command: str) -> list[str]:
        """The lines that a command writes."""
        return subprocess.run(
            self.expand(command), shell=True, check=False, stdout=subprocess.PIPE, text=True
        ).stdout.splitlines()

    @staticmethod
    def expand(command: str) -> str:
        names = vars(sys.modules["__main__"])
        command = re.sub(r"\{([A-Za-z_]\w*)\}", lambda m: str(names.get(m[1], m[0])), command)
        return re.sub(r"\$([A-Za-z_]\w*)", lambda m: str(names[m[1]]) if m[1] in names else m[0], command)


def provide() -> None:
    """Makes get_ipython(), display() and matplotlib without windows known to what runs in this process."""
    shell = Shell()
    vars(builtins).setdefault("get_ipython", lambda: shell)
    vars(builtins).setdefault("display", print)
    os.environ.setdefault("MPLBACKEND", "Agg")
