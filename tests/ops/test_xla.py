"""xla.cpp: calls that XLA makes when Python ends, made here by ctypes in a process of their own."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("ml_dtypes")

PROGRAM = """
import ctypes, threading, time
from boxpresso.device.host import entry_library
from boxpresso.ops import xla

library = entry_library(xla.ENTRY)
library.boxpresso_xla_call.restype = ctypes.c_void_p
said = []
error = type(xla.Api().error)(lambda args: said.append((args.contents.message, args.contents.code)) or 77)
api = xla.Api(ctypes.sizeof(xla.Api), None, xla.Version(), None, error)
frame = xla.Frame(ctypes.sizeof(xla.Frame), None, ctypes.pointer(api))
begun, ended = threading.Event(), []

def called(address):
    begun.set()
    time.sleep(0.2)
    ended.append(True)

handler = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(xla.Frame))(called)
library.boxpresso_xla_connect(handler)
thread = threading.Thread(target=library.boxpresso_xla_call, args=(ctypes.byref(frame),))
thread.start()
begun.wait()
library.boxpresso_xla_end()
assert ended, "a call that has begun was not waited for"
assert library.boxpresso_xla_call(ctypes.byref(frame)) == 77
assert len(ended) == 1, "a call after the end came to Python"
assert said == [(b"Python ends: this operator of Boxpresso was not run", 1)]
thread.join()
"""


def test_calls_are_refused_once_python_ends_and_those_that_have_begun_are_waited_for():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
