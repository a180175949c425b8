"""Fixtures for all tests: each device that answers, and the recorded data beside the repository where it is there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import stand_in

from boxpresso.device import open_device


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that asks for `device` runs on the CPU and on the first GPU; without a GPU that half says why it is skipped.

    A run on the stand-in for the driver is for the GPU half alone.
    """
    if "device" in metafunc.fixturenames:
        cpu = [] if stand_in.active() else ["cpu"]
        metafunc.parametrize("device", [*cpu, pytest.param("cuda", marks=pytest.mark.cuda)], indirect=True)


@pytest.fixture(autouse=True)
def without_vendor_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    """cuBLAS does not run on the stand-in: there, matrix products are our own kernel's."""
    if stand_in.active():
        monkeypatch.setattr("boxpresso.device.cublas.library", lambda: None)


@pytest.fixture(autouse=True)
def all_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small work, which one worker would do alone, is done by all here."""
    monkeypatch.setattr(open_device("cpu").schedule, "always_all", True)


@pytest.fixture
def device(request: pytest.FixtureRequest) -> str:
    if request.param == "cuda":
        from boxpresso.device.cuda import driver
        from boxpresso.proto.errors import DeviceError

        try:
            driver()
        except DeviceError as error:
            pytest.skip(str(error))
    return request.param
