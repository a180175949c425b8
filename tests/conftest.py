"""What all tests share: each device that answers, what is left out as slow or of the first look, and what `python tests` is told."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.extend(map(str, import_module("places").ROOMS))  # tests of one room use cases of another
os.environ.setdefault("BOXPRESSO_PROGRESS", "0")  # tests compare what is printed, the kernel cache cold or warm

import stand_in

from boxpresso.device import cublas, cudnn, open_device
from boxpresso.device.schedule import Schedule

BY_ALL = 50  # launches of a kernel and size in a test: more than those that a test looks at
SLOW = "slow: python tests --all (or pytest --slow) runs it"
LIBRARIES = {module.__name__: module.library for module in (cublas, cudnn)}
SWEEP = "a sweep: BOXPRESSO_SWEEP=1 python tests --all (or pytest --slow) runs it"
HALF = "a further case, which the CPU has had: BOXPRESSO_SWEEP=1 python tests --all runs it on the stand-in"
LATER = "not in the first look: python tests --all (or pytest) runs it"
SLOWEST = 10  # files that are named

# Files whose tests share what takes long to make: one worker runs all of them.
TOGETHER = ("test_faster_rcnn", "test_shapes", "test_region_safety", "test_threaded")
# What takes half a minute or more, longest first: as the last of a run, it would leave the other workers without work.
LONGEST = (
    "test_many_pictures.py::test_each_result_is_there_once_though_five_workers_and_the_run_are_killed",
    "test_levels.py::test_numbers", "test_threaded.py", "test_nvcc.py::test_compiles", "test_nvcc.py::test_compiles_for_the_host",
    "test_region_safety.py", "test_tiles.py::test_tiles_give_what_whole_maps_give", "test_corpus.py::test_every_net",
    "test_levels.py::test_what_asks_for_the_cpu_compiles", "test_levels.py::test_every_file_compiles",
    "test_compilers.py::test_every_file_compiles", "test_docs.py::test_site_builds", "test_packaging.py::test_the_archives",
    "test_fuzz.py::test_more_scripts_on_random_nets", "test_fuzz.py::test_more_layers_with_numbers_at_their_limits",
    "test_fuzz.py::test_more_random_nets_by_others", "test_fuzz.py::test_more_mutated_files", "test_models.py::test_opencv",
    "test_golden_nets.py::test_caffe", "test_golden_nets.py::test_training_of_ssd300", "test_nets.py::test_backward",
    "test_nets.py::test_forward", "test_recurrent.py::test_forward_and_gradient",
)  # fmt: skip


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Under pytest-xdist a worker takes all cases of a test, or all tests of a file of TOGETHER: first those of LONGEST, then
    those of most cases."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        ordered = False

        def _split_scope(self, nodeid: str) -> str:
            file, *_ = nodeid.partition("::")
            return file if Path(file).stem in TOGETHER else nodeid.partition("[")[0]

        def _assign_work_unit(self, node: Any) -> None:
            if not self.ordered:
                self.ordered = True
                for name in reversed(LONGEST):
                    for scope in [scope for scope in self.workqueue if scope.endswith(f"/{name}")]:
                        self.workqueue.move_to_end(scope, last=False)
            super()._assign_work_unit(node)

    return Scheduling(config, log)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the tests that are marked slow, too")
    parser.addoption("--first-look", action="store_true", help="leave out what is marked later, as `python tests` does")
    parser.addoption(
        "--half",
        action="store_true",
        help="leave out half of what --first-look would of tests of both devices, as on the stand-in",
    )
    parser.addoption(
        "--without-shared", action="store_true", help="run the tests that read ../shared, as where it is not there"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Takes the names of the report and of the progress line away, so that a pytest that a test starts has neither."""
    config.pluginmanager.register(Costs())  # where the tests run
    if path := os.environ.pop("BOXPRESSO_TEST_REPORT", None):
        config.pluginmanager.register(Report(Path(path)))
    if name := os.environ.pop("BOXPRESSO_TEST_PROGRESS", None):
        from progress import Progress

        config.pluginmanager.register(Progress(name))
    if config.getoption("--without-shared"):
        os.environ["BOXPRESSO_SHARED"] = "none"  # before anything imports shared.py


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Of a run without ../shared, the files that never read it."""
    if config.getoption("--without-shared") and collection_path.match("test_*.py"):
        from shared import askers

        return not any(name.startswith("test_") for name in askers(collection_path)) or None
    return None


def not_in_first_look(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """The cases that are marked `later`: all of a test, or all but the first `but`, or but those of each value of `one_of`.

    The devices of a case count as one.
    """
    taken = defaultdict[Hashable, set[Hashable]](set)
    for item in items:
        if mark := item.get_closest_marker("later"):
            call: Any = getattr(item, "callspec", None)
            case = tuple(index for name, index in call.indices.items() if name != "device") if call else ()
            parameter = mark.kwargs.get("one_of")
            family = repr(call.params[parameter]) if parameter else ""
            cases = taken[item.nodeid.partition("[")[0], family]
            if case not in cases and len(cases) >= mark.kwargs.get("but", 1 if parameter else 0):
                yield item
            else:
                cases.add(case)


def half(items: Iterable[pytest.Item]) -> Iterator[pytest.Item]:
    """Each second case of a test that asks for a `device`, so that the CPU has all of them."""
    cases = Counter[str]()
    for item in items:
        if "device" not in getattr(item, "fixturenames", ()):
            continue
        test = item.nodeid.partition("[")[0]
        cases[test] += 1
        if cases[test] % 2 == 0:
            yield item


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--without-shared"):
        from shared import askers

        items[:] = [item for item in items if getattr(item, "originalname", item.name) in askers(item.path)]
    if config.getoption("--first-look"):
        for item in not_in_first_look(items):
            item.add_marker(pytest.mark.skip(reason=LATER))
    elif config.getoption("--half"):
        for item in half(not_in_first_look(items)):
            item.add_marker(pytest.mark.skip(reason=HALF))
    slow, sweep = config.getoption("--slow"), os.environ.get("BOXPRESSO_SWEEP") == "1"
    for item in items:
        if item.get_closest_marker("sweep") and not (slow and sweep):
            item.add_marker(pytest.mark.skip(reason=SWEEP))
        elif item.get_closest_marker("slow") and not slow:
            item.add_marker(pytest.mark.skip(reason=SLOW))


class Costs:
    """Notes in each report the CPU seconds since the one before, of this process and of what it has started and waited for."""

    def __init__(self) -> None:
        self.last = self.now()

    def now(self) -> float:
        return sum(os.times()[:4])

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self) -> Iterator[None]:
        outcome: Any = yield
        before, self.last = self.last, self.now()
        outcome.get_result().cpu_seconds = self.last - before


class Report:
    """Writes how many passed and failed, how many were skipped for each reason, and which files took most of the CPU's time."""

    def __init__(self, path: Path) -> None:
        self.path, self.seconds = path, Counter[str]()

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.seconds[report.nodeid.partition("::")[0]] += report.cpu_seconds

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        stats = terminalreporter.stats
        reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in stats.get("skipped", []))
        failed = len(stats.get("failed", [])) + len(stats.get("error", []))
        counts = {"passed": len(stats.get("passed", [])), "failed": failed, "skipped": dict(reasons)}
        slowest = {file: round(seconds, 1) for file, seconds in self.seconds.most_common(SLOWEST)}
        self.path.write_text(json.dumps({**counts, "slowest": slowest}), encoding="utf-8")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that asks for `device` runs on the CPU and on the first GPU; without a GPU that half says why it is skipped.

    A run on the stand-in for the driver is for the GPU half alone.
    """
    if "device" in metafunc.fixturenames:
        cpu = [] if stand_in.active() else ["cpu"]
        metafunc.parametrize("device", [*cpu, pytest.param("cuda", marks=pytest.mark.cuda)], indirect=True)


@pytest.fixture(autouse=True)
def without_vendor_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the stand-in our own kernels do all work, but for tests that ask for `libraries`."""
    if stand_in.active():
        for name in LIBRARIES:
            monkeypatch.setattr(f"{name}.library", lambda: None)


