"""Counts which prototxts of other projects build without their data, and what stops the others.

    python tests/others/nets.py --work SCRATCH PROJECT ...                   # projects: git folders called OWNER+NAME
    python tests/others/nets.py --work SCRATCH --half looked PROJECT ...     # those of the half that one may look at
    python tests/others/nets.py --work SCRATCH --half unseen --quiet PROJECT ...    # counts alone, of the other half
    python tests/others/nets.py --work SCRATCH --other-than FOLDER ...       # without copies of the nets below FOLDER

Projects are parted by the first byte of SHA-1 of OWNER/NAME: even ones may be looked at, odd ones are counted once, by code that
was written without them. At most MOST nets of each project are taken, evenly over the order of their paths; copies of one net
count once. Each net is built in its phases in a process of its own, with SECONDS of time and BYTES of memory, twice where it must;
a net that a solver of the project names has the level and the stages that the solver gives it (the first of several with which
it builds). What its Python modules import and this machine lacks, of the packages of STUBS, is a stand-in that can be imported,
and raises where it is called:

1. as it is, without its data: a net that builds is "built";
2. where it stops at a Python layer whose module is in the project, with the project's modules allowed, as `--python-layers` does,
   and converted from Python 2, as `python -m boxpresso.caffe` does (all of them, as its `--python 2` does, where a file of the
   project is Python 2 beyond doubt): such a net is "own". Modules of strangers do what they like: run this where that does no harm;
3. where it stops elsewhere, with the sizes that its data would have, as far as the project itself says them: those of an Input of
   the same name in another prototxt of the project that shares half of its layers' names. Such a net is "sized".

A Python layer whose module is not in the project makes a net "python". What else stops a net is written down with its reason.
SCRATCH/HALF.json has the rows.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import os
import re
import resource
import sys
import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(Path(__file__).parent)]

import corpus  # noqa: E402
import survey  # noqa: E402
from run import blobs, export, name_of  # noqa: E402

from boxpresso import BoxpressoError, Net  # noqa: E402
from boxpresso.caffe import importing, legacy, python2  # noqa: E402
from boxpresso.graph.prepare import select  # noqa: E402
from boxpresso.proto import NetParameter, parse_solver, read_net  # noqa: E402
from boxpresso.proto.errors import OtherFileError  # noqa: E402

MOST, SECONDS, BYTES, LARGE = 15, 60.0, 7 << 30, 1 << 20
ENDINGS = (".prototxt", ".pt", ".prototxt.txt")
LAYERS = re.compile(rb"^\s*layers?\s*\{", re.MULTILINE)
PYTHON = re.compile(r"Python module '([\w.]+)', which was not allowed")
LACKING = re.compile(r"No module named '([\w.]+)'")
NAMES = re.compile(rb"^\s*(net|train_net|test_net)\s*:", re.MULTILINE)
# Packages of other people that a project's modules import, mostly for what a net without its data does not call
STUBS = (
    "cv2",
    "easydict",
    "shapely",
    "torch",
    "lmdb",
    "matplotlib",
    "pandas",
    "scipy",
    "skimage",
    "sklearn",
    "tqdm",
    "h5py",
    "PIL",
    "yaml",
)
Shapes = dict[str, tuple[int, ...]]
BUILT = {  # outcomes of nets that build, and what of them and those before them the table says
    "built": "build without their data",
    "own": "build so or with Python layers of their own allowed",
    "sized": "build so or with sizes that their project says",
}


class Row(NamedTuple):
    """One net in one phase. outcome: "built", "own", "sized", "python", "stopped", or "unread" for one that does not parse."""

    project: str
    commit: str
    file: str
    phase: str
    outcome: str
    reason: str


def half(project: str) -> str:
    """The half that a project is in, by its name OWNER/NAME."""
    return "unseen" if hashlib.sha1(project.encode()).digest()[0] % 2 else "looked"


def fingerprint(text: bytes) -> str:
    """A number by which copies of a net are known, whatever their white space."""
    return hashlib.sha1(b"".join(text.split())).hexdigest()


def nets(project: Path, work: Path, known: set[str]) -> tuple[Path, str]:
    """Writes the nets of a project that are not `known` below `work`, and adds them there; the folder and the commit."""
    commit, entries = blobs(project, lambda path, size: path.endswith(ENDINGS) and size < LARGE)
    folder = work / "nets" / name_of(project).replace("/", "+")
    own = []
    for path, data in entries:
        if b"\0" in data or not LAYERS.search(data) or fingerprint(data) in known:
            continue
        known.add(fingerprint(data))
        own.append((path, data))
    step = max(1.0, len(own) / MOST)
    taken = {int(i * step) for i in range(min(MOST, len(own)))}
    for i, (path, data) in enumerate(own):
        to = folder / ("taken" if i in taken else "others") / (path.removesuffix(".txt").replace("/", "__"))
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(data)
    return folder, commit


def inputs(net: NetParameter) -> Shapes:
    """The shapes of the Inputs of a net."""
    result: Shapes = {}
    for layer in net.layer:
        shapes = [tuple(map(int, shape.dim)) for shape in layer.input_param.shape] if layer.type == "Input" else []
        result.update(zip(layer.top, shapes * (len(layer.top) if len(shapes) == 1 else 1)))
    return result


def sizes(net: NetParameter, phase: str, path: Path) -> Iterator[tuple[str, Shapes]]:
    """Shapes for tops of the data layers of a net, from the Inputs of other nets of the project, nearest names first."""
    own = {layer.name for layer in net.layer if layer.bottom}
    tops = {top for layer in select(net, phase).layer if not layer.bottom for top in layer.top}
    near = []
    for other in sorted(path.parent.parent.rglob("*")):
        if other == path or not other.name.endswith(ENDINGS):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                other_net = read_net(other)
        except BoxpressoError:
            continue
        shapes = {name: shape for name, shape in inputs(other_net).items() if name in tops}
        shared = own & {layer.name for layer in other_net.layer if layer.bottom}
        if shapes and 2 * len(shared) >= len(own):
            near.append((len(shared), other.name, shapes))
    for _, name, shapes in sorted(near, key=lambda each: -each[0]):
        yield name, shapes


def provide(module: str, files: Path, classes: Collection[str] = ()) -> bool:
    """Makes a module of a project importable, one that defines most of these layers, else the one nearest its top, else a
    folder of modules; whether there is one."""

    def lacks(path: Path) -> int:
        text = path.read_text(errors="replace") if path.is_file() else ""
        return sum(not re.search(rf"^class {re.escape(name)}\s*\(.*Layer\s*\)", text, re.MULTILINE) for name in classes)

    own = module.replace(".", "/")
    for name in (f"{own}.py", f"{own}/__init__.py", own):
        places = sorted(files.rglob(name), key=lambda path: (lacks(path), len(path.parts)))
        places = [path for path in places if path.is_file() or any(path.glob("*.py"))]
        if places:
            sys.path.insert(1, str(places[0].parents[name.count("/")]))
            return True
    return False


def of_python2(files: Path) -> bool:
    """Whether a project has a file that only Python 2 reads: then its other modules mean Python 2, too."""
    return any(python2.is_python2(path.read_text(errors="replace")) for path in files.rglob("*.py"))


class Stubs(MetaPathFinder, Loader):
    """Finds the packages of STUBS that are not installed, after all other finders."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        return ModuleSpec(fullname, self, is_package=True) if fullname.partition(".")[0] in STUBS else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return Stub(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is in it."""


