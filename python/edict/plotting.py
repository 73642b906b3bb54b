"""Pictures with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from . import compat
from .times import TimeAxis, in_units

if TYPE_CHECKING:
    from .forecast import Forecast

# Epistemic is the lighter tone, around the aleatoric one.
EPISTEMIC, ALEATORIC, MEAN, OBSERVED = "#c6d9ec", "#86b0d8", "#1f4e79", "#b3400e"


def plot_forecast(forecast: "Forecast", data: Any, level: float, axes: Any) -> Any:
    """One series, a panel a feature, one below the other."""
    pyplot = compat.needed("matplotlib.pyplot", "plot")
    count = len(forecast.features)
    if axes is None:
        _, axes = pyplot.subplots(
            count, 1, sharex=True, squeeze=False, figsize=(8, 1 + 2 * count), layout="constrained"
        )
    panels = np.asarray(axes, dtype=object).ravel()
    if len(panels) != count or not all(hasattr(panel, "fill_between") for panel in panels):
        raise TypeError(f"axes: give {count} of matplotlib's, one a feature; features= chooses among those")
    when = _drawn(forecast.moments(), forecast.time_axis)
    lower, upper = forecast.interval(level)
    share = np.sqrt(forecast.aleatoric / forecast.variance)
    if len(when) == 1:  # a line needs two points: its ends are drawn instead
        when, lower, upper, share, means = _widened(when, lower, upper, share, forecast.mean)
    else:
        means = forecast.mean
    for j, (panel, name) in enumerate(zip(panels, forecast.features)):
        mean = means[0, :, j]
        inner = (upper[0, :, j] - mean) * share[0, :, j]
        panel.fill_between(when, lower[0, :, j], upper[0, :, j], color=EPISTEMIC, linewidth=0,
                           label="the model's uncertainty")  # fmt: skip
        panel.fill_between(when, mean - inner, mean + inner, color=ALEATORIC, linewidth=0,
                           label="noise of the data")  # fmt: skip
        panel.plot(when, mean, color=MEAN, linewidth=1.4, label="mean")
        if data is not None:
            _observed(panel, forecast, data, name)
        panel.set_ylabel(name)
        panel.margins(x=0.01)
        for side in ("top", "right"):
            panel.spines[side].set_visible(False)
    panels[0].set_title(f"{forecast.ids[0]}, {100 * level:g} % interval", loc="left", fontsize=10)
    panels[0].legend(frameon=False, fontsize=8, ncols=4, loc="lower right", bbox_to_anchor=(1, 1))
    axis = forecast.time_axis
    panels[-1].set_xlabel("time" if axis is None or not axis.durations else f"time ({axis.unit})")
    if axis is not None and not axis.durations:
        dates = compat.needed("matplotlib.dates", "plot")
        zone = axis.zone
        for panel in panels:
            locator = dates.AutoDateLocator(tz=zone)
            panel.xaxis.set_major_locator(locator)
            panel.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator, tz=zone))
    return panels[0].figure


def _widened(when: Any, *columns: Any) -> tuple[Any, ...]:
    """One time as a bar around it: an hour of date-times, or two hundredths of its distance from 0."""
    if np.asarray(when).dtype.kind in "mM":
        half: Any = np.timedelta64(30, "m")
    else:
        half = max(0.5, 0.01 * abs(float(when[0])))
    return np.array([when[0] - half, when[0] + half]), *(np.repeat(c, 2, axis=1) for c in columns)


def _drawn(times: Any, axis: "Optional[TimeAxis]") -> Any:
    """Times as matplotlib places them: durations as numbers in their unit, and moments in UTC, so that no
    hour is drawn twice or not at all where clocks change; the ticks are written in the zone."""
    if axis is not None and axis.durations:
        return in_units(np.asarray(times), axis.unit)
    if getattr(times, "tz", None) is not None:
        times = times.tz_convert("UTC").tz_localize(None)
    return np.asarray(times)


def _observed(panel: Any, forecast: "Forecast", data: Any, name: str) -> None:
    one = data.select([forecast.ids[0]])
    if name not in one.features:
        return
    frame = one.to_frame()
    seen = frame[frame[name].notna()]
    when = seen[next(column for column in frame if column not in one.features and column.rstrip("_") == "time")]
    if forecast.time_axis is not None and not forecast.time_axis.durations:
        when = compat.pandas().DatetimeIndex(when)
    panel.plot(_drawn(when, forecast.time_axis), seen[name], "o", color=OBSERVED, markersize=3.5, label="observed")
