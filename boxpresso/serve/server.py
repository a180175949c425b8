"""The process: an address to listen on, uvicorn in a thread, and an end at once when a signal asks for it."""

from __future__ import annotations

import errno
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import FrameType, TracebackType

import uvicorn

from ..detection import Detector
from ..proto.errors import BoxpressoError
from .app import Api, create_app
from .connections import CONNECTIONS, SPARE, protocol
from .model import Model
from .options import Options, address_of
from .worker import Worker

GRACE = 3.0  # seconds for the answers under way, once the work on them has been given up


def bind(host: str, port: int) -> socket.socket:
    """A socket that is bound to an address, but does not listen yet. Raises BoxpressoError."""
    address = address_of(host)
    family = socket.AF_INET6 if address is not None and address.version == 6 else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        if port:
            listener.listen(128)
        return listener
    except (OSError, OverflowError) as error:
        listener.close()
        number = getattr(error, "errno", None)
        why = {
            errno.EADDRINUSE: f"port {port} is in use; choose another with --port, or --port 0 for any that is free",
            errno.EACCES: f"port {port} is for the administrator; choose one from 1024 on with --port",
            errno.EADDRNOTAVAIL: f"{host} is no address of this machine",
        }.get(number or 0, str(error))
        raise BoxpressoError(f"cannot listen on {host}:{port}: {why}") from error


class Protocols(uvicorn.Server):  # type: ignore[misc]
    """uvicorn's server, and in its loop the one for gRPC, where the options ask for it."""

    def __init__(self, config: uvicorn.Config, api: Api) -> None:
        super().__init__(config)
        self.api = api
        self.grpc_port: int | None = None
        self.error: BoxpressoError | None = None  # why it has not started

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Serves until `should_exit`."""
        if self.api.options.grpc_port is None:
            await super().serve(sockets)
            return
        from .rpc import start

        try:
            beside, self.grpc_port = await start(self.api)
        except BoxpressoError as error:
            self.error = error
            return
        try:
            await super().serve(sockets)
        finally:
            await beside.stop(GRACE / 3)


class Server:
    """A model that is served. As a `with` block it is served inside.

    Parameters
    ----------
    detector
        The Detector; its nets belong to the server from now on.
    name
        What the model is called.
    options
        The limits.
    listener
        Of `bind`; None binds any free port of `options.host`.
    report
        Given each error that is not a client's.
    paths
        Of the model's files, which clients are not told.

    Attributes
    ----------
    url
        The address of the page.
    """

    def __init__(
        self,
        detector: Detector,
        name: str,
        options: Options,
        listener: socket.socket | None = None,
        report: Callable[[object], None] = print,
        paths: Sequence[str] = (),
    ) -> None:
        self.listener = bind(options.host, 0) if listener is None else listener
        self.model = Model(detector, name, paths)
        self.worker = Worker(self.model.recover)
        app, self.api = create_app(self.model, self.worker, options, report)
        self.server = Protocols(
            uvicorn.Config(
                app, http=protocol(options), log_level="warning", access_log=False, server_header=False, proxy_headers=False,
                lifespan="off", ws="none", limit_concurrency=CONNECTIONS + SPARE, timeout_graceful_shutdown=2,
            ),
            self.api,
        )  # fmt: skip
        self.thread = threading.Thread(target=self.server.run, args=([self.listener],), daemon=True)
        host, port = self.listener.getsockname()[:2]
        shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
        self.shown = f"[{shown}]" if ":" in shown else shown
        self.url = f"http://{self.shown}:{port}/"

    @property
    def grpc(self) -> str | None:
        """Host and port of gRPC, once it is started; None without."""
        port = self.server.grpc_port
        return None if port is None else f"{self.shown}:{port}"

    def start(self) -> None:
        """Answers from now on. Raises BoxpressoError where it cannot."""
        self.thread.start()
        threading.Thread(target=self.compile, daemon=True).start()
        while not self.server.started:
            self.thread.join(0.01)
            if not self.thread.is_alive():
                self.stop()
                raise self.server.error or BoxpressoError(f"the server at {self.url} does not start")

    def compile(self) -> None:
        """Compiles the kernels of layers that the nets' plans do without: the blobs in between may be asked for.

        One by one, in no pool of threads, for whose end that of the process would wait.
        """
        with suppress(BoxpressoError):  # said where they are needed
            for net in self.model.nets:
                for file in dict.fromkeys(file for layer in net.layers for file in layer.kernel_files()):
                    if self.worker.closed:
                        return
                    if net.device.kind == "cpu" or not file.host_only:
                        net.device.build(file, net.dtype)

    def stop(self) -> None:
        """Ends at once: the work under way is given up, and its requests get an error."""
        self.server.should_exit = True
        self.worker.close()
        self.thread.join(GRACE)
        self.listener.close()

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def serve(server: Server, started: Callable[[], None], browser: bool = False) -> bool:
    """Serves until SIGINT, which is raised as KeyboardInterrupt, or SIGTERM, after which it returns True; False where it has
    ended because the GPU is lost, which another process can use."""
    asked = threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        asked.set()

    before = signal.signal(signal.SIGTERM, end)
    try:
        with server:
            started()
            if browser:
                threading.Thread(target=webbrowser.open, args=(server.url,), daemon=True).start()
            while server.thread.is_alive() and not server.api.lost.is_set() and not asked.wait(0.5):
                pass
    finally:
        signal.signal(signal.SIGTERM, before)
    return asked.is_set() or not server.api.lost.is_set()
