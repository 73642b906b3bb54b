"""Data to try things with."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import compat
from ._convert import whole


def waves(series: int = 100, events: int = 10, seed: int = 0, dates: bool = False) -> Any:
    """A DataFrame of irregular waves: id, time, level, flow (seldom observed), label.

    The waves of class "fast" have twice the frequency of the "slow" ones. With ``dates`` the times
    are date-times in Berlin, hours apart.

    >>> waves(series=2, events=3).columns.tolist()
    ['id', 'time', 'level', 'flow', 'label']
    """
    pd = compat.pandas()
    series, events = whole(series, "series", 0), whole(events, "events", 0)
    rng = np.random.default_rng(seed)
    digits = max(2, len(str(series - 1)))
    names = np.array([f"wave{i:0{digits}}" for i in range(series)], dtype=object)
    place = np.repeat(np.arange(series), events)
    fast = rng.random(series) < 0.5
    time = rng.exponential(1.0, (series, events)).cumsum(axis=1).ravel()
    phase = rng.uniform(0, 2 * np.pi, series)[place]
    angle = np.where(fast[place], 2.0, 1.0) * 0.6 * time + phase
    flow = 0.5 * np.cos(angle) + 0.05 * rng.normal(size=place.size)
    flow[rng.random(place.size) < 0.5] = np.nan
    when: Any = time
    if dates:
        start = pd.Timestamp("2024-03-30 20:00", tz="Europe/Berlin")
        when = (start + pd.to_timedelta(np.round(time * 3600), unit="s")).astype(
            "datetime64[ns, Europe/Berlin]"
        )
    return pd.DataFrame({
        "id": names[place],
        "time": when,
        "level": np.sin(angle) + 0.05 * rng.normal(size=place.size),
        "flow": flow,
        "label": np.where(fast, "fast", "slow")[place],
    })  # fmt: skip
