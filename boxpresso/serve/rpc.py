"""The Open Inference Protocol (KServe v2, Triton's) over gRPC: the tensors, the queue and the batches are those of HTTP."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

import grpc
from google.protobuf.message import DecodeError

from ..decoders.detections import Detections
from ..proto.errors import BoxpressoError
from . import inference_pb2 as messages
from . import kserve
from .app import TOGETHER, Api
from .options import Refusal, address_of

SERVICE = "inference.GRPCInferenceService"
CODES = {  # of the statuses of HTTP
    400: grpc.StatusCode.INVALID_ARGUMENT, 404: grpc.StatusCode.NOT_FOUND, 409: grpc.StatusCode.FAILED_PRECONDITION,
    413: grpc.StatusCode.RESOURCE_EXHAUSTED, 422: grpc.StatusCode.INVALID_ARGUMENT,
    503: grpc.StatusCode.UNAVAILABLE, 504: grpc.StatusCode.DEADLINE_EXCEEDED,
}  # fmt: skip
HEAD = 1 << 16  # bytes of a message beside the files or pixels, which may have the bytes of an upload
CONTENTS = {"FP32": "fp32_contents", "INT64": "int64_contents", "INT32": "int_contents", "BYTES": "bytes_contents"}


class Service:
    """The answers.

    Parameters
    ----------
    api
        Those over HTTP, whose queue and batches are these, too.
    """

    def __init__(self, api: Api) -> None:
        self.api = api

    async def ServerLive(self, request: Any) -> Any:
        """Whether the server answers."""
        return messages.ServerLiveResponse(live=True)

    async def ServerReady(self, request: Any) -> Any:
        """Whether it can answer requests."""
        return messages.ServerReadyResponse(ready=self.api.current is not None and not self.api.worker.closed)

    async def ModelReady(self, request: Any) -> Any:
        """Whether the model is served."""
        kserve.check_model(self.api.model.name, request.name, request.version)
        return messages.ModelReadyResponse(ready=True)

    async def ServerMetadata(self, request: Any) -> Any:
        """The server's name and version."""
        about = kserve.server_metadata()
        return messages.ServerMetadataResponse(name=about["name"], version=about["version"])

    async def ModelMetadata(self, request: Any) -> Any:
        """The model's inputs and outputs."""
        kserve.check_model(self.api.model.name, request.name, request.version)
        return messages.ModelMetadataResponse(**kserve.model_metadata(self.api.model.name))

    async def ModelInfer(self, request: Any) -> Any:
        """The detections of the pictures of a request."""
        model, batcher = self.api.model, self.api.batcher
        kserve.check_model(model.name, request.model_name, request.model_version)
        end = time.monotonic() + self.api.options.timeout
        ticket = batcher.enter(partial(read_message, request))
        try:
            return await self.api.queue(lambda: lambda: answer(model.name, request, *batcher.answer(ticket)), end)
        finally:
            batcher.leave(ticket)

    def handlers(self) -> dict[str, Any]:
        """What gRPC asks for: a handler of each method, by name."""
        names = ("ServerLive", "ServerReady", "ModelReady", "ServerMetadata", "ModelMetadata", "ModelInfer")
        return {
            name: grpc.unary_unary_rpc_method_handler(
                self.guarded(getattr(self, name)),
                partial(parsed, getattr(messages, f"{name}Request")),
                getattr(messages, f"{name}Response").SerializeToString,
            )
            for name in names
        }

    def guarded(self, method: Callable[[Any], Awaitable[Any]]) -> Callable[[Any, Any], Awaitable[Any]]:
        """A method whose errors become a status with what the client is told."""

        async def run(request: Any, context: Any) -> Any:
            try:
                if isinstance(request, Refusal):
                    raise request
                return await method(request)
            except BaseException as error:
                refusal = self.api.refusal(error)
            await context.abort(CODES.get(refusal.status, grpc.StatusCode.INTERNAL), str(refusal))

        return run


async def start(api: Api) -> tuple[Any, int]:
    """A server that answers over gRPC in the loop that runs, and its port, that of the options. Raises BoxpressoError."""
    options = api.options
    server = grpc.aio.server(
        options=[
            ("grpc.so_reuseport", 0),  # another server's port is an error, not shared with it
            ("grpc.max_receive_message_length", options.max_upload + HEAD),
            ("grpc.max_send_message_length", -1),
        ],
        maximum_concurrent_rpcs=TOGETHER + options.waiting + 1,
    )
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, Service(api).handlers()),))
    address = address_of(options.host)
    host = f"[{address}]" if address is not None and address.version == 6 else options.host
    try:
        port = server.add_insecure_port(f"{host}:{options.grpc_port}")
    except RuntimeError as error:
        raise BoxpressoError(
            f"cannot listen on {host}:{options.grpc_port} for gRPC ({str(error)[:200]}); if another program uses that port, "
            "choose another with --grpc-port"
        ) from None
    await server.start()
    return server, port


def parsed(kind: Any, data: bytes) -> Any:
    """A message of a kind, or the Refusal of bytes that are none: an error here would be gRPC's own, "unknown"."""
    try:
        return kind.FromString(data)
    except DecodeError:
        return Refusal(400, f"the message is not a {kind.__name__}")


def plain(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as JSON has them."""
    return {
        name: getattr(value, value.WhichOneof("parameter_choice") or "bool_param") for name, value in parameters.items()
    }


def read_message(request: Any) -> kserve.Asked:
    """What a ModelInferRequest asks. Raises Refusal with 400 and 422 for what is not of the protocol."""
    if len(request.inputs) != 1:
        raise Refusal(422, kserve.ONE_INPUT)
    tensor = request.inputs[0]
    if request.raw_input_contents:
        if len(request.raw_input_contents) != 1 or tensor.HasField("contents"):
            raise Refusal(400, "raw_input_contents has the bytes of the one input, which then has no contents")
        data: Any = request.raw_input_contents[0]
    else:
        data = list(getattr(tensor.contents, "bytes_contents" if tensor.datatype == "BYTES" else "uint_contents"))
    like_json = {
        "parameters": plain(request.parameters),
        "outputs": [{"name": each.name, "parameters": plain(each.parameters)} for each in request.outputs],
    }
    return kserve.Asked(
        kserve.pictures_of(tensor.name, tensor.datatype, list(tensor.shape), data),
        kserve.wanted_of(like_json),
        kserve.outputs_of(like_json),
        request.id,
    )


def answer(name: str, request: Any, asked: kserve.Asked, detections: Sequence[Detections]) -> Any:
    """A ModelInferResponse: with raw contents for a request that has them, as Triton's clients do, else with typed ones."""
    response = messages.ModelInferResponse(model_name=name, model_version=kserve.VERSION, id=asked.id or "")
    for tensor in kserve.tensors(asked, detections):
        row = response.outputs.add(name=tensor.name, datatype=tensor.kind, shape=tensor.shape)
        if request.raw_input_contents:
            response.raw_output_contents.append(tensor.tobytes())
        else:
            values = tensor.values if isinstance(tensor.values, list) else tensor.values.ravel()
            getattr(row.contents, CONTENTS[tensor.kind]).extend(values)
    return response
