"""Irregular, partly observed series as an object that scikit-learn takes for X."""

from __future__ import annotations

import ctypes
import html
import json
import os
from copy import deepcopy
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Collection, Hashable, Iterator, Mapping, Optional, Sequence

import numpy as np
import numpy.typing as npt

from . import _convert, compat
from ._convert import Array, Floats, Ints, array_of, named, objects_of, read_only, text_of, typed
from ._native import (
    DatasetSize, Error, Handle, MissingFile, address, check, json_of, lib, made,
    names_of as native_names, path_bytes, texts, warn,
)  # fmt: skip
from .builder import Builder, SourceRows, Values, check_duplicates, coded
from .cells import decimal_word
from .columns import FeatureColumns, Names, Table, as_list, factorize, names_of
from .missing import as_codes
from .table_roles import Roles, attach, categories_in_json, counted_times, series_of
from .times import TimeAxis, asked_times, axis_from_rules, counted

if TYPE_CHECKING:
    from .model import Model


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

    def __init__(
        self, handle: Handle, axis: Optional[TimeAxis] = None, values: Values = Values(),
        rows: Optional[SourceRows] = None,
    ) -> None:  # fmt: skip
        self._handle = handle
        self._axis = axis
        self._values = values
        self._rows = rows

    # ---- making one ------------------------------------------------------------------------------

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        id: Optional[str] = "auto",
        time: str = "auto",
        features: Names = None,
        label: Optional[str] = "auto",
        group: Optional[str] = "auto",
        static: Names = None,
        unit: Optional[str] = None,
        origin: Any = None,
        duplicates: Optional[str] = None,
        missing: Any = None,
        decimal: Optional[str] = None,
        like: "Optional[Model]" = None,
    ) -> "Dataset":
        """Wide form: a row an event, NaN where a feature was not observed. Rows in any order.

        ``id`` and ``time`` are "id" and "time" where nothing is said, and there is no ``label`` and no
        ``group``. They may be levels of the index. ``id=None`` takes the table as one series.
        ``features`` are by default all other columns of
        numbers, and those of texts that change within a series; texts are categories, each a feature
        ``column=text`` of 0 and 1. Columns that are empty or count the rows ("Unnamed: 0") are left out
        with a warning. Date-times (with or without a zone) and durations are counted in
        ``unit`` ("s", "min", "h", "d"; by default hours), date-times from ``origin``: ``"first"``, each
        series' first row, or one moment for all. Texts are read as in a file, "01.03.2024", "5,2 mmol/L" and
        "<0.1" too; what was done is said in a warning, and ``decimal`` says what a comma means.
        Texts in ``static`` columns are categories likewise. ``duplicates`` says what happens to
        different values of a feature at one time of a series: "error", "first", "last" or "mean".
        ``missing`` is what stands for a missing value: ``-999``, ``"column=-999"``, several of them in a
        list, or ``{"column": -999}``. Numbers as -999 that stand out count as missing too, with a warning,
        unless it is ``"none"``.

        ``like``: a model; what is not said is then done as for its training data: the same columns,
        texts as the same categories, times in the same unit from the same origin, the same values
        as missing.

        >>> import pandas as pd
        >>> frame = pd.DataFrame({
        ...     "patient": ["a", "a", "b"], "lactate": [2.1, None, 0.9],
        ...     "when": pd.to_datetime(["2024-03-01 12:30", "2024-03-01 14:00", "2024-03-02 08:00"]),
        ...     "pulse": [92, 88, 71]})
        >>> data = Dataset.from_frame(frame, id="patient", time="when")
        >>> data.times
        array([0. , 1.5, 0. ])
        """
        check_like(like)
        table = Table(frame)
        roles = Roles(table, like, id, time, label, group, static, duplicates, missing, decimal)
        series, ids, id_values = series_of(table, roles.id)
        times, axis = counted_times(table, roles.time, series, len(ids), unit, origin, like)
        if features is None and like is not None:
            features = roles.known_features()
        chosen = FeatureColumns(
            table, features, roles.used, series, roles.categories(False), roles.missing, roles.cells
        )
        builder = Builder(ids, chosen.names)
        values, categories = attach(builder, table, series, ids, roles, id_values)
        builder.dates(axis)
        builder.rows(series, times, chosen.values)
        builder.reading(
            roles.reading(chosen.columns, [*categories_in_json(chosen.categories, False), *categories])
        )
        rows = SourceRows(table.index, series, times)
        return cls(builder.build(roles.duplicates), axis, values, rows)

    @classmethod
    def from_long(
        cls,
        frame: Any,
        *,
        id: Optional[str] = "auto",
        time: str = "auto",
        feature: str = "feature",
        value: str = "value",
        label: Optional[str] = "auto",
        group: Optional[str] = "auto",
        static: Names = None,
        unit: Optional[str] = None,
        origin: Any = None,
        duplicates: Optional[str] = None,
        missing: Any = None,
        decimal: Optional[str] = None,
        like: "Optional[Model]" = None,
    ) -> "Dataset":
        """Long form: a row an observation, with the name of its feature.

        The other arguments are those of :meth:`from_frame`.

        >>> import pandas as pd
        >>> frame = pd.DataFrame({"id": [1, 1], "time": [0.5, 0.5], "feature": ["a", "b"],
        ...                       "value": [3.0, 4.0]})
        >>> Dataset.from_long(frame)
        Dataset(1 series, 1 event, 2 observations, 2 features)
        """
        check_like(like)
        feature, value = str(feature), str(value)
        table = Table(frame)
        roles = Roles(table, like, id, time, label, group, static, duplicates, missing, decimal)
        series, ids, id_values = series_of(table, roles.id)
        times, axis = counted_times(table, roles.time, series, len(ids), unit, origin, like)
        codes, uniques = factorize(table.column(feature, "the feature's name"))
        if (codes < 0).any():
            raise Error(f"column {feature!r}: row {int(np.argmax(codes < 0))} names no feature")
        names = names_of(uniques, "features")
        builder = Builder(ids, names)
        values, categories = attach(builder, table, series, ids, roles, id_values)
        builder.dates(axis)
        numbers = roles.cells.of_features(table.column(value, "values"), codes, names, value, roles.missing)
        builder.reading({**roles.reading([], categories), "variable": feature, "value": value})
        builder.observations(series, times, codes.astype(np.int32), numbers)
        return cls(builder.build(roles.duplicates), axis, values)

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
        unit: Optional[str] = None,
        origin: Any = None,
    ) -> "Dataset":
        """A list of times [events] and of values [events × features], one of each a series.

        Times may be date-times or durations, with ``unit`` and ``origin`` as in :meth:`from_frame`.
        What a masked array hides was not observed. Values may be DataFrames, whose columns are taken by
        their names.

        >>> Dataset.from_arrays([[0, 1.5], [0.2]], [[[1, 2], [3, float("nan")]], [[5, 6]]])
        Dataset(2 series, 3 events, 5 observations, 2 features)
        """
        for what, given_list in (("times", times), ("values", values)):
            if hasattr(given_list, "columns") or isinstance(given_list, (Mapping, str)) or not (
                hasattr(given_list, "__len__") and hasattr(given_list, "__iter__")
            ):
                raise TypeError(
                    f"{what} is a {type(given_list).__name__}; give a list with an array a series, or a table to "
                    "Dataset.from_frame"
                )
        if len(times) != len(values):
            raise Error(f"{len(times)} arrays of times for {len(values)} of values")
        features, values = _columns_by_name(features, values)
        matrices = [_convert.numbers(v, f"values[{i}]") for i, v in enumerate(values)]
        matrices = [m[:, None] if m.ndim == 1 else m for m in matrices]
        width = max((m.shape[1] for m in matrices if m.ndim == 2), default=0)
        names = _feature_names(features, width)
        given = [_convert.times(t, f"times[{i}]") for i, t in enumerate(times)]
        for i, (t, m) in enumerate(zip(given, matrices)):
            if t.values.ndim != 1 or m.shape != (t.values.size, width):
                if not (t.values.size == m.size == 0):
                    raise Error(f"series {i}: times of shape {t.values.shape} for values of shape {m.shape}")
        flat = np.concatenate([m.reshape(-1, width) for m in matrices] or [np.empty((0, width))])
        series = np.repeat(np.arange(len(given)), [t.values.size for t in given]).astype(np.int64)
        when = _convert.joined(given, "times")
        return cls._from_matrix(
            series, when, flat, names, len(given), ids, labels, groups, static, unit, origin
        )

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
        unit: Optional[str] = None,
        origin: Any = None,
    ) -> "Dataset":
        """An array [series × times × features], NaN or masked where not observed.

        ``times`` are those of all series, [times], or of each, [series × times]; by default 0, 1, ….
        They may be date-times or durations, with ``unit`` and ``origin`` as in :meth:`from_frame`.

        >>> import numpy as np
        >>> Dataset.from_numpy3d(np.zeros((4, 10, 3)))
        Dataset(4 series, 40 events, 120 observations, 3 features)
        """
        array = _convert.contiguous(values, "values")
        if array.ndim != 3:
            raise Error(f"the array has {array.ndim} axes; give series × times × features")
        count, steps, width = array.shape
        given = _convert.times(np.arange(steps) if times is None else times, "times")
        if given.values.shape not in ((steps,), (count, steps)):
            raise Error(f"times of shape {given.values.shape} for {count} series of {steps} times")
        every = np.ascontiguousarray(np.broadcast_to(given.values, (count, steps))).ravel()
        series = np.repeat(np.arange(count, dtype=np.int64), steps)
        names = _feature_names(features, width)
        flat = array.reshape(count * steps, width)
        when = given._replace(values=every)
        return cls._from_matrix(
            series, when, flat, names, count, ids, labels, groups, static, unit, origin
        )

    @classmethod
    def from_arrow(cls, table: Any, *, form: str = "wide", **columns: Any) -> "Dataset":
        """Anything with ``__arrow_c_stream__``: polars, DuckDB, pyarrow, pandas 2.

        Its memory is read as it stands; pyarrow is not needed. ``form`` is "wide" or "long", and the
        other arguments are those of :meth:`from_frame` or :meth:`from_long`.
        """
        from .arrow import read_stream

        if form not in ("wide", "long"):
            raise Error(f"form {form!r} is unknown; give wide or long")
        if form == "wide":
            return cls.from_frame(read_stream(table), **columns)
        return cls.from_long(read_stream(table), **columns)

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
        duplicates: Optional[str] = None,
        missing: Any = None,
        decimal: Optional[str] = None,
        time_format: Optional[str] = None,
        variable: Optional[str] = None,
        value: Optional[str] = None,
        ignore: Names = None,
        like: "Optional[Model]" = None,
    ) -> "Dataset":
        """A file as the command-line tool reads it: separators, dates, spellings of what is missing
        and, where nothing is said, the meaning of its columns are recognised, which a warning says.

        The arguments are those of :meth:`from_frame`, but that different values of one moment are
        averaged where ``duplicates`` says nothing else; ``categories`` are columns whose values are
        names even if they are numbers, ``missing`` what stands for a missing value (``-999``,
        ``"column=-999"``, ``{"column": -999}``, ``"none"``: no number does), ``decimal`` is ``"point"`` or
        ``"."``, ``"comma"`` or ``","``,
        ``time_format`` as in strptime, ``variable`` and ``value`` the columns of a long form, ``ignore``
        columns to leave out. ``like``: a model; what is not said is then done as for its
        training data: the same columns, texts as the same categories, times in the same unit from
        the same origin.
        """
        check_like(like)
        options: dict[str, Any] = {
            name: "none" if column is None else column
            for name, column in (("id", id), ("time", time), ("label", label), ("group", group))
            if column != "auto"
        }
        for name, columns in (
            ("features", features), ("statics", static), ("categories", categories), ("ignored", ignore)
        ):
            if columns is not None:
                options[name] = as_list(columns)
        if missing is not None:
            options["missing"] = as_codes(missing)
        decimal = decimal_word(decimal)
        if duplicates is not None:
            check_duplicates(duplicates)
        for name, word in (
            ("duplicates", duplicates), ("decimal", decimal), ("time_format", time_format),
            ("variable", variable), ("value", value),
        ):
            if word is not None:
                options[name] = word
        if unit is not None:
            options["time_unit"] = unit
        if origin is not None:
            options["origin"] = _origin_text(origin)
        model = None if like is None else like._handle
        text = json.dumps(options).encode()
        try:
            handle = made("dataset", lib.edict_dataset_read, path_bytes(path), text, model)
        except Error as e:
            raise MissingFile.instead_of(e, path) from None
        data = cls(handle)
        classes, groups = (dict(zip(names, typed(names))) for names in (data._names(3), data._names(4)))
        data._values = Values(classes=classes, groups=groups)
        origin = np.empty(len(data))
        rules = json_of(lib.edict_dataset_dates, data._handle, address(origin))
        data._axis = axis_from_rules(rules, origin)
        if data._reading["recognised"]:
            warn(f"{os.fspath(path)}: {'; '.join(data._reading['recognised'])}")
        return data

    def write_csv(self, path: "str | os.PathLike[str]") -> None:
        """A file as the command-line tool reads it; times as numbers."""
        check(lib.edict_dataset_write(self._handle, path_bytes(path)))

    @classmethod
    def _from_matrix(
        cls, series: Ints, when: _convert.Times, values: Floats, names: list[str], count: int,
        ids: Optional[Sequence[Any]], labels: Optional[Sequence[Any]],
        groups: Optional[Sequence[Any]], static: Optional[Mapping[str, Sequence[float]]],
        unit: Optional[str], origin: Any,
    ) -> "Dataset":  # fmt: skip
        own: list[Any] = list(range(count)) if ids is None else objects_of(ids)
        if len(own) != count:
            raise Error(f"{len(own)} ids for {count} series")
        for i, one in enumerate(own):
            if _convert.is_missing(one):
                raise Error(f"ids[{i}] is missing; give each series an id")
        times, axis = counted(when, series, count, unit, origin)
        builder = Builder([text_of(i) for i in own], names)
        known: dict[str, Any] = {"ids": own}
        for what, given, put in (
            ("classes", labels, builder.labels), ("groups", groups, builder.groups),
        ):  # fmt: skip
            if given is not None:
                class_names, codes, known[what] = coded(given, own, "labels" if what == "classes" else what)
                put(class_names, codes)
        if static is not None and not isinstance(static, Mapping):
            raise TypeError(f"static is of type {type(static).__name__}; give a mapping from names to one number a series")
        if static:
            builder.statics(
                list(static),
                np.stack([_convert.contiguous(_convert.by_index(v, own, f"static covariate {name!r}"),
                                              f"static covariate {name!r}", (count,))
                          for name, v in static.items()], axis=1),
            )  # fmt: skip
        builder.dates(axis)
        builder.rows(series, times, [values[:, j] for j in range(values.shape[1])])
        return cls(builder.build("error"), axis, Values(**known))

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


