"""What callers hand over (numbers, counts, names) as the arrays the library takes; of times, moments.py.

Every way into the package goes through here. A value that is not clearly what an argument stands for
is refused with what is wrong, where, and what to do; nothing is reinterpreted.
"""

from __future__ import annotations

import operator
from datetime import date, datetime, timedelta
from typing import Any, Callable, Iterable, Optional, Sequence

import numpy as np
import numpy.typing as npt

from . import compat
from ._native import Error

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def read_only(array: Array) -> Array:
    """An array of ours that callers share and cannot write to."""
    array.flags.writeable = False
    return array


# ---- numbers -----------------------------------------------------------------------------------------


def is_missing(value: Any) -> bool:
    """Whether one object stands for nothing: None, NaN, NaT, pandas' NA, a masked element."""
    if value is None or value is np.ma.masked or type(value).__name__ == "NAType":
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return False


def missing_objects(array: Array) -> npt.NDArray[np.bool_]:
    """Which objects of an array stand for nothing."""
    pd = compat.optional("pandas")
    if pd is not None:
        return np.asarray(pd.isna(array), dtype=bool)
    return np.array([is_missing(v) for v in array.ravel()], dtype=bool).reshape(array.shape)


def unmasked(values: Any) -> tuple[Any, Optional[npt.NDArray[np.bool_]]]:
    """The values, and where a masked array hides them."""
    if isinstance(values, np.ma.MaskedArray):
        return values.data, np.broadcast_to(np.asarray(values.mask, dtype=bool), values.shape)
    return values, None


def listed(values: Any) -> Any:
    """What can be walked through once only, as a list."""
    return list(values) if hasattr(values, "__next__") else values


def as_array(values: Any, what: str) -> Array:
    """Values as numpy holds them; Python's own objects are not reinterpreted."""
    values = listed(values)
    dtype = getattr(values, "dtype", None)
    if dtype is not None and not isinstance(dtype, np.dtype) and hasattr(values, "to_numpy"):
        kind = getattr(dtype, "kind", "O")
        if str(dtype).startswith("category"):
            return np.asarray(values)
        if kind in "iufb":  # pandas' nullable numbers
            return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))
        return np.asarray(values.to_numpy(dtype=object))
    if isinstance(values, (str, bytes)):
        return np.asarray(values, dtype=object)
    try:
        with np.errstate(all="ignore"):
            array = np.asarray(values)
        if array.dtype.kind in "USM" and isinstance(values, (list, tuple)):
            # numpy writes numbers beside texts as texts, and takes years for date-times.
            array = np.asarray(values, dtype=object)
    except (ValueError, TypeError) as e:
        raise Error(f"{what}: rows of different lengths make no array; give all the same") from e
    return array


def numbers(values: Any, what: str) -> Floats:
    """Numbers of any shape, NaN where missing; shares memory where they are aligned doubles already."""
    values, mask = unmasked(values)
    if hasattr(values, "columns") and hasattr(values, "iloc"):  # a DataFrame
        if all(isinstance(dtype, np.dtype) and dtype.kind in "iufb" for dtype in values.dtypes):
            return numbers(values.to_numpy(), what)
        columns = [numbers(values.iloc[:, j], f"{what}, column {name!r}")
                   for j, name in enumerate(values.columns)]  # fmt: skip
        return np.stack(columns, axis=1) if columns else np.empty((len(values), 0))
    array = as_array(values, what)
    kind = array.dtype.kind
    if kind in "mM":
        found = "durations" if kind == "m" else "date-times"
        raise Error(f"{what} holds {found}, where numbers are needed")
    if kind == "c":
        raise Error(f"{what} holds complex numbers; give real ones")
    if kind in "OUS":
        array = _numbers_of_objects(array, what)
    elif kind not in "iufb":
        raise Error(f"{what} holds no numbers, but {array.dtype}")
    array = np.asarray(array, dtype=np.float64)
    if not array.flags.aligned:
        array = array.copy()
    if mask is not None and mask.any():
        array = np.where(mask, np.nan, array)
    return array


