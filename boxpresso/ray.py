"""Detections of more pictures than one process gets through: on the processors of one machine, or of many, by Ray.

    import ray
    from boxpresso.ray import Detect

    pictures = ray.data.read_images("s3://bucket/photos", include_paths=True)
    found = pictures.map_batches(Detect, fn_constructor_args=["ultralight-face"], batch_size=16, concurrency=8)
    found.write_parquet("faces")

`Detect` is a class for Ray Data's `map_batches`: each of its actors has one Detector. `run` is `boxpresso detect --engine ray`:
a `parts.Job`, whose parts are done by actors of its own. Ray Data would look after these all the time, for what it does for
pipelines; here a worker that has done a part is given the next. It needs Ray and pyarrow: pip install 'boxpresso[ray]'.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from .decoders.detections import extra_package
from .detection import Detector
from .parts import Job, Make, arrow, detected, picture_column, unwrapped
from .proto.errors import BoxpressoError

__all__ = ["Detect"]

STORE = 256 << 20  # bytes that Ray may hold between processes: only numbers of parts, and what was counted


class Detect:
    """Finds objects in batches of pictures: a callable class for Ray Data's `map_batches`.

    Parameters
    ----------
    model, weights
        As for `Detector`. Files must be at the same path on all machines; a public model's name is fetched on each.
    column
        The column that holds the pictures: pixels (H, W, 3) in RGB order, the bytes of files, records of both `bytes` and
        `path`, or paths. By default the first of `image`, `bytes` and `path` that is there.
    options
        Further arguments of `Detector`, such as `threshold`, `labels` and `device`.

    Notes
    -----
    An actor uses as many threads as Ray gives it processors (`num_cpus`, 1 by default); on a GPU give `num_gpus=1`.

    Examples
    --------
    >>> shapes = "examples/shapes"
    >>> detect = Detect(f"{shapes}/deploy.prototxt", f"{shapes}/shapes.caffemodel")  # doctest: +SKIP
    >>> found = detect({"path": [f"{shapes}/scene.png", "missing.png"]})  # doctest: +SKIP
    >>> found["detections"][0][0]["class_id"].as_py(), found["error"][1].as_py()  # doctest: +SKIP
    (2, 'cannot read the picture missing.png: it does not exist')
    """

    def __init__(self, model: Any, weights: Any = None, *, column: str | None = None, **options: Any) -> None:
        use_threads()
        self.column = column
        self.detector = Detector(model, weights, **options)

    def __call__(self, batch: Mapping[str, Sequence[Any]]) -> Any:
        """The detections of a batch, a dictionary of columns.

        Returns
        -------
        pyarrow.Table
            The columns of the batch but `image` and `bytes` (or the one that was chosen, where it holds no texts), and
            `width`, `height`, `detections` (of each picture a list of records with `class_id`, `class_name`, `score` and
            `box`: left, top, right, bottom in pixels) and `error`, null or why the picture could not be read.
        """
        name = picture_column(list(batch), self.column)
        pictures = [unwrapped(value) for value in batch[name]]
        texts = all(value is None or isinstance(value, str) for value in batch[name])
        dropped = {name} - ({name} if texts else set()) | {"image", "bytes"}
        columns = {each: listed(values) for each, values in batch.items() if each not in dropped}
        return detected(self.detector, pictures, arrow().table(columns) if columns else None)


def listed(values: Any) -> list[Any]:
    """A column as a list of Python's values."""
    plain: list[Any] = values.tolist() if hasattr(values, "tolist") else list(values)
    return plain


def use_threads() -> None:
    """Takes as many threads as Ray gives this process processors, unless BOXPRESSO_THREADS says how many."""
    ray = sys.modules.get("ray")
    if ray is not None and ray.is_initialized() and not os.environ.get("BOXPRESSO_THREADS"):
        count = ray.get_runtime_context().get_assigned_resources().get("CPU", 1)
        os.environ["BOXPRESSO_THREADS"] = str(max(1, int(count)))


