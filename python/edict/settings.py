"""Every setting of the library as a keyword.

A setting ``table.key`` is the keyword ``table_key``. Where no other table has such a key, ``key``
alone is enough; ``seed`` alone is ``train.seed``, and what begins with ``classify`` is written in
full except in :meth:`edict.Model.classify`.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Mapping, Optional, Union

from ._native import Error, json_of, lib

Value = Union[bool, int, float, str, None]


@dataclass(frozen=True)
class Setting:
    """A setting as the library declares it."""

    key: str
    type: str
    default: Value
    help: str
    low: Optional[float] = None
    high: Optional[float] = None
    choices: tuple[str, ...] = ()
    auto: bool = False

    @property
    def keyword(self) -> str:
        return self.key.replace(".", "_")


@lru_cache(maxsize=None)
def settings() -> tuple[Setting, ...]:
    """All settings with type, default, range and meaning.

    >>> [s for s in settings() if s.key == "train.epochs"][0].help
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
        if own != "classify" or table == "classify":
            bare.setdefault(name, []).append(s)
    result = dict(full)
    for name, owners in bare.items():
        preferred = [s for s in owners if s.key == f"{table or 'train'}.{name}"]
        if len(owners) == 1:
            result.setdefault(name, owners[0])
        elif preferred:
            result.setdefault(name, preferred[0])
    return result


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