class Stub(ModuleType):
    """A module that has every name; a function or class of it can be imported and inherited from, not called."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        whole = f"{self.__name__}.{name}"

        def lacking(own: object, *args: object, **options: object) -> None:
            raise NotImplementedError(f"{whole} is called, whose package is not installed where the nets are counted")

        return type(name, (), {"__init__": lacking})


def same_file(named: str, solver: Path, net: str) -> int:
    """How well the path that a solver gives fits a net, both of one project: parts in common from the end; 0 for another file.

    >>> same_file("models/a/net.prototxt", Path("models/a/solver.prototxt"), "models/a/net.prototxt")
    3
    >>> same_file("net.prototxt", Path("b/solver.prototxt"), "models/a/net.prototxt")
    0
    """
    theirs, own = Path(named.replace("\\", "/")).parts, Path(net).parts
    count = 0
    while count < min(len(theirs), len(own)) and theirs[-1 - count] == own[-1 - count]:
        count += 1
    beside = solver.parent == Path(net).parent
    return count if count > 1 or (count and (beside or len(own) == 1)) else 0


def states(files: Path, net: str, phase: str) -> list[survey.State]:
    """The states that the solvers of a project give a net, of those that name it best; without any the list is empty."""
    fitting: list[tuple[int, list[survey.State]]] = []
    for path in sorted(files.rglob("*")):
        if not path.is_file() or path.stat().st_size > 1 << 16 or not NAMES.search(data := path.read_bytes()):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                solver = parse_solver(data)
        except BoxpressoError:
            continue
        inside = path.relative_to(files)
        of_net = same_file(solver.net, inside, net) if solver.net else 0
        if phase == "TRAIN":
            fits = max(of_net, same_file(solver.train_net, inside, net) if solver.train_net else 0)
            chosen = [solver.train_state] if solver.HasField("train_state") else []
        else:
            tests = [same_file(name, inside, net) for name in solver.test_net]
            fits = max([of_net, *tests])
            own = range(len(solver.test_state))
            chosen = [solver.test_state[i] for i in own if (fits == tests[i] if i < len(tests) else fits == of_net)]
        if fits and chosen:
            fitting.append((fits, [survey.State(each.level, tuple(each.stage)) for each in chosen]))
    best = max((fits for fits, _ in fitting), default=0)
    return list(dict.fromkeys(state for fits, own_states in fitting if fits == best for state in own_states))


def build(path: Path, phase: str, net: NetParameter, files: Path) -> tuple[str, str]:
    """The outcome and the reason of one net in one phase, in the first of its states in which it builds."""
    inside = path.name.replace("__", "/")
    tried = [build_in(path, phase, net, files, state) for state in states(files, inside, phase) or [None]]
    return next((each for each in tried if each[0] in BUILT), tried[0])


def build_in(path: Path, phase: str, net: NetParameter, files: Path, state: survey.State | None) -> tuple[str, str]:
    """The outcome and the reason of one net in one phase and state; files: where those of its project lie."""

    def check(python_layers: Sequence[str] = ()) -> survey.Result:
        return survey.check(path, phase, forward=False, python_layers=python_layers, state=state)

    def own_module(name: str) -> bool:
        python = [layer.python_param for layer in net.layer if layer.type == "Python"]
        return provide(name, files, {each.layer for each in python if each.module == name})

    result, modules, sought = check(), [], []
    while True:
        if (asked := PYTHON.search(result.reason)) and asked[1] not in modules and own_module(asked[1]):
            modules.append(asked[1])
        elif (lacking := LACKING.search(result.reason)) and lacking[1] not in sought and provide(lacking[1], files):
            sought.append(lacking[1])  # what a module of the project imports from another folder of it
        else:
            break
        result = check(modules)
    if result.reason and not asked:  # ours stand in for some of its modules, which may differ
        named = {layer.python_param.module for layer in net.layer if layer.type == "Python" and layer.bottom}
        if own := [name for name in sorted(named) if name not in modules and own_module(name)]:
            all_own = check([*modules, *own])
            result, modules = (result, modules) if all_own.reason else (all_own, [*modules, *own])
    if not result.reason:
        return ("own", f"with {', '.join(modules)}") if modules else ("built", "")
    if asked:
        return "python", result.reason
    for name, shapes in sizes(net, phase, path):
        try:
            with corpus.at_most(SECONDS), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                level, stages = state or survey.state_of(net, phase)
                options = {"level": level, "stages": stages, "python_layers": modules}
                Net(survey.unfilled(net), data=shapes, phase=phase, device="cpu", lazy=True, **options)
        except Exception:  # of the project's modules, too
            continue
        return "sized", f"with {shapes} of {name}; without it: {result.reason}"
    return "stopped", result.reason


def apart(path: Path, files: Path) -> Iterator[tuple[str, str, str]]:
    """Phase, outcome and reason of a net, built in a process of its own."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
        with os.fdopen(writer, "w") as out:

            def tell(*words: str) -> None:
                print(json.dumps(words), file=out, flush=True)

            importing.install()
            python2.install(True if of_python2(files) else None)
            legacy.install()
            sys.meta_path.append(Stubs())
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    net = read_net(path)
                    phases = survey.phases(net)
            except OtherFileError:  # a solver, say, with a net in it: not counted
                tell("OTHER", "no net")
                os._exit(0)
            except Exception as error:
                tell("READ", "unread", f"{type(error).__name__}: {error}")
                os._exit(0)
            tell(*phases)
            for phase in phases:
                tell(phase, *build(path, phase, net, files))
                gc.collect()  # a net that stopped, whose layers and errors name each other
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as lines:
        said = [json.loads(line) for line in lines]
    os.waitpid(child, 0)
    if not said or said[0][0] in ("READ", "OTHER"):
        yield from (
            [("READ", "unread", "ended while it was read")] if not said else [] if said[0][0] == "OTHER" else said
        )
        return
    ended = {phase: (outcome, reason) for phase, outcome, reason in said[1:]}
    for phase in said[0]:
        yield (phase, *ended.get(phase, ("stopped", "ended without a word: memory or a signal")))


