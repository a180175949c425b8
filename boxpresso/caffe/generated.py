"""Modules `..._pb2` that protoc 3.18 and older generated, which today's protobuf refuses: made anew from what they describe."""

from __future__ import annotations

import ast

TEXT = """
from google.protobuf import descriptor_pool as _pool
from google.protobuf.internal import builder as _builder
DESCRIPTOR = _pool.Default().AddSerializedFile({!r})
_builder.BuildMessageAndEnumDescriptors(DESCRIPTOR, globals())
_builder.BuildTopDescriptorsAndMessages(DESCRIPTOR, __name__, globals())
"""


def renewed(text: str) -> str:
    """The text of such a module as protobuf takes it since 3.20; every other text as it is.

    The messages are in the descriptor that the text holds; what it imports of its like stays.

    >>> old = "import google.protobuf.descriptor as d\\nDESCRIPTOR = d.FileDescriptor(serialized_pb='a')"
    >>> renewed(old).splitlines()[3]
    "DESCRIPTOR = _pool.Default().AddSerializedFile(b'a')"
    >>> renewed("import caffe")
    'import caffe'
    """
    if "FileDescriptor(" not in text or "serialized_pb" not in text:
        return text
    try:
        body = ast.parse(text)
    except SyntaxError:
        return text
    imports = [ast.unparse(node) for node in body.body if imports_messages(node)]
    for node in ast.walk(body):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "FileDescriptor":
            for keyword in node.keywords:
                value = (
                    keyword.value.args[0]
                    if isinstance(keyword.value, ast.Call) and keyword.value.args
                    else keyword.value
                )
                if keyword.arg == "serialized_pb" and isinstance(value, ast.Constant):
                    data = value.value.encode("latin-1") if isinstance(value.value, str) else value.value
                    return "\n".join(imports) + TEXT.format(data)
    return text


def imports_messages(node: ast.stmt) -> bool:
    """Whether a statement imports modules that protoc generated."""
    return isinstance(node, (ast.Import, ast.ImportFrom)) and any(alias.name.endswith("_pb2") for alias in node.names)
