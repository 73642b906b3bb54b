"""What callers hand over (numbers, times, durations, counts, names) as the arrays the library takes.

Every way into the package goes through here. A value that is not clearly what an argument stands for
is refused with what is wrong, where, and what to do; nothing is reinterpreted.
"""

from __future__ import annotations

import operator
from datetime import date, datetime, timedelta, timezone, tzinfo
from typing import Any, Callable, Iterable, NamedTuple, Optional, Sequence

import numpy as np
import numpy.typing as npt

from . import compat
from ._native import Error, address, check, lib, texts

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_NO_ZONE = np.iinfo(np.int32).min  # as in edict.h
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_WRITE = "write 2024-03-01 12:30, or convert with pandas.to_datetime(…, format=…)"


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
            result[i] = _number_of(given[i])
        except (TypeError, ValueError):
            where = f", row {i}" if array.ndim else ""
            raise Error(f"{what} holds what is no number{where}: {given[i]!r}") from None
    return result.reshape(array.shape)


def _number_of(value: Any) -> float:
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


# ---- times -------------------------------------------------------------------------------------------


class Times(NamedTuple):
    """Times as they were given: floats, datetime64[ns] (in UTC where there is a zone) or
    timedelta64[ns]; NaN or NaT where missing."""

    values: Array
    zone: Optional[tzinfo] = None

    @property
    def kind(self) -> str:
        """date-times, durations or numbers."""
        return {"M": "date-times", "m": "durations"}.get(self.values.dtype.kind, "numbers")

    @property
    def missing(self) -> npt.NDArray[np.bool_]:
        """Where there is none."""
        return np.asarray(np.isnan(self.values) if self.kind == "numbers" else np.isnat(self.values))

    def present(self, what: str) -> "Times":
        """The same, refused where one is missing or infinite."""
        bad = self.missing
        if self.kind == "numbers":
            bad = ~np.isfinite(self.values)
        if bad.any():
            where = f"[{int(np.argmax(bad.ravel()))}]" if self.values.ndim else ""
            found = "is infinite" if not self.missing.any() else "is missing (NaN or NaT)"
            raise Error(f"{what}{where} {found}; give a time")
        return self


def times(values: Any, what: str) -> Times:
    """Times of any kind that Python, numpy and pandas have, and texts as a file has them."""
    values, mask = unmasked(values)
    dtype = getattr(values, "dtype", None)
    if getattr(dtype, "tz", None) is not None:
        index = compat.pandas().DatetimeIndex(values)
        moments = index.tz_convert("UTC").tz_localize(None).to_numpy()
        result = Times(in_nanoseconds(moments, what), index.tz)
    elif str(dtype).startswith("period"):
        result = Times(in_nanoseconds(compat.pandas().PeriodIndex(values).to_timestamp().to_numpy(), what))
    else:
        array = as_array(values, what)
        if array.dtype.kind in "mM":
            result = Times(in_nanoseconds(array, what))
        elif array.dtype.kind in "OUS":
            result = _times_of_objects(array.astype(object), what)
        elif array.dtype.kind == "b":
            raise Error(f"{what} holds truth values, where times are needed")
        else:
            _check_exact(array, what)
            result = Times(numbers(array, what))
    if mask is not None and mask.any():
        gone: Any = np.nan if result.kind == "numbers" else result.values.dtype.type("NaT", "ns")
        result = result._replace(values=np.where(mask, gone, result.values))
    return result


def _check_exact(array: Array, what: str) -> None:
    """Refuses whole numbers that a float would round, as nanoseconds since 1970."""
    if array.dtype.kind not in "iu" or not array.size:
        return
    large = np.abs(array.astype(np.float64)) >= 2**53
    if large.any() and any(int(float(v)) != v for v in array[large].ravel().tolist()):
        found = array[large].ravel()[0]
        raise Error(f"{what}: {found} has more digits than a float holds; for a moment use pandas.to_datetime(…, unit=…)")


def joined(parts: Sequence[Times], what: str) -> Times:
    """Times of several series, one after the other."""
    known = [part for part in parts if part.values.size]
    if not known:
        return Times(np.empty(0))
    for part in known[1:]:
        if part.kind != known[0].kind or (part.zone is None) != (known[0].zone is None):
            raise Error(f"{what}: some are {_described(known[0])}, others {_described(part)}; give all alike")
    return Times(np.concatenate([part.values for part in known]), known[0].zone)


def _described(given: Times) -> str:
    if given.kind != "date-times":
        return given.kind
    return "date-times with a zone" if given.zone is not None else "date-times without a zone"


def in_nanoseconds(array: Array, what: str) -> Array:
    """Moments or durations of any unit in nanoseconds, checked to fit."""
    kind, (unit, _) = array.dtype.kind, np.datetime_data(array.dtype)
    if kind == "m" and unit in ("Y", "M") and not np.isnat(array).all():
        raise Error(f"{what}: months and years differ in length; give durations in days or less")
    if kind == "m" and unit == "generic" and not np.isnat(array).all():
        raise Error(f"{what}: durations without a unit; give timedelta64[s] or the like")
    array = np.asarray(array.astype(array.dtype.newbyteorder("=")))
    result: Array = array.astype(f"{kind}8[ns]")
    if unit in ("Y", "M", "W", "D", "h", "m", "s", "ms", "us"):
        wrong = ~np.isnat(array) & (result.astype(array.dtype) != array)
        if wrong.any():
            raise Error(f"{what}: {array[wrong].ravel()[0]} is out of range; times lie between 1678 and 2262")
    return result


