"""Decoded pictures that stay in memory."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from boxpresso.data.decoded import Decoded
from boxpresso.data.errors import DataError


def reader(index: int, size: int, calls: list[int]):
    def read():
        calls.append(index)
        return np.full((size, 1, 1), index, np.uint8), f"label {index}"

    return read


def test_pictures_are_read_once_while_there_is_room(monkeypatch):
    monkeypatch.setenv("BOXPRESSO_DECODED", "1")
    decoded, calls = Decoded(), []
    for _ in range(3):
        for index in range(4):
            picture, label = decoded.get(index, reader(index, 400_000, calls))
            assert (picture == index).all()
            assert label == f"label {index}"
    assert calls == [0, 1, 2, 3, 2, 3, 2, 3]  # two fit into a megabyte
    with pytest.raises(ValueError, match="read-only"):
        decoded.get(0, reader(0, 1, calls))[0][0] = 1


def test_another_process_begins_without_any():
    decoded, calls = Decoded(), []
    decoded.get(1, reader(1, 10, calls))
    other = pickle.loads(pickle.dumps(decoded))
    other.get(1, reader(1, 10, calls))
    assert calls == [1, 1]


def test_none_are_kept(monkeypatch):
    monkeypatch.setenv("BOXPRESSO_DECODED", "0")
    decoded, calls = Decoded(), []
    for _ in range(2):
        decoded.get(1, reader(1, 10, calls))
    assert calls == [1, 1]


def test_an_error_is_not_kept():
    decoded = Decoded()
    with pytest.raises(DataError, match="broken"):
        decoded.get(1, lambda: (_ for _ in ()).throw(DataError("broken")))
    assert decoded.get(1, reader(1, 10, []))[1] == "label 1"


@pytest.mark.parametrize("setting", ["-1", "1.5", "much"])
def test_the_setting_is_a_number_of_megabytes(monkeypatch, setting):
    monkeypatch.setenv("BOXPRESSO_DECODED", setting)
    with pytest.raises(DataError, match=f"BOXPRESSO_DECODED.*{setting}"):
        Decoded()
