"""How many workers launches get, by a clock that says how long each takes."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace

import pytest

from boxpresso.device import schedule
from boxpresso.device.schedule import LONGEST, Schedule

ALONE, TOGETHER = 2_400_000, 1_300_000  # nanoseconds of a chain's launch


@pytest.fixture
def chosen(monkeypatch):
    """Runs launches, one after another, that take so long by all of two workers, and ALONE by one; how many each got."""
    now = [0]
    clock = SimpleNamespace(perf_counter_ns=lambda: now[0], thread_time_ns=lambda: now[0])
    monkeypatch.setattr(schedule, "time", clock)
    launches = Schedule(waits=True)

    def run(by_all: Iterable[int]) -> list[int]:
        counts: list[int] = []
        for lapse in by_all:

            def call(count: int, lapse: int = lapse) -> int:
                counts.append(abs(count))
                now[0] += lapse if abs(count) == 2 else ALONE
                return 0

            launches.run("chain", 2, 85, 10_000_000, call, ())
        return counts

    return run


def test_one_slow_launch_by_all_is_soon_forgotten(chosen):
    assert chosen([TOGETHER] * 10) == [2] * 10
    chosen([100 * ALONE])  # by a program that took the other core
    assert chosen([TOGETHER] * 20).count(2) >= 17


def test_the_launch_after_each_pause_does_not_decide_for_the_others(chosen):
    chosen([100 * ALONE, TOGETHER])  # one worker is known, too
    counts = [chosen([3_000_000, *4 * [TOGETHER]])[1:] for _ in range(40)]
    assert sum(each.count(2) for each in counts) >= 80


def test_a_busy_machine_is_asked_ever_more_rarely(chosen):
    counts = chosen([20 * ALONE] * 2000)
    assert counts[-1000:].count(2) <= 1000 // LONGEST + 1
    assert chosen([TOGETHER] * (LONGEST + 50))[-50:] == [2] * 50  # and is found to be no longer busy
