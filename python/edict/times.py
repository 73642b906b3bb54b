"""Date-times and durations as numbers and back.

A model counts time in floats. Where data come with date-times or durations, a :class:`TimeAxis`
remembers what a float means: how many units after which moment, for every series.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone, tzinfo
from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from . import _convert, compat
from . import moments as _moments
from ._convert import Floats, Ints
from .moments import Times
from ._native import Error, warn

Moments = npt.NDArray[np.datetime64]

UNITS = {"s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9, "d": 86400 * 10**9}


def nanoseconds(unit: str) -> int:
    """In one of a unit."""
    if not isinstance(unit, str) or unit not in UNITS:
        raise Error(f"unit {unit!r} is unknown; give one of {', '.join(UNITS)}")
    return UNITS[unit]


_MOST = 2**63 - 1  # nanoseconds that numpy holds
_EXACT = 2**53  # whole numbers that a float holds


def between(moments: Any, origin: Any, what: str) -> Any:
    """Moments as durations from an origin, which numpy would let overflow."""
    begin = np.asarray(origin, dtype="datetime64[ns]").astype(np.int64)
    end = np.asarray(moments, dtype="datetime64[ns]").astype(np.int64)
    spans = np.asarray(end - begin)
    if (np.abs(end.astype(np.float64) - begin) > _MOST).any():
        raise Error(f"{what}: times lie more than 292 years from their origin; give a later origin")
    return spans.astype("timedelta64[ns]")


def in_units(spans: Any, unit: str) -> Floats:
    """Durations in a unit, each the float that is nearest."""
    raw = np.asarray(spans).astype(np.int64)
    step = coarsest(raw)
    return np.asarray((raw // step) / (nanoseconds(unit) // step), dtype=np.float64)


def zone_name(zone: Optional[tzinfo]) -> Optional[str]:
    """A zone as it is written: the name of one of the world's, or an offset."""
    if zone is None:
        return None
    for name in (getattr(zone, "key", None), getattr(zone, "zone", None)):
        if name:
            return str(name)
    offset = zone.utcoffset(None)
    if offset is None:
        raise Error(f"the zone {zone} has no name to be written by; give date-times of a named zone or of UTC")
    return f"{offset.total_seconds():g}"


def zone_of(name: Optional[str]) -> Optional[tzinfo]:
    """The reverse of :func:`zone_name`."""
    if name is None:
        return None
    try:
        return timezone(timedelta(seconds=float(name)))
    except ValueError:
        zone: tzinfo = compat.pandas().Timestamp(0, tz=name).tz
        return zone


