"""Planted faults: each is put into a copy of the tree, and the tests of `python tests` run there until one fails. One that none finds is a gap.

    python tests/fuzz/faults.py                       # all, with the tests that each is expected to fail
    python tests/fuzz/faults.py --fault "pad of a maximum" --all   # one; the whole test suite if those do not find it

A fault is a replacement of text in one file. Where that text is gone, the fault must be written anew: that is an error too.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PASSES, LAYOUT, ARENA = "boxpresso/graph/passes.py", "boxpresso/run/layout.py", "boxpresso/run/arena.py"
RUNNER, PROGRAM, ARRAY = "boxpresso/run/runner.py", "boxpresso/run/cpu.py", "boxpresso/device/array.py"
NUMBERS, VIEWS = "tests/run/test_plan.py", ("tests/net/test_script_views.py",)


@dataclasses.dataclass(frozen=True)
class Fault:
    """What is replaced, and the tests that are to find it, which run first."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...] = (NUMBERS,)


FAULTS = [
    # Versions of buffers
    Fault(
        "weights that are held are compared once", ARRAY,
        "                if not self.held:\n                    self.before = None\n                else:\n                    self.remember()\n",
        "                self.before = None\n", VIEWS,
    ),
    Fault("weights that are held before there is a plan", ARRAY, "            if self.held:\n                self.remember()\n            return version", "            return version", VIEWS),
    Fault("nets that share weights are not told", ARRAY, "                        user.before_change(self, before)\n", "                        pass\n", VIEWS),
    Fault("a lease that nobody holds any more", ARRAY, "self.lease[1] == self.version and self.lease[0]() is not None", "self.lease[1] == self.version", VIEWS),
    # What a script sees
    Fault("blobs left out are of the weights of now", RUNNER, "        return buffer if before is None else Buffer", "        return buffer if True else Buffer", VIEWS),
    Fault(
        "blobs that are held are not followed", RUNNER,
        "self.want([*more, *(name for name in self.left_out if blobs[name]._data.held)])", "self.want(more)", VIEWS,
    ),
    Fault("an input that is asked for is not put aside", RUNNER, "                    self.put_aside(used)\n", "                    pass\n", VIEWS),
    Fault(
        "an input that is held is not put aside", RUNNER,
        "                if blobs[name]._data.held:\n                    self.put_aside(name)\n", "", VIEWS,
    ),
    Fault("edits of constants stay", RUNNER, "self.touched = self.touched or name in self.fixed", "self.touched = False", VIEWS),
    Fault("what runs once runs again", RUNNER, "            if i in self.ran_once:\n", "            if False:\n", VIEWS),
    Fault("what runs once is given sums that are not finite", PROGRAM, "            if item in self.once:\n                self.refuse_odd()\n", "", VIEWS),
    Fault(
        "a blob holds any value of its name", RUNNER, "if name in latest and self.root(latest[name]) == value}", "if name in latest}", VIEWS,
    ),
    Fault("an input that is overwritten keeps its first value", RUNNER, "[*outputs, *(name for name in sources if self.last[name][1])]", "outputs", VIEWS),
    Fault("parts of a net forget what they read", "boxpresso/net/net.py", "self._runner.make_way(written - read)", "self._runner.make_way(written)", VIEWS),
    # Memory of blobs
    Fault("a layer in place changes what shares its memory", "boxpresso/run/layers.py", "                self.part_memory(layer, bottom, top)\n", "                pass\n"),
    Fault("a blob's memory is given twice at a time", ARENA, "all(other in (key, owner) or end < first or begin > last for", "all(True for"),
    Fault(
        "a layer reads the blob of the value's name", ARENA,
        "pins.extend((self.need(value, PLAIN), name, self.now) for value, name in zip(step.reads, names))",
        "pins.extend((self.need(value, PLAIN), value[0], self.now) for value in step.reads)",
    ),
    Fault("a wanted value of an earlier part is not known", ARENA, ", *self.plan.wanted.values()]", "]"),
    # Passes
    Fault(
        "a value with two readers is folded", PASSES, "or len(readers[value]) != 1", "or len(readers[value]) > 2",
    ),
    Fault("a value that is asked for is folded", PASSES, "or value in wanted\n", ""),
    Fault(
        "a sum with coefficients is fused", PASSES, "and next_.lowering.sums and next_.lowering.coefficient == 1", "and next_.lowering.sums",
    ),
    Fault(
        "a joined step stands where the earlier one stood", PASSES, "                steps[maker[value]] = None\n                step = joined\n                break",
        "                steps[maker[value]] = joined\n                step = None\n                break\n        if step is None:\n            continue",
    ),
    Fault("what is made of constants is constant where one bottom is", PASSES, "bool(step.reads) and all(value in known", "bool(step.reads) and any(value in known"),
    Fault("a wanted identity is the bottom's name", PASSES, "wanted = {name: same.get(value, value) for", "wanted = {name: value for"),
    Fault("sums of the same value twice are fused", PASSES, "or len(set(next_.reads)) != 2 or", "or len(next_.reads) != 2 or"),
    Fault("any concatenation is by channels", LAYOUT, "images = all(last) and lowering.axis == 1 and ranks == {4}", "images = all(last) and ranks == {4}"),
    # Lowerings
    Fault(
        "pad of a maximum of 2 x 2 is not looked at", "boxpresso/layers/dense/pooling.py", "            and self.pad == (0, 0)\n", "",
    ),
    Fault("down of a maximum of 2 x 2 is not looked at", "boxpresso/layers/dense/pooling.py", "            and not self.down\n", ""),
    Fault("eps of a folded BatchNorm", "boxpresso/layers/norm/batch_norm.py", "scale = 1 / np.sqrt(variance * by + self.eps)", "scale = 1 / np.sqrt(variance * by)",),
    Fault("the factor of a folded BatchNorm's mean", "boxpresso/layers/norm/batch_norm.py", "Affine(scale, -mean * by * scale)", "Affine(scale, -mean * scale)"),
    Fault("a factor of 0 of a folded BatchNorm", "boxpresso/layers/norm/batch_norm.py", "by = 1 / factor[0] if factor[0] else 0.0", "by = 1 / factor[0] if factor[0] else 1.0", (NUMBERS, "tests/layers/norm/test_normalisation.py")),
    Fault("a BatchNorm of the batch is folded", "boxpresso/layers/norm/batch_norm.py", "        if not self.running:\n            return None\n        mean, variance, factor", "        mean, variance, factor", (NUMBERS, "tests/layers/norm/test_normalisation.py")),
    Fault("a folded Scale has no bias", "boxpresso/layers/norm/scale.py", "channel_affine(values[0], values[1] if self.bias else None)", "channel_affine(values[0], None)"),
    Fault("a Scale of another axis is folded", "boxpresso/layers/norm/scale.py", "if not self.learned or not self.by_channel:\n            return None\n        values", "if not self.learned:\n            return None\n        values", (NUMBERS, "tests/layers/norm/test_normalisation.py")),
    Fault("transposed weights", "boxpresso/layers/dense/lowerings.py", "            if self.transposed:\n", "            if False:\n"),
    # Memory
    Fault("memory of values that are used by one action", ARENA, "if spans[other][0] <= last and first <= spans[other][1]", "if spans[other][0] < last and first < spans[other][1]"),
    Fault("memory of a value that is used again later", ARENA, "spans[home.base] = spans.get(home.base, (i, i))[0], i", "spans[home.base] = spans.get(home.base, (i, i))"),
    Fault("memory one image at a time is needed elsewhere too", ARENA, "if first <= begin and last < end:", "if first <= begin:"),
    Fault("a part of a concatenation lies at its start", ARENA, "part = replace(whole, offset=whole.offset + portion.start, channels=self.shape(value)[1])", "part = replace(whole, offset=whole.offset, channels=self.shape(value)[1])"),
    Fault("an operand without gaps lies in a concatenation", ARENA, "if (key in self.inner and not home.inner) or (key in self.whole and not home.whole):\n            return False", "pass"),
    Fault("a copy comes before what it copies", ARENA, "                actions += copies.get(key, [])\n", "                actions[-1:-1] = copies.get(key, [])\n"),
    # Training
    Fault("multistep an iteration late", "boxpresso/train/rates.py", "iteration >= values[self.step]:\n            self.step += 1\n        return", "iteration > values[self.step]:\n            self.step += 1\n        return", ("tests/train/test_solver.py", "tests/train/test_updates.py")),
    Fault("step an iteration late", "boxpresso/train/rates.py", "self.step = iteration // self.param.stepsize", "self.step = max(0, iteration - 1) // self.param.stepsize", ("tests/train/test_solver.py", "tests/train/test_updates.py")),
    Fault("restore without the update's history", "boxpresso/train/snapshots.py", "        target[...] = array.reshape(target.shape)\n", "        pass\n", ("tests/train/test_solver.py", "tests/train/test_verbs.py", "tests/net/test_weights.py")),
    Fault("restore without the rate's step", "boxpresso/train/snapshots.py", "    rates.progress = state.step, state.lowest, state.last_event\n", "", ("tests/train/test_solver.py", "tests/train/test_verbs.py")),
    Fault("restore one iteration late", "boxpresso/train/snapshots.py", "    return state.iter\n", "    return state.iter + 1\n", ("tests/train/test_solver.py", "tests/train/test_verbs.py")),
    Fault("Adam's correction of an iteration before", "boxpresso/train/updates.py", "rate * math.sqrt(1 - p.momentum2**t) / (1 - p.momentum**t)", "rate * math.sqrt(1 - p.momentum2 ** (t + 1)) / (1 - p.momentum ** (t + 1))", ("tests/train/test_updates.py", "tests/train/test_solver.py")),
    # Gradients
    Fault("a top that backward reads is overwritten", "boxpresso/run/layers.py", "            if tops[:1] == [name] and writer.reads_top and writer.overwritten is None:\n", "            if False:\n", ("tests/net/test_net.py",)),
    Fault("a diff for a parameter that does not learn", "boxpresso/net/gradients.py", "layer.param.param[i].lr_mult == 0:", "layer.param.param[i].lr_mult < 0:", ("tests/net/test_net.py", "tests/train/test_updates.py", "tests/train/test_solver.py")),
    Fault("propagate_down: false yields to force_backward", "boxpresso/net/gradients.py", "and not refused[j]", "", ("tests/net/test_net.py",)),
    Fault("a cut-off blob stays cut off though another layer reads it", "boxpresso/net/gradients.py", "skipped.discard(name) if down else skipped.add(name)", "None if down else skipped.add(name)", ("tests/net/test_net.py",)),
    Fault("a layer after the last loss runs backward", "boxpresso/net/gradients.py", "            if skip or not contributes:\n", "            if skip:\n", ("tests/net/test_net.py",)),
]  # fmt: skip


