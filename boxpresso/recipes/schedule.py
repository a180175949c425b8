"""How to train, by rules of thumb: batch, learning rate, iterations and tests for a net and a number of pictures."""

from __future__ import annotations

from dataclasses import dataclass, field

EPOCHS = {False: 150, True: 80}  # rounds over the pictures, from scratch and from given weights
REGION_EPOCHS = {False: 40, True: 20}  # of nets with regions of their own, which learn from many regions of a picture
TESTS = 20  # in the whole of a training
SNAPSHOTS = 5


@dataclass(frozen=True)
class Rule:
    """Of an architecture: pictures in a batch; the method and its rates {from given weights: rate}; weight decay; the fewest
    and the most iterations; rounds over the pictures {from given weights: rounds}; the most pictures that its nets take at
    once, so that larger batches of a training are summed by iter_size."""

    batch: int
    method: str
    rates: dict[bool, float]
    decay: float
    fewest: int
    most: int
    epochs: dict[bool, int] = field(default_factory=lambda: EPOCHS)
    at_once: int | None = None


SSD_RULES = {
    "small": Rule(16, "Adam", {False: 0.004, True: 0.001}, 0.0001, 800, 10000),
    "mobilenet": Rule(16, "Adam", {False: 0.002, True: 0.0005}, 0.00005, 1000, 60000),
    "resnet18": Rule(16, "Adam", {False: 0.001, True: 0.0005}, 0.0001, 1000, 60000),
    "vgg": Rule(8, "SGD", {False: 0.0005, True: 0.0005}, 0.0005, 1000, 80000),
}
REGION_RULES = {
    "small": Rule(1, "Adam", {False: 0.001, True: 0.0005}, 0.0001, 4000, 60000, REGION_EPOCHS, 1),
    "mobilenet": Rule(1, "Adam", {False: 0.0005, True: 0.0002}, 0.00005, 4000, 80000, REGION_EPOCHS, 1),
    "resnet18": Rule(1, "Adam", {False: 0.0005, True: 0.0002}, 0.0001, 4000, 80000, REGION_EPOCHS, 1),
    "vgg": Rule(1, "SGD", {False: 0.001, True: 0.001}, 0.0005, 4000, 80000, REGION_EPOCHS, 1),
}
RULES = {"ssd": SSD_RULES, "faster_rcnn": REGION_RULES, "rfcn": REGION_RULES}


@dataclass(frozen=True)
class Schedule:
    """The numbers of a solver prototxt, and the batches of its nets: batch times iter_size pictures make an iteration."""

    batch: int
    iter_size: int
    iterations: int
    rate: float
    method: str
    decay: float
    test_batch: int
    test_iter: int
    test_interval: int
    snapshot: int
    display: int


def plan(
    kind: str,
    backbone: str,
    train: int,
    test: int,
    pretrained: bool,
    *,
    batch: int | None = None,
    iterations: int | None = None,
    rate: float | None = None,
) -> Schedule:
    """The schedule for so many pictures.

    Parameters
    ----------
    kind, backbone
        Keys of `RULES`.
    train, test
        How many pictures to learn from and to test on.
    pretrained
        Whether weights are given.
    batch, iterations, rate
        In place of those of the rule; the rate of another batch is the rule's, times the batches' quotient for SGD.

    Returns
    -------
    Schedule
        Test batches are as large as they can be, up to 8, for the tests to take each picture once, and the last test is at
        the end; a number of iterations that nothing divides, the training tests there besides (`Solver`, keep_best).

    Examples
    --------
    >>> made = plan("ssd", "small", 240, 60, False)
    >>> made.batch, made.iterations, made.test_batch * made.test_iter, made.test_interval
    (16, 2300, 60, 100)
    """
    rule = RULES[kind][backbone]
    size = batch or min(rule.batch, train)
    rounds = -(-rule.epochs[pretrained] * train // size)
    count = iterations or rounded(min(max(rounds, rule.fewest), rule.most), 50)
    own = rule.rates[pretrained] * (size / rule.batch if rule.method == "SGD" else 1)
    test_batch = max(n for n in range(1, (rule.at_once or 8) + 1) if test % n == 0)
    wanted = max(count // TESTS, test // size)  # a test takes less time than the training between two of them
    if iterations:  # as asked for: the last test is at the end, or, of a prime number, comes there besides
        most = max(1, count // wanted if wanted else count)
        tests = max(n for n in range(1, most + 1) if count % n == 0)
        interval = count // (tests if 2 * tests > most else most)
    else:
        interval = rounded(wanted, 50)
        count = -(-count // interval) * interval
    display = max(n for n in range(1, min(50, max(1, count // 50), interval) + 1) if interval % n == 0)
    snapshot = min(count, rounded(count / SNAPSHOTS, interval))
    once = max(n for n in range(1, (rule.at_once or size) + 1) if size % n == 0)
    return Schedule(
        once,
        size // once,
        count,
        rate or own,
        rule.method,
        rule.decay,
        test_batch,
        test // test_batch,
        interval,
        snapshot,
        display,
    )


def rounded(value: float, to: int) -> int:
    """The nearest multiple of a number, at least the number.

    >>> rounded(130, 50), rounded(3, 50)
    (150, 50)
    """
    return max(to, int(value / to + 0.5) * to)
