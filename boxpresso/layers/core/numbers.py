"""Whether the whole numbers of a prototxt fit what kernels count with."""

from __future__ import annotations

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

COUNT_LIMIT = 2**31 - 1  # kernels count with int
EXTENT_LIMIT = 2**29  # of windows, so that the sum of a few of them is an int too
EXTENTS = ("kernel", "stride", "pad", "dilation")
WIDE = (FieldDescriptor.CPPTYPE_UINT32, FieldDescriptor.CPPTYPE_UINT64, FieldDescriptor.CPPTYPE_INT64)
APART = ("boxpresso.BlobProto", "boxpresso.NetStateRule")  # values, and rules that only Python reads


def too_large(message: Message, path: str = "") -> str:
    """What is wrong with the first number of a message, or of the messages in it, that is too large; else "".

    Examples
    --------
    >>> from boxpresso.proto import parse_net
    >>> too_large(parse_net('layer { name: "p" pooling_param { stride: 4294967295 } }').layer[0])
    'pooling_param: stride is 4294967295; a stride may be 536870912 at most'
    """
    for field, value in message.ListFields():
        if field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
            if field.message_type.full_name in APART:
                continue
            for inner in [value] if isinstance(value, Message) else value:
                if wrong := too_large(inner, f"{path}{field.name}: "):
                    return wrong
        elif field.cpp_type in (*WIDE, FieldDescriptor.CPPTYPE_INT32) and "seed" not in field.name:
            largest = max([value] if isinstance(value, int) else value)
            kind = next((name for name in EXTENTS if field.name.split("_")[0] == name), None)
            if kind and largest > EXTENT_LIMIT:
                return f"{path}{field.name} is {largest}; a {kind} may be {EXTENT_LIMIT} at most"
            if field.cpp_type in WIDE and largest > COUNT_LIMIT:
                return f"{path}{field.name} is {largest}; the largest number that layers count with is {COUNT_LIMIT}"
    return ""
