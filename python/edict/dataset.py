"""Irregular, partly observed series as an object that scikit-learn takes for X."""

from __future__ import annotations

import ctypes
import html
import json
import os
from functools import cached_property
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from . import compat
from ._native import (
    DatasetSize, Error, Handle, address, check, json_of, lib, made, names_of as native_names,
    path_bytes, texts,
)  # fmt: skip
from .columns import (
    FeatureColumns, Names, as_list, column, constant_of_series, factorize, names_of, number_column,
    static_columns, times_of,
)  # fmt: skip
from .times import TimeAxis, axis_from_rules

if TYPE_CHECKING:
    from .model import Model

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
_DUPLICATES = {"error": 0, "first": 1, "last": 2, "mean": 3}


class Dataset:
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

    def __init__(self, handle: Handle, axis: Optional[TimeAxis] = None) -> None:
        self._handle = handle
        self.time_axis = axis

    # ---- making one ------------------------------------------------------------------------------

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        id: Optional[str] = "id",
        time: str = "time",
        features: Names = None,
        label: Optional[str] = None,
        group: Optional[str] = None,
        static: Names = None,
        unit: Optional[str] = None,
        origin: Any = "first",
        duplicates: str = "error",
    ) -> "Dataset":
        """Wide form: a row an event, NaN where a feature was not observed. Rows in any order.

        ``id=None`` takes the table as one series. ``features`` are by default all other columns of
        numbers, and those of texts that change within a series; texts are categories, each a feature
        ``column=text`` of 0 and 1. Date-times (with or without a zone) are counted in ``unit`` ("s", "min", "h", "d";
        by default hours) from ``origin``: ``"first"``, each series' first row, or one moment for all.
        Texts in ``static`` columns are categories likewise. ``duplicates`` says what happens to
        different values of a feature at one time of a series: "error", "first", "last" or "mean".

        >>> import pandas as pd
        >>> frame = pd.DataFrame({
        ...     "patient": ["a", "a", "b"], "lactate": [2.1, None, 0.9],
        ...     "when": pd.to_datetime(["2024-03-01 12:30", "2024-03-01 14:00", "2024-03-02 08:00"]),
        ...     "pulse": [92, 88, 71]})
        >>> data = Dataset.from_frame(frame, id="patient", time="when")
        >>> data.times
        array([0. , 1.5, 0. ])
        """
        table = _Columns(frame)
        rows = len(frame)
        series, ids = _series_of(table, id, rows)
        times, axis = times_of(column(table, time, "time"), series, ids, unit, origin)
        statics = as_list(static)
        used = {name for name in (id, time, label, group, *statics) if name is not None}
        chosen = FeatureColumns(table, features, used, series)
        builder = _Builder(ids, chosen.names)
        categories = builder.attach(table, series, ids, label, group, statics)
        builder.dates(axis)
        builder.rows(series, times, chosen.values)
        builder.reading(
            _reading(
                id, time, label, group, duplicates, statics=statics, features=chosen.columns,
                categories=[*_categories(chosen.categories, False), *categories],
            )
        )  # fmt: skip
        return cls(builder.build(duplicates), axis)

    @classmethod
    def from_long(
        cls,
        frame: Any,
        *,
        id: Optional[str] = "id",
        time: str = "time",
        feature: str = "feature",
        value: str = "value",
        label: Optional[str] = None,
        group: Optional[str] = None,
        static: Names = None,
        unit: Optional[str] = None,
        origin: Any = "first",
        duplicates: str = "error",
    ) -> "Dataset":
        """Long form: a row an observation, with the name of its feature.

        >>> import pandas as pd
        >>> frame = pd.DataFrame({"id": [1, 1], "time": [0.5, 0.5], "feature": ["a", "b"],
        ...                       "value": [3.0, 4.0]})
        >>> Dataset.from_long(frame)
        Dataset(1 series, 1 event, 2 observations, 2 features)
        """
        table = _Columns(frame)
        series, ids = _series_of(table, id, len(frame))
        times, axis = times_of(column(table, time, "time"), series, ids, unit, origin)
        codes, uniques = factorize(column(table, feature, "the feature's name"))
        if (codes < 0).any():
            raise Error(f"column {feature!r}: a feature has no name")
        builder = _Builder(ids, names_of(uniques, "features"))
        statics = as_list(static)
        categories = builder.attach(table, series, ids, label, group, statics)
        builder.dates(axis)
        builder.reading(
            _reading(
                id, time, label, group, duplicates, statics=statics, categories=categories
            )
        )
        values = np.ascontiguousarray(number_column(column(table, value, "values"), value))
        builder.observations(series, times, codes.astype(np.int32), values)
        return cls(builder.build(duplicates), axis)

    @classmethod
    def from_arrays(
        cls,
        times: Sequence[Any],
        values: Sequence[Any],
        *,
        ids: Optional[Sequence[Any]] = None,
        features: Optional[Sequence[str]] = None,
        labels: Optional[Sequence[Any]] = None,
        groups: Optional[Sequence[Any]] = None,
        static: Optional[Mapping[str, Sequence[float]]] = None,
    ) -> "Dataset":
        """A list of times [events] and of values [events × features], one of each a series.

        >>> Dataset.from_arrays([[0, 1.5], [0.2]], [[[1, 2], [3, float("nan")]], [[5, 6]]])
        Dataset(2 series, 3 events, 5 observations, 2 features)
        """
        if len(times) != len(values):
            raise Error(f"{len(times)} arrays of times for {len(values)} of values")
        matrices = [np.asarray(v, dtype=np.float64) for v in values]
        matrices = [m[:, None] if m.ndim == 1 else m for m in matrices]
        width = max((m.shape[1] for m in matrices), default=0)
        names = _feature_names(features, width)
        for i, (t, m) in enumerate(zip(times, matrices)):
            if m.shape != (len(t), width):
                raise Error(f"series {i}: {len(t)} times for values of shape {m.shape}")
        flat = np.concatenate(matrices) if matrices else np.empty((0, width))
        series = np.repeat(np.arange(len(times)), [len(t) for t in times]).astype(np.int64)
        when = np.concatenate([np.asarray(t, dtype=np.float64) for t in times] or [np.empty(0)])
        return cls._from_matrix(series, when, flat, names, len(times), ids, labels, groups, static)

    @classmethod
    def from_numpy3d(
        cls,
        values: Any,
        times: Any = None,
        *,
        ids: Optional[Sequence[Any]] = None,
        features: Optional[Sequence[str]] = None,
        labels: Optional[Sequence[Any]] = None,
        groups: Optional[Sequence[Any]] = None,
        static: Optional[Mapping[str, Sequence[float]]] = None,
    ) -> "Dataset":
        """An array [series × times × features], NaN where not observed.

        ``times`` are those of all series, [times], or of each, [series × times]; by default 0, 1, ….

        >>> import numpy as np
        >>> Dataset.from_numpy3d(np.zeros((4, 10, 3)))
        Dataset(4 series, 40 events, 120 observations, 3 features)
        """
        array = np.asarray(values, dtype=np.float64)
        if array.ndim != 3:
            raise Error(f"the array has {array.ndim} axes; give series × times × features")
        count, steps, width = array.shape
        when = np.arange(steps, dtype=np.float64) if times is None else np.asarray(times, np.float64)
        if when.shape not in ((steps,), (count, steps)):
            raise Error(f"times of shape {when.shape} for {count} series of {steps} times")
        when = np.ascontiguousarray(np.broadcast_to(when, (count, steps))).ravel()
        series = np.repeat(np.arange(count, dtype=np.int64), steps)
        names = _feature_names(features, width)
        flat = array.reshape(count * steps, width)
        return cls._from_matrix(series, when, flat, names, count, ids, labels, groups, static)

    @classmethod
    def from_arrow(cls, table: Any, *, form: str = "wide", **columns: Any) -> "Dataset":
        """Anything with ``__arrow_c_stream__``: polars, DuckDB, pyarrow, pandas 2.

        Its memory is read as it stands; pyarrow is not needed. ``form`` is "wide" or "long", and the
        other arguments are those of :meth:`from_frame` or :meth:`from_long`.
        """
        from .arrow import read_stream

        if form == "wide":
            return cls.from_frame(read_stream(table), **columns)
        if form == "long":
            return cls.from_long(read_stream(table), **columns)
        raise Error(f"form {form!r} is unknown; give wide or long")

    @classmethod
    def read_csv(
        cls,
        path: "str | os.PathLike[str]",
        *,
        id: Optional[str] = "auto",
        time: str = "auto",
        features: Names = None,
        label: Optional[str] = "auto",
        group: Optional[str] = "auto",
        static: Names = None,
        categories: Names = None,
        unit: Optional[str] = None,
        origin: Any = None,
        duplicates: str = "error",
        like: "Optional[Model]" = None,
    ) -> "Dataset":
        """A file as the command-line tool reads it: separators, dates, spellings of what is missing
        and, where nothing is said, the meaning of its columns are recognised.

        The arguments are those of :meth:`from_frame`; ``categories`` are columns whose values are
        names even if they are numbers. ``like``: a model; what is not said is then done as for its
        training data: the same columns, texts as the same categories, times in the same unit from
        the same origin.
        """
        options: dict[str, Any] = {
            name: "none" if column is None else column
            for name, column in (("id", id), ("time", time), ("label", label), ("group", group))
            if column != "auto"
        }
        for name, columns in (("features", features), ("statics", static), ("categories", categories)):
            if columns is not None:
                options[name] = as_list(columns)
        if unit is not None:
            options["time_unit"] = unit
        if origin is not None:
            options["origin"] = str(origin)
        if duplicates != "error":
            options["duplicates"] = duplicates
        pointer = None if like is None else like.pointer
        text = json.dumps(options).encode()
        data = cls(made("dataset", lib.edict_dataset_read, path_bytes(path), text, pointer))
        origin = np.empty(len(data))
        rules = json_of(lib.edict_dataset_dates, data.pointer, address(origin))
        data.time_axis = axis_from_rules(rules, origin)
        return data

    def write_csv(self, path: "str | os.PathLike[str]") -> None:
        """A file as the command-line tool reads it; times as numbers."""
        check(lib.edict_dataset_write(self.pointer, path_bytes(path)))

    @classmethod
    def _from_matrix(
        cls, series: Ints, times: Floats, values: Floats, names: list[str], count: int,
        ids: Optional[Sequence[Any]], labels: Optional[Sequence[Any]],
        groups: Optional[Sequence[Any]], static: Optional[Mapping[str, Sequence[float]]],
    ) -> "Dataset":  # fmt: skip
        own = [str(i) for i in range(count)] if ids is None else [str(i) for i in ids]
        if len(own) != count:
            raise Error(f"{len(own)} ids for {count} series")
        builder = _Builder(own, names)
        if labels is not None:
            builder.labels(*_coded(labels, count, "labels"))
        if groups is not None:
            builder.groups(*_coded(groups, count, "groups"))
        if static:
            builder.statics(
                list(static),
                np.stack([np.asarray(v, dtype=np.float64) for v in static.values()], axis=1),
            )
        builder.rows(series, times, [values[:, j] for j in range(values.shape[1])])
        return cls(builder.build("error"))

    # ---- what is in it ---------------------------------------------------------------------------

    @property
    def pointer(self) -> Optional[int]:
        return self._handle.pointer

    @cached_property
    def _sizes(self) -> DatasetSize:
        sizes = DatasetSize()
        check(lib.edict_dataset_sizes(self.pointer, ctypes.addressof(sizes), ctypes.sizeof(sizes)))
        return sizes

    def __len__(self) -> int:
        return int(self._sizes.series)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self), int(self._sizes.features)

    @property
    def events(self) -> int:
        return int(self._sizes.events)

    @property
    def observations(self) -> int:
        return int(self._sizes.observations)

    def _names(self, which: int) -> list[str]:
        return native_names(lib.edict_dataset_names, self.pointer, which)

    @cached_property
    def ids(self) -> list[str]:
        return self._names(0)

    @cached_property
    def features(self) -> list[str]:
        return self._names(1)

    @cached_property
    def statics(self) -> list[str]:
        return self._names(2)

    @cached_property
    def classes(self) -> list[str]:
        return self._names(3)

    @cached_property
    def group_names(self) -> list[str]:
        return self._names(4)

    @cached_property
    def fingerprint(self) -> int:
        """One number for everything in it."""
        result = ctypes.c_uint64()
        check(lib.edict_dataset_fingerprint(self.pointer, ctypes.addressof(result)))
        return result.value

    @cached_property
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """A copy of the arrays: events of series i are ``first_event[i]:first_event[i + 1]``,
        observations of event e ``first_observation[e]:first_observation[e + 1]``."""
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
        check(lib.edict_dataset_arrays(self.pointer, *(address(a) for a in result.values())))
        for array in result.values():
            array.flags.writeable = False
        return result

    @property
    def times(self) -> Floats:
        """Of all events, series after series."""
        return self.arrays["times"]

    @property
    def labels(self) -> npt.NDArray[np.object_]:
        """The class of each series, None without one; what scikit-learn calls y."""
        return _named(self.classes, self.arrays["labels"])

    @property
    def groups(self) -> npt.NDArray[np.object_]:
        """The group of each series, None without one; what GroupKFold takes."""
        return _named(self.group_names, self.arrays["groups"])

    @cached_property
    def last_times(self) -> Floats:
        """When each series was last observed; NaN without events."""
        first = self.arrays["first_event"]
        result = np.full(len(self), np.nan)
        some = first[1:] > first[:-1]
        result[some] = self.times[first[1:][some] - 1]
        return result

    @cached_property
    def reading(self) -> dict[str, Any]:
        """Which columns of a table it came from; a model remembers it and reads files alike."""
        result: dict[str, Any] = json_of(lib.edict_dataset_reading, self.pointer)
        return result

    def summary(self) -> dict[str, Any]:
        """Counts, times, and the moments of every feature."""
        result: dict[str, Any] = json_of(lib.edict_dataset_summary, self.pointer)
        return result

    # ---- parts of it -----------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> "Dataset":
        return self._subset(self._places(key), np.inf)

    def __iter__(self) -> "Iterator[Dataset]":
        return (self[i] for i in range(len(self)))

    def before(self, time: float) -> "Dataset":
        """All series with what was observed before a time."""
        return self._subset(np.arange(len(self), dtype=np.int64), time)

    def _places(self, key: Any) -> Ints:
        count = len(self)
        # As scikit-learn asks whatever has a shape: [places, ...].
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]
        if isinstance(key, slice):
            return np.arange(count, dtype=np.int64)[key]
        array = np.atleast_1d(np.asarray(key))
        if array.dtype.kind in ("U", "O") and array.size and isinstance(array.flat[0], str):
            place = {name: i for i, name in enumerate(self.ids)}
            try:
                return np.array([place[str(name)] for name in array], dtype=np.int64)
            except KeyError as e:
                raise Error(f"there is no series {e.args[0]!r}") from None
        if array.dtype.kind == "b":
            if array.shape != (count,):
                raise IndexError(f"a mask of {array.size} entries for {count} series")
            return np.flatnonzero(array).astype(np.int64)
        if array.size == 0:
            return np.empty(0, np.int64)
        if array.dtype.kind not in ("i", "u") or array.ndim != 1:
            raise TypeError("give a mask, a slice, integers or ids")
        places = array.astype(np.int64)
        if ((places < -count) | (places >= count)).any():
            raise IndexError(f"a place beyond the {count} series")
        return np.where(places < 0, places + count, places)

    def _subset(self, places: Ints, until: float) -> "Dataset":
        places = np.ascontiguousarray(places)
        handle = made(
            "dataset", lib.edict_dataset_subset, self.pointer, places.size, address(places), until
        )
        return Dataset(handle, None if self.time_axis is None else self.time_axis.take(places))

    def with_labels(self, labels: Sequence[Any]) -> "Dataset":
        """The same series with other labels; None or NaN is none.

        >>> data = Dataset.from_arrays([[0], [0]], [[[1.0]], [[2.0]]])
        >>> data.with_labels(["yes", "no"]).classes
        ['no', 'yes']
        """
        names, codes = _coded(labels, len(self), "labels")
        handle = made(
            "dataset", lib.edict_dataset_relabel, self.pointer, len(names), texts(names),
            address(codes),
        )  # fmt: skip
        return Dataset(handle, self.time_axis)

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
        0  0   0.0  1.0
        1  0   1.0  2.0
        """
        pd = compat.pandas()
        a = self.arrays
        event_series = np.repeat(np.arange(len(self)), np.diff(a["first_event"]))
        per_event = np.diff(a["first_observation"])
        ids = np.asarray(self.ids, dtype=object)
        if form == "long":
            event = np.repeat(np.arange(self.events), per_event)
            series = event_series[event]
            frame = pd.DataFrame({
                "id": ids[series],
                "time": self.moments(a["times"][event], series),
                "feature": np.asarray(self.features, dtype=object)[a["feature"]],
                "value": a["value"],
            })  # fmt: skip
        elif form == "wide":
            series = event_series
            matrix = np.full((self.events, len(self.features)), np.nan)
            matrix[np.repeat(np.arange(self.events), per_event), a["feature"]] = a["value"]
            frame = pd.DataFrame({"id": ids[series], "time": self.moments(a["times"], series)})
            for j, name in enumerate(self.features):
                frame[name] = matrix[:, j]
        else:
            raise Error(f"form {form!r} is unknown; give wide or long")
        for j, name in enumerate(self.statics):
            frame[name] = a["statics"][series, j]
        if self.classes:
            frame["label"] = self.labels[series]
        if self.group_names:
            frame["group"] = self.groups[series]
        return frame

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
            parts.append(f"{s.classes} classes")
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
            f"{html.escape(name)}: {count}" for name, count in zip(self.classes, s["classes"])
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

    def __reduce__(self) -> tuple[Any, ...]:
        names = (self.ids, self.features, self.statics, self.classes, self.group_names)
        return _restored, (names, dict(self.arrays), self.time_axis, self.reading)


def _restored(
    names: tuple[list[str], ...], arrays: dict[str, npt.NDArray[Any]], axis: Optional[TimeAxis],
    reading: Mapping[str, Any],
) -> Dataset:  # fmt: skip
    ids, features, statics, classes, groups = names
    builder = _Builder(ids, features)
    if classes:
        builder.labels(classes, np.ascontiguousarray(arrays["labels"]))
    if groups:
        builder.groups(groups, np.ascontiguousarray(arrays["groups"]))
    if statics:
        builder.statics(statics, arrays["statics"])
    builder.dates(axis)
    builder.reading({key: value for key, value in reading.items() if key != "recognised"})
    event_series = np.repeat(np.arange(len(ids), dtype=np.int64), np.diff(arrays["first_event"]))
    event = np.repeat(np.arange(arrays["times"].size), np.diff(arrays["first_observation"]))
    builder.observations(
        event_series[event], np.ascontiguousarray(arrays["times"][event]), arrays["feature"],
        arrays["value"],
    )  # fmt: skip
    return Dataset(builder.build("error"), axis)


class _Columns(Mapping[str, Any]):
    """A table by the names of its columns: a DataFrame or a mapping."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __getitem__(self, name: str) -> Any:
        return self._frame[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._frame.keys())

    def __len__(self) -> int:
        return len(self._frame.keys())


