"""The verb serve: a page on this machine to look at a model's boxes, and HTTP with JSON beside it."""

from __future__ import annotations

import importlib.util
import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from ..proto.errors import BoxpressoError, DeviceLost
from . import arguments
from .model import MODEL, open_detector, recipe
from .output import complain, warn

if TYPE_CHECKING:
    from ..detection import Detector

NAME = "serve"
SHORT = "look at the boxes of a model on a page of this machine"
TEXT = """\
Open a page on this machine where pictures are dropped, chosen or pasted, and
the boxes of MODEL are drawn over them, with sliders for score and overlap, the
net's layers, and what each of them gives. Programs send pictures to
/api/detect, and get JSON (docs/serve.md). It needs pip install
'boxpresso[serve]'.

MODEL, WEIGHTS and the options of the detector are those of boxpresso detect.
Without MODEL the page begins with the choice of one: a public model by its
name, or a prototxt and its weights, which are dropped there.

There is no password: without --host only this machine reaches the page, and
pages of other sites do not. Nothing of a picture is written to a disk. Ctrl-C
ends it.
"""
EPILOG = """\
examples:
  boxpresso serve --open
  boxpresso serve ultralight-face --open
  boxpresso serve deploy.prototxt ssd300.caffemodel --open
  boxpresso serve models/mtcnn --examples photos --port 0
  curl -F file=@street.jpg 'http://127.0.0.1:8000/api/detect?score=0.3'
"""
NEEDED = ("fastapi", "uvicorn", "python_multipart")


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of the verb."""
    add = parser.add_argument
    add("model", metavar="MODEL", nargs="?", help=f"{MODEL}; none: it is chosen on the page")
    add("weights", metavar="WEIGHTS", nargs="?", help="its weights, a .caffemodel or .h5; none for a folder")
    common = parser.add_argument_group("common options")
    add = common.add_argument
    arguments.which(common)
    add("--open", action="store_true", help="open the page in a browser")
    text = "offer the pictures of this folder (default: example.jpg and its like beside MODEL, to this machine alone)"
    add("--examples", metavar="FOLDER", help=text)
    add("--port", metavar="P", type=port, default=8000, help="the port, 0 for any that is free (default: 8000)")
    add("--host", metavar="H", default="127.0.0.1", help="the address to listen on (default: 127.0.0.1)")
    text = "speak KServe v2 over gRPC at this port, too, 0 for any that is free"
    add("--grpc-port", metavar="P", type=port, help=text)
    arguments.device(common)
    arguments.detector(parser.add_argument_group("how pictures are prepared and outputs read"))
    limits = parser.add_argument_group("limits")
    add = limits.add_argument
    text = "refuse uploads of more bytes than this (default: 32M)"
    add("--max-upload", metavar="N", type=arguments.byte_count, default=32 << 20, help=text)
    text = "end a request that takes longer (default: 60)"
    add("--timeout", metavar="SECONDS", type=seconds, default=60.0, help=text)
    text = "requests that may wait while one runs; more are refused (default: 8)"
    add("--queue", metavar="N", type=arguments.count, default=8, help=text)
    text = "pictures of waiting requests (of KServe v2) that go through the net together (default: 8)"
    add("--batch", metavar="N", type=arguments.positive, default=8, help=text)
    text = "a further name by which the server may be called; may be repeated"
    add("--allow-host", metavar="NAME", action="append", default=[], help=text)
    text = "pages from there, such as https://example.org, may use the server; may be repeated"
    add("--allow-origin", metavar="ORIGIN", type=origin, action="append", default=[], help=text)
    arguments.memory(limits)
    arguments.python_layers(limits)


def report_of(net: Any, model: str) -> str:
    """The page of a net's report."""
    from ..reports import net_page

    return net_page(net, model=model, weights="as they are served")


def run(args: Namespace) -> int:
    """Serves until it is interrupted, or ended by SIGTERM, which is 0."""
    needed = NEEDED if args.grpc_port is None else (*NEEDED, "grpc")
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        raise BoxpressoError(f"serve needs {', '.join(missing)}: pip install 'boxpresso[serve]'")
    from ..serve.examples import Examples
    from ..serve.opening import Opening
    from ..serve.options import Options, is_loopback
    from ..serve.server import Server, bind, serve

    options = Options(
        args.host, args.max_upload, args.timeout, args.queue, tuple(args.allow_host), tuple(args.allow_origin),
        args.examples, args.model.split(",")[0] if args.model and is_loopback(args.host) else None, args.batch, args.grpc_port,
        report=report_of,
    )  # fmt: skip
    Examples(options.examples, options.max_upload)  # what is wrong is said before the model is read
    listener = bind(args.host, args.port)
    try:
        detector = open_detector(args) if args.model is not None else None
        paths = (args.model or "", args.weights or "")
        name = Path(paths[0].split(",")[0]).name or Path(paths[0]).resolve().name if detector is not None else ""
        files = [path for each in paths for path in each.split(",") if path]
        opening = Opening(partial(opened, args)) if detector is None else None
        server = Server(detector, name, options, listener, complain, files, opening)
        if detector is not None:
            server.model.warm()
    except BaseException:
        listener.close()
        raise
    if not is_loopback(args.host):
        warn(f"{args.host} is reached from other machines, and there is no password: whoever reaches it may use it")

    def started() -> None:
        print(detector.describe() if detector is not None else "no model yet: choose one on the page")
        also = "" if server.grpc is None else f", and over gRPC at {server.grpc}"
        print(f"{name or 'the page'} is served at {server.url}{also} (Ctrl-C ends it)", flush=True)

    if serve(server, started, args.open):
        return 0
    if args.words != sys.argv[1:] or os.name != "posix":  # the process is another program's
        raise DeviceLost("the GPU has failed, and this process cannot use it any more: start the server anew")
    warn("the GPU has failed, and the server is started anew")
    start_anew([*args.words, "--port", server.url.rstrip("/").rpartition(":")[2]])


def opened(args: Namespace, model: Any, weights: Any, labels: Any) -> Detector:
    """The Detector of a model that is chosen on the page, with the settings of the command."""
    chosen = {"model": str(model), "weights": None if weights is None else str(weights)}
    return recipe(Namespace(**{**vars(args), **chosen, "labels": labels or args.labels}))()


def start_anew(words: Sequence[str]) -> NoReturn:
    """Runs the command in this process's place, whose number stays. Files that are open are closed, those of the GPU's driver
    too, and no browser is opened again."""
    for folder in ("/proc/self/fd", "/dev/fd"):
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            with suppress(OSError):
                os.set_inheritable(int(name), int(name) < 3)
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(sys.executable, [sys.executable, "-m", "boxpresso", *(word for word in words if word != "--open")])


def port(text: str) -> int:
    """A port, 0 for any."""
    if not text.isdecimal() or int(text) > 65535:
        raise ArgumentTypeError(f"{text!r} is not a port, a whole number from 0 to 65535")
    return int(text)


def seconds(text: str) -> float:
    """A number of seconds above 0."""
    value = arguments.number(text)
    if value <= 0:
        raise ArgumentTypeError(f"{text!r} is not above 0")
    return value


def origin(text: str) -> str:
    """An origin: scheme, host and port, without a path.

    >>> origin("http://localhost:3000/")
    'http://localhost:3000'
    """
    scheme, _, rest = text.rstrip("/").partition("://")
    if scheme not in ("http", "https") or not rest or "/" in rest:
        raise ArgumentTypeError(f"{text!r} is not an origin, such as https://example.org")
    return f"{scheme}://{rest}"
