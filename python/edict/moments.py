"""Times of any kind that callers hand over, as numbers, moments or durations."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone, tzinfo
from typing import Any, NamedTuple, Optional, Sequence

import numpy as np
import numpy.typing as npt

from . import compat
from ._convert import Array, number_of, as_array, missing_objects, numbers, text_of, unmasked
from ._native import Error, address, check, lib, texts

_NO_ZONE = np.iinfo(np.int32).min  # as in edict.h
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_WRITE = "write 2024-03-01 12:30, or convert with pandas.to_datetime(…, format=…)"


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
            return Times(np.array([number_of(word) for word in different])[of_word])
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