def copied(folder: Path) -> Path:
    """The files of the tree that git knows or does not ignore, in a folder."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    tree = folder / "tree"
    for name in listed.stdout.splitlines():
        if (ROOT / name).exists():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name, follow_symlinks=False)
    return tree


def first_failure(tree: Path, tests: tuple[str, ...]) -> str | None:
    """The first test that fails there, or None: of those that `python tests` runs in a clone that has nothing beside it.

    Raises RuntimeError where the tests do not run.
    """
    environment = {**os.environ, "PYTHONPATH": str(tree), "BOXPRESSO_PROGRESS": "0", "BOXPRESSO_SHARED": "none"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--first-look", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)
    if done.returncode == 0:
        return None
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.M)
    if not failed:
        raise RuntimeError(f"pytest ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return failed[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fault", action="append", default=[], help="part of a name; all if none is given")
    parser.add_argument(
        "--all", action="store_true", help="the whole suite for a fault that the expected tests do not find"
    )
    args = parser.parse_args()
    chosen = [fault for fault in FAULTS if not args.fault or any(word in fault.name for word in args.fault)]
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = copied(Path(folder))
        if failure := first_failure(tree, tuple(dict.fromkeys(test for fault in chosen for test in fault.tests))):
            print(f"{failure} fails without any fault: what it finds says nothing")
            return 1
        for fault in chosen:
            path, start = tree / fault.file, time.monotonic()
            before = path.read_text(encoding="utf-8")
            if before.count(fault.old) != 1:
                print(
                    f"{fault.name}: its text is {before.count(fault.old)} times in {fault.file}; write the fault anew"
                )
                missed += 1
                continue
            path.write_text(before.replace(fault.old, fault.new), encoding="utf-8")
            try:
                failure = first_failure(tree, fault.tests)
                if failure is None and args.all:
                    failure = first_failure(tree, ("tests", "-n", "2"))
            finally:
                path.write_text(before, encoding="utf-8")
            missed += failure is None
            print(f"{fault.name}: {failure or 'NOT FOUND'} ({time.monotonic() - start:.0f} s)", flush=True)
    print(f"{len(chosen)} faults, {missed} not found")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