def _numbers_of_objects(array: Array, what: str) -> Floats:
    given = array.astype(object).ravel()
    result = np.full(given.size, np.nan)
    for i in np.flatnonzero(~missing_objects(given)):
        try:
            result[i] = number_of(given[i])
        except (TypeError, ValueError):
            where = f", row {i}" if array.ndim else ""
            raise Error(f"{what} holds what is no number{where}: {given[i]!r}") from None
    return result.reshape(array.shape)


def number_of(value: Any) -> float:
    """The number that one object is; a TypeError or ValueError where it is none."""
    if isinstance(value, (datetime, date, timedelta, np.datetime64, np.timedelta64)):
        raise TypeError
    if isinstance(value, str) and "_" in value:  # 1_000 is one to Python alone
        raise ValueError
    return float(value)


def contiguous(values: Any, what: str, shape: Optional[tuple[int, ...]] = None) -> Floats:
    """Numbers as the library reads them: aligned doubles, row by row; of a shape, where one is given."""
    array = np.ascontiguousarray(numbers(values, what))
    if shape is not None and array.shape != shape:
        raise Error(f"{what} has the shape {array.shape}, and {shape} is needed")
    return array


def whole(value: Any, what: str, least: int, most: int = 2**31 - 1) -> int:
    """A whole number, of whatever type."""
    try:
        result = operator.index(value)
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
    except TypeError:
        raise TypeError(f"{what}={value!r}: give a whole number") from None
    if not least <= result <= most:
        raise Error(f"{what}={value!r}: give a whole number from {least} to {most}")
    return result


def places(key: Any, names: Sequence[Any], what: str) -> Ints:
    """Which of these a mask, a slice, integers (places) or names mean, in their order.

    A text is a name, and so is any other object that is neither a number nor a truth value. A mask with an
    index that holds the names goes by it.
    """
    count = len(names)
    if getattr(getattr(key, "dtype", None), "kind", "") == "b":
        key = by_index(key, names, f"a mask of {what}")
    if isinstance(key, slice):
        return np.arange(count, dtype=np.int64)[key]
    array = np.asarray(key)
    if array.dtype.kind in "US":
        array = np.asarray(key, dtype=object)
    array = np.atleast_1d(array)
    if array.ndim != 1:
        raise TypeError(f"{what}: give a mask, a slice, places or names, not {array.ndim} axes of them")
    kind = array.dtype.kind
    if kind == "O" and array.size and all(isinstance(v, (bool, np.bool_)) for v in array):
        array, kind = array.astype(bool), "b"
    if kind == "b":
        if array.shape != (count,):
            raise IndexError(f"a mask of {array.size} entries for {count} {what}")
        return np.flatnonzero(array).astype(np.int64)
    if array.size == 0:
        return np.empty(0, np.int64)
    if kind == "f":
        raise TypeError(f"{what}: give a mask, a slice, places or names, not {array[0]!r}")
    if kind not in "iu":
        return places_of_names(array, names, what)
    result = array.astype(np.int64)
    if ((result < -count) | (result >= count)).any():
        hint = f"; for the id, data.select([{array[0]}])" if what == "series" else ""
        raise IndexError(f"a place beyond the {count} {what}{hint}")
    return np.where(result < 0, result + count, result)


def by_index(values: Any, ids: Sequence[Any], what: str) -> Any:
    """A Series of pandas in the order of the ids, where its index holds names; anything else as it is.
    Numbers may count rows as well: where those are the ids in another order, they are refused."""
    if not (hasattr(values, "index") and hasattr(values, "reindex")) or hasattr(values, "columns"):
        return values
    index = list(values.index)
    held, wanted = set(index), set(ids)
    if index == list(ids) or type(values.index).__name__ == "RangeIndex":
        return values
    written, own = [text_of(one) for one in index], [text_of(one) for one in ids]
    if not (held & wanted) or all(isinstance(one, (int, float)) for one in wanted):
        if written != own and set(written) == set(own):
            raise Error(
                f"{what}: the index holds the ids in another order; give them in the data's, without an index"
            )
        return values
    if len(held) < len(index):
        raise Error(f"{what}: the index names a series twice; give one each")
    if not wanted <= held:
        missing = next(one for one in ids if one not in held)
        raise Error(f"{what}: the index has no series {missing!r}; give each one, missing where it has none")
    return values.reindex(list(ids))


