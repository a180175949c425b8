"""Runs the pycaffe scripts of other projects as they are, on stub data and random weights: which end, and what stops the others.

    python tests/others/run.py --work SCRATCH PROJECT ...          # each a clone, or the git folder of one
    python tests/others/run.py --work SCRATCH --most 3 PROJECT     # at most three scripts of a project
    python tests/others/run.py --work SCRATCH --like demo PROJECT  # scripts with that in their path
    nice -n 15 python tests/others/run.py --work SCRATCH --seconds 300 PROJECT ...     # as the table of the page was made

A project is exported into SCRATCH, and nothing of it is changed. Of each project the scripts are taken that make a net (of caffe or
cv2.dnn), a classifier or a solver, in the order of their paths' depth, but for those of a copy of Caffe and modules that define
functions and classes alone. A script runs in its own folder, or in the project's where its paths begin there, as
`python -m boxpresso.caffe SCRIPT` does, for --seconds at most; a training ends after 20 iterations (small.py), cv2.dnn is
boxpresso.dnn, and windows of OpenCV are not shown. Where it imports a module that lies elsewhere in the project, that folder joins
PYTHONPATH. It has no arguments at first; where it says that it needs some, or reads sys.argv by place, it gets those of ARGUMENTS,
or files of the project, pictures of noise and numbers by what the arguments, or the names that they are given to, are called.
Where it asks for a file below SCRATCH that is not there, such a file is made: a picture of noise, a mean, a list of pictures, or
weights drawn for a net beside it; then it runs again, STUBS times at most. The table says how each run stopped and, as far as the
words of the error tell, whose that is.

Scripts of strangers do what they like: run this where that does no harm.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import resource
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from survey import randomise  # noqa: E402

from boxpresso import BoxpressoError, Net  # noqa: E402

SECONDS, STUBS, BYTES, LARGE = 60, 12, 7 << 30, 4 << 20
ARGUMENTS: dict[str, list[str]] = {  # of scripts that read sys.argv by place, by a part of their path
    "classify_nsfw.py": ["stub.jpg"],
}
WORDS = (  # what an argument gets, by a word of its name; {net}: a prototxt of the project, {solver}: one with a solver
    ("solver", "{solver}"), ("weight|model_file|caffemodel|pretrain|snapshot", "stub.caffemodel"), ("mean", "stub.npy"),
    ("video|stream", "stub.avi"), ("proto|model|net|def|deploy|arch|cfg", "{net}"),
    ("img|image|picture|input|src|in_|file|colou?rs", "stub.jpg"),
    ("list|txt|label|synset|data", "stub.txt"), ("out|save|dst|dest|result", "out.txt"), ("gpu|device|id|iter|num|batch", "0"),
    ("dir|folder|root|path", "."), ("", "1"),
)  # fmt: skip
IMPORTS = re.compile(r"^\s*(import caffe\b|from caffe\b|import cv2\b|from cv2\b)", re.MULTILINE)
NETS = re.compile(
    r"caffe\.(Net|Classifier|Detector|SGDSolver|get_solver|AdamSolver|NesterovSolver)\(|dnn\.readNet(FromCaffe)?\("
)
COPIES = re.compile(
    r"(^|/)(python|caffe[^/]*|examples|tools|scripts/.*)/(caffe|examples|python|pycaffe|tools|scripts|src)/"
)
UNREAD = "imread_"
MISSING = (
    r"No such file or directory: ['\"]([^'\"\n]+)['\"]", r"cannot read (\S+?): ", r"Could not open file (\S+)",
    r"imread_\('([^']+)'\)", r"(\S+) does not exist", r"(\S+) not found\.",
)  # fmt: skip
PICTURES = {".jpg", ".jpeg", ".png", ".bmp", ".ppm", ".tif"}
LACKING = re.compile(r"No module named '([\w.]+)'")
OPTIONS = re.compile(r"\[(--?[\w-]+) [A-Z]")  # of argparse's usage: those that take a value
BY_PLACE = re.compile(r"^\s*(\w+)\s*=.*sys\.argv\[(\d)\]", re.MULTILINE)
THEIRS = (  # how an error ends that is not ours to mend, and what the table says
    (r"No module named '(?!caffe)([\w.]+)'", "needs the module {}"),
    (r"(?:error: the following arguments|usage:|Usage:|IndexError: list index out of range)", "needs arguments"),
    (r"cannot import name '(\w+)' from '(?!caffe)", "needs another version of a module ({})"),
    (r"Rebuild the library with|no display|could not connect to display", "needs a display"),
)


class Result(NamedTuple):
    """How a script ended: "ended", "ran on" for one that was still running, "stopped"."""

    script: str
    outcome: str
    reason: str
    stubs: int


def blobs(project: Path, wanted: Callable[[str, int], bool]) -> tuple[str, Iterator[tuple[str, bytes]]]:
    """The commit of a project's git folder, and the paths and bytes of its files that are `wanted` by path and size."""
    git = next(
        (
            folder
            for folder in (project / "repo/.git", project / "repo", project / ".git")
            if (folder / "HEAD").is_file()
        ),
        project,
    )

    def ask(*words: str) -> str:
        return subprocess.run(["git", "--git-dir", git, *words], capture_output=True, text=True, check=True).stdout

    def read() -> Iterator[tuple[str, bytes]]:
        entries = ask("ls-tree", "-rlz", "HEAD").split("\0")
        with subprocess.Popen(
            ["git", "--git-dir", git, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as reader:
            for entry in filter(None, entries):
                meta, path = entry.split("\t", 1)
                mode, kind, blob, size = meta.split()
                if kind != "blob" or mode == "120000" or not size.isdecimal() or not wanted(path, int(size)):
                    continue  # submodules, links, what a snapshot lacks
                reader.stdin.write(f"{blob}\n".encode())
                reader.stdin.flush()
                if b"missing" not in reader.stdout.readline():
                    yield path, reader.stdout.read(int(size) + 1)[:-1]

    return ask("rev-parse", "--short", "HEAD").strip(), read()


def name_of(project: Path) -> str:
    """OWNER/NAME of a git folder OWNER+NAME, OWNER+NAME/repo or .../.git."""
    parts = [part for part in project.parts if "+" in part]
    return (parts[-1] if parts else project.name).replace("+", "/", 1)


def export(project: Path, work: Path) -> tuple[Path, str]:
    """The files of a project below `work`, but for large ones and what a Python of its author compiled, and its commit."""
    to = work / name_of(project).replace("/", "+")
    commit, files = blobs(project, lambda path, size: size <= LARGE and not path.endswith(".pyc"))
    if not to.exists():
        for inside, data in files:
            path = to / inside
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    return to, commit


def scripts(project: Path, most: int, like: str) -> list[Path]:
    """The scripts of a project that make a net with pycaffe, those nearest its top first."""
    paths = []
    for path in project.rglob("*.py"):
        inside = str(path.relative_to(project))
        if COPIES.search(inside) or like not in inside or path.stat().st_size > 1 << 20:
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        if IMPORTS.search(text) and NETS.search(text) and does_something(text):
            paths.append(path)
    return sorted(paths, key=lambda path: (len(path.parts), str(path)))[:most]


def does_something(text: str) -> bool:
    """Whether a script does more than to define what others import.

    >>> does_something("import caffe\\ndef f():\\n    print(1)\\nclass A: x = f()\\nN = 3"), does_something("net = caffe.Net('a', 1)")
    (False, True)
    >>> does_something("def f():\\n    print 1\\nf()"), does_something("def f():\\n    print 1\\n")
    (True, False)
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(text).body
    except (SyntaxError, ValueError):  # Python 2
        return bool(re.search(r"^(if __name__|for |while |with |[\w.]+\(|[\w, ]+ = .*\()", text, re.MULTILINE))
    defining = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
    return any(not isinstance(node, defining) and any(isinstance(n, ast.Call) for n in ast.walk(node)) for node in body)


def stub(path: Path, script: Path) -> bool:
    """Makes a file that a script asks for; whether it is of a kind that can be made."""
    kind, rng = path.suffix.lower(), np.random.default_rng(0)
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind in PICTURES:
        from PIL import Image

        Image.fromarray(rng.integers(0, 255, (240, 320, 3), np.uint8)).save(path)
    elif kind == ".npy":
        np.save(path, np.full((3, 256, 256), 110.0))
    elif kind == ".binaryproto":
        from boxpresso.proto import BlobProto

        path.write_bytes(
            BlobProto(num=1, channels=3, height=256, width=256, data=[110.0] * (3 << 16)).SerializeToString()
        )
    elif kind in (".txt", ".list", ".lst"):
        stub(path.with_name("stub.jpg"), script)
        path.write_text("".join(f"{path.with_name('stub.jpg')} {label}\n" for label in range(4)))
    elif kind == ".caffemodel":
        return weights(path, script)
    else:
        return False
    return True


def weights(path: Path, script: Path, of: Path | None = None) -> bool:
    """Random weights for a net, or for one beside them: one that the script names, else the nearest; False where none builds."""
    text = script.read_text(encoding="utf-8", errors="replace")
    root = next((above for above in script.parents if "+" in above.name), script.parent)
    near = [
        net for folder in (path.parent, script.parent, *path.parents[:2]) for net in sorted(folder.glob("*.prototxt*"))
    ]
    far = [net for ending in ("prototxt*", "pt") for net in sorted(root.rglob(f"*.{ending}"))]
    nets = [of] if of else list(dict.fromkeys([*near, *far]))

    def order(net: Path) -> tuple[object, ...]:
        """Those that the script names first, those with a word of the file's name or in a folder that it is called by, then the
        nearest."""
        called = sum(part.lower() in path.name.lower() for part in net.relative_to(root).parts[:-1])
        words = (set(re.findall("[a-z0-9]+", name.name.lower())) for name in (net, path))
        shared = set.intersection(*words) - {"net", "deploy", "prototxt", "caffemodel", "caffe", "model"}
        return (
            net.name not in text,
            -len(shared) - called,
            "deploy" not in net.name and "test" not in net.name,
            nets.index(net),
        )

    for net in [of] if of else sorted(nets, key=order)[:6]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made = Net(net, data="shapes", device="cpu", memory_limit=BYTES, lazy=True)
                randomise(made)
                made.save(path)
                return True
        except (BoxpressoError, MemoryError):
            continue
    return False


def wanted(text: str, script: Path, folder: Path) -> list[str] | None:
    """Arguments for a script that says that it needs some: by its argparse, or by place; None where it does not say so."""
    for part, arguments in ARGUMENTS.items():
        if part in str(script) and ("IndexError" in text or "arguments are required" in text):
            return arguments
    named = re.search(r"the following arguments are required: (.+)", text)
    if named:
        options = [each.split("/")[-1].strip() for each in named[1].split(", ")]
    elif "IndexError: list index out of range" in text and "sys.argv" in text:
        places = {int(at): name for name, at in BY_PLACE.findall(script.read_text(errors="replace"))}
        options = [places.get(at, "") for at in range(1, max(places, default=0) + 1)]
    elif text.lstrip().startswith("usage:"):  # it helps who calls it without arguments
        options = OPTIONS.findall(text)
    else:
        return None
    nets = sorted(
        folder.rglob("*.prototxt*"),
        key=lambda path: (path.parent != script.parent, "deploy" not in path.name, len(path.parts), str(path)),
    )
    solvers = [path for path in nets if "solver" in path.name]
    files = {"{net}": [path for path in nets if path not in solvers], "{solver}": solvers}
    made: list[str] = []
    proto = any("proto" in option or option.strip("-") == "def" for option in options)  # then the model is its weights
    for option in options:
        if (
            re.search("weight|caffemodel|model|net$" if proto else "weight|caffemodel", option.lower())
            and "proto" not in option
        ):
            path = script.parent / "stub.caffemodel"
            if files["{net}"] and not path.exists():
                weights(path, script, files["{net}"][0])
            made += [option, str(path)] if option.startswith("-") else [str(path)]
            continue
        value = next(value for words, value in WORDS if re.search(words, option.lower().lstrip("-")))
        if value in files:
            value = str(files[value][0]) if files[value] else "absent.prototxt"
        elif "." in value[1:]:
            value = str(script.parent / value)
            if not Path(value).exists() and not value.endswith("out.txt"):
                stub(Path(value), script)
        made += [option, value] if option.startswith("-") else [value]
    return made


def holder(module: str, root: Path) -> str | None:
    """The folder of a project in which a module lies that a script of it imports, the one nearest its top."""
    name = module.split(".")[0]
    places = [*root.rglob(f"{name}.py"), *(path for path in root.rglob(name) if any(path.glob("*.py")))]
    return str(min(places, key=lambda path: len(path.parts)).parent) if places else None


def last_error(words: list[str]) -> str:
    """The lines of the error that ended a script: the last line of a traceback that begins without a space, and all behind it."""
    starts = [i for i, line in enumerate(words) if re.match(r"[\w.]+(Error|Exception)\b", line)]
    return "\n".join(words[starts[-1] :]) if starts else ""


def limits() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))


def run(script: Path, work: Path, seconds: int = SECONDS) -> Result:
    """Runs one script, and makes what it asks for."""
    inside = str(script.relative_to(work))
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]),
        "MPLBACKEND": "Agg",
        "BOXPRESSO_DEVICE": "cpu",
        "HOME": str(work),
    }
    command = [sys.executable, str(Path(__file__).with_name("small.py")), str(script)]
    folder, root = script.parent, work / script.relative_to(work).parts[0]
    for made in range(STUBS + 1):
        try:
            ended = subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, text=True, errors="replace", timeout=seconds,
                stdin=subprocess.DEVNULL, preexec_fn=limits,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Result(inside, "ran on", f"still running after {seconds} s", made)
        if ended.returncode == 0:
            match = re.search(r"ended after \d+ iterations.*", ended.stdout)
            return Result(
                inside, "ended", match[0] if match else (ended.stdout.strip().splitlines() or [""])[-1][:80], made
            )
        if "use --python 2" in ended.stderr:
            command[2:2] = ["--python", "2"]
            continue
        needs = wanted(ended.stderr + ended.stdout, script, root) if command[-1] == str(script) else None
        if needs is not None:
            command += needs
            continue
        lacking = LACKING.search(ended.stderr)
        if (
            lacking
            and (folder := holder(lacking[1], root))
            and folder not in environment["PYTHONPATH"].split(os.pathsep)
        ):
            environment["PYTHONPATH"] += os.pathsep + folder
            continue
        words = (ended.stderr.strip() or ended.stdout.strip()).splitlines()
        reason = next(
            (line for line in reversed(words) if line.strip() and not line.startswith(" ")), f"code {ended.returncode}"
        )
        for pattern in MISSING:  # OpenCV gives None for a picture that is not there, and says so before what follows
            asked = re.search(pattern, reason) or re.search(
                pattern, ended.stderr if UNREAD in pattern else last_error(words)
            )
            at = (folder / asked[1]).resolve() if asked else work
            if asked and not at.exists():
                break
        else:
            return Result(inside, "stopped", reason[:200], made)
        if folder != root and (root / asked[1]).exists():
            folder = root  # it means to be run from the project's top
            continue
        if not at.is_relative_to(work):
            return Result(inside, "stopped", f"theirs: reads {asked[1]}, outside the project", made)
        if not stub(at, script):
            return Result(inside, "stopped", f"theirs: reads {asked[1]}, which is not published", made)
    return Result(inside, "stopped", f"asks for more than {STUBS} files", STUBS)


def whose(result: Result) -> str:
    """The reason, with the word "theirs" before one that is not ours to mend."""
    for pattern, words in THEIRS:
        if match := re.search(pattern, result.reason):
            return "theirs: " + words.format(*match.groups())
    return result.reason


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("projects", nargs="+", type=Path)
    parser.add_argument("--work", type=Path, required=True, help="the scratch folder")
    parser.add_argument("--most", type=int, default=2, help="scripts of a project")
    parser.add_argument("--like", default="", help="what a script's path has in it")
    parser.add_argument("--seconds", type=int, default=SECONDS, help="that a script may take")
    args = parser.parse_args(arguments)
    work, counts = args.work.resolve(), {"ended": 0, "ran on": 0, "theirs": 0, "stopped": 0}
    print("| project | commit | script | outcome | stubs | what stopped it |\n|---|---|---|---|---|---|", flush=True)
    for project in args.projects:
        folder, commit = export(project, work)
        for script in scripts(folder, args.most, args.like):
            result = run(script, work, args.seconds)
            reason = whose(result).replace("|", "\\|").replace(str(work), "")
            counts["theirs" if reason.startswith("theirs") else result.outcome] += 1
            name, _, inside = result.script.partition("/")
            row = name.replace("+", "/"), commit, inside, result.outcome, result.stubs, reason
            print("| " + " | ".join(map(str, row)) + " |", flush=True)
    print(", ".join(f"{name}: {count}" for name, count in counts.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
