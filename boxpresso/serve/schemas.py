"""What requests and answers look like, for /openapi.json."""

from __future__ import annotations

from typing import Any

NUMBER = {"type": "number"}
INTEGER = {"type": "integer"}
TEXT = {"type": "string"}


def array(items: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A list."""
    return {"type": "array", "items": items, **more}


def table(required: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An object with these properties, those of `more` not always."""
    return {"type": "object", "properties": {**required, **more}, "required": list(required)}


def answers(description: str, schema: dict[str, Any], *errors: int) -> dict[int | str, dict[str, Any]]:
    """The answer 200, and errors with a text."""
    content = {"application/json": {"schema": table({"error": TEXT})}}
    said: dict[int | str, dict[str, Any]] = {
        200: {"description": description, "content": {"application/json": {"schema": schema}}}
    }
    said.update({status: {"description": WHY[status], "content": content} for status in (403, *errors)})
    return said


WHY = {
    400: "not a picture, or a broken one",
    403: "a Host or an Origin that is not allowed",
    404: "no such blob, net, page or public model",
    409: "no picture has been sent yet, or no model has been chosen",
    410: "the picture is no longer remembered",
    413: "the upload or its picture is too large",
    415: "a body of a type that is no picture",
    422: "a parameter that cannot be",
    500: "the net failed",
    503: "too many requests wait, or the server is shutting down",
    504: "the request took too long",
}
POINT = array(NUMBER, minItems=2, maxItems=2)
DETECTION = table(
    {
        "class_id": INTEGER,
        "class_name": {"oneOf": [TEXT, {"type": "null"}]},
        "score": NUMBER,
        "box": array(NUMBER, minItems=4, maxItems=4),
        "label": {**TEXT, "deprecated": True, "description": "class_name, or 'label 3' where that is not known"},
        "class_index": {**INTEGER, "deprecated": True, "description": "class_id"},
    },
    polygon=array(POINT),
    angle=NUMBER,
    rotated=array(NUMBER, minItems=5, maxItems=5),
    landmarks=array({"oneOf": [POINT, {"type": "null"}]}),
    landmark_scores=array(NUMBER),
    mask=table({"size": array(INTEGER), "counts": array(INTEGER)}),
)
RESULT = table(
    {
        "model": TEXT,
        "picture": TEXT,
        "image": table({"width": INTEGER, "height": INTEGER}),
        "kind": {"type": "string", "enum": ["boxes", "classes", "segments", "picture"]},
        "links": array(array(INTEGER)),
        "detections": array(DETECTION),
        "left_out": INTEGER,
        "milliseconds": NUMBER,
        "timing": table(dict.fromkeys(("reading", "forward", "decoding", "passes", "remembered"), NUMBER)),
    },
    result=table({"width": INTEGER, "height": INTEGER, "url": TEXT}),
)
FILE = {"type": "string", "format": "binary"}
BODY = {
    "description": "the picture: a file of multipart/form-data, or the body itself; none with `picture` or `example`",
    "content": {"multipart/form-data": {"schema": table({"file": FILE})}, "image/*": {"schema": FILE}},
}
MODEL_FILES = {
    "description": "the files of a model: .prototxt, .caffemodel or .h5, and a .txt with names of classes; none with `name`",
    "content": {"multipart/form-data": {"schema": table({"file": array(FILE)})}},
}
SHAPE = array(INTEGER)
SPAN = {name: {"oneOf": [NUMBER, {"type": "null"}]} for name in ("min", "mean", "max")}
NAMED = {"model": TEXT, "net": INTEGER, "picture": TEXT}
HEALTH = answers("it answers", table({"status": TEXT, "model": TEXT, "busy": INTEGER, "version": TEXT}))
MODEL = answers("the model", {"type": "object"})
OPEN = answers("the model is served from now on", table({"model": TEXT}), 400, 404, 413, 415, 422, 503, 504)
DETECT = answers("the detections, best first", RESULT, 400, 410, 413, 415, 422, 500, 503, 504)
BLOBS = answers(
    "names and shapes",
    table({**NAMED, "blobs": array(table({"name": TEXT, "layer": TEXT, "shape": SHAPE}))}),
    404, 409, 410, 503, 504,
)  # fmt: skip
IMAGE = table({"channel": INTEGER, "width": INTEGER, "height": INTEGER, **SPAN, "not_finite": INTEGER, "image": TEXT})
BLOB = answers(
    "a page of channels",
    table({
        **NAMED, "name": TEXT, "shape": SHAPE, **SPAN, "not_finite": INTEGER, "channels": INTEGER, "page": INTEGER,
        "pages": INTEGER, "images": array(IMAGE),
    }),
    404, 409, 410, 422, 503, 504,
)  # fmt: skip