class Part:
    """Does parts of a job: an actor of `run`.

    Parameters
    ----------
    job
        The Job.
    make
        Makes the Detector.
    batch
        Pictures that go through the net together.
    """

    def __init__(self, job: Job, make: Make, batch: int) -> None:
        self.job, self.make, self.batch = job, make, batch
        self.detector: Detector | None = None

    def run(self, number: int) -> dict[str, int]:
        """What was counted in a part. The Detector is made with the first, so that its error is told as any other."""
        if self.detector is None:
            use_threads()
            self.detector = self.make()
        return self.job.run(number, self.detector, self.batch)


def run(
    job: Job, make: Make, batch: int = 1, workers: int | None = None, threads: int = 1, gpus: float = 0,
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, int]:  # fmt: skip
    """Does all parts of a job that are not done.

    Parameters
    ----------
    job
        The Job.
    make
        Makes a Detector, in each worker.
    batch
        Pictures that go through the net together.
    workers
        How many processes; by default as many as the cluster has processors, or GPUs where `gpus` is not 0.
    threads, gpus
        Processors and GPUs of each.
    tell
        Called with the pictures that are done and all of them: when workers begin, and with each part.

    Returns
    -------
    dict
        Pictures, detections and errors, of the whole job.

    Raises
    ------
    BoxpressoError
        Where a worker fails for another reason than its end.
    """
    todo = job.todo()
    counted = {"pictures": 0, "detections": 0, "errors": 0}

    def add(row: Mapping[str, Any]) -> None:
        for name in counted:
            counted[name] += int(row[name])

    for part in sorted(set(range(job.parts)) - set(todo)):
        add(job.count(part))
    if not todo:
        return counted
    ray = start()
    resources = ray.cluster_resources()
    have, each, units = ("GPU", gpus, "GPUs") if gpus else ("CPU", threads, "processors")
    most = int(resources.get(have, 0) / each)
    if not most or (workers or 1) > most:
        raise BoxpressoError(
            f"{workers or 1} workers of {each:g} {units} each do not fit into this cluster, which has "
            f"{resources.get(have, 0):g}"
        )
    options = {"num_cpus": threads, "max_restarts": -1, "max_task_retries": -1, **({"num_gpus": gpus} if gpus else {})}
    begin = ray.remote(Part).options(**options).remote
    actors = [begin(job, make, batch) for _ in range(min(workers or most, len(todo)))]
    coming = iter(todo)
    running = {actor.run.remote(number): actor for actor, number in zip(actors, coming)}
    tell(counted["pictures"], job.pictures)
    while running:
        (done,), _ = ray.wait(list(running), num_returns=1)
        actor = running.pop(done)
        running.update((actor.run.remote(number), actor) for number in islice(coming, 1))
        add(result_of(ray, done))
        tell(counted["pictures"], job.pictures)
    job.sweep()
    return counted


def start() -> Any:
    """Ray, connected to the cluster that RAY_ADDRESS names, else to one that begins on this machine."""
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # what it logs of a worker that ends is not for the user
    for package in ("pyarrow", "ray"):
        extra_package(package, "--engine ray")
    import ray

    if not ray.is_initialized():
        here = {} if os.environ.get("RAY_ADDRESS") else {"object_store_memory": STORE, "include_dashboard": False}
        ray.init(logging_level="ERROR", log_to_driver=False, **here)
    return ray


def result_of(ray: Any, done: Any) -> Mapping[str, Any]:
    """What a worker has counted. Raises BoxpressoError for its error."""
    try:
        counted: Mapping[str, Any] = ray.get(done)
    except ray.exceptions.RayError as error:
        cause: BaseException = error
        while cause.__cause__ is not None or getattr(cause, "cause", None) is not None:
            cause = getattr(cause, "cause", None) or cause.__cause__  # type: ignore[assignment]
        known = isinstance(cause, BoxpressoError)
        raise BoxpressoError(f"a worker has failed: {'' if known else f'{type(cause).__name__}: '}{cause}") from error
    return counted
