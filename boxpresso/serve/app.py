"""The web application: the page, and the HTTP interface beside it."""

from __future__ import annotations

import asyncio
import os
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from .. import __version__
from ..proto.errors import BoxpressoError, DeviceLost
from . import deepstack, kserve, schemas
from .answers import public
from .blobs import PER_PAGE, View
from .examples import Examples
from .guard import Application, Guard
from .model import Model, Wanted
from .opening import Opening
from .options import Options, Refusal
from .upload import Left, Uploads, check_type, files_of, picture_of
from .worker import Worker

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
STATIC = {
    file.name: (file.read_bytes(), TYPES[Path(file.name).suffix])
    for file in files(__package__).joinpath("static").iterdir()
    if Path(file.name).suffix in TYPES
}

REPORT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
NO_MODEL = "no model has been chosen yet: choose one on the page, or send one to /api/open"
OPENING = 600.0  # seconds that a model may take to be fetched, read and compiled
TOGETHER = 8  # times the bytes of an upload: what those that are being received may hold
LABELS = Query(None, description="only these classes, names or numbers, with commas between them")


class Api:
    """The answers.

    Parameters
    ----------
    model
        What is served; None where it is chosen on the page.
    worker
        The thread that runs it.
    options
        The limits.
    report
        Given each error that is not the client's, whole; the client gets it without paths.
    opening
        What opens models that are chosen on the page; None where the model stays.
    """

    def __init__(
        self,
        model: Model | None,
        worker: Worker,
        options: Options,
        report: Callable[[object], None],
        opening: Opening | None = None,
    ) -> None:
        self.worker, self.options, self.report, self.opening = worker, options, report, opening
        self.examples = Examples(options.examples, options.max_upload, options.beside)
        self.use(model)
        self.uploads = Uploads(options.max_upload, TOGETHER * options.max_upload)
        self.models = Uploads(options.max_model, options.max_model)
        self.busy = 0  # requests that wait or run, whose bodies are there
        self.lost = threading.Event()  # set when this process cannot use its GPU any more

    def use(self, model: Model | None) -> None:
        """Serves a model from now on."""
        self.current = model
        self.batches = kserve.Batcher(model, self.options.batch) if model is not None else None

    @property
    def model(self) -> Model:
        """What is served. Raises Refusal with 409 where none has been chosen yet."""
        if self.current is None:
            raise Refusal(409, NO_MODEL)
        return self.current

    @property
    def batcher(self) -> kserve.Batcher:
        """Of the model. Raises Refusal as `model`."""
        if self.batches is None:
            raise Refusal(409, NO_MODEL)
        return self.batches

    # The page

    async def page(self) -> Response:
        """The page itself."""
        return static("index.html")

    async def static(self, name: str) -> Response:
        """A file of the page."""
        return static(name)

    # The interface

    async def health(self) -> Response:
        """Whether the server answers, and how many requests it works on."""
        name = self.current.name if self.current is not None else None
        return JSONResponse({"status": "ok", "model": name, "busy": self.busy, "version": __version__})

    async def about(self) -> Response:
        """The model: its decoder, classes, preparation and layers; and the limits of this server."""
        limits = {"upload_bytes": self.options.max_upload, "seconds": self.options.timeout}
        limits.update({"model_bytes": self.options.max_model} if self.opening else {})
        choices = self.opening.choices if self.opening else []
        model = self.current.description if self.current is not None else {"model": None}
        more = {"examples": self.examples.names, "choices": choices, "report": self.options.report is not None}
        return JSONResponse({**model, "limits": limits, **more})

    async def open(
        self,
        request: Request,
        name: str | None = Query(None, description="a public model; without it the body has the files"),
    ) -> Response:
        """Takes a model from now on, on a server that began without one: a public one, or a prototxt and its weights."""
        opening = self.opening
        if opening is None:
            return refused(Refusal(403, "this server was started with a model, and keeps it"))

        def work_on(body: bytes | None) -> Callable[[], Any]:
            if name is not None:
                return lambda: opening.by_name(name)
            kind = request.headers.get("content-type", "")
            return lambda: opening.of_files(files_of(body or b"", kind))

        def answer(model: Model) -> Response:
            self.use(model)
            return JSONResponse({"model": model.name})

        form = ["multipart/form-data"]
        return await self.run(request, work_on, name is None, answer, form, self.models, OPENING)

    async def detect(
        self,
        request: Request,
        score: float | None = Query(None, ge=0, le=1, description="the lowest score; by default the model's"),
        nms: float | None = Query(
            None, ge=0, le=1, description="the overlap from which on a better box suppresses another"
        ),
        labels: list[str] | None = LABELS,
        picture: str | None = Query(None, description="one that was sent before, in place of a body"),
        example: int | None = Query(None, description="one of the server's examples, in place of a body"),
    ) -> Response:
        """The detections of a picture."""
        wanted = Wanted(score, nms, split(labels))

        def work_on(body: bytes | None) -> Callable[[], Any]:
            if picture is not None:
                return lambda: self.model.detect(picture, wanted)
            if example is not None:
                path = self.examples.path(example)
                return lambda: self.model.detect(path, wanted)
            return lambda: self.model.detect(picture_of(body or b"", request.headers), wanted)

        return await self.run(request, work_on, picture is None and example is None)

    async def deepstack(self, request: Request) -> Response:
        """The detections of a picture, as DeepStack answers."""

        def work_on(body: bytes | None) -> Callable[[], Any]:
            def work() -> dict[str, Any]:
                data, least = deepstack.read_request(body or b"", request.headers)
                return deepstack.answer(self.model.detect(data, Wanted(least)))

            return work

        return await self.run(request, work_on, True, types=["multipart/form-data"])

    # The Open Inference Protocol

    async def v2(self) -> Response:
        """The server, for clients of the Open Inference Protocol."""
        return JSONResponse(kserve.server_metadata())

    async def v2_live(self) -> Response:
        """200 while the server answers."""
        return JSONResponse({"live": True})

    async def v2_ready(self) -> Response:
        """200 while the server can answer requests."""
        if self.current is None:
            return refused(Refusal(409, NO_MODEL))
        return JSONResponse({"ready": True})

    async def v2_model(self, name: str, version: str = "") -> Response:
        """The model's inputs and outputs."""
        return self.v2_refusal(name, version) or JSONResponse(kserve.model_metadata(self.model.name))

    async def v2_model_ready(self, name: str, version: str = "") -> Response:
        """200 for the model that is served."""
        return self.v2_refusal(name, version) or JSONResponse({"name": self.model.name, "ready": True})

    async def v2_infer(self, request: Request, name: str, version: str = "") -> Response:
        """The detections of the pictures of a request; pictures of requests that wait go through the net together."""
        if refusal := self.v2_refusal(name, version):
            return refusal
        model, batcher = self.model, self.batcher
        tickets: list[kserve.Ticket] = []

        def work_on(body: bytes | None) -> Callable[[], Any]:
            ticket = batcher.enter(partial(kserve.read_request, body or b"", request.headers))
            tickets.append(ticket)
            return lambda: kserve.answer(model.name, *batcher.answer(ticket))

        try:
            types = ("", "application/json", "application/octet-stream")
            return await self.run(request, work_on, True, lambda made: Response(made[0], headers=made[1]), types)
        finally:
            for ticket in tickets:
                batcher.leave(ticket)

    def v2_refusal(self, name: str, version: str) -> Response | None:
        """404 for another model or version than the one that is served, else None."""
        try:
            kserve.check_model(self.model.name, name, version)
        except Refusal as refusal:
            return refused(refusal)
        return None

    async def blobs(
        self,
        request: Request,
        net: int = Query(0, description="of a cascade the number of the net"),
        picture: str | None = Query(None, description="one that was sent before; by default the last"),
    ) -> Response:
        """The names and shapes of a net's blobs, as they are after the detection of a picture."""
        return await self.run(request, lambda _: lambda: self.model.blobs(net, picture))

    async def blob(
        self,
        request: Request,
        name: str,
        net: int = Query(0, description="of a cascade the number of the net"),
        picture: str | None = Query(None, description="one that was sent before; by default the last"),
        page: int = Query(0, ge=0, description="which channels, a page of them"),
        per_page: int = Query(PER_PAGE, description="channels of a page"),
        colours: str = Query("viridis", pattern="^(viridis|grey)$"),
        scale: str = Query("channel", pattern="^(channel|blob)$", description="whose lowest and highest number"),
    ) -> Response:
        """A blob's channels as small pictures, with its shape and the lowest, mean and highest number."""
        view = View(page, per_page, colours, scale)
        return await self.run(request, lambda _: lambda: self.model.blob(name, net, picture, view))

    async def net_report(
        self, request: Request, net: int = Query(0, description="of a cascade the number of the net")
    ) -> Response:
        """The report of a net: its graph, layers and weights, as a page of its own, which may reach nothing."""
        write = self.options.report
        if write is None:
            return refused(Refusal(404, "this server makes no reports"))
        return await self.run(
            request,
            lambda _: lambda: write(self.model.net(net), self.model.name),
            answer=lambda text: Response(
                text, media_type="text/html; charset=utf-8", headers={"content-security-policy": REPORT_POLICY}
            ),
        )

    async def preview(self, request: Request, token: str) -> Response:
        """A picture that was sent, as JPEG."""
        return await self.run(
            request,
            lambda _: lambda: self.model.preview(token),
            answer=lambda data: Response(data, media_type="image/jpeg"),
        )

    async def drawn(
        self,
        request: Request,
        token: str,
        score: float | None = Query(None, ge=0, le=1),
        nms: float | None = Query(None, ge=0, le=1),
        labels: list[str] | None = LABELS,
    ) -> Response:
        """A picture that was sent with its detections drawn, as PNG; the parameters are those of /api/detect."""
        wanted = Wanted(score, nms, split(labels))
        return await self.run(
            request,
            lambda _: lambda: self.model.drawn(token, wanted),
            answer=lambda data: Response(data, media_type="image/png"),
        )

    async def example(self, number: int) -> Response:
        """The file of an example."""
        try:
            path = self.examples.path(number)
            return Response(await asyncio.to_thread(path.read_bytes), media_type=self.examples.media_type(number))
        except Refusal as refusal:
            return refused(refusal)
        except OSError:
            return refused(Refusal(404, "this example is no longer there"))

    # How they are worked on

    async def run(
        self,
        request: Request,
        work_on: Callable[[bytes | None], Callable[[], Any]],
        body: bool = False,
        answer: Callable[[Any], Response] = JSONResponse,
        types: Sequence[str] | None = None,
        uploads: Uploads | None = None,
        seconds: float | None = None,
    ) -> Response:
        """The answer of work in the worker's thread, or the error in its place.

        Parameters
        ----------
        work_on
            Gives the work for the request's body; may raise Refusal.
        body
            Whether the body is read.
        answer
            Makes the response of what the work gives.
        types
            Of the body; None for those of a picture.
        uploads
            What reads the body; by default as large as a picture may be.
        seconds
            That it may take; by default as the options say.
        """
        try:
            return answer(await self.result(request, work_on, body, types, uploads or self.uploads, seconds))
        except BaseException as error:
            return refused(self.refusal(error))

    def refusal(self, error: BaseException) -> Refusal:
        """What a client is told of an error; those that are not the client's are reported. Raises the error again where the
        request has been cancelled, or the process is to end."""
        if isinstance(error, Refusal):
            return error
        if isinstance(error, Left):
            return Refusal(400, "the client has left")
        if isinstance(error, DeviceLost):
            self.report(error)
            self.lost.set()
            return Refusal(503, "the GPU has failed, and the server ends; send it again later", 5)
        if isinstance(error, BoxpressoError):
            self.report(error)
            return Refusal(500, public(str(error), *(self.current.paths if self.current is not None else ())))
        if isinstance(error, asyncio.CancelledError) and self.worker.closed:
            return Refusal(503, "the server is shutting down")
        if isinstance(error, MemoryError):
            self.report("there is no memory left for a request")
            return Refusal(503, "there is not enough memory for this request")
        if not isinstance(error, Exception):
            raise error
        self.report(f"{type(error).__name__}: {error}; this is a fault of Boxpresso, please report it")
        if os.environ.get("BOXPRESSO_DEBUG") == "1":
            traceback.print_exception(error)
        return Refusal(500, f"an internal error, {type(error).__name__}; the server's terminal says more")

    async def result(
        self,
        request: Request,
        work_on: Callable[[bytes | None], Callable[[], Any]],
        body: bool,
        types: Sequence[str] | None,
        uploads: Uploads,
        seconds: float | None,
    ) -> Any:
        """What the work gives. Raises Refusal with 504 where body and work together take too long."""
        seconds = self.options.timeout if seconds is None else seconds
        end = time.monotonic() + seconds
        data = None
        if body:
            check_type(request.headers, types)
            self.check_busy()  # before it is sent for nothing
            try:
                data = await asyncio.wait_for(uploads.read(request.receive, request.headers), seconds)
            except asyncio.TimeoutError:
                raise self.late(seconds) from None
        leaving = asyncio.ensure_future(left(request))
        try:
            return await self.queue(lambda: work_on(data), end, leaving, seconds)
        finally:
            leaving.cancel()

    def late(self, seconds: float | None = None) -> Refusal:
        """For a request that takes longer than some seconds, by default those of the options."""
        most = self.options.timeout if seconds is None else seconds
        return Refusal(504, f"the request took longer than {most:g} seconds (--timeout), and was ended")

    def check_busy(self) -> None:
        """Raises Refusal with 503 where too many requests wait."""
        if self.busy > self.options.waiting:
            raise Refusal(503, f"the server is busy: {self.busy} requests are before this one; try again later", 1)

    async def queue(
        self,
        work_on: Callable[[], Callable[[], Any]],
        end: float,
        leaving: asyncio.Future[None] | None = None,
        seconds: float | None = None,
    ) -> Any:
        """What work gives in the worker's thread, in its turn.

        Parameters
        ----------
        work_on
            Gives the work; may raise Refusal.
        end
            Of `time.monotonic`, when nobody waits for it any more.
        leaving
            Done when the client has left; a caller that is cancelled then needs none.
        seconds
            What `end` was chosen by, for the error; by default as the options say.

        Raises
        ------
        Refusal
            503 where too many wait, 504 where it is not done in time.
        Left
            Where the client has left.
        """
        self.check_busy()
        self.busy += 1
        try:
            return await self.work(work_on(), end, leaving, seconds)
        finally:
            self.busy -= 1

    async def work(
        self, work: Callable[[], Any], end: float, leaving: asyncio.Future[None] | None, seconds: float | None
    ) -> Any:
        """`queue`, of a request that has its place."""
        job = self.worker.submit(work)
        result = asyncio.wrap_future(job.future)
        try:
            await asyncio.wait(
                {result} | ({leaving} if leaving else set()),
                timeout=max(0.0, end - time.monotonic()), return_when=asyncio.FIRST_COMPLETED,
            )  # fmt: skip
            if result.done():
                return result.result()
            if leaving and leaving.done():
                raise Left
            raise self.late(seconds)
        except TimeoutError:  # the worker's own, of a job that was interrupted
            raise self.late(seconds) from None
        finally:
            if not result.done():
                self.worker.give_up(job)
                result.add_done_callback(lambda future: future.cancelled() or future.exception())


