"""All messages and enums of Caffe and SSD, as the module that protoc makes of Caffe's caffe.proto.

The schema is Boxpresso's own (`boxpresso/proto/boxpresso.proto`), whose names hold for all dialects and whose numbers are
those of BVLC Caffe and SSD; fields that a fork made repeated are single again here. So files are exchanged with Caffe's own
tools in both directions, binary or text. (Of SSD's SolverParameter, which is a text in all of Caffe, eval_type and
ap_version have other numbers, as BVLC's layer_wise_reduce and weights have theirs.) The package is called `boxpresso_caffe`, as a second file with the names of `caffe` could not be loaded beside one that
protoc made.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.internal import builder

from ...proto import boxpresso_pb2

PACKAGE = "boxpresso_caffe"
# message -> field -> its default in Caffe's own file
SINGLE = {
    "SolverParameter": {"device_id": "0"},
    "TransformationParameter": {"resize_param": "", "noise_param": ""},
    "AccuracyParameter": {"ignore_label": ""},
}


def caffe_file() -> descriptor_pb2.FileDescriptorProto:
    """Boxpresso's schema under another package, with the differences to Caffe's taken back."""
    file = descriptor_pb2.FileDescriptorProto()
    boxpresso_pb2.DESCRIPTOR.CopyToProto(file)
    before, file.package, file.name = f".{file.package}.", PACKAGE, "boxpresso/caffe/caffe.proto"
    waiting = list(file.message_type)
    while waiting:
        message = waiting.pop()
        waiting += message.nested_type
        for field in message.field:
            if field.type_name.startswith(before):
                field.type_name = f".{PACKAGE}.{field.type_name[len(before) :]}"
            default = SINGLE.get(message.name, {}).get(field.name)
            if default is not None:
                field.label = field.LABEL_OPTIONAL
                field.options.ClearField("packed")
                if default:
                    field.default_value = default
    return file


DESCRIPTOR = descriptor_pool.Default().AddSerializedFile(caffe_file().SerializeToString())
builder.BuildMessageAndEnumDescriptors(DESCRIPTOR, globals())
builder.BuildTopDescriptorsAndMessages(DESCRIPTOR, __name__, globals())


def __getattr__(name: str) -> Any:
    """Only for what is missing; it also tells type checkers that names are made above."""
    raise AttributeError(f"caffe_pb2 has no {name!r}: neither Caffe nor a fork that Boxpresso knows has that message")