@dataclass(frozen=True, eq=False, repr=False)
class TimeAxis:
    """What the floats of a dataset mean: ``unit`` since ``origin``, one origin a series, in UTC; of
    durations, ``unit`` alone."""

    unit: str
    origin: Moments  # [series], datetime64[ns]
    zone: Optional[tzinfo] = None  # of the date-times that were given; None: as written
    step: int = 1  # nanoseconds of which every given time was a multiple
    from_first: bool = False  # whether each series begins at its own first moment
    durations: bool = False  # whether the times were durations; origins then mean nothing

    def __repr__(self) -> str:
        if self.durations:
            return f"TimeAxis(durations in {self.unit})"
        start = "each series' first" if self.from_first else f"{self.origin[0]}" if self.origin.size else "one moment"
        zone = "" if self.zone is None else f", shown in {self.zone}"
        return f"TimeAxis(date-times in {self.unit} from {start}{zone})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TimeAxis) and np.array_equal(self.origin, other.origin, equal_nan=True)
            and all(getattr(self, name) == getattr(other, name)
                    for name in ("unit", "step", "from_first", "durations"))
            and str(self.zone) == str(other.zone)  # pytz has one object an offset for a zone
        )  # fmt: skip

    __hash__ = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        object.__setattr__(self, "origin", _convert.read_only(np.array(self.origin, dtype="datetime64[ns]")))

    def take(self, series: Ints) -> "TimeAxis":
        """Of some series."""
        return replace(self, origin=self.origin[series])

    def to_floats(self, moments: Any, series: "Ints | slice") -> Floats:
        """Moments, broadcast against the origins of the series, as floats."""
        given = _moments.times(moments, "moments").present("moments")
        moments = _moments.in_zone(given, self.zone, "moments")
        return in_units(between(moments, self.origin[series], "moments"), self.unit)

    def to_moments(self, times: Floats, series: "Ints | slice") -> Any:
        """Floats as the moments or durations they were made of: rounded to what the given ones were."""
        steps = np.rint(np.asarray(times) * (nanoseconds(self.unit) / self.step))
        start = np.zeros(1, np.int64) if self.durations else self.origin[series].astype(np.int64)
        if not (np.abs(steps * self.step + start) < _MOST).all():
            raise Error(f"a time lies beyond the years 1678 to 2262; the numbers, in {self.unit}, are in times")
        spans = (steps.astype(np.int64) * self.step).astype("timedelta64[ns]")
        return spans if self.durations else np.asarray(self.origin[series] + spans)

    def localised(self, moments: Any) -> Any:
        """As pandas would hold them: with the zone, if there was one."""
        pd = compat.pandas()
        if self.durations:
            return pd.TimedeltaIndex(moments)
        index = pd.DatetimeIndex(moments)
        return index if self.zone is None else index.tz_localize("UTC").tz_convert(self.zone)

    def spans(self, given: Times) -> Floats:
        """Durations in the unit."""
        return in_units(given.values, self.unit)

    def rules(self) -> dict[str, Any]:
        """What a model remembers of it."""
        if self.durations:
            return {"kind": "number", "unit": self.unit, "from_first": False}
        return {"kind": "date", "unit": self.unit, "from_first": self.from_first}

    def zone_minutes(self) -> int:
        """East of UTC, where the first series begins."""
        if self.zone is None or not self.origin.size:
            return 0
        first = self.origin[0].astype("datetime64[s]").astype(datetime)
        offset = first.replace(tzinfo=timezone.utc).astimezone(self.zone).utcoffset()
        return 0 if offset is None else int(offset.total_seconds() // 60)


def axis_from_rules(
    rules: dict[str, Any], origin: npt.NDArray[np.float64]
) -> Optional[TimeAxis]:
    """The axis of a dataset that the library read; None for plain numbers."""
    if rules["kind"] == "number":
        return None
    zoned = rules["style"]["zone"] != 0
    zone = timezone(timedelta(minutes=rules["zone"])) if zoned else None
    # Series without events have no origin; 1970 does no harm there.
    moments = np.nan_to_num(origin, nan=0.0).astype("datetime64[us]").astype("datetime64[ns]")
    return TimeAxis(rules["unit"], moments, zone, 1000, rules["from_first"])


# ---- the times of a dataset --------------------------------------------------------------------------


def counted(
    given: Times, series: Ints, count: int, unit: Optional[str], origin: Any
) -> tuple[Floats, Optional[TimeAxis]]:
    """The times of rows as floats, and what they mean. ``origin``: "first" or a moment; of date-times
    "first" where nothing is said."""
    if given.kind == "numbers":
        if unit is not None:
            raise Error("unit is for date-times and durations; these times are numbers, in a unit of their own")
        if origin is not None:
            raise Error("origin is for date-times; these times are numbers: subtract it from them")
        return np.asarray(given.values, dtype=np.float64), None
    missing = given.missing
    present = ~missing
    raw = given.values.astype(np.int64)
    unit = unit or "h"
    if origin is not None and given.kind == "durations":
        raise Error("origin is for date-times; these times are durations, which count from themselves")
    origin = "first" if origin is None else origin
    start = np.zeros(count, dtype=np.int64)
    from_first = isinstance(origin, str) and origin == "first"
    if given.kind == "date-times" and from_first:
        start = first_of_series(raw[present], series[present], count)
    elif given.kind == "date-times":
        moment = origin_of(origin, given.zone)
        start = np.full(count, moment.astype(np.int64), dtype=np.int64)
    raw[missing] = start[series[missing]]
    spans = between(raw.astype("datetime64[ns]"), start[series].astype("datetime64[ns]"), "times")
    floats = in_units(spans, unit)
    floats[missing] = np.nan
    axis = TimeAxis(
        unit, start.astype("datetime64[ns]"), given.zone, coarsest(raw[present]),
        from_first and given.kind == "date-times", given.kind == "durations",
    )  # fmt: skip
    return floats, _as_fine_as_floats(axis, spans)


def to_microseconds(axis: Optional[TimeAxis]) -> Optional[TimeAxis]:
    """For times of a forecast, which may be finer than those of the data."""
    return axis if axis is None or axis.step <= 1000 else replace(axis, step=1000)


def _as_fine_as_floats(axis: TimeAxis, spans: Any) -> TimeAxis:
    """The axis, which rounds to microseconds where a float cannot tell nanoseconds so far apart."""
    if axis.step > 1 or np.abs(spans.astype(np.int64)).max(initial=0) < _EXACT // 4:
        return axis
    warn(
        "nanoseconds cannot be kept over more than 26 days; times are shown to the microsecond. Round them, as "
        "by pandas' dt.round('us'), or give origin= closer to them")
    return replace(axis, step=1000)


def origin_of(origin: Any, zone: Optional[tzinfo]) -> Any:
    """One moment for all series, in UTC."""
    given = _moments.times(origin, "origin").present("origin")
    if given.kind != "date-times" or given.values.size != 1:
        raise Error(f'origin={origin!r}: give "first" or one date-time')
    return _moments.in_zone(given, zone, "origin").reshape(())[()]


def coarsest(moments: npt.NDArray[np.int64]) -> int:
    """The largest of a second, milli-, micro- and nanosecond that divides all moments."""
    for step in (10**9, 10**6, 10**3):
        if not np.any(moments % step):
            return step
    return 1


def first_of_series(values: Ints, series: Ints, count: int) -> Ints:
    """The least value of each series; series without any have 0."""
    least = np.full(count, np.iinfo(np.int64).max, dtype=np.int64)
    if values.size and np.all(series[1:] >= series[:-1]):
        starts = np.flatnonzero(np.r_[True, series[1:] != series[:-1]])
        least[series[starts]] = np.minimum.reduceat(values, starts)
    else:
        order = np.argsort(series, kind="stable")
        if order.size:
            return first_of_series(values[order], series[order], count)
    least[least == np.iinfo(np.int64).max] = 0
    return least


# ---- times that are asked for ------------------------------------------------------------------------


def _one_axis(given: Times, what: str) -> Times:
    if given.values.ndim > 1:
        raise Error(f"{what}: give one time or a list of them, not an array of {given.values.ndim} axes")
    return given.present(what)._replace(values=np.atleast_1d(given.values))


def asked_spans(spans: Any, axis: Optional[TimeAxis], what: str) -> Floats:
    """Spans of time, in the data's unit if they are numbers; they ascend."""
    given = _one_axis(_moments.times(spans, what), what)
    if given.kind == "date-times":
        raise Error(f"{what} holds date-times; give how long after, as pandas.Timedelta or in the data's unit")
    result = _in_unit(given, axis, what)
    return _ascending(result, what)


def asked_times(at: Any, axis: Optional[TimeAxis], what: str) -> Floats:
    """Times that are asked for, ascending: [times] of all series, or [series × times] for moments."""
    given = _one_axis(_moments.times(at, what), what)
    if given.kind != "date-times":
        return _ascending(_in_unit(given, axis, what), what)
    if axis is None or axis.durations:
        raise Error(f"{what} holds date-times, but the times of the data are numbers")
    moments = _moments.in_zone(given, axis.zone, what)
    return _ascending(in_units(between(moments[None, :], axis.origin[:, None], what), axis.unit), what)


def _in_unit(given: Times, axis: Optional[TimeAxis], what: str) -> Floats:
    if given.kind == "numbers":
        return np.ascontiguousarray(given.values, dtype=np.float64)
    if axis is None:
        raise Error(f"{what} holds durations, but the times of the data are numbers; give numbers in their unit")
    return axis.spans(given)


def _ascending(times: Floats, what: str) -> Floats:
    if (np.diff(times, axis=-1) < 0).any():
        raise Error(f"{what}: the times to ask for must ascend; sort them")
    return np.ascontiguousarray(times)
