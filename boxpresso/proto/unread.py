"""Fields of a message that nothing here reads: which of them ask for something."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Any


def other_values(
    message: Any, fields: Collection[str], plain: Mapping[str, Any] = MappingProxyType({})
) -> Iterator[tuple[str, Any]]:
    """The name and the value of each of some fields that is given another value than it has anyway.

    Parameters
    ----------
    message
        Of any type.
    fields
        Their names.
    plain
        {name: the value that asks for nothing}, where that is not the field's default. A field of several values, or of a
        message, has none.

    Examples
    --------
    >>> from boxpresso.proto import SolverParameter
    >>> list(other_values(SolverParameter(iter_size=1, max_iter=5), ["iter_size", "max_iter"]))
    [('max_iter', 5)]
    """
    for field, value in message.ListFields():
        if field.name not in fields:
            continue
        single = isinstance(value, (bool, int, float, str))
        if not (single and field.has_default_value and value == plain.get(field.name, field.default_value)):
            yield field.name, value
