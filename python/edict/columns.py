"""Columns of a table, whoever they come from, as the arrays that a dataset is built of.

Nothing here walks over rows in Python.
"""

from __future__ import annotations

import warnings
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from . import compat
from ._native import Error
from .times import TimeAxis, coarsest, first_of_series, is_moment, nanoseconds

Array = npt.NDArray[Any]
Codes = npt.NDArray[np.int64]
Names = Union[str, Sequence[str], None]
_MOST_CATEGORIES = 50  # of a column, as in a file


def as_list(names: Names) -> list[str]:
    return [] if names is None else [names] if isinstance(names, str) else list(names)


def column(table: Mapping[str, Any], name: str, what: str) -> Any:
    try:
        return table[name]
    except KeyError:
        import difflib

        known = [str(k) for k in table.keys()]
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise Error(f"there is no column {name!r} for {what}{hint}") from None


def factorize(values: Any) -> tuple[Codes, Array]:
    """Codes in order of first appearance, -1 where missing, and what they stand for."""
    pd = compat.optional("pandas")
    if pd is not None:
        codes, uniques = pd.factorize(values)
        return np.asarray(codes, dtype=np.int64), np.asarray(uniques)
    array = np.asarray(values)
    if array.dtype.kind == "O":
        missing = np.array([v is None or v != v for v in array], dtype=bool)
    else:
        missing = np.isnan(array) if array.dtype.kind == "f" else np.zeros(array.shape, dtype=bool)
    codes = np.full(array.shape, -1, dtype=np.int64)
    uniques, first, inverse = np.unique(array[~missing], return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    codes[~missing] = rank[inverse]
    return codes, uniques[order]


def text_of(value: Any) -> str:
    """A name as it would be written: 17 for 17.0."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def names_of(uniques: Array, what: str) -> list[str]:
    names = [text_of(v) for v in uniques.tolist()]
    if len(set(names)) != len(names):
        raise Error(f"two different {what} are written alike; make them texts that differ")
    return names


def is_number(values: Any) -> bool:
    dtype = getattr(values, "dtype", None)
    kind = getattr(dtype, "kind", None)
    if kind in ("i", "u", "f", "b"):
        return True
    # pandas' nullable numbers
    return str(dtype) in {"boolean"} or str(dtype).lower().startswith(("int", "uint", "float"))


def number_column(values: Any, name: str) -> npt.NDArray[np.float64]:
    """A column as float64, NaN where missing; shares its memory where it is that already."""
    dtype = getattr(values, "dtype", None)
    plain = isinstance(dtype, np.dtype) and dtype.kind in ("i", "u", "f", "b")
    if not plain and hasattr(values, "to_numpy"):
        if not is_number(values):
            try:
                values = compat.pandas().to_numeric(values)
            except (ValueError, TypeError) as e:
                raise Error(f"column {name!r} holds what is no number: {e}") from None
        return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))
    try:
        return np.asarray(values, dtype=np.float64)
    except (ValueError, TypeError) as e:
        raise Error(f"column {name!r} holds what is no number: {e}") from None


def constant_of_series(codes: Codes, series: Codes, ids: list[str], what: str) -> Codes:
    """The one code of each series, -1 where it has none. Error where a series has two."""
    result = np.full(len(ids), -1, dtype=np.int64)
    known = codes >= 0
    own, value = series[known], codes[known]
    result[own] = value
    differs = np.flatnonzero(result[own] != value)
    if differs.size:
        raise Error(
            f"series {ids[int(own[differs[0]])]}: its {what} changes from row to row; a series has "
            "one"
        )
    return result


def times_of(
    values: Any, series: Codes, ids: list[str], unit: Optional[str], origin: Any
) -> tuple[npt.NDArray[np.float64], Optional[TimeAxis]]:
    """The time column as floats, and what they mean where it holds date-times."""
    kind = getattr(getattr(values, "dtype", None), "kind", None)
    if kind == "m":  # durations
        floats = np.asarray(values).astype("timedelta64[ns]").astype(np.int64).astype(np.float64)
        return np.asarray(floats / nanoseconds(unit or "h")), None
    if kind != "M" and not is_moment(values):
        if unit is not None:
            raise Error("unit is for date-times; these times are numbers, in a unit of their own")
        return number_column(values, "time"), None
    if kind == "M" and not hasattr(getattr(values, "dtype", None), "tz"):
        moments, zone = np.asarray(values).astype("datetime64[ns]"), None
    else:
        pd = compat.pandas()
        try:
            index = pd.DatetimeIndex(pd.to_datetime(values))
        except (ValueError, TypeError) as e:
            raise Error(f"a time is neither a number nor a date-time: {e}") from None
        zone = index.tz
        moments = (index if zone is None else index.tz_convert("UTC").tz_localize(None)).to_numpy()
        moments = moments.astype("datetime64[ns]")
    missing = np.isnat(moments)
    raw = moments.astype(np.int64)
    present = ~missing
    unit = unit or "h"
    from_first = isinstance(origin, str) and origin == "first"
    if from_first:
        start = first_of_series(raw[present], series[present], len(ids))
    else:
        from .times import utc

        start = np.full(len(ids), utc(origin, zone).astype(np.int64), dtype=np.int64)
    floats = (raw - start[series]) / nanoseconds(unit)
    floats[missing] = np.nan
    axis = TimeAxis(unit, start.astype("datetime64[ns]"), zone, coarsest(raw[present]), from_first)
    return np.asarray(floats, dtype=np.float64), axis


def static_columns(
    table: Mapping[str, Any], names: list[str], series: Codes, ids: list[str]
) -> tuple[list[str], npt.NDArray[np.float64], dict[str, list[str]]]:
    """Covariates of each series; a column of texts becomes one of 0 and 1 for each of them. The last
    are those columns and their texts."""
    result_names: list[str] = []
    result: list[npt.NDArray[np.float64]] = []
    categories: dict[str, list[str]] = {}
    for name in names:
        values = column(table, name, "a static covariate")
        what = f"static covariate {name!r}"
        if is_number(values):
            codes, uniques = factorize(values)
            of_series = constant_of_series(codes, series, ids, what)
            known = of_series >= 0
            own = np.full(len(ids), np.nan)
            own[known] = np.asarray(uniques, dtype=np.float64)[of_series[known]]
            result_names.append(name)
            result.append(own)
            continue
        texts, codes = categories_of(values, name)
        of_series = constant_of_series(codes, series, ids, what)
        result_names += [f"{name}={text}" for text in texts]
        result += zeros_and_ones(of_series, len(texts))
        categories[name] = texts
    values2d = np.stack(result, axis=1) if result else np.empty((len(ids), 0))
    return result_names, np.ascontiguousarray(values2d), categories


def is_text(values: Any) -> bool:
    """Whether a column may hold names of categories."""
    dtype = getattr(values, "dtype", None)
    kinds = ("category", "string", "dictionary")
    return getattr(dtype, "kind", "O") in ("O", "U", "S") or str(dtype).startswith(kinds)


def categories_of(values: Any, name: str) -> tuple[list[str], Codes]:
    """The texts of a column, sorted as those of a file are, and the place of each row's among them."""
    codes, uniques = factorize(values)
    texts = names_of(uniques, f"texts in {name!r}")
    try:
        order = sorted(range(len(texts)), key=lambda k: float(texts[k]))
    except ValueError:
        order = sorted(range(len(texts)), key=texts.__getitem__)
    rank = np.full(len(texts) + 1, -1, dtype=np.int64)  # the last is that of -1, a missing one
    rank[order] = np.arange(len(texts))
    return [texts[k] for k in order], rank[codes]


def zeros_and_ones(codes: Codes, count: int) -> list[npt.NDArray[np.float64]]:
    """A column a category; NaN where it is missing."""
    return [np.where(codes >= 0, (codes == k).astype(np.float64), np.nan) for k in range(count)]


def _changes(codes: Codes, series: Codes) -> bool:
    """Whether some series has two of them."""
    known = codes >= 0
    first = np.full(int(series.max(initial=-1)) + 1, -1, dtype=np.int64)
    first[series[known]] = codes[known]
    return bool((first[series[known]] != codes[known]).any())


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


class FeatureColumns:
    """The columns of a wide table that are features: those asked for, else all that are left.

    A column of texts becomes one of 0 and 1, ``name=text``, for each of its texts, as the command line
    makes it of a file. Of those that nobody asked for, one that never changes within a series is left
    out: it is more likely a label or a covariate that was not named.
    """

    def __init__(
        self, table: Mapping[str, Any], features: Names, used: set[str], series: Codes
    ) -> None:
        self._series = series
        self.columns: list[str] = []  # as the table calls them
        self.names: list[str] = []
        self.values: list[npt.NDArray[np.float64]] = []
        self.categories: dict[str, list[str]] = {}
        if features is not None:
            for name in as_list(features):
                self._add(name, column(table, name, "a feature"), asked=True)
        else:
            left = [str(name) for name in table.keys() if name not in used]
            ignored = [name for name in left if not self._add(name, table[name], asked=False)]
            if ignored:
                warnings.warn(
                    f"columns ignored, as they hold no numbers: {', '.join(ignored)}; name them as "
                    "label=, static= or, as categories, in features=",
                    stacklevel=3,
                )
        if not self.names:
            raise Error("no column is left to be a feature; name them with features=")

    def _add(self, name: str, values: Any, asked: bool) -> bool:
        if not (asked or is_number(values) or is_text(values)):
            return False
        categorical = str(getattr(values, "dtype", "")) == "category"
        try:
            if categorical:
                raise Error(f"column {name!r} holds categories")
            numbers = number_column(values, name)
        except Error:
            if not is_text(values):
                raise
            texts, codes = categories_of(values, name)
            if not asked and not _changes(codes, self._series):
                return False
            mixed = not categorical and any(_is_float(text) for text in texts)
            if mixed or len(texts) > _MOST_CATEGORIES:
                if not asked:
                    return False
                what = "numbers and texts" if mixed else f"{len(texts)} different texts"
                raise Error(
                    f"column {name!r} holds {what}; give numbers throughout, or at most "
                    f"{_MOST_CATEGORIES} categories"
                ) from None
            self.columns.append(name)
            self.names += [f"{name}={text}" for text in texts]
            self.values += zeros_and_ones(codes, len(texts))
            self.categories[name] = texts
            return True
        self.columns.append(name)
        self.names.append(name)
        self.values.append(numbers)
        return True