def _times_of_objects(array: Array, what: str) -> Times:
    given = array.ravel()
    present = ~missing_objects(given)
    present &= np.array([not (isinstance(v, (str, bytes)) and not v.strip()) for v in given], dtype=bool)
    found = given[present]
    kinds = {_kind_of(v) for v in found}
    if len(kinds) > 1 or "other" in kinds:
        odd = next(v for v in found if _kind_of(v) == "other") if "other" in kinds else found[-1]
        raise Error(f"{what}: {odd!r} is not a time of the same kind as the others; give all alike")
    kind = kinds.pop() if kinds else "numbers"
    if not found.size and any(type(v).__name__ in ("NaTType", "datetime64") for v in given):
        kind = "date-times"
    if kind == "texts":
        own = _times_of_texts([text_of(v).strip() for v in found], what)
    elif kind == "numbers":
        for value in found:
            if isinstance(value, (int, np.integer)) and abs(int(value)) >= 2**53:
                _check_exact(np.array([value], dtype=np.int64 if value < 2**63 else np.uint64), what)
        own = Times(np.array([float(v) for v in found], dtype=np.float64))
    else:
        own = _moments_of(found, what) if kind == "date-times" else Times(_durations_of(found, what))
    if own.kind == "numbers":
        values: Array = np.full(given.size, np.nan)
    else:
        values = np.full(given.size, "NaT", dtype=own.values.dtype)
    values[present] = own.values
    return Times(values.reshape(array.shape), own.zone)


def _kind_of(value: Any) -> str:
    if isinstance(value, (str, bytes)):
        return "texts"
    if isinstance(value, (datetime, date, np.datetime64)):
        return "date-times"
    if isinstance(value, (timedelta, np.timedelta64)):
        return "durations"
    if isinstance(value, (bool, np.bool_)):
        return "other"
    try:
        float(value)
    except (TypeError, ValueError):
        return "other"
    return "numbers"


def _moments_of(found: Array, what: str) -> Times:
    zones = [v.tzinfo if isinstance(v, datetime) else None for v in found]
    if len({zone is None for zone in zones}) > 1:
        raise Error(f"{what}: some date-times have a zone and others none; give all alike")
    values = np.array([_moment_of(v, what) for v in found], dtype="datetime64[ns]")
    return Times(values, zones[0] if zones else None)


def _moment_of(value: Any, what: str) -> Any:
    if hasattr(value, "value") and hasattr(value, "nanosecond"):  # a Timestamp of pandas
        return np.datetime64(int(value.value), "ns")
    if isinstance(value, datetime):
        moment = value if value.tzinfo is not None else value.replace(tzinfo=timezone.utc)
        value = np.datetime64((moment - _EPOCH) // timedelta(microseconds=1), "us")
    one: Any = in_nanoseconds(np.asarray(np.datetime64(value)), what)[()]
    return one


def _durations_of(found: Array, what: str) -> Array:
    def one(value: Any) -> Any:
        if hasattr(value, "value") and hasattr(value, "nanoseconds"):  # a Timedelta of pandas
            return np.timedelta64(int(value.value), "ns")
        if isinstance(value, timedelta):
            value = np.timedelta64(value // timedelta(microseconds=1), "us")
        return in_nanoseconds(np.asarray(value), what)[()]

    return np.array([one(v) for v in found], dtype="timedelta64[ns]")


def _times_of_texts(words: list[str], what: str) -> Times:
    """As a file's: date-times that the library reads, else numbers."""
    different = list(dict.fromkeys(words))
    place = {word: i for i, word in enumerate(different)}
    of_word = np.array([place[word] for word in words], dtype=np.int64)
    microseconds = np.empty(len(different))
    zones = np.empty(len(different), dtype=np.int32)
    check(lib.edict_read_dates(len(different), texts(different), address(microseconds), address(zones)))
    unread = np.isnan(microseconds)
    if unread.all():
        try:
            return Times(np.array([_number_of(word) for word in different])[of_word])
        except (TypeError, ValueError):
            pass
    if unread.any():
        row = int(np.argmax(unread[of_word]))
        raise Error(f"{what}, row {row}: {words[row]!r} is neither a number nor a date-time; {_WRITE}")
    zoned = zones != _NO_ZONE
    if zoned.any() and not zoned.all():
        raise Error(f"{what}: some date-times have a zone and others none; give all alike")
    zone = timezone(timedelta(minutes=int(zones[0]))) if zoned.any() else None
    moments = np.rint(microseconds).astype(np.int64).astype("datetime64[us]").astype("datetime64[ns]")
    return Times(moments[of_word], zone)


def in_zone(given: Times, zone: Optional[tzinfo], what: str) -> Array:
    """Date-times in UTC, datetime64[ns]. Those without a zone are taken as ``zone``'s, or as written
    without one."""
    if given.kind != "date-times":
        raise Error(f"{what} holds {given.kind}, where date-times are needed")
    if given.zone is not None and zone is None:
        raise Error(f"{what}: these date-times have a zone, the data's have none; give both alike")
    if given.zone is not None or zone is None:
        return given.values
    pd = compat.pandas()
    index = pd.DatetimeIndex(given.values.ravel())
    try:
        index = index.tz_localize(zone)
    except Exception as e:  # of pytz, of dateutil or ValueError, as the version of pandas has it
        raise Error(
            f"{what}: {e}: where clocks change a local time is skipped or there twice in {zone}; give "
            "it with its zone or offset"
        ) from None
    result: Array = index.tz_convert("UTC").tz_localize(None).to_numpy().astype("datetime64[ns]")
    return result.reshape(given.values.shape)