@pytest.fixture
def libraries(without_vendor_libraries: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """cuBLAS and cuDNN, or on the stand-in those that stand in for them."""
    for name, library in LIBRARIES.items():
        monkeypatch.setattr(f"{name}.library", library)
        assert library() is not None, f"{name} finds no library"


class FirstByAll(Schedule):
    """Has all workers do the first launches of each kernel and size, and the others by as many as are fastest."""

    def __init__(self) -> None:
        super().__init__()
        self.always_all, self.launches = True, Counter[Hashable]()

    def run(self, kernel: Hashable, workers: int, n: int, size: int, *call: Any) -> int:
        key = kernel, workers, n.bit_length(), size.bit_length()
        self.launches[key] += 1
        wanted, self.always_all = self.always_all, self.always_all and self.launches[key] <= BY_ALL
        try:
            return super().run(kernel, workers, n, size, *call)
        finally:
            self.always_all = wanted


@pytest.fixture(autouse=True)
def all_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small work, which one worker would do alone, is done by all here, but where a test does the same again and again: to wake the
    others for each of a gradient's hundreds of differences took most of the time of some tests."""
    monkeypatch.setattr(open_device("cpu"), "schedule", FirstByAll())


@pytest.fixture
def always_all(all_workers: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """All workers do all launches: for tests that compare numbers of workers."""
    schedule = Schedule()
    schedule.always_all = True
    monkeypatch.setattr(open_device("cpu"), "schedule", schedule)


def skip_without_gpu() -> None:
    """Skips a test where no GPU answers, and says why."""
    from boxpresso.device.cuda import driver
    from boxpresso.proto.errors import DeviceError

    try:
        driver()
    except DeviceError as error:
        if stand_in.active():
            raise  # a stand-in that does not answer is a fault, not a machine without a GPU
        pytest.skip(str(error))


@pytest.fixture(autouse=True)
def gpu_there(request: pytest.FixtureRequest) -> None:
    """Of tests that are marked `cuda` as a whole; those of both devices ask for `device`."""
    if request.node.get_closest_marker("cuda"):
        skip_without_gpu()


@pytest.fixture
def device(request: pytest.FixtureRequest) -> str:
    if request.param == "cuda":
        skip_without_gpu()
    return request.param
