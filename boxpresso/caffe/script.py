"""Runs a script, a notebook or a module with `import caffe` meaning boxpresso.caffe: `python -m boxpresso.caffe`."""

from __future__ import annotations

import argparse
import linecache
import os
import re
import runpy
import sys
import types
from collections.abc import Sequence
from pathlib import Path

from ..proto.errors import BoxpressoError, visible
from . import legacy, notebook, python2, settings
from .importing import install

# What Python 3 says of numbers that were whole before it, and of text that was bytes
WHOLE = re.compile(
    r"(indices must be|only) integers|'float' object cannot be interpreted|"
    r"bytes-like object is required, not 'str'|must be str, not bytes|codec can't decode"
)
EPILOG = """
`import caffe` means boxpresso.caffe in the script and in all that it imports; nothing else need be installed.
Files in Python 2 are converted while they are imported; --python 2 or 3 overrides how they are told apart.
A notebook (.ipynb) runs cell by cell, and its figures are not shown. -m runs a module, as python -m.
"""


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The arguments of the command."""
    parser = argparse.ArgumentParser(
        prog="python -m boxpresso.caffe",
        description="Runs a script that was written for pycaffe.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--python", choices=["2", "3"], help="the language of the script and of what it imports")
    parser.add_argument("-m", dest="module", metavar="MODULE", help="runs a module, not a script")
    parser.add_argument("script", nargs="?", metavar="SCRIPT", help="the script; what follows it are its arguments")
    count = own_arguments(argv)
    options = parser.parse_args(argv[:count])
    options.rest = list(argv[count:])
    if not options.module and not options.script:
        parser.error("name the script to run")
    return options


def own_arguments(argv: Sequence[str]) -> int:
    """How many arguments are not the script's or the module's."""
    at = 0
    while at < len(argv):
        if argv[at] == "-m":
            return at + 2
        if not argv[at].startswith("-"):
            return at + 1
        at += 2 if argv[at] == "--python" else 1
    return at


def main(argv: Sequence[str] | None = None) -> int:
    """Runs what the arguments name; an error of Boxpresso's own, before the script starts, is one line."""
    options = parse(sys.argv[1:] if argv is None else argv)
    install()
    legacy.install()
    if legacy.wanted():
        settings.set_phase_test()  # of nets that leave it out
    python2.install(None if options.python is None else options.python == "2")
    sys.argv = [options.script, *options.rest]
    if options.module:
        sys.argv = [options.module, *options.rest]
        sys.path[0] = os.getcwd()
        runpy.run_module(options.module, run_name="__main__", alter_sys=True)
        return 0
    try:
        code = script_code(Path(options.script))
        if options.python is None and not python2.is_python2(Path(options.script).read_text(errors="replace")):
            sys.excepthook = hint
    except BoxpressoError as error:
        print(visible(f"boxpresso.caffe: {error}"), file=sys.stderr)
        return 1
    run(code, options.script)
    return 0


def hint(kind: type[BaseException], error: BaseException, trace: types.TracebackType | None) -> None:
    """Prints the error that ended a script, and how to run it as Python 2 where that may be what it lacks."""
    sys.__excepthook__(kind, error, trace)
    if issubclass(kind, (TypeError, IndexError, UnicodeDecodeError)) and WHOLE.search(str(error)):
        print(
            "boxpresso.caffe: the script counts as Python 3; if it was written for Python 2, use --python 2",
            file=sys.stderr,
        )


def script_code(path: Path) -> types.CodeType:
    """The code of a script or notebook, converted if it is Python 2."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BoxpressoError(f"cannot read {path}: {error.strerror or error}") from None
    name = str(path)
    if path.suffix == ".ipynb":
        text, name = notebook.script(data, name), f"<cells of {path}>"
        linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name  # for tracebacks
        data = text.encode()
    if b"get_ipython()" in data:
        notebook.provide()
    return python2.compile_source(data, name, main=True)


def run(code: types.CodeType, path: str) -> None:
    """Runs code as the main module of the process, with its folder first in sys.path, as `python SCRIPT` does."""
    module = types.ModuleType("__main__")
    module.__file__ = path
    sys.modules["__main__"] = module
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    exec(code, vars(module))
