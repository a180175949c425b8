"""Fixtures for all tests: each device that answers, and the recorded data beside the repository where it is there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that asks for `device` runs on the CPU and on the first GPU; without a GPU that half says why it is skipped."""
    if "device" in metafunc.fixturenames:
        metafunc.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.cuda)], indirect=True)


@pytest.fixture
def device(request: pytest.FixtureRequest) -> str:
    if request.param == "cuda":
        from boxpresso.layers.core.cuda import driver
        from boxpresso.proto.errors import DeviceError

        try:
            driver()
        except DeviceError as error:
            pytest.skip(str(error))
    return request.param
