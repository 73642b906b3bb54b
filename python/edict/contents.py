"""What is in a dataset."""

from __future__ import annotations

import ctypes
import html
from copy import deepcopy
from functools import cached_property
from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from ._convert import Floats, named, read_only
from ._native import DatasetSize, Handle, address, check, json_of, lib
from ._native import names_of as native_names
from .builder import SourceRows, Values
from .times import TimeAxis


class Contents:
    """Series with events, as the library holds them."""

    def __init__(
        self, handle: Handle, axis: Optional[TimeAxis] = None, values: Values = Values(),
        rows: Optional[SourceRows] = None,
    ) -> None:  # fmt: skip
        self._handle = handle
        self._axis = axis
        self._values = values
        self._rows = rows

    # ---- what is in it ---------------------------------------------------------------------------

    @cached_property
    def _sizes(self) -> DatasetSize:
        sizes = DatasetSize()
        check(lib.edict_dataset_sizes(self._handle, ctypes.addressof(sizes), ctypes.sizeof(sizes)))
        return sizes

    def __len__(self) -> int:
        return int(self._sizes.series)

    @property
    def time_axis(self) -> Optional[TimeAxis]:
        """What the times mean, where they were date-times or durations; None for plain numbers."""
        return self._axis

    @property
    def shape(self) -> tuple[int, int]:
        """(series, features)."""
        return len(self), int(self._sizes.features)

    @property
    def events(self) -> int:
        """How many moments with at least one observation there are."""
        return int(self._sizes.events)

    @property
    def observations(self) -> int:
        """How many values were observed."""
        return int(self._sizes.observations)

    def _names(self, which: int) -> list[str]:
        return native_names(lib.edict_dataset_names, self._handle, which)

    @cached_property
    def _all_names(self) -> tuple[tuple[Any, ...], ...]:
        """Ids, features, statics, classes and groups, as they were given."""
        ids, features, statics, classes, groups = (self._names(which) for which in range(5))
        known, of_group = self._values.classes or {}, self._values.groups or {}
        return (
            tuple(ids if self._values.ids is None else self._values.ids), tuple(features), tuple(statics),
            tuple(known.get(name, name) for name in classes),
            tuple(of_group.get(name, name) for name in groups),
        )  # fmt: skip

    @property
    def ids(self) -> list[Any]:
        """As they were given: numbers stay numbers. Those of a file are texts."""
        return list(self._all_names[0])

    @property
    def features(self) -> list[str]:
        """The names of what is observed."""
        return list(self._all_names[1])

    @property
    def statics(self) -> list[str]:
        """The names of what belongs to a whole series."""
        return list(self._all_names[2])

    @property
    def classes(self) -> list[Any]:
        """The different labels, as they were given, sorted as texts or, where all are numbers, as those."""
        return list(self._all_names[3])

    @property
    def group_names(self) -> list[Any]:
        """The different groups, as they were given."""
        return list(self._all_names[4])

    @cached_property
    def fingerprint(self) -> int:
        """One number for everything in it."""
        result = ctypes.c_uint64()
        check(lib.edict_dataset_fingerprint(self._handle, ctypes.addressof(result)))
        return result.value

    @property
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """A copy of the arrays: events of series i are ``first_event[i]:first_event[i + 1]``,
        observations of event e ``first_observation[e]:first_observation[e + 1]``. They cannot be written to."""
        return dict(self._arrays)

    @cached_property
    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        s = self._sizes
        result: dict[str, npt.NDArray[Any]] = {
            "first_event": np.empty(s.series + 1, np.int64),
            "times": np.empty(s.events, np.float64),
            "first_observation": np.empty(s.events + 1, np.int64),
            "feature": np.empty(s.observations, np.int32),
            "value": np.empty(s.observations, np.float64),
            "labels": np.empty(s.series, np.int32),
            "groups": np.empty(s.series, np.int32),
            "statics": np.empty((s.series, s.statics), np.float64),
        }
        check(lib.edict_dataset_arrays(self._handle, *(address(a) for a in result.values())))
        return {name: read_only(array) for name, array in result.items()}

    @property
    def times(self) -> Floats:
        """Of all events, series after series."""
        return self._arrays["times"]

    @property
    def labels(self) -> npt.NDArray[Any]:
        """The class of each series as it was given, None without one; what scikit-learn calls y."""
        return named(self.classes, self._arrays["labels"])

    @property
    def groups(self) -> npt.NDArray[Any]:
        """The group of each series as it was given, None without one; what GroupKFold takes."""
        return named(self.group_names, self._arrays["groups"])

    @cached_property
    def last_times(self) -> Floats:
        """When each series was last observed; NaN without events."""
        first = self._arrays["first_event"]
        result = np.full(len(self), np.nan)
        some = first[1:] > first[:-1]
        result[some] = self.times[first[1:][some] - 1]
        return read_only(result)

    @property
    def reading(self) -> dict[str, Any]:
        """Which columns of a table it came from; a model remembers it and reads files alike."""
        return deepcopy(self._reading)

    @cached_property
    def _reading(self) -> dict[str, Any]:
        result: dict[str, Any] = json_of(lib.edict_dataset_reading, self._handle)
        return result

    def summary(self) -> dict[str, Any]:
        """Counts, times, and the moments of every feature."""
        result: dict[str, Any] = json_of(lib.edict_dataset_summary, self._handle)
        return result

    def __repr__(self) -> str:
        s = self._sizes
        parts = [
            "1 series" if s.series == 1 else f"{s.series} series",
            _counted(s.events, "event"), _counted(s.observations, "observation"),
            _counted(s.features, "feature"),
        ]  # fmt: skip
        if s.statics:
            parts.append(_counted(s.statics, "static covariate"))
        if s.classes:
            parts.append(_counted(s.classes, "class"))
        return f"Dataset({', '.join(parts)})"

    def _repr_html_(self) -> str:
        s = self.summary()
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(f['name'])}</th><td>{f['count']}</td>"
            f"<td>{100 * f['missing']:.1f} %</td>"
            + "".join(f"<td>{_number(f[k])}</td>" for k in ("mean", "std", "min", "max"))
            + "</tr>"
            for f in s["features"]
        )
        classes = ", ".join(
            f"{html.escape(str(name))}: {count}" for name, count in zip(self.classes, s["classes"])
        )
        span = ""
        if self.events and self.time_axis is None:
            span = f", time {_number(s['first_time'])} to {_number(s['last_time'])}"
        elif self.events and self.time_axis is not None:
            span = (
                f", time in {self.time_axis.unit}, {_number(s['first_time'])} to "
                f"{_number(s['last_time'])}"
            )
        return (
            f"<div><b>{html.escape(repr(self))}</b><br>median gap {_number(s['median_gap'])}{span}"
            "<table><thead><tr><th>feature</th><th>observed</th><th>missing</th><th>mean</th>"
            f"<th>std</th><th>min</th><th>max</th></tr></thead><tbody>{rows}</tbody></table>"
            + (f"classes: {classes}" if classes else "")
            + "</div>"
        )


def _number(value: Optional[float]) -> str:
    """JSON has no NaN: the moments of what was never observed are None."""
    return "" if value is None else f"{value:.4g}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}{'es' if noun.endswith('s') else 's'}"