class _Builder:
    """The library's builder; arrays are handed over as they are."""

    def __init__(self, ids: Sequence[str], features: Sequence[str]) -> None:
        self._series = len(ids)
        self._handle = made(
            "builder", lib.edict_builder_new, len(ids), texts(ids), len(features), texts(features)
        )

    def labels(self, names: Sequence[str], codes: npt.NDArray[np.int32]) -> None:
        pointer = self._handle.pointer
        check(lib.edict_builder_labels(pointer, len(names), texts(names), address(codes)))

    def groups(self, names: Sequence[str], codes: npt.NDArray[np.int32]) -> None:
        pointer = self._handle.pointer
        check(lib.edict_builder_groups(pointer, len(names), texts(names), address(codes)))

    def statics(self, names: Sequence[str], values: Floats) -> None:
        values = np.ascontiguousarray(values, dtype=np.float64)
        if values.shape != (self._series, len(names)):
            raise Error(f"static covariates of shape {values.shape} for {self._series} series")
        pointer = self._handle.pointer
        check(lib.edict_builder_statics(pointer, len(names), texts(names), address(values)))

    def dates(self, axis: Optional[TimeAxis]) -> None:
        if axis is None:
            return
        # Whole microseconds, as the library keeps moments.
        origin = (axis.origin.astype(np.int64) / 1000).astype(np.float64)
        if not axis.from_first and not origin.size:
            origin = np.zeros(1)
        check(
            lib.edict_builder_dates(
                self._handle.pointer, axis.unit.encode(), int(axis.from_first), address(origin),
                int(axis.zone is not None), axis.zone_minutes(),
            )
        )  # fmt: skip

    def reading(self, columns: Mapping[str, Any]) -> None:
        check(lib.edict_builder_reading(self._handle.pointer, json.dumps(columns).encode()))

    def attach(
        self, table: Mapping[str, Any], series: Ints, ids: list[str], label: Optional[str],
        group: Optional[str], statics: list[str],
    ) -> list[dict[str, Any]]:  # fmt: skip
        """What belongs to whole series, from columns that repeat it in every row; tells which of
        them became categories."""
        for name, put, what in ((label, self.labels, "label"), (group, self.groups, "group")):
            if name is None:
                continue
            codes, uniques = factorize(column(table, name, what))
            own = constant_of_series(codes, series, ids, what)
            put(names_of(uniques, f"{what}s"), own.astype(np.int32))
        if not statics:
            return []
        names, values, categories = static_columns(table, statics, series, ids)
        self.statics(names, values)
        return _categories(categories, True)

    def rows(self, series: Ints, times: Floats, columns: Sequence[Floats]) -> None:
        for values in columns:
            if values.shape != series.shape:
                raise Error("a column is not as long as the others")
        times = np.ascontiguousarray(times)
        pointers = (ctypes.c_void_p * len(columns))(*[v.ctypes.data for v in columns])
        strides = np.array([v.strides[0] // 8 if v.size else 1 for v in columns], dtype=np.int64)
        check(
            lib.edict_builder_rows(
                self._handle.pointer, series.size, address(series), address(times),
                ctypes.addressof(pointers), address(strides),
            )
        )  # fmt: skip

    def observations(
        self, series: Ints, times: Floats, features: npt.NDArray[np.int32], values: Floats
    ) -> None:
        arrays = [np.ascontiguousarray(a) for a in (series, times, features, values)]
        check(
            lib.edict_builder_observations(
                self._handle.pointer, series.size, *(address(a) for a in arrays)
            )
        )

    def build(self, duplicates: str) -> Handle:
        if duplicates not in _DUPLICATES:
            raise Error(f"duplicates={duplicates!r} is unknown; give {', '.join(_DUPLICATES)}")
        return made(
            "dataset", lib.edict_builder_dataset, self._handle.pointer, _DUPLICATES[duplicates]
        )


def _reading(
    id: Optional[str], time: str, label: Optional[str], group: Optional[str], duplicates: str,
    **more: Any,
) -> dict[str, Any]:  # fmt: skip
    """How the table was read, in the library's words."""
    return {
        "id": "none" if id is None else id, "time": time, "label": label or "",
        "group": group or "", "duplicates": "" if duplicates == "error" else duplicates, **more,
    }  # fmt: skip


def _categories(columns: Mapping[str, list[str]], static: bool) -> list[dict[str, Any]]:
    return [
        {"column": name, "static": static, "values": texts} for name, texts in columns.items()
    ]


def _series_of(table: Mapping[str, Any], id: Optional[str], rows: int) -> tuple[Ints, list[str]]:
    if id is None:
        return np.zeros(rows, dtype=np.int64), ["0"]
    codes, uniques = factorize(column(table, id, "the id"))
    if (codes < 0).any():
        raise Error(f"column {id!r}: row {int(np.argmax(codes < 0))} has no id")
    return codes, names_of(uniques, "ids")


def _coded(values: Sequence[Any], count: int, what: str) -> tuple[list[str], npt.NDArray[np.int32]]:
    if len(values) != count:
        raise Error(f"{len(values)} {what} for {count} series; give one each")
    codes, uniques = factorize(np.asarray(values, dtype=object))
    return names_of(uniques, what), np.ascontiguousarray(codes, dtype=np.int32)


def _named(names: list[str], codes: npt.NDArray[np.int32]) -> npt.NDArray[np.object_]:
    return np.asarray([*names, None], dtype=object)[codes]


def _feature_names(names: Optional[Sequence[str]], width: int) -> list[str]:
    if names is None:
        return [f"x{j + 1}" for j in range(width)]
    if len(names) != width:
        raise Error(f"{len(names)} names for {width} features")
    return [str(name) for name in names]


def _number(value: Optional[float]) -> str:
    """JSON has no NaN: the moments of what was never observed are None."""
    return "" if value is None else f"{value:.4g}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
