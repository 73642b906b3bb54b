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
) -> tuple[list[str], npt.NDArray[np.float64]]:
    """Covariates of each series. A column of texts becomes one of 0 and 1 for each of them."""
    result_names: list[str] = []
    result: list[npt.NDArray[np.float64]] = []
    for name in names:
        values = column(table, name, "a static covariate")
        codes, uniques = factorize(values)
        of_series = constant_of_series(codes, series, ids, f"static covariate {name!r}")
        known = of_series >= 0
        if is_number(values):
            own = np.full(len(ids), np.nan)
            own[known] = np.asarray(uniques, dtype=np.float64)[of_series[known]]
            result_names.append(name)
            result.append(own)
            continue
        texts = names_of(uniques, f"texts in {name!r}")
        for place in sorted(range(len(texts)), key=texts.__getitem__):
            own = np.where(known, (of_series == place).astype(np.float64), np.nan)
            result_names.append(f"{name}={texts[place]}")
            result.append(own)
    values2d = np.stack(result, axis=1) if result else np.empty((len(ids), 0))
    return result_names, np.ascontiguousarray(values2d)


def feature_names(table: Mapping[str, Any], features: Names, used: set[str]) -> list[str]:
    """The columns that are features: those asked for, else every column of numbers that is left."""
    if features is not None:
        chosen = as_list(features)
        for name in chosen:
            column(table, name, "a feature")
        return chosen
    left = [str(name) for name in table.keys() if name not in used]
    chosen = [name for name in left if is_number(table[name])]
    ignored = [name for name in left if name not in chosen]
    if ignored:
        warnings.warn(
            f"columns ignored, as they hold no numbers: {', '.join(ignored)}", stacklevel=3
        )
    if not chosen:
        raise Error("no column of numbers is left to be a feature; name them with features=")
    return chosen