def check_like(like: Any) -> None:
    """Refuses what is neither a model nor None."""
    from .model import Model

    if like is not None and not isinstance(like, Model):
        raise TypeError(f"like is of type {type(like).__name__}; give a Model, as from Model.load")


def free_name(name: str, taken: Collection[str]) -> str:
    """The name of a column that no other has; where that is not its own, it is said."""
    free = name
    while free in taken:
        free += "_"
    if free != name:
        warn(f"another column is called {name!r}, so this one is {free!r}")
    return free


def _origin_text(origin: Any) -> str:
    """An origin as the command line takes it."""
    if isinstance(origin, str) or np.isscalar(origin) and not isinstance(origin, np.datetime64):
        return str(origin)
    given = _convert.times(origin, "origin").present("origin")
    if given.kind != "date-times" or given.values.size != 1:
        raise Error(f'origin={origin!r}: give "first", a date-time or, for times that are numbers, a number')
    text = str(given.values.reshape(()).astype("datetime64[us]"))
    return text if given.zone is None else text + "+00:00"


def _columns_by_name(
    features: Optional[Sequence[str]], values: Sequence[Any]
) -> tuple[Optional[Sequence[str]], Sequence[Any]]:
    """Tables with their columns in one order, and the names of those."""
    tables = [i for i, one in enumerate(values) if hasattr(one, "columns") and hasattr(one, "iloc")]
    if not tables:
        return features, values
    if len(tables) < len(values):
        raise TypeError("values: some are DataFrames and others are not; give all alike")
    if features is None:
        features = list(values[tables[0]].columns)
    elif isinstance(features, str):
        features = [features]
    names = [str(name) for name in features]
    ordered = []
    for i, one in enumerate(values):
        own = [str(name) for name in one.columns]
        if len(set(own)) < len(own) or set(own) != set(names):
            raise Error(f"values[{i}] has the columns {', '.join(own)}, and {', '.join(names)} are needed")
        ordered.append(one.iloc[:, [own.index(name) for name in names]])
    return names, ordered


def _feature_names(names: Optional[Sequence[str]], width: int) -> list[str]:
    if names is None:
        return [f"x{j + 1}" for j in range(width)]
    names = as_list(names)
    if len(names) != width:
        raise Error(f"{len(names)} names for {width} features")
    return [str(name) for name in names]


def _number(value: Optional[float]) -> str:
    """JSON has no NaN: the moments of what was never observed are None."""
    return "" if value is None else f"{value:.4g}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}{'es' if noun.endswith('s') else 's'}"
