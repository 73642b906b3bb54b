"""Irregular, partly observed series as an object that scikit-learn takes for X."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Collection, Hashable, Iterator, Mapping, Optional, Sequence

import numpy as np
import numpy.typing as npt

from . import _convert, compat
from ._convert import Array, Floats, Ints, array_of, objects_of
from ._native import Error, address, lib, made, texts, warn
from .builder import Builder, SourceRows, Values, coded
from .sources import Sources
from .times import TimeAxis, asked_times


class Dataset(Sources):
    """Series with events at times of their own, each with some of the features observed.

    It never changes. ``len`` counts series; a mask, a slice, integers or ids give another dataset;
    ``shape`` is (series, features), which is what scikit-learn wants to know of an X.

    >>> import edict
    >>> data = edict.Dataset.from_frame(edict.waves(series=30), label="label")
    >>> data
    Dataset(30 series, 300 events, 460 observations, 2 features, 2 classes)
    >>> data[:10].shape
    (10, 2)
    >>> data["wave03"].ids
    ['wave03']
    """

    # ---- parts of it -----------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> "Dataset":
        return self._subset(self._places(key), np.inf)

    def __array__(self, *_: Any, **__: Any) -> Array:
        # numpy would take it for sequences of sequences without end.
        raise TypeError(
            "a Dataset is no array; data.arrays has those of what is in it, data.to_frame() a table, and "
            "estimators that ask for a matrix as X can have model.encode(data)"
        )

    def __contains__(self, id: Any) -> bool:
        """Whether there is a series with this id."""
        return isinstance(id, Hashable) and id in self._all_names[0]

    def __iter__(self) -> "Iterator[Dataset]":
        return (self[i] for i in range(len(self)))

    def before(self, time: Any) -> "Dataset":
        """All series with what was observed before a time: a number in the data's unit or a date-time."""
        return self._before(time, "time")

    def limits(self, time: Any, what: str) -> Floats:
        """One time for all series, [1], or what it is in each, [series × 1]; infinity is none."""
        if isinstance(time, (int, float)) and time == np.inf:
            return np.full(1, np.inf)
        if np.size(time) != 1:
            raise Error(f"{what}: give one time for all series")
        return asked_times(time, self.time_axis, what)

    def _before(self, time: Any, what: str) -> "Dataset":
        until = self.limits(time, what)
        if until.ndim == 1 or np.unique(until).size == 1:
            return self._subset(np.arange(len(self), dtype=np.int64), float(until.flat[0]))
        a = self._arrays
        event = np.repeat(np.arange(self.events), np.diff(a["first_observation"]))
        series = np.repeat(np.arange(len(self)), np.diff(a["first_event"]))[event]
        return self._rebuilt(a["times"][event] < until[series, 0])

    def _rebuilt(
        self, kept: Any = slice(None), more: "Optional[tuple[str, Ints, Floats]]" = None
    ) -> "Dataset":
        """The same series with some of the observations; ``more`` is another feature with a value of 0
        at these times of series."""
        a = self._arrays
        event = np.repeat(np.arange(self.events), np.diff(a["first_observation"]))
        series = np.repeat(np.arange(len(self), dtype=np.int64), np.diff(a["first_event"]))[event]
        columns = [series[kept], a["times"][event][kept], a["feature"][kept], a["value"][kept]]
        names = list(self.features)
        if more is not None:
            own = [more[1], more[2], np.full(more[1].size, len(names), np.int32), np.zeros(more[1].size)]
            columns = [np.concatenate(both) for both in zip(columns, own)]
            names.append(more[0])
        known = (self._names(0), names, *(self._names(which) for which in (2, 3, 4)))
        return _restored(known, a, self.time_axis, self._reading, self._values, None, columns)

    def select(self, ids: Any) -> "Dataset":
        """The series with these ids, which may be numbers; ``data[…]`` takes numbers for places.

        >>> data = Dataset.from_arrays([[0], [0]], [[[1.0]], [[2.0]]], ids=[101, 7])
        >>> data.select([7]).ids, data[[0]].ids
        ([7], [101])
        """
        if isinstance(ids, str) or np.ndim(ids) == 0:
            ids = [ids]
        return self._subset(_convert.places_of_names(objects_of(ids), self.ids, "series"), np.inf)

    def _places(self, key: Any) -> Ints:
        # As scikit-learn asks whatever has a shape: [places, ...].
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]
        if isinstance(key, list) and key and all(type(v) is int for v in key):
            known = self.ids
            if set(key) <= set(known) and [known[i] if -len(known) <= i < len(known) else None for i in key] != key:
                raise Error(
                    f"{key[0]!r} may be a place or an id of these series; give data.select(ids), or places as "
                    "an array of numpy"
                )
        return _convert.places(key, self.ids, "series")

    def _subset(self, places: Ints, until: float) -> "Dataset":
        places = np.ascontiguousarray(places)
        handle = made(
            "dataset", lib.edict_dataset_subset, self._handle, places.size, address(places), until
        )
        rows = None if self._rows is None or until != np.inf else self._rows.take(places, len(self))
        axis = None if self.time_axis is None else self.time_axis.take(places)
        return Dataset(handle, axis, self._values.take(places), rows)

    def with_labels(self, labels: Sequence[Any]) -> "Dataset":
        """The same series with other labels, in their order; None or NaN is none. A Series whose index holds
        the ids goes by those.

        >>> data = Dataset.from_arrays([[0], [0]], [[[1.0]], [[2.0]]])
        >>> data.with_labels(["yes", "no"]).classes
        ['no', 'yes']
        """
        names, codes, values = coded(labels, self._all_names[0], "labels")
        handle = made(
            "dataset", lib.edict_dataset_relabel, self._handle, len(names), texts(names),
            address(codes),
        )  # fmt: skip
        return Dataset(handle, self.time_axis, replace(self._values, classes=values), self._rows)

    # ---- as something else -----------------------------------------------------------------------

    def moments(self, times: Floats, series: Ints) -> Any:
        """Times of these series as they were given: date-times, or the floats themselves."""
        if self.time_axis is None:
            return times
        return self.time_axis.localised(self.time_axis.to_moments(times, series))

    def to_frame(self, form: str = "wide") -> Any:
        """A pandas DataFrame, a row an event ("wide") or an observation ("long").

        >>> Dataset.from_arrays([[0, 1]], [[[1.0], [2.0]]]).to_frame()
           id  time   x1
        0   0   0.0  1.0
        1   0   1.0  2.0
        """
        return self._frame(form, ())

    def _frame(self, form: str, also: Sequence[str]) -> Any:
        """:meth:`to_frame`, to which columns of features of these names too will be added."""
        a = self._arrays
        event_series = np.repeat(np.arange(len(self)), np.diff(a["first_event"]))
        per_event = np.diff(a["first_observation"])
        if form == "long":
            event = np.repeat(np.arange(self.events), per_event)
            series = event_series[event]
            measured: list[tuple[str, Any]] = [
                ("feature", np.asarray(self.features, dtype=object)[a["feature"]]), ("value", a["value"])
            ]
            also = ("id", "time", "feature", "value")
            return self._table(series, self.moments(a["times"][event], series), measured, also)
        if form != "wide":
            raise Error(f"form {form!r} is unknown; give wide or long")
        matrix = np.full((self.events, len(self.features)), np.nan)
        matrix[np.repeat(np.arange(self.events), per_event), a["feature"]] = a["value"]
        measured = [(name, matrix[:, j]) for j, name in enumerate(self.features)]
        return self._table(event_series, self.moments(a["times"], event_series), measured, also)

    def _frame_of(self, rows: SourceRows, also: Sequence[str]) -> Any:
        """:meth:`to_frame` without values, for these rows."""
        when: Any = rows.times
        if self.time_axis is not None:
            missing = np.isnan(when)
            when = self.moments(np.where(missing, 0.0, when), rows.series).where(~missing)
        measured = [(name, np.full(rows.series.size, np.nan)) for name in self.features]
        frame = self._table(rows.series, when, measured, also)
        if rows.index is not None:
            frame.index = rows.index
        return frame

    def _table(
        self, series: Ints, when: Any, measured: Sequence[tuple[str, Any]], also: Sequence[str]
    ) -> Any:
        """Rows of these series with what was measured and what belongs to whole series. What is measured
        keeps its name; another column of that name gets a "_" behind it."""
        taken = {name for name, _ in measured} | set(also)
        long = "value" in also and "feature" in also
        keys = [("id", array_of(self.ids)[series]), ("time", when)]
        constants: list[tuple[str, Any]] = [
            (name, self._arrays["statics"][series, j]) for j, name in enumerate(self.statics)
        ]
        if self.classes:
            constants.append(("label", self.labels[series]))
        if self.group_names:
            constants.append(("group", self.groups[series]))
        columns = dict(keys if long else [(free_name(name, taken), column) for name, column in keys])
        columns.update(measured)
        for name, column in constants:
            columns[free_name(name, taken | set(columns))] = column
        return compat.pandas().DataFrame(columns)

    def __reduce__(self) -> tuple[Any, ...]:
        names = tuple(self._names(which) for which in range(5))
        return _restored, (
            names, dict(self._arrays), self.time_axis, self._reading, self._values, self._rows,
        )  # fmt: skip


