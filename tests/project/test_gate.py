"""`python tests`: what its table says, what it counts as failed, how a pytest tells it of a run, what a first look leaves out, and
what a run without ../shared takes."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import progress
import pytest
import shared
from places import TESTS as HERE
from places import module


def load(path: Path):
    """A program's file as a module."""
    spec = importlib.util.spec_from_file_location(f"program_{path.parent.name}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look it up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def gate():
    return load(HERE / "__main__.py")


@pytest.fixture
def stand_in_run(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return load(HERE / "stand_in" / "run.py")


def test_the_table(gate):
    results = [
        gate.Result("lint", "passed", 0.4, cpu=1.6),
        gate.Result(
            "tests",
            "failed",
            251.6,
            passed=4100,
            failed=2,
            skipped={"no GPU": 20, "slow": 300},
            cpu=480,
            slowest={"tests/test_b.py": 3.25, "tests/test_a.py": 120.0},
        ),
        gate.Result("stand-in", "skipped", reason="left out by --without-stand-in"),
    ]
    head, lint, tests, stand_in, *rest = gate.lines(results)
    assert head.split() == ["passed", "failed", "skipped", "time", "CPU", "time"]
    assert lint.split() == ["lint", "passed", "0", "s", "2", "s"]
    assert tests.split() == ["tests", "failed", "4100", "2", "320", "4", "min", "12", "s", "8", "min", "00", "s"]
    assert stand_in.split() == ["stand-in", "skipped"]
    assert rest == [
        "skipped in tests:",
        "    300  slow",
        "     20  no GPU",
        "what took longest in tests, in seconds of one processor, with the kernels that it compiled first:",
        "    120.0  tests/test_a.py",
        "      3.2  tests/test_b.py",
        "stand-in skipped: left out by --without-stand-in",
        "failed: tests",
    ]
    assert gate.lines(results[:1])[-1] == "all is well: lint"


def runs(gate, monkeypatch, capsys, *words: str, **statuses: str):
    """The names of the checks that `python tests` runs, its exit status, and what it prints."""
    seen = []

    def run(name, command, line=True, beside=False):
        seen.append((name, command))
        assert beside == (name == "strict types")
        return gate.Result(name, statuses.get(name.split()[0], "passed"))

    monkeypatch.setattr(gate, "run", run)
    monkeypatch.setattr(gate, "has_shared", lambda: True)
    monkeypatch.setattr(gate, "begin_building", lambda: subprocess.Popen([sys.executable, "-c", ""]))
    return gate.main(list(words)), seen, capsys.readouterr().out


def test_what_runs(gate, monkeypatch, capsys):
    status, seen, out = runs(gate, monkeypatch, capsys)
    assert status == 0
    assert [name for name, _ in seen][:2] == ["lint", "format"]
    assert {name for name, _ in seen[2:]} == {"strict types", "tests"}  # side by side
    assert [line.split()[0] for line in out.splitlines()[2:6]] == ["lint", "format", "strict", "tests"]
    assert "--first-look" in dict(seen)["tests"]
    assert "GPU tests on the stand-in skipped: python tests --all runs it" in out
    assert "tests without ../shared skipped: python tests --all runs it" in out
    status, seen, out = runs(gate, monkeypatch, capsys, "--all")
    assert [name for name, _ in seen][4:] == ["tests without ../shared", "GPU tests on the stand-in"]
    assert "--slow" in dict(seen)["tests"]
    assert "--first-look" not in dict(seen)["tests"]
    assert "--without-shared" in dict(seen)["tests without ../shared"]
    status, seen, out = runs(gate, monkeypatch, capsys, "--all", "--without-stand-in")
    assert status == 0
    assert len(seen) == 5
    assert "GPU tests on the stand-in skipped: left out by --without-stand-in" in out


def test_where_shared_is_not_there_it_is_not_run_without_it_again(gate, monkeypatch, capsys):
    monkeypatch.setattr(shared, "SHARED", Path("nowhere"))
    assert not gate.has_shared()
    monkeypatch.setattr(gate, "run", lambda name, command, **how: gate.Result(name, "passed"))
    monkeypatch.setattr(gate, "begin_building", lambda: subprocess.Popen([sys.executable, "-c", ""]))
    assert gate.main(["--all"]) == 0
    assert "tests without ../shared skipped: it is not there" in capsys.readouterr().out


def test_help(gate, capsys):
    assert gate.main(["--help"]) == 0
    assert "python tests --all" in capsys.readouterr().out


def test_one_failure_fails_the_whole(gate, monkeypatch, capsys):
    status, seen, out = runs(gate, monkeypatch, capsys, "--all", GPU="failed", lint="failed")
    assert status == 1
    assert len(seen) == 6
    assert "failed: lint, GPU tests on the stand-in" in out
    assert "all is well" not in out


def test_words_go_to_pytest(gate, monkeypatch, capsys):
    assert runs(gate, monkeypatch, capsys, "-k", "Permute")[1] == [("tests", ["-m", "pytest", "-k", "Permute"])]
    assert runs(gate, monkeypatch, capsys, "--all", "-k", "Permute")[1][0][1][2] == "--slow"
    seen = runs(gate, monkeypatch, capsys, "--stand-in", "-k", "Permute", tests="failed")
    assert seen[0] == 1
    assert seen[1] == [("tests", ["tests/stand_in/run.py", "-k", "Permute"])]


TESTS = """
import pytest

def test_good(): pass
def test_bad(): assert False
@pytest.fixture
def broken(): raise RuntimeError
def test_in_error(broken): pass
@pytest.mark.parametrize("i", [1, 2, 3])
def test_left_out(i): pytest.skip("no GPU")
@pytest.mark.slow
def test_slow(): pass
@pytest.mark.sweep
def test_sweep(): pass
def test_the_report_is_of_this_run_alone():
    import os
    assert not {"BOXPRESSO_TEST_REPORT", "BOXPRESSO_TEST_PROGRESS"} & set(os.environ)
"""
LATER = """
import pytest

@pytest.mark.later
@pytest.mark.parametrize("i", range(3))
def test_none(i): pass
@pytest.mark.later(but=2)
@pytest.mark.parametrize("i", range(5))
def test_two(i, device): pass
@pytest.mark.later(one_of="family")
@pytest.mark.parametrize(("family", "i"), [("a", 1), ("a", 2), ("b", 3), ("b", 4), ("a", 5)])
def test_families(family, i): pass
@pytest.mark.later(but=2, one_of="family")
@pytest.mark.parametrize(("family", "i"), [("a", 1), ("a", 2), ("b", 3), ("b", 4), ("a", 5)])
def test_two_of_families(family, i): pass
def test_always(): pass
"""


def suite(folder: Path, text: str, *words: str) -> list[str]:
    """The words for a pytest of one file, `text`, with this suite's own conftest.py, in a folder of its own."""
    tests = folder / "tests"
    tests.mkdir()
    for name in ("conftest.py", "places.py", "progress.py", "shared.py"):
        (tests / name).write_text((HERE / name).read_text(encoding="utf-8"))
    (tests / "stand_in.py").write_text("active = lambda: False")
    (tests / "test_some.py").write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n slow: slow\n sweep: sweep\n later: later\n cuda: cuda\n")
    return ["-m", "pytest", "-q", "-p", "no:cacheprovider", *words, "--rootdir", str(folder), str(tests)]


@pytest.mark.later(but=1)
@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_counts_and_reasons(gate, tmp_path, workers, monkeypatch):
    """A pytest with the suite's own conftest.py, which writes the report."""
    words = suite(tmp_path, TESTS, *workers)
    result = gate.run("tests", words)
    assert (result.status, result.passed, result.failed) == ("failed", 2, 2)
    sweep = "a sweep: BOXPRESSO_SWEEP=1 python tests --all (or pytest --slow) runs it"
    assert result.skipped == {"no GPU": 3, "slow: python tests --all (or pytest --slow) runs it": 1, sweep: 1}
    assert list(result.slowest) == ["tests/test_some.py"]
    assert 0 <= result.slowest["tests/test_some.py"] <= result.cpu
    result = gate.run("tests", [*words, "--slow"])
    assert (result.passed, result.skipped) == (3, {"no GPU": 3, sweep: 1})
    monkeypatch.setenv("BOXPRESSO_SWEEP", "1")
    result = gate.run("tests", [*words, "--slow"])
    assert (result.passed, result.skipped) == (4, {"no GPU": 3})
    assert sweep in gate.run("tests", words).skipped


def test_the_seconds_are_those_of_the_processor(gate, tmp_path):
    """Of a test and of what it starts; to sleep costs nothing."""
    text = """
import subprocess, sys, time

def burn(seconds):
    start = time.process_time()
    while time.process_time() < start + seconds: pass
def test_itself(): burn(0.5)
def test_a_child(): subprocess.run([sys.executable, "-c", "import time\\nwhile time.process_time() < 0.7: pass"], check=True)
def test_sleeps(): time.sleep(5)
"""
    result = gate.run("tests", suite(tmp_path, text))
    assert result.passed == 3
    assert 1.2 <= result.slowest["tests/test_some.py"] < 5


def test_a_first_look_has_cases_of_each_family(gate, tmp_path):
    words = suite(tmp_path, LATER, "-rp")
    whole = subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=HERE.parent).stdout
    first = subprocess.run(
        [sys.executable, *words, "--first-look"], capture_output=True, text=True, cwd=HERE.parent
    ).stdout
    ran = re.findall(r"PASSED .*::(\S+)", first)
    assert len(re.findall(r"PASSED .*::(\S+)", whole)) >= 3 + 5 + 5 + 5 + 1
    assert [name for name in ran if "cuda" not in name] == [
        "test_two[cpu-0]", "test_two[cpu-1]", "test_families[a-1]", "test_families[b-3]", "test_two_of_families[a-1]",
        "test_two_of_families[a-2]", "test_two_of_families[b-3]", "test_two_of_families[b-4]", "test_always",
    ]  # fmt: skip


def test_half_of_the_further_cases_where_the_cpu_has_all(tmp_path):
    text = """
import pytest
@pytest.mark.later(but=1)
@pytest.mark.parametrize("n", range(5))
def test_of_both(n, device): pass
@pytest.mark.later(but=1)
@pytest.mark.parametrize("n", range(3))
def test_of_one(n): pass
"""
    words = [*suite(tmp_path, text, "-rp"), "--half", "-m", "not cuda"]
    said = subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=HERE.parent).stdout
    assert sorted(re.findall(r"PASSED .*::(\S+)", said)) == [
        "test_of_both[cpu-0]", "test_of_both[cpu-1]", "test_of_both[cpu-3]", *(f"test_of_one[{n}]" for n in range(3)),
    ]  # fmt: skip


