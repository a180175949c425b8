"""Solver: trains a net from a solver prototxt, with Caffe's order of operations, log lines and snapshots."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Union

import numpy as np

from ..data.evaluation import METHODS, average_precision, curves_of_rows
from ..net.net import Net
from ..proto import NetParameter, NetState, SolverParameter, read_net, read_solver
from ..proto.errors import ModelError
from .ranks import Ranks, Reduction
from .rates import Rates
from .state import read_state, write_state
from .updates import Step, kernels, method, square_sum

Source = Union[str, "os.PathLike[str]"]
Log = Callable[[str], None]


def glog(line: str) -> None:
    """Writes a line to standard error as Caffe's log does: other people's parsers read the time before it."""
    now = datetime.now()
    print(f"I{now:%m%d %H:%M:%S.%f} {os.getpid():5d} solver.py:1] {line}", file=sys.stderr, flush=True)


class Solver:
    """Trains the net of a solver prototxt.

    source: the path of a solver prototxt, or a SolverParameter. Paths in it are looked for from the working directory,
    then beside it. weights: files to start from, beside those that it names. device, deterministic: as for Net; None
    takes solver_mode: CPU as "cpu". feed: called with a net before each of its forward passes, for nets whose data come
    from Python. log: takes each log line; by default they go to standard error in Caffe's form. python_layers: as for Net.
    ranks: of `open_ranks`, to train together with other processes; each makes the same Solver and the same calls.

    `net`, `test_nets`, `iter`, `rate` (of the last update), `smoothed_loss`. Raises ModelError for what the prototxt says
    wrong.
    """

    def __init__(
        self,
        source: Source | SolverParameter,
        *,
        weights: Source | Sequence[Source] = (),
        device: str | None = None,
        deterministic: bool = False,
        dtype: Any = np.float32,
        feed: Callable[[Net], None] | None = None,
        log: Log = glog,
        python_layers: Sequence[Any] = (),
        ranks: Ranks | None = None,
    ) -> None:
        self.ranks = ranks or Ranks()
        first = self.ranks.rank == 0
        if isinstance(source, SolverParameter):
            self.param, self.folder = source, Path()
        else:
            self.param, self.folder = read_solver(source), Path(source).parent
        self.feed, self.log = feed, log if first else lambda line: None
        self.method, self.rates = method(self.param), Rates(self.param)
        if self.param.iter_size < 1 or self.param.average_loss < 1:
            raise ModelError(
                f"solver: iter_size and average_loss count from 1, got {self.param.iter_size} and {self.param.average_loss}"
            )
        if device is None and self.param.HasField("solver_mode") and self.param.solver_mode == SolverParameter.CPU:
            device = "cpu"
        seed = self.param.random_seed if self.param.random_seed >= 0 else None
        if seed is None and self.ranks.size > 1:
            seed = self.ranks.common(int(np.random.SeedSequence().generate_state(1)[0]))
        self.options = {
            "device": self.ranks.device(device), "deterministic": deterministic, "dtype": dtype,
            "python_layers": python_layers, "seed": seed,
        }  # fmt: skip
        files = [weights] if isinstance(weights, (str, os.PathLike)) else list(weights)
        files = [self._find(path) for path in self.param.weights] + files
        with self.ranks.first_ahead():
            self.net = self._net(self._train_net(), "TRAIN", self.param.train_state, files if first else ())
        self.test_nets = self._test_nets() if first else []  # as in Caffe one rank tests, and the others wait
        self.iter, self.rate, self.smoothed_loss = 0, 0.0, 0.0
        self.losses: list[float] = []
        self.history = [
            [blob.device.empty(blob.shape, blob.dtype) for _ in range(self.method.arrays)]
            for blob, _, _ in self.net.learnable
        ]
        self.net.device.build(kernels, self.net.dtype)
        self.stopping = self.snapshot_wanted = False  # what this process was asked to do
        self.stopped = False  # what it does, with all other ranks
        self.saved = -1  # the iteration of the last snapshot
        self.started, self.ranks.rescue = 0, self._rescue
        self.reduction = Reduction(self.ranks, self.net) if self.ranks.size > 1 else None
        self.ranks.settle(self.net)
        self.ranks.spread(self._weights())
        self.callbacks: list[tuple[Callable[[], None] | None, Callable[[], None] | None]] = []

    # The nets

    def _find(self, path: str) -> Path:
        beside = self.folder / path
        return beside if not Path(path).exists() and beside.exists() else Path(path)

    def _train_net(self) -> NetParameter:
        p = self.param
        given = [name for name in ("net", "net_param", "train_net", "train_net_param") if p.HasField(name)]
        if len(given) != 1:
            raise ModelError(
                "solver: the train net must be named once, by one of net, net_param, train_net and train_net_param; "
                f"given: {', '.join(given) or 'none'}"
            )
        value = getattr(p, given[0])
        return value if isinstance(value, NetParameter) else read_net(self._find(value))

    def _test_nets(self) -> list[Net]:
        p = self.param
        models = [*p.test_net_param, *(read_net(self._find(path)) for path in p.test_net)]
        missing = len(p.test_iter) - len(models)
        if missing < 0 or (missing and not (p.HasField("net") or p.HasField("net_param"))):
            raise ModelError(f"solver: {len(p.test_iter)} test_iter values for {len(models)} test nets; give one each")
        if missing:
            models += [p.net_param if p.HasField("net_param") else read_net(self._find(p.net))] * missing
        if models and p.test_interval < 1:
            raise ModelError("solver: test nets are given, but test_interval is not")
        if len(p.test_state) not in (0, len(models)):
            raise ModelError(f"solver: {len(p.test_state)} test_state values for {len(models)} test nets")
        states = list(p.test_state) or [NetState()] * len(models)
        nets = [self._net(model, "TEST", state, ()) for model, state in zip(models, states)]
        for net in nets:
            net.share_with(self.net)
        return nets

    def _net(self, model: NetParameter, phase: str, state: NetState, weights: Sequence[Source]) -> Net:
        return Net(model, weights, phase=phase, level=state.level, stages=tuple(state.stage), **self.options)

    # Training

    def add_callback(
        self, on_start: Callable[[], None] | None = None, on_gradients: Callable[[], None] | None = None
    ) -> None:
        """on_start runs before each iteration, on_gradients when its gradients are there and not yet used: the sums over
        iter_size passes and over all ranks."""
        self.callbacks.append((on_start, on_gradients))

    def step(self, iterations: int) -> None:
        """Runs that many iterations, each of iter_size forward and backward passes and one update."""
        p, stop = self.param, self.iter + iterations
        self.losses, self.smoothed_loss, first = [], 0.0, self.iter
        shown, clock = self.iter, time.perf_counter()
        self.stopped = self.stopping and self.reduction is None
        while self.iter < stop and not self.stopped:
            self.net.clear_param_diffs()
            if p.test_interval and self.iter % p.test_interval == 0 and (self.iter or p.test_initialization):
                self.test()
            for start, _ in self.callbacks:
                if start:
                    start()
            display = p.display > 0 and self.iter % p.display == 0
            self.net.debug_info = bool(display and p.debug_info and self.ranks.rank == 0)
            loss, agreed = self._passes()
            self._smooth(loss, first)
            if display:
                lapse = time.perf_counter() - clock
                speed = (self.iter - shown) / lapse if lapse else 0.0
                self.log(
                    f"Iteration {self.iter} ({speed:.6g} iter/s, {lapse:.6g}s/{p.display} iters), "
                    f"loss = {self.smoothed_loss:.6g}"
                )
                shown, clock = self.iter, time.perf_counter()
                self._log_outputs("Train", self.net, [self.net.blobs[name].data for name in self.net.outputs])
            for _, gradients in self.callbacks:
                if gradients:
                    gradients()
            self.ranks.updating = True
            self._update(display)
            self.iter += 1
            self.ranks.updated()
            self.stopped, wanted = agreed or (self.stopping, self.snapshot_wanted)
            if wanted or (p.snapshot > 0 and self.iter % p.snapshot == 0):
                self.snapshot_wanted = self.snapshot_wanted and not wanted
                self.ranks.check_same(self._learned(), f"the weights at iteration {self.iter}")
                self.snapshot()

    def solve(self, resume: Source | None = None) -> None:
        """Trains to max_iter, from a .solverstate where one is given, with Caffe's snapshots and tests at the end."""
        p = self.param
        self.log(f"Solving {self.net.name}")
        self.log(f"Learning Rate Policy: {p.lr_policy}")
        if resume is not None:
            self.restore(resume)
        self.stopping, first = False, self.iter
        self.step(p.max_iter - self.iter)
        self.ranks.check_same(self._learned(), f"the weights at iteration {self.iter}")
        due = (
            p.snapshot_after_train
            and p.HasField("snapshot_prefix")
            and not (p.snapshot and self.iter % p.snapshot == 0)
        )
        if due and self.saved != self.iter:
            self.snapshot()
        if self.stopped:
            self.log("Optimization stopped early.")
            return
        if p.display and self.iter % p.display == 0:
            self._forward(self.net)
            self._smooth(self.ranks.mean(self.net.loss()), first)
            self.log(f"Iteration {self.iter}, loss = {self.smoothed_loss:.6g}")
        if p.test_interval and self.iter % p.test_interval == 0:
            self.test()
        self.log("Optimization Done.")

    def stop(self, snapshot: bool = False) -> None:
        """Ends `step` and `solve` after the iteration that is running, or with several ranks, of which one is enough, after
        the next; safe to call from a signal handler."""
        self.stopping, self.snapshot_wanted = True, snapshot

    def test(self) -> list[dict[str, np.ndarray]]:
        """Runs every test net over its test_iter batches, logs and returns the mean of each output.

        With eval_type: "detection" the outputs are DetectionEvaluate's rows; of each the mean average precision is logged
        and returned, by ap_version, and with show_per_class_result that of each class before it.
        """
        p = self.param
        if p.eval_type not in ("classification", "detection"):
            raise ModelError(f'solver: eval_type must be "classification" or "detection", got {p.eval_type!r}')
        if p.eval_type == "detection" and p.ap_version not in METHODS:
            raise ModelError(f"solver: ap_version must be one of {', '.join(METHODS)}, got {p.ap_version!r}")
        means: list[dict[str, np.ndarray]] = []
        stopped = self.stopping
        for number, (net, batches) in enumerate(zip(self.test_nets, p.test_iter)):
            self.log(f"Iteration {self.iter}, Testing net (#{number})")
            given: dict[str, list[np.ndarray]] = {name: [] for name in net.outputs}
            loss = 0.0
            for _ in range(batches):
                if self.stopping and not stopped:
                    self.log("Test interrupted.")
                    return means
                self._forward(net)
                for name, kept in given.items():
                    self._keep(kept, name, np.array(net.blobs[name].data, np.float64))
                if p.test_compute_loss:
                    loss += net.loss()
            if p.test_compute_loss:
                self.log(f"Test loss: {loss / batches:.6g}")
            if p.eval_type == "detection":
                values = [self._precision(np.concatenate(kept)) for kept in given.values()]
            else:
                values = [kept[0] / batches for kept in given.values()]
            self._log_outputs("Test", net, values)
            means.append(dict(zip(given, values)))
        return means

    def _keep(self, kept: list[np.ndarray], name: str, value: np.ndarray) -> None:
        """Adds an output of a test net to what it gave before: the sum, or the rows of detections."""
        if self.param.eval_type == "detection":
            if not value.ndim or value.shape[-1] != 5:
                raise ModelError(
                    f'solver: eval_type "detection" needs outputs of DetectionEvaluate, rows of 5; {name!r} is {value.shape}'
                )
            kept.append(value.reshape(-1, 5))
        elif not kept:
            kept.append(value)
        elif value.shape != kept[0].shape:
            raise ModelError(
                f"solver: output {name!r} of a test net was {kept[0].shape} and is {value.shape}: there is no mean of it; "
                'for the rows of DetectionEvaluate say eval_type: "detection"'
            )
        else:
            kept[0] += value

    def _precision(self, rows: np.ndarray) -> np.ndarray:
        """The mean average precision () of DetectionEvaluate's rows. As in Caffe a class without objects, or of which
        nothing was found, counts 0, and recalls are compared in float32."""
        aps = []
        for label, curve in curves_of_rows(rows).items():
            if not len(curve.scores):
                self.log(f"Missing true_pos for label: {label}")
            single = curve.precision.astype(np.float32), curve.recall.astype(np.float32)
            aps.append(average_precision(*single, self.param.ap_version) if curve.truths else 0.0)
            if self.param.show_per_class_result and len(curve.scores):
                self.log(f"class{label}: {aps[-1]:.6g}")
        return np.array(np.mean(aps) if aps else 0.0)

    def _forward(self, net: Net) -> None:
        if self.feed:
            self.feed(net)
        net.forward(end=net.layer_names[-1])

    def _passes(self) -> tuple[float, tuple[bool, bool] | None]:
        """iter_size forward and backward passes. Returns the mean loss, over all ranks, and where there are others whether
        any was asked to stop and to write a snapshot."""
        p, loss = self.param, 0.0
        for turn in range(p.iter_size):
            self._forward(self.net)
            loss += self.net.loss()
            if self.reduction and turn == p.iter_size - 1:
                self.reduction.begin(loss, self.stopping, self.snapshot_wanted)
            self.net.backward()
        if self.reduction is None:
            return loss / p.iter_size, None
        loss, *agreed = self.reduction.finish()
        return loss / p.iter_size, (agreed[0], agreed[1])

    def _smooth(self, loss: float, first: int) -> None:
        """The mean of the last average_loss losses of this call of `step`."""
        window = self.param.average_loss
        if len(self.losses) < window:
            self.losses.append(loss)
            self.smoothed_loss += (loss - self.smoothed_loss) / len(self.losses)
        else:
            place = (self.iter - first) % window
            self.smoothed_loss += (loss - self.losses[place]) / window
            self.losses[place] = loss

    def _update(self, display: bool) -> None:
        """One update of every parameter: clipped before it is divided by iter_size and before weight decay, as in Caffe."""
        p = self.param
        self.rate = self.rates.at(self.iter, self.smoothed_loss)
        if display:
            self.log(f"Iteration {self.iter}, lr = {self.rate:.6g}")
        scale = 1 / p.iter_size / self.ranks.size  # the mean over ranks, as in Caffe
        if p.clip_gradients >= 0:
            norm = sum(square_sum(blob) for blob, _, _ in self.net.learnable) ** 0.5 / self.ranks.size
            if norm > p.clip_gradients:
                self.log(
                    f"Gradient clipping: scaling down gradients (L2 norm {norm:.6g} > {p.clip_gradients:.6g}) "
                    f"by scale factor {p.clip_gradients / norm:.6g}"
                )
                scale *= p.clip_gradients / norm
        l1 = int(p.regularization_type == "L1")
        for (blob, lr_mult, decay_mult), history in zip(self.net.learnable, self.history):
            if lr_mult:
                step = Step(scale, self.rate * lr_mult, p.weight_decay * decay_mult, l1, self.iter)
                self.method.update(p, blob, history, step)

    def _log_outputs(self, which: str, net: Net, values: Sequence[Any]) -> None:
        number = 0
        weights = net.blob_loss_weights
        for name, value in zip(net.outputs, values):
            for number_of, one in enumerate(np.asarray(value).ravel(), number):
                weight = weights[name]
                loss = f" (* {weight:.6g} = {weight * one:.6g} loss)" if weight else ""
                self.log(f"    {which} net output #{number_of}: {name} = {one:.6g}{loss}")
                number = number_of + 1

    # Snapshots

    def snapshot(self) -> tuple[Path, Path]:
        """Writes the weights and the solver's state, named after snapshot_prefix and the iteration; all of each or nothing.

        snapshot_format: HDF5 adds ".h5" to both names. Returns the two paths. Of several ranks number 0 writes.
        """
        if not self.param.HasField("snapshot_prefix"):
            raise ModelError("solver: a snapshot needs snapshot_prefix, the start of its file names")
        hdf5 = self.param.snapshot_format == SolverParameter.HDF5
        suffix = ".h5" if hdf5 else ""
        model = Path(f"{self.param.snapshot_prefix}_iter_{self.iter}.caffemodel{suffix}")
        state = Path(f"{self.param.snapshot_prefix}_iter_{self.iter}.solverstate{suffix}")
        if self.ranks.rank:
            return model, state
        self.log(f"Snapshotting to {'HDF5' if hdf5 else 'binary proto'} file {model}")
        self.net.save(model)
        self.log(f"Snapshotting solver state to {'HDF5' if hdf5 else 'binary proto'} file {state}")
        arrays = [np.asarray(kept[k]) for k in range(self.method.arrays) for kept in self.history]
        write_state(state, self.iter, str(model), self.rates, arrays)
        self.saved = self.iter
        return model, state

    def restore(self, path: Source) -> None:
        """Continues from a .solverstate (or .solverstate.h5) and the weights that it names, or that lie beside it.

        Of several ranks number 0 reads. How many there are may be another number than before.
        """
        if self.ranks.rank == 0:
            self._read(path)
        rates = self.rates
        state = self.ranks.common((self.iter, rates.step, rates.lowest, rates.last_event))
        self.iter, rates.step, rates.lowest, rates.last_event = state
        self.started = self.iter
        self.ranks.spread([*self._weights(), *(array for kept in self.history for array in kept)])
        for layer in self.net.layers:
            layer.resume(self.iter * self.param.iter_size)

    def _read(self, path: Source) -> None:
        state = read_state(path)
        count = len(self.history)
        wanted = [np.shape(kept[k]) for k in range(self.method.arrays) for kept in self.history]
        found = [array.shape for array in state.history]
        if [int(np.prod(s)) for s in wanted] != [int(np.prod(s)) for s in found]:
            raise ModelError(
                f"{path}: its history has {len(found)} blobs of shapes {found}, this {self.param.type} solver's net wants "
                f"{len(wanted)} of {wanted}; is it the state of another net or solver type?"
            )
        if state.learned_net:
            named, beside = Path(state.learned_net), Path(path).parent / Path(state.learned_net).name
            self.net.copy_from(named if named.exists() else beside)
        for i, array in enumerate(state.history):
            target = self.history[i % count][i // count]
            target[...] = array.reshape(target.shape)
        self.iter = state.iter
        self.rates.step, self.rates.lowest, self.rates.last_event = state.step, state.lowest, state.last_event

    # Several ranks

    def _weights(self) -> list[Any]:
        """The data of every parameter, running statistics included."""
        return [blob.data for layer in self.net.layers for blob in layer.blobs]

    def _learned(self) -> list[Any]:
        """What all ranks have alike, to the bit: what is learned, and the history. Statistics of BatchNorm are a rank's own."""
        rows = zip(self.net.learnable, self.history)
        return [array for (blob, lr_mult, _), kept in rows if lr_mult for array in (blob.data, *kept)]

    def _rescue(self) -> str:
        """Where the job ends before its time: saves the last finished iteration. Returns what there is to resume from."""
        if self.ranks.updating:
            return f"it ended amid the update of iteration {self.iter}, of which no snapshot is written"
        if self.iter == self.started:
            return "nothing was learned that could be saved"
        if not self.param.HasField("snapshot_prefix"):
            return f"what {self.iter} iterations learned is lost: the solver has no snapshot_prefix"
        return f"{self.snapshot()[1]} resumes after iteration {self.iter}"