def _restored(
    names: tuple[list[str], ...], arrays: Mapping[str, npt.NDArray[Any]], axis: Optional[TimeAxis],
    reading: Mapping[str, Any], values: Values = Values(), rows: Optional[SourceRows] = None,
    observed: Optional[Sequence[npt.NDArray[Any]]] = None,
) -> Dataset:  # fmt: skip
    """A dataset of its names and arrays; ``observed`` are other observations than theirs: of which
    series, when, which feature and value."""
    ids, features, statics, classes, groups = names
    builder = Builder(ids, features)
    if classes:
        builder.labels(classes, np.ascontiguousarray(arrays["labels"]))
    if groups:
        builder.groups(groups, np.ascontiguousarray(arrays["groups"]))
    if statics:
        builder.statics(statics, arrays["statics"])
    builder.dates(axis)
    builder.reading({key: value for key, value in reading.items() if key != "recognised"})
    if observed is None:
        event_series = np.repeat(np.arange(len(ids), dtype=np.int64), np.diff(arrays["first_event"]))
        event = np.repeat(np.arange(arrays["times"].size), np.diff(arrays["first_observation"]))
        observed = (event_series[event], arrays["times"][event], arrays["feature"], arrays["value"])
    builder.observations(*observed)
    return Dataset(builder.build("error"), axis, values, rows)


def free_name(name: str, taken: Collection[str]) -> str:
    """The name of a column that no other has; where that is not its own, it is said."""
    free = name
    while free in taken:
        free += "_"
    if free != name:
        warn(f"another column is called {name!r}, so this one is {free!r}")
    return free
