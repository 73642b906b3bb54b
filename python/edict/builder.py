"""The library's builder of datasets, and what it does not keep of what a caller gave."""

from __future__ import annotations

import ctypes
import json
from dataclasses import dataclass, replace
from typing import Any, Mapping, Optional, Sequence

import numpy as np
import numpy.typing as npt

from ._convert import Floats, Ints, by_index, objects_of
from ._native import Error, Handle, address, check, lib, made, texts
from .columns import factorize, names_of
from .times import TimeAxis

_DUPLICATES = {"error": 0, "first": 1, "last": 2, "mean": 3}


@dataclass(frozen=True)
class SourceRows:
    """The rows of the table that a dataset was made of: its index, and whose and when each row is."""

    index: Any  # of a DataFrame, or None
    series: Ints
    times: Floats  # NaN where a row has no time

    def take(self, places: Ints, count: int) -> "Optional[SourceRows]":
        """Those of some series, in their old order; None where a series is there twice."""
        if np.unique(places).size < places.size:
            return None
        new = np.full(count, -1, dtype=np.int64)
        new[places] = np.arange(places.size)
        own = new[self.series]
        kept = own >= 0
        index = None if self.index is None else self.index[kept]
        return SourceRows(index, own[kept], self.times[kept])


@dataclass(frozen=True)
class Values:
    """What ids, classes and groups were before they became texts. The library knows texts alone."""

    ids: Optional[list[Any]] = None  # one a series
    classes: Optional[Mapping[str, Any]] = None  # by their texts
    groups: Optional[Mapping[str, Any]] = None

    def take(self, places: Ints) -> "Values":
        """Of some series."""
        return replace(self, ids=None if self.ids is None else [self.ids[i] for i in places])


class Builder:
    """The library's builder; arrays are handed over as they are."""

    def __init__(self, ids: Sequence[str], features: Sequence[str]) -> None:
        self._series = len(ids)
        self._handle = made(
            "builder", lib.edict_builder_new, len(ids), texts(ids), len(features), texts(features)
        )

    def labels(self, names: Sequence[str], codes: npt.NDArray[np.int32]) -> None:
        """The class of each series, -1 for none."""
        pointer = self._handle
        check(lib.edict_builder_labels(pointer, len(names), texts(names), address(codes)))

    def groups(self, names: Sequence[str], codes: npt.NDArray[np.int32]) -> None:
        """The group of each series, -1 for none."""
        pointer = self._handle
        check(lib.edict_builder_groups(pointer, len(names), texts(names), address(codes)))

    def statics(self, names: Sequence[str], values: Floats) -> None:
        """What belongs to whole series, [series × names]."""
        values = np.ascontiguousarray(values, dtype=np.float64)
        if values.shape != (self._series, len(names)):
            raise Error(f"static covariates of shape {values.shape} for {self._series} series")
        pointer = self._handle
        check(lib.edict_builder_statics(pointer, len(names), texts(names), address(values)))

    def dates(self, axis: Optional[TimeAxis]) -> None:
        """What the times mean, where they are not plain numbers."""
        if axis is None:
            return
        if axis.durations:
            check(lib.edict_builder_unit(self._handle, axis.unit.encode()))
            return
        # Whole microseconds, as the library keeps moments.
        origin = np.asarray(axis.origin.astype(np.int64) / 1000, dtype=np.float64)
        if not axis.from_first and not origin.size:
            origin = np.zeros(1)
        check(
            lib.edict_builder_dates(
                self._handle, axis.unit.encode(), int(axis.from_first), address(origin),
                int(axis.zone is not None), axis.zone_minutes(),
            )
        )  # fmt: skip

    def reading(self, columns: Mapping[str, Any]) -> None:
        """Which columns of a table the arrays were."""
        check(lib.edict_builder_reading(self._handle, json.dumps(columns).encode()))

    def rows(self, series: Ints, times: Floats, columns: Sequence[Floats]) -> None:
        """Rows of the wide form, an array a feature."""
        for values in columns:
            if values.shape != series.shape:
                raise Error("a column is not as long as the others")
        times = np.ascontiguousarray(times)
        # The library reads aligned doubles, and counts strides in them.
        columns = [
            v if v.flags.aligned and v.strides[0] % v.itemsize == 0 else v.copy() for v in columns
        ]
        pointers = (ctypes.c_void_p * len(columns))(*[v.ctypes.data for v in columns])
        strides = np.array([v.strides[0] // 8 if v.size else 1 for v in columns], dtype=np.int64)
        check(
            lib.edict_builder_rows(
                self._handle, series.size, address(series), address(times),
                ctypes.addressof(pointers), address(strides),
            )
        )  # fmt: skip

    def observations(
        self, series: Ints, times: Floats, features: npt.NDArray[np.int32], values: Floats
    ) -> None:
        """Rows of the long form."""
        arrays = [np.ascontiguousarray(a) for a in (series, times, features, values)]
        check(
            lib.edict_builder_observations(
                self._handle, series.size, *(address(a) for a in arrays)
            )
        )

    def build(self, duplicates: str) -> Handle:
        """The dataset; the builder is used up."""
        return made(
            "dataset", lib.edict_builder_dataset, self._handle, _DUPLICATES[duplicates]
        )


def check_duplicates(duplicates: Any) -> None:
    """Refuses what is no way to treat values that are given twice."""
    if not isinstance(duplicates, str) or duplicates not in _DUPLICATES:
        raise Error(f"duplicates={duplicates!r} is unknown; give {', '.join(_DUPLICATES)}")


def coded(
    values: Any, ids: Sequence[Any], what: str
) -> tuple[list[str], npt.NDArray[np.int32], dict[str, Any]]:
    """Names, the place of each value's name among them, and what the names were. ``values``: one a series,
    in the order of the ids; a Series whose index holds those goes by it."""
    count = len(ids)
    values = by_index(values, ids, what)
    if np.ndim(values) != 1:
        raise Error(f"{what}: give one a series, not an array of {np.ndim(values)} axes")
    if len(values) != count:
        raise Error(f"{len(values)} {what} for {count} series; give one each")
    if not hasattr(values, "dtype"):
        values = np.array([*values, None], dtype=object)[:-1]
    codes, uniques = factorize(values)
    names = names_of(uniques, what)
    return names, np.ascontiguousarray(codes, dtype=np.int32), dict(zip(names, objects_of(uniques)))
