"""What datasets are made of: frames, arrays, Arrow, files."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, TypeVar

import numpy as np

from . import _convert
from . import moments as _moments
from ._convert import Floats, Ints, objects_of, text_of, typed
from ._native import Error, MissingFile, address, check, json_of, lib, made, path_bytes, warn
from .builder import Builder, SourceRows, Values, check_duplicates, coded
from .cells import decimal_word
from .columns import FeatureColumns, Names, Table, as_list, factorize, names_of
from .contents import Contents
from .missing import as_codes
from .table_roles import Roles, attach, categories_in_json, counted_times, series_of
from .times import axis_from_rules, counted

if TYPE_CHECKING:
    from .model import Model

Made = TypeVar("Made", bound="Sources")


class Sources(Contents):
    """The ways to make a dataset, and to write one."""

    @classmethod
    def from_frame(
        cls: "type[Made]",
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
    ) -> Made:
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
        >>> import edict
        >>> data = edict.Dataset.from_frame(frame, id="patient", time="when")
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
        cls: "type[Made]",
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
    ) -> Made:
        """Long form: a row an observation, with the name of its feature.

        The other arguments are those of :meth:`from_frame`.

        >>> import pandas as pd
        >>> frame = pd.DataFrame({"id": [1, 1], "time": [0.5, 0.5], "feature": ["a", "b"],
        ...                       "value": [3.0, 4.0]})
        >>> import edict
        >>> edict.Dataset.from_long(frame)
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
        cls: "type[Made]",
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
    ) -> Made:
        """A list of times [events] and of values [events × features], one of each a series.

        Times may be date-times or durations, with ``unit`` and ``origin`` as in :meth:`from_frame`.
        What a masked array hides was not observed. Values may be DataFrames, whose columns are taken by
        their names.

        >>> import edict
        >>> edict.Dataset.from_arrays([[0, 1.5], [0.2]], [[[1, 2], [3, float("nan")]], [[5, 6]]])
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
        given = [_moments.times(t, f"times[{i}]") for i, t in enumerate(times)]
        for i, (t, m) in enumerate(zip(given, matrices)):
            if t.values.ndim != 1 or m.shape != (t.values.size, width):
                if not (t.values.size == m.size == 0):
                    raise Error(f"series {i}: times of shape {t.values.shape} for values of shape {m.shape}")
        flat = np.concatenate([m.reshape(-1, width) for m in matrices] or [np.empty((0, width))])
        series = np.repeat(np.arange(len(given)), [t.values.size for t in given]).astype(np.int64)
        when = _moments.joined(given, "times")
        return cls._from_matrix(
            series, when, flat, names, len(given), ids, labels, groups, static, unit, origin
        )

    @classmethod
    def from_numpy3d(
        cls: "type[Made]",
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
    ) -> Made:
        """An array [series × times × features], NaN or masked where not observed.

        ``times`` are those of all series, [times], or of each, [series × times]; by default 0, 1, ….
        They may be date-times or durations, with ``unit`` and ``origin`` as in :meth:`from_frame`.

        >>> import numpy as np
        >>> import edict
        >>> edict.Dataset.from_numpy3d(np.zeros((4, 10, 3)))
        Dataset(4 series, 40 events, 120 observations, 3 features)
        """
        array = _convert.contiguous(values, "values")
        if array.ndim != 3:
            raise Error(f"the array has {array.ndim} axes; give series × times × features")
        count, steps, width = array.shape
        given = _moments.times(np.arange(steps) if times is None else times, "times")
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
    def from_arrow(cls: "type[Made]", table: Any, *, form: str = "wide", **columns: Any) -> Made:
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
        cls: "type[Made]",
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
    ) -> Made:
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
        cls: "type[Made]", series: Ints, when: _moments.Times, values: Floats, names: list[str], count: int,
        ids: Optional[Sequence[Any]], labels: Optional[Sequence[Any]],
        groups: Optional[Sequence[Any]], static: Optional[Mapping[str, Sequence[float]]],
        unit: Optional[str], origin: Any,
    ) -> Made:  # fmt: skip
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


def check_like(like: Any) -> None:
    """Refuses what is neither a model nor None."""
    from .model import Model

    if like is not None and not isinstance(like, Model):
        raise TypeError(f"like is of type {type(like).__name__}; give a Model, as from Model.load")


def _origin_text(origin: Any) -> str:
    """An origin as the command line takes it."""
    if isinstance(origin, str) or np.isscalar(origin) and not isinstance(origin, np.datetime64):
        return str(origin)
    given = _moments.times(origin, "origin").present("origin")
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
