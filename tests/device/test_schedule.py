"""How many workers launches get, by a clock that says how long each takes."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace

import pytest

from boxpresso.device import schedule
from boxpresso.device.schedule import LONGEST, SHARE, Schedule

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


def test_the_first_launch_tells_what_one_worker_needs(chosen):
    """Else a net that begins on a busy machine would stay with all workers: nobody would know that one is faster."""
    assert chosen([20 * ALONE] * 7) == [1, 2, 2, 1, 1, 1, 1]


def test_one_slow_launch_by_all_is_soon_forgotten(chosen):
    assert chosen([TOGETHER] * 10) == [1] + [2] * 9
    chosen([100 * ALONE])  # by a program that took the other core
    assert chosen([TOGETHER] * 20) == [2] * 20


def test_the_launch_after_each_pause_does_not_decide_for_the_others(chosen):
    chosen([100 * ALONE, TOGETHER])  # one worker is known, too
    counts = [chosen([3_000_000, *4 * [TOGETHER]])[1:] for _ in range(40)]
    assert counts == [[2] * 4] * 40


def test_a_busy_machine_is_asked_rarely(chosen):
    counts = chosen([20 * ALONE] * 2000)
    assert counts[-1000:].count(2) <= 2 * (1000 // LONGEST + 1)
    assert chosen([TOGETHER] * (LONGEST + 50))[-50:] == [2] * 50  # and is found to be no longer busy


@pytest.mark.parametrize("slower", [1.01, 1.2, 2, 4])
def test_to_ask_costs_a_share_of_the_time_and_no_more(chosen, slower):
    counts = chosen([slower * ALONE] * 4000)[1000:]
    assert 0 < counts.count(2) * (slower - 1) <= 1.5 * SHARE * len(counts)
    soon = int(2 * slower / SHARE) + 2
    assert chosen([TOGETHER] * (soon + 50))[-50:] == [2] * 50


def test_small_work_stays_with_one_worker(monkeypatch):
    """A worker's part of a launch by two is what it takes to begin and to end one, so that twice that says nothing of one."""
    now, alone, together = [0], 2_000, 5_000
    clock = SimpleNamespace(perf_counter_ns=lambda: now[0], thread_time_ns=lambda: now[0])
    monkeypatch.setattr(schedule, "time", clock)
    launches, counts = Schedule(), []

    def call(count: int) -> int:
        counts.append(abs(count))
        now[0] += alone if abs(count) == 1 else together
        return 0

    for _ in range(8 * LONGEST):
        launches.run("small", 2, 13, 4_000, call, ())
    assert 1 <= counts.count(2) <= 2 * (together - alone) * SHARE / alone * len(counts)