def test_a_run_without_shared_takes_what_reads_it(gate, tmp_path):
    text = """
import os
import pytest
from shared import SHARED, need as wanted, recorded

CASES = [SHARED / "a"]
@pytest.fixture
def case(): return CASES[0]
def helper(): return wanted("golden/none/anything")
@pytest.mark.parametrize("path", CASES)
def test_by_a_decorator(path): assert not path.exists()
def test_by_a_fixture(case): assert os.environ["BOXPRESSO_SHARED"] == "none"
def test_by_a_function(): helper()
def test_of_itself(): wanted(SHARED / "b")
def test_something_else():
    CASE = [wanted_not for wanted_not in (1, 2)]
def test_with_arrays(): recorded
"""
    words = suite(tmp_path, text, "--without-shared")
    (tmp_path / "tests" / "test_other.py").write_text("def test_other(): pass")
    result = gate.run("tests", words)
    assert (result.status, result.passed, result.failed) == ("passed", 2, 0)
    assert result.skipped == {
        "the recorded data ../shared/golden/none is not on this machine": 1,
        "the recorded data ../shared/b is not on this machine": 1,
    }


class Terminal(io.StringIO):
    """What a terminal shows of what is written: its lines as they are in the end."""

    def isatty(self) -> bool:
        return True

    def shown(self) -> list[str]:
        text = self.getvalue()
        assert max(len(part) for part in re.split(r"\r\x1b\[K|\n", text)) < 80  # one that is longer wraps, and stays
        return [line.rpartition("\r\x1b[K")[2] for line in text.split("\n")]