def count(projects: Sequence[Path], work: Path, known: set[str]) -> Iterator[Row]:
    """The rows of all nets of the projects."""
    for project in projects:
        folder, commit = nets(project, work, known)
        files, _ = export(project, work / "files")
        for path in sorted((folder / "taken").glob("*")):
            for phase, outcome, reason in apart(path, files):
                words = " ".join(reason.split()).replace(str(path), path.name)
                yield Row(name_of(project), commit, path.name.replace("__", "/"), phase, outcome, words)


def table(rows: Sequence[Row]) -> Iterator[str]:
    """The counts, in the form of docs/compatibility.md."""
    for phase in ("TEST", "TRAIN"):
        kinds = Counter(row.outcome for row in rows if row.phase == phase)
        whole, good = sum(kinds.values()), 0
        for outcome, words in BUILT.items():
            good += kinds[outcome]
            yield f"{phase}: {good} of {whole} {words} ({100 * good / max(1, whole):.1f} %)"
        yield f"{phase}: {kinds['python']} have a Python layer that the project lacks"
    yield f"do not parse: {sum(row.phase == 'READ' for row in rows)}"
    for project in sorted({(row.project, row.commit) for row in rows}):
        own_rows = [row for row in rows if row.project == project[0]]
        good = sum(row.outcome in BUILT for row in own_rows)
        yield f"| {project[0]} | {project[1]} | {len(own_rows)} | {good} |"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("projects", nargs="+", type=Path)
    parser.add_argument("--work", type=Path, required=True, help="the scratch folder")
    parser.add_argument("--half", choices=("looked", "unseen"), help="only the projects of one half")
    parser.add_argument("--other-than", type=Path, nargs="*", default=[], help="folders whose nets do not count")
    parser.add_argument("--quiet", action="store_true", help="counts alone, no reasons")
    args = parser.parse_args(arguments)
    known = {
        fingerprint(path.read_bytes())
        for folder in args.other_than
        for path in folder.rglob("*")
        if path.suffix in ENDINGS
    }
    chosen = [project for project in args.projects if args.half in (None, half(name_of(project)))]
    rows = []
    for row in count(chosen, args.work, known):
        rows.append(row)
        if not args.quiet and row.outcome != "built":
            print(row.phase, f"{row.project}/{row.file}:", row.outcome, row.reason[:330], flush=True)
    (args.work / f"{args.half or 'all'}.json").write_text(json.dumps(rows, indent=0))
    print("\n".join(table(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
