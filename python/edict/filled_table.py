"""A caller's own table with its gaps filled."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import compat
from .dataset import Dataset, free_name
from .missing import MissingCodes

Floats = npt.NDArray[np.float64]


def filled_table(
    frame: Any, table: Dataset, features: list[str], value: Floats, deviation: Floats, deviations: bool
) -> Any:
    """``value`` and ``deviation`` are [rows × features of the model]; the latter are 0 where a value was
    observed, and become columns too where they are wanted."""
    result = frame.copy()
    added: list[tuple[str, Floats]] = []
    keys = {str(key): key for key in frame.columns}
    in_lower = [name.lower() for name in keys]
    for name, key in list(keys.items()):  # a column in another case counts as the model's
        for feature in features if in_lower.count(name.lower()) == 1 else ():
            if feature.lower() == name.lower():
                keys.setdefault(feature, key)
    place = {name: j for j, name in enumerate(features)}
    missing = MissingCodes(table._reading["missing"])
    texts = {c["column"]: c["values"] for c in table._reading["categories"] if not c["static"]}
    for name in table._reading["features"] or [f for f in features if f in keys]:
        own = [f"{name}={text}" for text in texts[name]] if name in texts else [name]
        known = [one for one in own if one in place]
        if name not in keys or not known:
            continue
        columns = [place[one] for one in known]
        if name in texts:
            likeliest = np.argmax(value[:, columns], axis=1)
            words = np.array([one[len(name) + 1 :] for one in known], dtype=object)[likeliest]
            gaps = _gaps(frame[keys[name]], words, deviation[:, columns], missing)
            result[keys[name]] = _with_texts(frame[keys[name]], words, gaps)
        else:
            told = value[:, columns[0]]
            gaps = _gaps(frame[keys[name]], told, deviation[:, columns], missing)
            result[keys[name]] = _with_numbers(frame[keys[name]], told, gaps)
        if deviations:
            added += [(f"{one}_sd", deviation[:, j]) for one, j in zip(known, columns)]
    for name, column in added:
        result[free_name(name, {str(key) for key in result.columns})] = column
    return result


def _gaps(column: Any, told: Any, deviation: Floats, missing: MissingCodes) -> npt.NDArray[np.bool_]:
    """Where nothing is given, or a code or a word for it, and something is known."""
    empty = np.asarray(column.isna()) | missing.found(column, str(column.name)) | (deviation > 0).any(axis=1)
    return np.asarray(empty & ~np.asarray(compat.pandas().isna(told)))


def _with_numbers(column: Any, told: Floats, gaps: npt.NDArray[np.bool_]) -> Any:
    if not gaps.any():
        return column
    kind = getattr(column.dtype, "kind", "O")
    pd = compat.pandas()
    if isinstance(column.dtype, pd.SparseDtype):
        whole = _with_numbers(column.sparse.to_dense(), told, gaps)
        return pd.Series(pd.arrays.SparseArray(whole, fill_value=column.dtype.fill_value), column.index, name=column.name)
    if _holds_texts(column):  # as a file would have it
        filled = column.copy()
        filled[gaps] = np.array([f"{number:.15g}" for number in told[gaps]], dtype=object)
        return filled
    if isinstance(column.dtype, np.dtype) and kind in "iuf":  # whole ones have no room for a mean
        filled = column.to_numpy(None if kind == "f" else np.float64, copy=True)
        filled[gaps] = told[gaps]
    elif isinstance(column.dtype, np.dtype):  # objects
        filled = column.to_numpy(dtype=object, copy=True)
        filled[gaps] = told[gaps]
    else:  # pandas' nullable numbers; whole ones have no room for a mean
        filled = column.astype("Float64" if kind in "iub" else column.dtype).copy()
        filled[gaps] = told[gaps]
        return filled
    return pd.Series(filled, index=column.index, name=column.name)


def _holds_texts(column: Any) -> bool:
    if str(column.dtype).startswith("string"):
        return True
    there = column[column.notna()] if column.dtype == object else ()
    return len(there) > 0 and all(isinstance(value, str) for value in there)


def _with_texts(column: Any, told: Any, gaps: npt.NDArray[np.bool_]) -> Any:
    if not gaps.any():
        return column
    filled = column.copy()
    values = told[gaps]
    if str(column.dtype) == "category":  # what they are called is not what they are
        by_text = {str(c): c for c in column.cat.categories}
        values = [by_text.get(text, None) for text in values]
    filled[gaps] = values
    return filled
