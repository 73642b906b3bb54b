"""Every setting of the library as a keyword.

A setting ``table.key`` is the keyword ``table_key``. Where no other table has such a key, ``key``
alone is enough; ``seed`` alone is ``train.seed``. Settings of the tables ``classify`` and ``readout``
are for :meth:`edict.Model.classify`, where ``classify`` need not be written.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Mapping, Optional, Union

from ._native import Error, assignments, json_of, lib, warn

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .dataset import Dataset
    from .typed_settings import TrainSettings

Value = Union[bool, int, float, str, None]


@dataclass(frozen=True)
class Setting:
    """A setting as the library declares it."""

    key: str
    type: str
    default: Value
    meaning: str
    allowed: str
    low: Optional[float] = None
    high: Optional[float] = None
    choices: tuple[str, ...] = ()
    may_be_auto: bool = False

    @property
    def keyword(self) -> str:
        """Its name as an argument."""
        return self.key.replace(".", "_")


@lru_cache(maxsize=None)
def settings() -> tuple[Setting, ...]:
    """All settings with type, default, range and meaning.

    >>> [s for s in settings() if s.key == "train.epochs"][0].meaning
    'passes over the training split'
    """
    declared: list[dict[str, Any]] = json_of(lib.edict_settings)
    for entry in declared:
        entry["choices"] = tuple(entry.get("choices", ()))
    return tuple(Setting(**entry) for entry in declared)


@lru_cache(maxsize=None)
def keywords(table: str = "") -> Mapping[str, Setting]:
    """What a keyword means; bare names of ``table`` come before those of the others."""
    full = {s.keyword: s for s in settings()}
    bare: dict[str, list[Setting]] = {}
    for s in settings():
        own, name = s.key.split(".", 1)
        if own == table or own not in ("classify", "readout"):
            bare.setdefault(name, []).append(s)
    result = dict(full)
    for name, owners in bare.items():
        preferred = [s for s in owners if s.key == f"{table or 'train'}.{name}"]
        if len(owners) == 1:
            result.setdefault(name, owners[0])
        elif preferred:
            result.setdefault(name, preferred[0])
    return MappingProxyType(result)


@dataclass(frozen=True)
class Choice:
    """A setting as it was chosen for some data, and the reason."""

    key: str
    value: str
    why: str
    given: bool = False  # not chosen, but asked for


def fit_settings(data: "Dataset", **given: "Unpack[TrainSettings]") -> list[Choice]:
    """What :meth:`edict.Model.train` would choose for these data beside the given, and why.

    >>> import edict
    >>> data = edict.Dataset.from_frame(edict.waves(series=60), label="label")
    >>> [(c.key, c.value, c.given) for c in edict.fit_settings(data, hidden=8) if c.given]
    [('model.hidden', '8', True)]
    """
    from .dataset import Dataset

    if not isinstance(data, Dataset):
        raise TypeError(f"data is of type {type(data).__name__}; give a Dataset, as from Dataset.from_frame")
    count, assigned = assignments(to_assignments(given))
    chosen = json_of(lib.edict_fit_settings, data._handle, count, assigned)
    for note in chosen["notes"]:
        warn(note)
    return [Choice(**choice) for choice in chosen["choices"]]


def text_of(value: Any) -> str:
    """A value as it is written after ``=``."""
    if hasattr(value, "item"):  # numpy's scalars
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    return str(value)


def to_assignments(values: Mapping[str, Any], table: str = "") -> list[str]:
    """Keywords as ``table.key=value``; None is not given. A mistyped one names the nearest."""
    known = keywords(table)
    by_key = {s.key: s for s in settings()}
    result = []
    for name, value in values.items():
        setting = known.get(name) or by_key.get(name)
        if setting is None:
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
            raise TypeError(f"unknown setting {name!r}; did you mean {near[0]!r}?")
        if value is None:
            continue
        text = text_of(value)
        if setting.type == "number" and isinstance(value, str) and value != "auto":
            raise Error(f"{name} = {value!r} is not a number")
        result.append(f"{setting.key}={text}")
    return result
