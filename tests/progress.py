"""How far a pytest has come, in one line: rewritten in place on a terminal, and now and then a new one where it is piped."""

from __future__ import annotations

import shutil
import sys
import time
from typing import Any, TextIO

import pytest

EVERY = 30.0  # seconds between two lines where it is piped
OFTEN = 0.2  # between two on a terminal
CLEAR = "\r\x1b[K"  # to the start of the line, which is cleared


def duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


class Line:
    """The line of `name`: how many tests of how many are done, how many have failed, for how long it has run."""

    def __init__(self, name: str, out: TextIO | None = None) -> None:
        self.name, self.out = name, out or sys.stdout
        self.terminal = self.out.isatty()
        self.total = self.done = self.failed = 0
        self.start = self.last = time.monotonic()

    def text(self) -> str:
        of = f" of {self.total}" if self.total else ""
        return f"{self.name}  {self.done}{of}, {self.failed} failed, {duration(time.monotonic() - self.start)}"

    def tell(self, now: bool = False) -> None:
        """Writes the line if the last one is old enough, or `now`."""
        if not now and time.monotonic() - self.last < (OFTEN if self.terminal else EVERY):
            return
        self.last = time.monotonic()
        if self.terminal:  # one column is left free: a terminal may wrap a line that fills it
            width = shutil.get_terminal_size().columns - 1
            self.out.write(f"{CLEAR}{self.text()[:width]}")
        else:
            self.out.write(f"{self.text()}\n")
        self.out.flush()

    def failure(self, test: str) -> None:
        """Names a test that has failed, in a line of its own that stays."""
        self.failed += 1
        self.out.write(f"{CLEAR if self.terminal else ''}FAILED {test}\n")
        self.tell(now=self.terminal)

    def end(self) -> None:
        """Writes the last state, and goes to the next line."""
        self.tell(now=True)
        if self.terminal:
            self.out.write("\n")
            self.out.flush()


class Progress:
    """A plugin of pytest that writes a Line instead of a letter for each test."""

    def __init__(self, name: str) -> None:
        self.line = Line(name, sys.__stdout__)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.line.total = self.line.total or len(session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: list[str]) -> None:
        self.line.total = len(ids)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> Any:
        """The category, by which pytest counts, and the word of its last lines, without the letter."""
        outcome = yield
        category, _, word = outcome.get_result()
        outcome.force_result((category, "", word))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.line.failure(report.nodeid)

    def pytest_runtest_logfinish(self) -> None:
        self.line.done += 1
        self.line.tell()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        self.line.end()
