"""A page on this machine with the curves of a training, while it runs: `boxpresso train --web`.

A thread of its own serves it and reads what `progress.Watch` collects; it can neither stop nor fail the training.
"""

from __future__ import annotations

import base64
import hashlib
import math
import re
import socket
import threading
import time
import warnings
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..hosts import LOCAL, host_of
from ..proto.errors import BoxpressoError, BoxpressoWarning
from .curves import Points
from .progress import Watch, left

FILE = Path(__file__).with_name("web.html")
MOST = 1000  # points of a curve that are sent
SHOWN = 40  # lines of the log


def need_packages() -> None:
    """Raises BoxpressoError where the page cannot be served, before training begins."""
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise BoxpressoError(f"--web needs fastapi and uvicorn: pip install 'boxpresso[serve]' ({error})") from error


@contextmanager
def page(watch: Watch, port: int) -> Iterator[str | None]:
    """Serves the page while the block runs.

    Parameters
    ----------
    watch
        What is shown.
    port
        Of 127.0.0.1; 0 takes a free one.

    Yields
    ------
    str or None
        The page's address. None, after a warning, where it cannot be served: the training goes on.
    """
    try:
        app = make_app(watch)
        listener = socket.create_server(("127.0.0.1", port))
    except OSError as error:
        reason = f"port {port} cannot be used" if error.filename is None else f"cannot read {error.filename}"
        warnings.warn(
            f"the page of --web is not there: {reason} ({error.strerror or error}); training goes on, and "
            "`boxpresso plot LOG --follow` shows its curves",
            BoxpressoWarning,
            stacklevel=3,
        )
        yield None
        return
    import uvicorn

    config = uvicorn.Config(
        app, log_config=None, access_log=False, lifespan="off", limit_concurrency=32, timeout_keep_alive=5,
        server_header=False, ws="none",
    )  # fmt: skip
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="web", daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    watch(f"Curves on {address}")
    try:
        yield address
    finally:
        server.should_exit = True
        thread.join(timeout=2)
        listener.close()


def make_app(watch: Watch) -> Any:
    """The application: the page, and /state with the numbers as JSON. Only names of this machine are answered."""
    from fastapi import FastAPI, Request, Response
    from fastapi.responses import JSONResponse, PlainTextResponse

    text = FILE.read_text(encoding="utf-8")
    headers = {
        "Content-Security-Policy": policy(text), "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "same-origin",
    }  # fmt: skip
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)

    async def guard(request: Request, call: Callable[[Request], Awaitable[Response]]) -> Response:
        if host_of(request.headers.get("host", "")) not in LOCAL:
            response: Response = PlainTextResponse("this page is for this machine alone\n", 403)
        else:
            response = await call(request)
        response.headers.update(headers)
        return response

    async def index() -> Response:
        return Response(text, media_type="text/html")

    async def numbers() -> Response:
        return JSONResponse(state(watch))

    app.middleware("http")(guard)
    app.add_api_route("/", index, response_class=Response, response_model=None)
    app.add_api_route("/state", numbers, response_class=Response, response_model=None)
    return app


def policy(text: str) -> str:
    """The Content-Security-Policy of a page: its own script and style by their hashes, and nothing from elsewhere.

    >>> policy("<style>a</style>").split("; ")[1]
    "style-src 'sha256-ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs='"
    """
    parts = ["default-src 'none'"]
    for tag, name in (("style", "style-src"), ("script", "script-src")):
        matches = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.S)
        hashes = [base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in matches]
        parts.append(
            f"{name} {' '.join(f'{chr(39)}sha256-{each}{chr(39)}' for each in hashes) or chr(39) + 'none' + chr(39)}"
        )
    return "; ".join([*parts, "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"])


def state(watch: Watch) -> dict[str, Any]:
    """What the page shows, as JSON can hold it."""
    solver = watch.solver
    with watch.lock:
        curves = watch.curves
        name, score = watch.score_points()
        speed = [(at, value * watch.images) for at, value in curves.speed if value]
        classes = curves.classes if watch.name else {}
        panels = [
            panel("loss", {"training": curves.loss, **{f"test {n}": p for n, p in curves.losses.items()}}),
            panel(name or "score", {name or "score": score, **classes}),
            panel("learning rate", {"learning rate": curves.rate}),
            panel("images a second", {"images a second": speed}),
        ]
        lines, end = list(watch.lines)[-SHOWN:], curves.end
    seconds = watch.seconds_left()
    return {
        "name": solver.net.name, "device": solver.net.device.name, "iteration": solver.iter, "total": watch.total,
        "left": "" if seconds is None or end else left(seconds), "end": end, "panels": panels, "lines": lines,
        "time": time.strftime("%H:%M:%S"),
    }  # fmt: skip


def panel(title: str, curves: dict[str, Points]) -> dict[str, Any]:
    """One diagram: its curves that have points."""
    named = [{"name": name, "points": thinned(points)} for name, points in curves.items() if points]
    return {"title": title, "curves": named}


def thinned(points: Points) -> list[tuple[int, float | None]]:
    """At most `MOST` points, the last one among them; what is not finite is None, which JSON has.

    >>> thinned([(0, 1.0), (1, float("nan"))]), len(thinned([(i, 0.0) for i in range(2500)]))
    ([(0, 1.0), (1, None)], 834)
    """
    step = -(-len(points) // MOST)
    chosen = points[(len(points) - 1) % step :: step] if step > 1 else points
    return [(at, value if math.isfinite(value) else None) for at, value in chosen]
