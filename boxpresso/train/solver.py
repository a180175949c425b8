"""Solver: trains a net from a solver prototxt, with Caffe's order of operations, log lines and snapshots.

Here is the training itself. The nets that the prototxt names are in nets.py, the runs of test nets in evaluation.py,
snapshots in snapshots.py, rates and updates in rates.py and updates.py, several processes in ranks.py and reduction.py.
"""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from ..device import AnyArray
from ..net.net import Net
from ..proto import SolverParameter, read_solver
from ..proto.errors import ModelError
from ..proto.reading import FilePath
from ..proto.upgrade import upgrade_solver
from . import nets
from .best import Best
from .claims import Claim
from .evaluation import Boxes, check_evaluation, evaluate_net
from .fork_fields import check_forks
from .log import Display, Log, glog
from .ranks import Ranks, Terminated
from .rates import Rates
from .reduction import Reduction
from .safety import Undo, candidates, check_finite, check_snapshots
from .snapshots import read_snapshot, snapshot_paths, write_snapshot
from .updates import Parameters, UpdateStep, kernels, method

Callback = Callable[[], None]


class Solver:
    """Trains the net of a solver prototxt.

    Parameters
    ----------
    source
        The path of a solver prototxt, or a SolverParameter. Paths in it are looked for from the working directory, then
        beside it.
    weights
        Files to start from, beside those that it names.
    device, deterministic, reproducible, dtype, python_layers, write_below, memory_limit
        As for Net, but by default a net that is trained may write everywhere; without a device, solver_mode: CPU means "cpu".
    feed
        Called with a net before each of its forward passes, for nets whose data come from Python.
    log
        Takes each log line; by default they go to standard error in Caffe's form.
    allow_nan
        Whether to go on when the loss, or a gradient, is no longer a number; by default training stops there.
    ranks
        Of `open_ranks`, to train together with other processes; each makes the same Solver and the same calls.

    keep_best
        Whether the weights of the best test are kept as SNAPSHOT_PREFIX_best.caffemodel, where there are tests and a
        snapshot_prefix; the last iteration is tested then, too. See `Best`.
    patience
        End after so many tests without a better one, and keep the best; None: never.
    precision
        "bf16": convolutions of the net that learns, and their gradients, have factors rounded to bfloat16 and sums of float32,
        as Net's `precision` says, which is faster on CPUs that multiply bfloat16. Weights, diffs and tests stay float32.

    Attributes
    ----------
    net, test_nets
        The net that learns, and those that are tested; they share its parameters.
    iter
        How many iterations are done.
    rate
        The learning rate of the last update.
    best
        The Best that keeps the weights of the best test, or None.
    smoothed_loss
        The mean of the last average_loss losses.

    Raises
    ------
    ModelError
        For what is wrong in the prototxt.

    Source
    ------
    Caffe's Solver and its six update rules.

    Examples
    --------
    >>> from boxpresso import Solver
    >>> from boxpresso.proto import parse_net, parse_solver
    >>> param = parse_solver('base_lr: 0.1 lr_policy: "fixed" max_iter: 20 random_seed: 1')
    >>> param.train_net_param.CopyFrom(parse_net('''
    ...     layer { name: "x" type: "DummyData" top: "x" top: "y"
    ...             dummy_data_param { shape { dim: 4 dim: 3 } data_filler { type: "constant" value: 1 } } }
    ...     layer { name: "fc" type: "InnerProduct" bottom: "x" top: "fc" inner_product_param { num_output: 3 } }
    ...     layer { name: "loss" type: "EuclideanLoss" bottom: "fc" bottom: "y" top: "loss" }'''))
    >>> solver = Solver(param, device="cpu", log=lambda line: None)
    >>> solver.step(20)
    >>> solver.iter, round(float(solver.net.forward()["loss"]), 6)
    (20, 0.0)
    """

    net_class: ClassVar[type[Net]] = Net  # of the nets that it makes

    def __init__(
        self,
        source: FilePath | SolverParameter,
        *,
        weights: FilePath | Sequence[FilePath] = (),
        device: str | None = None,
        deterministic: bool = False,
        reproducible: bool = False,
        dtype: Any = np.float32,
        feed: Callable[[Net], None] | None = None,
        log: Log = glog,
        python_layers: Sequence[str | ModuleType] = (),
        ranks: Ranks | None = None,
        write_below: FilePath | Sequence[FilePath] | None = None,
        allow_nan: bool = False,
        memory_limit: int | None = None,
        keep_best: bool = False,
        patience: int | None = None,
        precision: str | None = None,
    ) -> None:
        self.ranks = ranks or Ranks()
        first = self.ranks.rank == 0
        if isinstance(source, SolverParameter):
            self.param, self.folder = upgrade_solver(source) if source.HasField("solver_type") else source, Path()
        else:
            self.param, self.folder = read_solver(source), Path(source).parent
        p = self.param
        check_forks(p)
        self.feed, self.log = feed, log if first else lambda line: None
        self.method, self.rates = method(p), Rates(p)
        if p.iter_size < 1 or p.average_loss < 1:
            raise ModelError(f"solver: iter_size and average_loss count from 1, got {p.iter_size} and {p.average_loss}")
        if device is None and p.HasField("solver_mode") and p.solver_mode == SolverParameter.CPU:
            device = "cpu"
        seed = p.random_seed if p.random_seed >= 0 else None
        if seed is None and self.ranks.size > 1:
            seed = self.ranks.common(int(np.random.SeedSequence().generate_state(1)[0]))
        self.options: dict[str, Any] = {
            "device": self.ranks.device(device), "deterministic": deterministic, "reproducible": reproducible,
            "dtype": dtype, "python_layers": python_layers, "seed": seed,
            "write_below": write_below, "memory_limit": memory_limit,
        }  # fmt: skip
        files: list[FilePath] = [file for text in p.weights for file in nets.weight_files(text, self.folder)]
        files += [weights] if isinstance(weights, (str, os.PathLike)) else weights
        with self.ranks.first_ahead():
            model = nets.train_model(p, self.folder)
            own = files if first else ()
            learns = {**self.options, **({"precision": precision} if precision else {})}
            self.net = nets.build(model, "TRAIN", p.train_state, learns, own, make=self.net_class)
        self.test_nets: list[Net] = []
        if first:  # as in Caffe one rank tests, and the others wait
            models = nets.test_models(self.param, self.folder)
            self.test_nets = [
                nets.build(model, "TEST", state, self.options, make=self.net_class) for model, state in models
            ]
        for net in self.test_nets:
            net.share_with(self.net)
        self.iter, self.rate, self.shown = 0, 0.0, Display(p)
        learned = [blob for blob, _, _ in self.net.learnable]
        self.net.memory.take_history(method(self.param).arrays, learned)
        self.parameters = Parameters(self.param, learned)
        self.history = self.parameters.history
        self.net.device.build(kernels, self.net.dtype)
        self.allow_nan, self.undo = allow_nan, Undo(self.net, self.rates)
        self.stopping = self.snapshot_wanted = False  # what this process was asked to do
        self.stopped = False  # what all ranks have agreed to do
        self.saved = -1  # the iteration of the last snapshot
        self.claim = Claim(p)
        keeps = patience is not None or (keep_best and p.HasField("snapshot_prefix"))
        self.best = Best(p, lambda line: self.log(line), patience) if keeps and self.test_nets else None
        self.started, self.ranks.rescue, self.ranks.fetch = 0, self._rescue, self._fetch
        self.reduction = Reduction(self.ranks, self.net) if self.ranks.size > 1 else None
        self.ranks.settle(self.net)
        self.ranks.spread(self._weights())
        self.callbacks: list[tuple[Callback | None, Callback | None]] = []

    @property
    def losses(self) -> list[float]:
        """The last average_loss losses, in no order."""
        return self.shown.losses

    @property
    def smoothed_loss(self) -> float:
        """Their mean."""
        return self.shown.smoothed

    # Training

    def add_callback(self, on_start: Callback | None = None, on_gradients: Callback | None = None) -> None:
        """Adds functions that every iteration calls.

        Parameters
        ----------
        on_start
            Called before each iteration.
        on_gradients
            Called when the gradients are complete, the sums over iter_size passes and over all ranks, and not yet used.
        """
        self.callbacks.append((on_start, on_gradients))

    def step(self, iterations: int) -> None:
        """Runs iterations, each of iter_size forward and backward passes and one update.

        Parameters
        ----------
        iterations
            How many.
        """
        p, stop = self.param, self.iter + iterations
        if p.snapshot > 0 and self.iter // p.snapshot < stop // p.snapshot:
            self._check_snapshots()
        self._rescued(lambda: self._iterate(stop))

    def _iterate(self, stop: int) -> None:
        """Runs iterations up to number `stop`."""
        p = self.param
        self.shown.begin(self.iter)
        self.stopped = self.stopping and self.reduction is None
        while self.iter < stop and not self.stopped:
            self.undo.keep()
            self.net.clear_param_diffs()
            if p.test_interval and self.iter % p.test_interval == 0 and (self.iter or p.test_initialization):
                self.test()
            for start, _ in self.callbacks:
                if start:
                    start()
            display = p.display > 0 and self.iter % p.display == 0
            self.net.debug_info = bool(display and p.debug_info and self.ranks.rank == 0)
            loss, agreed = self._passes()
            norm = None
            if not self.allow_nan:
                norm = self.parameters.norm()
                check_finite(loss, norm, self.iter)
            self.shown.add(loss, self.iter)
            if display:
                self.shown.show(self.iter, self.net, self.log)
            for _, gradients in self.callbacks:
                if gradients:
                    gradients()
            update = self._prepared(display, None if self.callbacks else norm)
            self.ranks.updating = True
            self._apply(update)
            self.iter += 1
            self.undo.forget()
            self.ranks.updated()
            self.stopped, wanted = agreed or (self.stopping, self.snapshot_wanted)
            if wanted or (p.snapshot > 0 and self.iter % p.snapshot == 0):
                if (
                    self.stopping == self.stopped
                ):  # else it was asked to stop since, and the last iteration wants one too
                    self.snapshot_wanted = self.snapshot_wanted and not wanted
                self.ranks.check_same(self._learned(), f"the weights at iteration {self.iter}")
                self.snapshot()

    def solve(self, resume: FilePath | None = None) -> None:
        """Trains to max_iter, with Caffe's snapshots and tests at the end.

        Parameters
        ----------
        resume
            A .solverstate to continue from; "auto" is the newest of snapshot_prefix that is whole, if there is any.
        """
        p = self.param
        self.log(f"Solving {self.net.name}")
        self.log(f"Learning Rate Policy: {p.lr_policy}")
        try:
            if 0 < p.snapshot <= p.max_iter or (p.HasField("snapshot_prefix") and p.snapshot_after_train):
                self._check_snapshots()
            if resume == "auto":
                self.restore_latest()
            elif resume is not None:
                self.restore(resume)
            if self.best and self.iter:
                self.best.resume(self.iter)
            self.stopping = False
            self._rescued(self._solve)
        finally:
            self.claim.release()

    def _solve(self) -> None:
        """Trains to max_iter, with the snapshot and the tests at the end."""
        p = self.param
        self._iterate(p.max_iter)
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
        self.undo.keep()
        if p.display and self.iter % p.display == 0:
            self._forward(self.net)
            self.shown.add(self.ranks.mean(self.net.loss()), self.iter)
            self.log(f"Iteration {self.iter}, loss = {self.smoothed_loss:.6g}")
        if self.best:
            self.undo.restore()  # the statistics of the pass above, so that what is tested is what was saved
        if p.test_interval and (self.best or self.iter % p.test_interval == 0):
            self.test()
        self.undo.forget()
        self.log("Optimization Done.")

    def stop(self, snapshot: bool = False) -> None:
        """Ends `step` and `solve` after the running iteration; safe to call from a signal handler.

        With several ranks a call on one of them is enough, and the end may come an iteration later.

        Parameters
        ----------
        snapshot
            Whether to write a snapshot at the end.
        """
        self.stopping, self.snapshot_wanted = True, snapshot

    def test(self) -> list[dict[str, np.ndarray[Any, Any]]]:
        """Runs every test net over its test_iter batches, logs and returns the mean of each output.

        With eval_type: "detection" the outputs are DetectionEvaluate's rows; of each the mean average precision is logged
        and returned, by ap_version, and with show_per_class_result that of each class before it.

        Returns
        -------
        list of dict
            For each test net {output: mean}; shorter where the test was interrupted.

        Raises
        ------
        ModelError
            For outputs whose shape changes, and for outputs other than detections with eval_type: "detection".
        """
        check_evaluation(self.param)
        means: list[dict[str, np.ndarray[Any, Any]]] = []
        stopped = self.stopping
        judged = Boxes(self.test_nets[0]) if self.best and self.param.eval_type == "detection" else None

        def forward(net: Net) -> None:
            self._forward(net)
            if judged and net is self.test_nets[0]:
                judged.add(net)

        for number, (net, batches) in enumerate(zip(self.test_nets, self.param.test_iter)):
            self.log(f"Iteration {self.iter}, Testing net (#{number})")
            net.share_with(self.net)  # whose parameters may be another net's by now
            values = evaluate_net(
                net, batches, self.param, forward=forward, log=self.log,
                interrupted=lambda: self.stopping and not stopped,
            )  # fmt: skip
            if values is None:
                return means
            means.append(values)
        precision = judged.precision() if judged else math.nan
        if self.best and self.best.see(self.net, self.test_nets[0], means[0], self.iter, precision):
            self.log(f"No better test for {self.best.worse} tests: training ends.")
            self.stop(snapshot=True)
        return means

    def _forward(self, net: Net) -> None:
        if self.feed:
            self.feed(net)
        if getattr(net.forward, "__func__", None) is Net.forward:
            net.run_layers()
        else:  # one of the caller's own
            net.forward(end=net.layer_names[-1])

    def _passes(self) -> tuple[float, tuple[bool, bool] | None]:
        """Runs iter_size forward and backward passes.

        Returns the mean loss over all ranks and, of several, whether any was asked to stop and to write a snapshot.
        """
        p, loss = self.param, 0.0
        for turn in range(p.iter_size):
            self._forward(self.net)
            reduction = self.reduction if turn == p.iter_size - 1 else None
            if reduction:
                loss += self.net.loss()
                reduction.begin(loss, self.stopping, self.snapshot_wanted)
            self.net.backward()
            if not reduction:  # a GPU has its work by now, and is waited for once
                loss += self.net.loss()
        if self.reduction is None:
            return loss / p.iter_size, None
        loss, *agreed = self.reduction.finish()
        return loss / p.iter_size, (agreed[0], agreed[1])

    def _rescued(self, work: Callable[[], None]) -> None:
        """Does some work, and saves the last complete iteration when an error, or SIGTERM, ends it.

        Several ranks do so in `together`. This is no context manager, in whose own lines a signal could strike unseen.
        """
        try:
            work()
            if self.ranks.size == 1 and self.ranks.terminated:
                raise Terminated(128 + signal.SIGTERM)
        except BaseException as error:
            self.ranks.ending = True  # SIGTERM waits from here on
            if self.ranks.size == 1:
                try:
                    self._end_early(error)
                finally:
                    self.ranks.ending, terminated, self.ranks.terminated = False, self.ranks.terminated, False
                if terminated and isinstance(error, Exception):
                    raise Terminated(128 + signal.SIGTERM) from error
            raise

    def _end_early(self, error: BaseException) -> None:
        """Goes back to the last complete iteration, and saves it; a KeyboardInterrupt saves nothing."""
        if not isinstance(error, (Exception, Terminated)):
            self._back()
            return
        try:
            self.log(f"Training ends early ({error}): {self._rescue()}")
        except Exception as second:
            self.log(f"Training ends early ({error}): no snapshot could be written ({second})")

    def _back(self) -> None:
        """Undoes an iteration that has begun, but for one whose update has."""
        if not self.ranks.updating:
            self.undo.restore()

    def _update(self, display: bool) -> None:
        """One update of every parameter."""
        self._apply(self._prepared(display))

    def _prepared(self, display: bool, norm: float | None = None) -> UpdateStep:
        """The next update: clipped before it is divided by iter_size and before weight decay, as in Caffe.

        norm: the L2 norm of all diffs, where it is known.
        """
        p = self.param
        self.rate = self.rates.at(self.iter, self.smoothed_loss)
        if display:
            self.log(f"Iteration {self.iter}, lr = {self.rate:.6g}")
        scale = 1 / p.iter_size / self.ranks.size  # the mean over ranks, as in Caffe
        if p.clip_gradients >= 0:
            norm = (self.parameters.norm() if norm is None else norm) / self.ranks.size
            if norm > p.clip_gradients:
                self.log(
                    f"Gradient clipping: scaling down gradients (L2 norm {norm:.6g} > {p.clip_gradients:.6g}) "
                    f"by scale factor {p.clip_gradients / norm:.6g}"
                )
                scale *= p.clip_gradients / norm
        l1 = int(p.regularization_type == "L1")
        multipliers = [(lr_mult, decay_mult) for _, lr_mult, decay_mult in self.net.learnable]
        rates = [self.rate * lr_mult if lr_mult else None for lr_mult, _ in multipliers]
        decays = [p.weight_decay * decay_mult for _, decay_mult in multipliers]
        return UpdateStep(scale, l1, self.iter, rates, decays)

    def _apply(self, update: UpdateStep) -> None:
        self.parameters.update(update)

    # Snapshots

    def _check_snapshots(self) -> None:
        """Raises ModelError where a snapshot could not be written later, or where another process trains under their names."""
        check_snapshots(self.param, self.ranks.rank)
        if self.ranks.rank == 0:
            self.claim.take(self.log)

    def snapshot(self) -> tuple[Path, Path]:
        """Writes the weights and the solver's state, named after snapshot_prefix and the iteration.

        Each file is written as a whole or not at all. snapshot_format: HDF5 adds ".h5" to both names. Of several ranks
        number 0 writes.

        Returns
        -------
        tuple of Path
            The .caffemodel and the .solverstate.

        Raises
        ------
        ModelError
            Without snapshot_prefix, when a file cannot be written, while another process trains under that prefix, or after
            an update that an error or an interrupt ended.
        """
        model, state = snapshot_paths(self.param, self.iter)
        if self.ranks.updating:
            raise ModelError(
                f"solver: the update of iteration {self.iter} was interrupted, and the weights are those of no iteration; "
                "restore an earlier snapshot"
            )
        if self.ranks.rank == 0:
            self.claim.take(self.log)
            write_snapshot(model, state, self.iter, net=self.net, history=self.history, rates=self.rates, log=self.log)
            self.saved = self.iter
        return model, state

    def restore(self, path: FilePath) -> None:
        """Continues from a snapshot, with the weights that it names, or that lie beside it.

        Of several ranks number 0 reads. Their number may differ from that of the training that wrote it.

        Parameters
        ----------
        path
            A .solverstate or .solverstate.h5.

        Raises
        ------
        ModelError
            When the file is no state, or that of another net or solver type.
        """
        self.started = self.iter  # what was learned until now is given up
        if self.ranks.rank == 0:
            self.iter = read_snapshot(path, self.param.type, net=self.net, history=self.history, rates=self.rates)
        self._resume()

    def restore_latest(self) -> Path | None:
        """Continues from the newest snapshot of snapshot_prefix; a damaged one is passed over with a line in the log.

        Returns
        -------
        Path or None
            Its .solverstate; None where there is none, and training starts from the beginning.

        Raises
        ------
        ModelError
            Without snapshot_prefix.
        """
        latest: Path | None = None
        started, self.started = self.started, self.iter
        for path in candidates(self.param) if self.ranks.rank == 0 else ():
            try:
                self.iter = read_snapshot(path, self.param.type, net=self.net, history=self.history, rates=self.rates)
                latest = path
                break
            except ModelError as error:
                self.log(f"Not resumed from {path}: {error}")
        latest = self.ranks.common(latest)
        if latest is None:
            self.log(
                f"No snapshot {self.param.snapshot_prefix}_iter_*.solverstate to resume from: training starts anew."
            )
            self.started = started
            return None
        self.log(f"Resuming from {latest}")
        self._resume()
        return latest

    def _resume(self) -> None:
        """Gives all ranks what rank 0 has read, and the layers their place in the data."""
        self.iter, self.rates.progress = self.ranks.common((self.iter, self.rates.progress))
        self.started, self.saved = self.iter, -1
        self.ranks.updating = False
        self.undo.forget()
        self.ranks.spread([*self._weights(), *(array for arrays in self.history for array in arrays)])
        for layer in self.net.layers:
            layer.resume(self.iter * self.param.iter_size)

    # Several ranks

    def _weights(self) -> list[AnyArray]:
        """The data of every parameter, running statistics included."""
        return [blob.data for layer in self.net.layers for blob in layer.blobs]

    def _learned(self) -> list[AnyArray]:
        """What is bitwise identical on all ranks: learned parameters and their history. Statistics of BatchNorm differ."""
        rows = zip(self.net.learnable, self.history)
        return [array for (blob, lr_mult, _), arrays in rows if lr_mult for array in (blob.data, *arrays)]

    def _fetch(self) -> None:
        """Brings what a snapshot holds to the host, where it is newer on a GPU: of the last complete iteration."""
        self._back()
        for array in (*(blob.data for blobs in self.net.params.values() for blob in blobs), *chain(*self.history)):
            np.asarray(array)

    def _rescue(self) -> str:
        """Saves the last complete iteration when the job ends early. Returns a line for the log: what to resume from."""
        if self.ranks.updating:
            return f"it ended during the update of iteration {self.iter}, of which no snapshot is written"
        self._back()
        if self.iter == self.started:
            return "nothing was learned that could be saved"
        if self.saved == self.iter:
            return f"{snapshot_paths(self.param, self.iter)[1]} resumes after iteration {self.iter}"
        if not self.param.HasField("snapshot_prefix"):
            return f"what {self.iter} iterations learned is lost: the solver has no snapshot_prefix"
        return f"{self.snapshot()[1]} resumes after iteration {self.iter}"