def unambiguous(key: Any, names: Sequence[Any]) -> Any:
    """A key; refused where its whole numbers are places of some of these names and are others of them."""
    if type(key) is int:
        given: Any = [key]
    elif isinstance(key, list) and key and all(type(v) is int for v in key):
        given = key
    else:
        return key
    known = set(names)
    if not all(v in known for v in given):
        return key
    there = [names[v] if -len(names) <= v < len(names) else None for v in given]
    if there == given:
        return key
    if all(place is None for place in there):
        return [str(v) for v in given]
    raise Error(
        f"{given[0]} may be a place or an id of these series; give the id as a text, {str(given[0])!r}, or places "
        "as an array of numpy"
    )


def places_of_names(wanted: Iterable[Any], names: Sequence[Any], what: str) -> Ints:
    """Where these names, or the texts that they are written as, stand."""
    known: dict[Any, int] = {}
    for i, name in enumerate(names):
        known.setdefault(name, i)
    for i, name in enumerate(names):
        known.setdefault(str(name), i)
    result = []
    for one in wanted:
        try:
            result.append(known[one] if one in known else known[str(one)])
        except (KeyError, TypeError):
            shown = ", ".join(str(name) for name in names[:12]) + (", …" if len(names) > 12 else "")
            one = str(one) if isinstance(one, str) else one  # not as numpy's text
            raise Error(f"there is no {what} {one!r}; there are {shown}") from None
    return np.array(result, dtype=np.int64)


# ---- names -------------------------------------------------------------------------------------------


def text_of(value: Any) -> str:
    """A name as it would be written: 17 for 17.0."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def objects_of(uniques: Any) -> list[Any]:
    """The elements of a list or an array as Python's own objects; moments stay moments."""
    if isinstance(uniques, (str, bytes)) or not isinstance(uniques, Iterable):
        raise TypeError(f"{uniques!r} is one value; give a list of names")
    if not isinstance(uniques, (list, tuple, set, frozenset, dict)) and not hasattr(uniques, "__next__"):
        array = np.asarray(uniques)
        if array.dtype.kind in "mM":
            return list(compat.pandas().Index(array))
        uniques = array.tolist()
    return [_plain(value) for value in uniques]


def _plain(value: Any) -> Any:
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return compat.pandas().Index([value])[0]
    if isinstance(value, bytes):
        return text_of(value)
    return value.item() if isinstance(value, np.generic) else value


def typed(names: Iterable[str]) -> list[Any]:
    """Names that come from a file: whole numbers, truth values or numbers where all of them are written as
    such."""
    given = list(names)
    conversions: tuple[Callable[[str], Any], ...] = (int, {"True": True, "False": False}.__getitem__, float)
    for convert in conversions:
        try:
            values: list[Any] = [convert(name) for name in given]
        except (KeyError, ValueError):
            continue
        if [text_of(value) for value in values] == given and all(abs(v) < 2**63 for v in values):
            return values
    return given


def array_of(values: Sequence[Any]) -> Array:
    """Names as an array: of numbers or truth values where all are of one such type, else of objects."""
    kinds = {type(v) for v in values}
    if len(kinds) == 1 and kinds <= {int, float, bool}:
        if kinds != {int} or all(-(2**63) <= v < 2**63 for v in values):
            return np.asarray(values)
        if all(0 <= v < 2**64 for v in values):
            return np.asarray(values, dtype=np.uint64)
    result = np.empty(len(values), dtype=object)
    result[:] = list(values)
    return result


def named(names: Sequence[Any], codes: npt.NDArray[np.int32]) -> Array:
    """The name of each code; with None where there is none, if there are such."""
    if codes.size and (codes >= 0).all():
        return array_of(names)[codes]
    return array_of([*names, None])[codes]
