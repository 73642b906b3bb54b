"""Date-times as numbers and back.

A model counts time in floats. Where data come with date-times, a :class:`TimeAxis` remembers what a
float means: how many units after which moment, for every series.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone, tzinfo
from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from . import compat
from ._native import Error

Floats = npt.NDArray[np.float64]
Moments = npt.NDArray[np.datetime64]

UNITS = {"s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9, "d": 86400 * 10**9}


def nanoseconds(unit: str) -> int:
    if unit not in UNITS:
        raise Error(f"unit {unit!r} is unknown; give one of {', '.join(UNITS)}")
    return UNITS[unit]


@dataclass(frozen=True)
class TimeAxis:
    """What the floats of a dataset mean: ``unit`` since ``origin``, one origin a series, in UTC."""

    unit: str
    origin: Moments  # [series], datetime64[ns]
    zone: Optional[tzinfo] = None  # of the date-times that were given; None: as written
    step: int = 1  # nanoseconds of which every given moment was a multiple
    from_first: bool = False  # whether each series begins at its own first moment

    def take(self, series: npt.NDArray[np.int64]) -> "TimeAxis":
        return replace(self, origin=self.origin[series])

    def to_floats(self, moments: Any, series: "npt.NDArray[np.int64] | slice") -> Floats:
        """Moments, broadcast against the origins of the series, as floats."""
        given = utc(moments, self.zone)
        return np.asarray((given - self.origin[series]).astype(np.int64) / nanoseconds(self.unit))

    def to_moments(self, times: Floats, series: "npt.NDArray[np.int64] | slice") -> Moments:
        """Floats as the moments they were made of: rounded to what the given ones were."""
        raw = np.rint(np.asarray(times) * (nanoseconds(self.unit) / self.step)).astype(np.int64)
        return np.asarray(self.origin[series] + (raw * self.step).astype("timedelta64[ns]"))

    def localised(self, moments: Moments) -> Any:
        """As pandas would hold them: with the zone, if there was one."""
        pd = compat.pandas()
        index = pd.DatetimeIndex(moments)
        return index if self.zone is None else index.tz_localize("UTC").tz_convert(self.zone)


    def rules(self) -> dict[str, Any]:
        """What a model remembers of it; None stands for plain numbers."""
        return {"unit": self.unit, "from_first": self.from_first}

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


def is_moment(values: Any) -> bool:
    """Whether these are date-times rather than numbers."""
    dtype = getattr(values, "dtype", None)
    if dtype is not None and str(dtype).startswith("datetime64"):
        return True
    if isinstance(values, str) or hasattr(values, "tzinfo"):
        return True
    array = np.asarray(values, dtype=object).ravel()
    return array.size > 0 and (isinstance(array[0], str) or hasattr(array[0], "tzinfo"))


def utc(values: Any, zone: Optional[tzinfo]) -> Moments:
    """Moments in UTC. Those without a zone are taken as ``zone``'s, or as written without one."""
    array = np.asarray(values)
    if array.dtype.kind == "M" and zone is None:
        return array.astype("datetime64[ns]")
    pd = compat.pandas()
    index = pd.DatetimeIndex(pd.to_datetime(np.atleast_1d(np.asarray(values, dtype=object)).ravel()))
    if index.tz is None and zone is not None:
        index = index.tz_localize(zone)
    if index.tz is not None:
        if zone is None:
            raise Error("these date-times have a zone, the data's have none; give both alike")
        index = index.tz_convert("UTC").tz_localize(None)
    result: Moments = index.to_numpy().astype("datetime64[ns]")
    return result.reshape(np.shape(array) if array.dtype.kind == "O" or array.shape else ())


def coarsest(moments: npt.NDArray[np.int64]) -> int:
    """The largest of a second, milli-, micro- and nanosecond that divides all moments."""
    for step in (10**9, 10**6, 10**3):
        if not np.any(moments % step):
            return step
    return 1


def first_of_series(
    values: npt.NDArray[np.int64], series: npt.NDArray[np.int64], count: int
) -> npt.NDArray[np.int64]:
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