def test_progress_on_a_terminal_is_one_line(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(progress, "OFTEN", 0.0)
    out = Terminal()
    line = progress.Line("tests", out)
    line.total = 3000
    for _ in range(1234):
        line.done += 1
        line.tell()
    line.failure("tests/test_some.py::test_bad")
    line.tell()
    assert out.getvalue().count("\n") == 1
    line.end()
    shown = ["FAILED tests/test_some.py::test_bad", "tests  1234 of 3000, 1 failed, 0 s", ""]
    assert out.shown() == shown
    line.name = "a name that is longer than the eighty columns of a terminal, which would wrap the line"
    line.tell()
    assert out.shown()[-1] == line.name[:79]


def test_progress_that_is_piped_is_a_line_now_and_then(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    out = io.StringIO()
    line = progress.Line("tests", out)
    line.total = 4000
    for _ in range(4000):
        now[0] += 0.0625  # 250 seconds in all
        line.done += 1
        line.tell()
    line.end()
    text = out.getvalue()
    assert "\r" not in text
    assert "\x1b" not in text
    assert text.splitlines()[0] == "tests  480 of 4000, 0 failed, 30 s"
    assert text.splitlines()[-1] == "tests  4000 of 4000, 0 failed, 4 min 10 s"
    assert len(text.splitlines()) == 9


@pytest.mark.later(but=1)
@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_a_pytest_with_the_line(tmp_path, workers):
    """Piped: no dots, the failures named, pytest's own last lines."""
    words = suite(tmp_path, TESTS, *workers, "-o", "console_output_style=classic")
    environment = {**os.environ, "BOXPRESSO_TEST_PROGRESS": "these tests", "PYTEST_ADDOPTS": ""}
    out = subprocess.run(
        [sys.executable, *words], env=environment, capture_output=True, text=True, cwd=HERE.parent
    ).stdout
    before, _, after = out.partition("= ERRORS =")
    lines = [line for line in before.splitlines() if line.strip("= ") and "nodes" not in line]
    assert sorted(lines[:-1]) == ["FAILED tests/test_some.py::test_bad", "FAILED tests/test_some.py::test_in_error"]
    assert re.fullmatch(r"these tests  9 of 9, 2 failed, \d+ s", lines[-1])
    assert re.search(r"^FAILED .*test_some\.py::test_bad", after, re.M)
    assert re.search(r"^1 failed, 2 passed, 5 skipped, 1 error in ", after, re.M)


def test_what_runs_beside_another_check_prints_in_one_piece(gate, capsys):
    result = gate.run("types", ["-c", "import sys; print(1, flush=True); print(2, file=sys.stderr)"], beside=True)
    assert result.status == "passed"
    out = capsys.readouterr().out
    assert out.startswith("== types: -c import sys; ")
    assert out.endswith("\n1\n2\n")


def test_the_processors_time_of_checks_side_by_side_is_of_each(gate):
    burn = "import time\nwhile time.process_time() < {}: pass"
    with ThreadPoolExecutor(2) as pool:
        beside = pool.submit(gate.run, "long", ["-c", burn.format(1.5)], beside=True)
        short = gate.run("short", ["-c", burn.format(0.2)])
    assert 0.2 <= short.cpu < 1
    assert 1.5 <= beside.result().cpu < 3


def test_a_check_that_dies_has_failed(gate):
    result = gate.run("types", ["-c", "import sys; sys.exit(3)"])
    assert (result.status, result.passed) == ("failed", None)
    assert result.seconds > 0


# The stand-in


def test_a_stand_in_that_cannot_run_is_a_failure_with_its_reason(gate, monkeypatch, tmp_path):
    """No compiler: the program fails, and the table has the reason."""
    monkeypatch.setenv("CXX", "no-such-compiler")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    program = f"import sys; sys.path.insert(0, {str(HERE / 'stand_in')!r}); import run; "
    result = gate.run("stand-in", ["-c", program + "run.headers = lambda: run.HERE; sys.exit(run.main([]))"])
    assert result.status == "failed"
    assert (
        result.reason == "the stand-in for the CUDA driver cannot run here: there is no C++ compiler 'no-such-compiler'"
    )
    assert f"stand-in failed: {result.reason}" in gate.lines([result])


def test_each_thing_that_is_missing_has_a_reason(stand_in_run, monkeypatch, tmp_path):
    run = stand_in_run

    def pip(*words, environment=None):
        raise run.CannotRun("pip failed: no network")

    monkeypatch.setattr(run, "pip", pip)
    with pytest.raises(run.CannotRun, match="no network"):
        run.build_pycuda(tmp_path, tmp_path / "libcuda.so.1")
    monkeypatch.setattr(run, "has_headers", lambda place: False)
    with pytest.raises(run.CannotRun, match="no network"):
        run.headers()
    monkeypatch.setattr(run, "pip", lambda *words, environment=None: (Path(words[3]) / "nvidia").mkdir(parents=True))
    with pytest.raises(run.CannotRun, match=r"cuda\.h and cudaProfiler\.h are in none of"):
        run.headers()


def test_a_driver_that_does_not_compile_has_a_reason(stand_in_run, tmp_path):
    with pytest.raises(stand_in_run.CannotRun, match=r"(?s)failed: .*cuda\.h"):
        stand_in_run.build_driver(tmp_path)


def test_a_pip_that_fails_says_why(stand_in_run):
    with pytest.raises(stand_in_run.CannotRun, match=r"pip .*--no-such-option failed: "):
        stand_in_run.pip("install", "--no-such-option")


def test_a_run_without_a_kernel_is_a_failure(stand_in_run, monkeypatch, tmp_path, capsys):
    """As where every test is skipped because nothing answers for a GPU."""
    run = stand_in_run
    monkeypatch.setenv("BOXPRESSO_TEST_REPORT", str(tmp_path / "report.json"))
    monkeypatch.setattr(run, "environment", lambda report: dict(os.environ))
    monkeypatch.setattr(run.subprocess, "run", lambda *words, **options: subprocess.CompletedProcess(words, 0))
    assert run.main([]) == 1
    assert json.loads((tmp_path / "report.json").read_text())["reason"].startswith("no kernel has run")
    assert run.main(["-k", "a_word_of_the_user"]) == 0


def test_what_the_scheduler_names_is_there():
    """A name that no test has any more would order nothing."""
    from conftest import LONGEST, TOGETHER

    for name in (*(f"{stem}.py" for stem in TOGETHER), *LONGEST):
        file, _, test = name.partition("::")
        path = module(file.removesuffix(".py"))
        assert path, name
        assert f"\ndef {test}" in path.read_text(encoding="utf-8"), name


def test_what_the_stand_in_leaves_out_is_there(stand_in_run):
    for room, names in stand_in_run.HOST.items():
        for name in names.split():
            assert list((HERE / room).glob(f"test_{name}.py")), (room, name)