def split(labels: Sequence[str] | None) -> tuple[str, ...]:
    """Names of classes, with commas between them.

    >>> split(["car, dog", "cat"])
    ('car', 'dog', 'cat')
    """
    return tuple(name.strip() for part in labels or () for name in part.split(",") if name.strip())


async def left(request: Request) -> None:
    """Returns when the client has closed the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def static(name: str) -> Response:
    """A file of the page."""
    if name not in STATIC:
        return refused(Refusal(404, "there is no such file"))
    data, kind = STATIC[name]
    return Response(data, media_type=kind)


def refused(refusal: Refusal, headers: Mapping[str, str] | None = None) -> Response:
    """The answer in place of one that cannot be given."""
    again = {} if refusal.retry_after is None else {"retry-after": str(refusal.retry_after)}
    said = str(refusal).encode("utf-8", "replace").decode()  # it may quote half a surrogate pair of a client's JSON
    return JSONResponse({"error": said}, refusal.status, {**again, **(headers or {})})


async def http_error(request: Request, error: Any) -> Response:
    """404, 405 and others of the framework."""
    return refused(Refusal(error.status_code, str(error.detail)), getattr(error, "headers", None))


async def invalid(request: Request, error: Any) -> Response:
    """Parameters of the wrong kind."""
    said = "; ".join(f"{each['loc'][-1]}: {each['msg']}" for each in error.errors())
    return refused(Refusal(422, said))


def create_app(
    model: Model | None,
    worker: Worker,
    options: Options,
    report: Callable[[object], None],
    opening: Opening | None = None,
) -> tuple[Application, Api]:
    """The application behind its guard, and its answers; see `Api`."""
    api = Api(model, worker, options, report, opening)
    app = FastAPI(
        title="Boxpresso", version=__version__, summary=f"Detections of {model.name if model is not None else 'a model'}",
        docs_url=None, redoc_url=None,  # FastAPI's pages of them would load scripts from elsewhere
        exception_handlers={HTTPException: http_error, RequestValidationError: invalid},
    )  # fmt: skip

    def get(path: str, endpoint: Any, **more: Any) -> None:
        app.add_api_route(path, endpoint, methods=["GET"], response_class=JSONResponse, **more)

    get("/", api.page, include_in_schema=False)
    get("/static/{name}", api.static, include_in_schema=False)
    get("/health", api.health, responses=schemas.HEALTH)
    get("/api/model", api.about, responses=schemas.MODEL)
    get("/api/blobs", api.blobs, responses=schemas.BLOBS)
    get("/api/blobs/{name:path}", api.blob, responses=schemas.BLOB)
    get("/report", api.net_report, include_in_schema=False)
    get("/api/pictures/{token}", api.preview, include_in_schema=False)
    get("/api/pictures/{token}/drawn", api.drawn, include_in_schema=False)
    get("/api/examples/{number}", api.example, include_in_schema=False)
    app.add_api_route(
        "/api/detect", api.detect, methods=["POST"], response_class=JSONResponse, responses=schemas.DETECT,
        openapi_extra={"requestBody": schemas.BODY},
    )  # fmt: skip
    app.add_api_route(
        "/api/open", api.open, methods=["POST"], response_class=JSONResponse, responses=schemas.OPEN,
        openapi_extra={"requestBody": schemas.MODEL_FILES},
    )  # fmt: skip
    app.add_api_route("/v1/vision/detection", api.deepstack, methods=["POST"], include_in_schema=False)
    for model_path in ("/v2/models/{name}", "/v2/models/{name}/versions/{version}"):
        get(model_path, api.v2_model, include_in_schema=False)
        get(f"{model_path}/ready", api.v2_model_ready, include_in_schema=False)
        app.add_api_route(f"{model_path}/infer", api.v2_infer, methods=["POST"], include_in_schema=False)
    get("/v2", api.v2, include_in_schema=False)
    get("/v2/health/live", api.v2_live, include_in_schema=False)
    get("/v2/health/ready", api.v2_ready, include_in_schema=False)
    return Guard(app, options), api
