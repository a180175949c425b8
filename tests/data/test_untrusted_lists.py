"""A data layer, or a reader of data, that is given some file of the machine says what is wrong with it, not what is in it.

A list whose lines can be read, as `picture label`, names pictures; one that is not there is named in the error, as it must be.
"""

from __future__ import annotations

import importlib
import itertools
import sys
import traceback
import warnings

import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from places import TESTS

from boxpresso import Net
from boxpresso.layers.core import REGISTRY, discover
from boxpresso.layers.core.catalogue import parameter_names
from boxpresso.proto import BoxpressoError, NetParameter

FUZZ = TESTS / "fuzz"
SECRETS = [
    "s3cr3t:x:0:0:s3cr3t:/s3cr3t:/bin/s3cr3t\n",
    "s3cr3t = s3cr3t\n",
    "s3cr3t s3cr3t 1 s3cr3t 2 s3cr3t\n",
    "s3cr3t\n",
    "# 0\ns3cr3t\n3\ns3cr3t\n",
]
READERS = [
    "anchors.json", "list", "windows", "voc", "voc split", "coco", "yolo", "yolo.yaml", "names", "names.json", "wider", "mat", "data.h5",
]  # fmt: skip


def data_layers() -> list[str]:
    discover()
    return sorted({c.type for c in REGISTRY.values() if c.__module__.startswith("boxpresso.layers.data.")})


def fill(message: Message, path: str) -> bool:
    """Sets every field of a message that names a file; whether there is one."""
    filled = False
    for field in message.DESCRIPTOR.fields:
        if field.message_type is not None or field.cpp_type != FieldDescriptor.CPPTYPE_STRING:
            continue
        named = field.name in ("source", "file", "image_file", "label_file", "split") or field.name.endswith("source")
        if named and not hasattr(getattr(message, field.name), "append"):
            setattr(message, field.name, path)
            filled = True
        elif named:
            getattr(message, field.name).append(path)
            filled = True
    for size in ("batch_size", "height", "width", "channels", "crop_size"):
        if size in message.DESCRIPTOR.fields_by_name and not hasattr(getattr(message, size), "append"):
            setattr(message, size, 1)
    return filled


def said(error: BaseException) -> str:
    """What a user sees, of the error and of those before it."""
    return "".join(line for line in traceback.format_exception_only(type(error), error))


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("kind", data_layers())
def test_a_data_layer_does_not_quote_its_source(kind, secret, tmp_path):
    path = tmp_path / "passwd"
    path.write_text(secret * 3)
    quoted: list[str] = []
    for tops, more in itertools.product(range(1, 7), (False, True)):
        net = NetParameter()
        layer = net.layer.add(name="data", type=kind, top=[f"t{i}" for i in range(tops)])
        if not sum(
            [
                fill(getattr(layer, name), str(path))
                for name in parameter_names(kind)
                if more or name != "transform_param"
                if isinstance(getattr(layer, name), Message)
            ]
        ):
            pytest.skip(f"{kind} names no file")
        try:
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                Net(net, device="cpu", phase="TRAIN").forward()
        except BoxpressoError as error:
            quoted.append(said(error))
        assert not [one for one in seen if "s3cr3t" in str(one.message)]
    assert quoted
    assert not [each for each in quoted if "s3cr3t" in each]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("kind", READERS)
def test_a_reader_does_not_quote_its_file(kind, secret, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(FUZZ), *sys.path])
    reader = importlib.import_module("lists").KINDS[kind][1]
    quoted = ""
    try:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            reader(secret.encode(), tmp_path)
    except BoxpressoError as error:
        quoted = said(error)
    assert "s3cr3t" not in quoted
    if not quoted:
        assert kind in ("names", "voc", "voc split", "yolo.yaml", "yolo", "names.json"), "it was read"
    assert not [one for one in seen if "s3cr3t" in str(one.message)]
