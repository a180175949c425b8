"""`python tests`: what its table says, what it counts as failed, and how a pytest tells it of a run."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


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
        gate.Result("lint", "passed", 0.4),
        gate.Result("tests", "failed", 251.6, passed=4100, failed=2, skipped={"no GPU": 20, "slow": 300}),
        gate.Result("stand-in", "skipped", reason="left out by --without-stand-in"),
    ]
    head, lint, tests, stand_in, *rest = gate.lines(results)
    assert head.split() == ["passed", "failed", "skipped", "time"]
    assert lint.split() == ["lint", "passed", "0", "s"]
    assert tests.split() == ["tests", "failed", "4100", "2", "320", "4", "min", "12", "s"]
    assert stand_in.split() == ["stand-in", "skipped"]
    assert rest == [
        "skipped in tests:",
        "    300  slow",
        "     20  no GPU",
        "stand-in skipped: left out by --without-stand-in",
        "failed: tests",
    ]
    assert gate.lines(results[:1])[-1] == "all is well: lint"


def runs(gate, monkeypatch, capsys, *words: str, **statuses: str):
    """The names of the checks that `python tests` runs, its exit status, and what it prints."""
    seen = []

    def run(name, command):
        seen.append((name, command))
        return gate.Result(name, statuses.get(name.split()[0], "passed"))

    monkeypatch.setattr(gate, "run", run)
    monkeypatch.setattr(gate, "begin_building", lambda: subprocess.Popen([sys.executable, "-c", ""]))
    return gate.main(list(words)), seen, capsys.readouterr().out


def test_what_runs(gate, monkeypatch, capsys):
    status, seen, out = runs(gate, monkeypatch, capsys)
    assert status == 0
    assert [name for name, _ in seen] == ["lint", "format", "strict types", "tests"]
    assert "GPU tests on the stand-in skipped: python tests --all runs it" in out
    status, seen, out = runs(gate, monkeypatch, capsys, "--all")
    assert [name for name, _ in seen][4:] == ["GPU tests on the stand-in"]
    assert "--slow" in dict(seen)["tests"]
    status, seen, out = runs(gate, monkeypatch, capsys, "--all", "--without-stand-in")
    assert status == 0
    assert len(seen) == 4
    assert "GPU tests on the stand-in skipped: left out by --without-stand-in" in out


def test_one_failure_fails_the_whole(gate, monkeypatch, capsys):
    status, seen, out = runs(gate, monkeypatch, capsys, "--all", GPU="failed", lint="failed")
    assert status == 1
    assert len(seen) == 5
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
def test_the_report_is_of_this_run_alone():
    import os
    assert "BOXPRESSO_TEST_REPORT" not in os.environ
"""


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_counts_and_reasons(gate, tmp_path, workers):
    """A pytest with the suite's own conftest.py, which writes the report."""
    folder = tmp_path / "tests"
    folder.mkdir()
    (folder / "conftest.py").write_text((HERE / "conftest.py").read_text(encoding="utf-8"))
    (folder / "stand_in.py").write_text("active = lambda: False")
    (folder / "test_some.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow: slow\n")
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", *workers, "--rootdir", str(tmp_path), str(folder)]
    result = gate.run("tests", words)
    assert (result.status, result.passed, result.failed) == ("failed", 2, 2)
    assert result.skipped == {"no GPU": 3, "slow: python tests --all (or pytest --slow) runs it": 1}
    result = gate.run("tests", [*words, "--slow"])
    assert (result.passed, result.skipped) == (3, {"no GPU": 3})


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
        assert (HERE / file).exists(), name
        assert f"\ndef {test}" in (HERE / file).read_text(encoding="utf-8"), name
