"""Distributions at asked times, as arrays."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from . import _convert, compat
from ._convert import array_of
from ._native import Error, address, check, lib
from .times import Moments, TimeAxis

Floats = npt.NDArray[np.float64]
Limit = Union[float, Mapping[str, float], npt.ArrayLike]


# mean, aleatoric, epistemic, scale, dof
Arrays = tuple[Floats, Floats, Floats, Floats, Floats]


def empty_arrays(*shape: int) -> Arrays:
    """Of distributions, to be filled."""
    return np.empty(shape), np.empty(shape), np.empty(shape), np.empty(shape), np.empty(shape)


@dataclass(frozen=True, eq=False)
class Forecast:
    """A Student-t distribution of every feature at every asked time of every series.

    The arrays are [series × times × features]. ``aleatoric`` (the noise of the data) and ``epistemic``
    (the model's own uncertainty) are variances, and their sum is the variance of the prediction; where ``dof``
    is 2 or less that is infinite. ``times`` are [series × times], in the data's unit.

    >>> import edict
    >>> data = edict.Dataset.from_frame(edict.waves(series=60), label="label")
    >>> model = edict.Model.train(data, epochs=2, hidden=8, batch=16, threads=1)
    >>> forecast = model.predict(data[:3], ahead=[0.5, 1.0])
    >>> forecast
    Forecast(3 series, 2 times, 2 features)
    >>> lower, upper = forecast.interval(0.9)
    >>> bool((lower < forecast.mean).all() and (forecast.mean < upper).all())
    True
    >>> forecast.probability(above={"level": 0.5}).shape
    (3, 2, 1)
    """

    ids: list[Any]
    features: list[str]
    times: Floats
    mean: Floats
    aleatoric: Floats
    epistemic: Floats
    scale: Floats
    dof: Floats
    time_axis: Optional[TimeAxis] = None
    clipped: int = 0  # observations that a guard changed on the way
    correlations: Optional[Floats] = None  # [features × features], of normal scores at one moment
    given: Optional[Moments] = None  # the times where they were given as date-times, in UTC

    @property
    def shape(self) -> tuple[int, int, int]:
        """(series, times, features)."""
        return len(self.ids), self.times.shape[1], len(self.features)

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        series, times, features = self.shape
        return (
            f"Forecast({series} series, {times} {'time' if times == 1 else 'times'}, "
            f"{features} {'feature' if features == 1 else 'features'})"
        )

    def __eq__(self, other: object) -> bool:
        """Whether everything in it is the same; of distributions, their numbers."""
        if not isinstance(other, Forecast):
            return NotImplemented
        for one in fields(self):
            own, theirs = getattr(self, one.name), getattr(other, one.name)
            if isinstance(own, np.ndarray) and isinstance(theirs, np.ndarray):
                if not np.array_equal(own, theirs, equal_nan=True):
                    return False
            elif isinstance(own, np.ndarray) or isinstance(theirs, np.ndarray) or own != theirs:
                return False
        return True

    __hash__ = None  # type: ignore[assignment]

    @property
    def variance(self) -> Floats:
        """Of the prediction: aleatoric and epistemic together."""
        return self.aleatoric + self.epistemic

    @property
    def std(self) -> Floats:
        """The deviation of the prediction."""
        return np.sqrt(self.variance)

    def select(
        self, series: Any = None, features: Any = None,
    ) -> "Forecast":  # fmt: skip
        """Some series and some features, each by a mask, a slice, places or names.

        Where ids are whole numbers, one that may be a place or an id is refused: an array of numpy holds
        places, and a text is an id.
        """
        rows = _places(_convert.unambiguous(series, self.ids), self.ids, "series")
        columns = _places(features, self.features, "feature")

        def take(array: Floats) -> Floats:
            return array[rows][:, :, columns]

        return Forecast(
            [self.ids[i] for i in rows], [self.features[j] for j in columns], self.times[rows],
            take(self.mean), take(self.aleatoric), take(self.epistemic), take(self.scale),
            take(self.dof), None if self.time_axis is None else self.time_axis.take(rows),
            self.clipped, None if self.correlations is None else self.correlations[np.ix_(columns, columns)],
            None if self.given is None else self.given[rows],
        )  # fmt: skip

    # ---- questions to the distributions ----------------------------------------------------------

    def quantile(self, p: Any) -> Floats:
        """The p-quantile; a list of p gives one more axis at the end."""
        asked = _convert.numbers(p, "p")
        if asked.ndim == 0:
            return self._each(lib.edict_quantile, asked)
        if asked.size == 0:
            raise Error("p holds nothing; give one probability or several")
        return np.stack([self._each(lib.edict_quantile, one) for one in asked.ravel()], axis=-1)

    def interval(self, level: float = 0.9) -> tuple[Floats, Floats]:
        """The central interval that holds a share ``level``: (lower, upper)."""
        given = _convert.numbers(level, "level")
        if given.size != 1:
            raise Error(f"level = {level}: give one number")
        share = float(given.flat[0])
        if not 0 < share < 1:
            near = f"; did you mean {share / 100:g}?" if 1 < share < 100 else ""
            raise Error(f"level = {level} must lie between 0 and 1{near}")
        half = self.quantile(0.5 + 0.5 * share) - self.mean
        return self.mean - half, self.mean + half

    def cdf(self, x: Any) -> Floats:
        """P(X ≤ x); x is broadcast against [series × times × features]. A Series goes by the names of
        features."""
        named = _by_name(x, "x", self.features)
        if isinstance(named, Mapping):
            if set(named) != set(self.features):
                raise Error(f"x names {', '.join(map(str, named))}; name each of {', '.join(self.features)}")
            x = [named[name] for name in self.features]
        return self._each(lib.edict_cdf, _convert.numbers(x, "x"))

    def probability(
        self, *, above: Optional[Limit] = None, below: Optional[Limit] = None,
        within: Optional[tuple[Limit, Limit]] = None,
    ) -> Floats:  # fmt: skip
        """P(X > above), P(X < below) or P(low < X < high).

        A limit is a number for all features, an array, or a mapping or a Series from names of features
        to numbers, which gives only those features, in its order.
        """
        names = self.features
        above, below = _by_name(above, "above", names), _by_name(below, "below", names)
        given = [name for name, v in (("above", above), ("below", below), ("within", within)) if v is not None]
        if len(given) != 1:
            raise Error("give one of above, below and within")
        if above is not None:
            part, limit = self._limited(above, "above")
            return part.cdf(2 * part.mean - limit)  # by symmetry, with the digits of a small tail
        if below is not None:
            part, limit = self._limited(below, "below")
            return part.cdf(limit)
        if not isinstance(within, (tuple, list)) or len(within) != 2:
            raise Error("within: give two limits, (low, high)")
        low, high = (_by_name(v, f"within, {k}", names) for k, v in zip(("low", "high"), within))
        part, lower = self._limited(low, "within, low")
        if isinstance(low, Mapping) != isinstance(high, Mapping) or (
            isinstance(low, Mapping) and isinstance(high, Mapping) and set(high) != set(low)
        ):
            raise Error("within: both limits must name the same features")
        if isinstance(low, Mapping) and isinstance(high, Mapping):
            high = {name: high[name] for name in low}
        upper = self._limited(high, "within, high")[1]
        if (lower > upper).any():
            raise Error(f"within=({low!r}, {high!r}): the lower limit is above the upper one; exchange them")
        return part.cdf(upper) - part.cdf(lower)

    def sample(self, count: int = 1, seed: int = 0) -> Floats:
        """Draws [count × series × times × features], each of its own distribution.

        Features of one time are drawn together where the model knows which of them err together
        (``edict calibrate``), and apart where not. Times are drawn apart: a draw is no path through
        time.
        """
        count = _convert.whole(count, "count", 0, 2**62)
        rng = np.random.default_rng(_convert.whole(seed, "seed", 0, 2**128))
        shape = (count, *self.shape)
        if self.correlations is not None:
            scores = rng.standard_normal(shape) @ np.linalg.cholesky(self.correlations).T
            # Each as unusual as its score is; below the mean, where a tail has its digits.
            tails = _elementwise(lib.edict_cdf, 0.0, 1.0, np.inf, -np.abs(scores))
            below = _elementwise(lib.edict_quantile, self.mean, self.scale, self.dof, tails)
            return np.asarray(self.mean + np.sign(scores) * (self.mean - below))
        finite = np.where(np.isinf(self.dof), 1.0, self.dof)
        draws = rng.standard_t(np.broadcast_to(finite, shape))
        if np.isinf(self.dof).any():
            draws = np.where(np.isinf(self.dof), rng.standard_normal(shape), draws)
        return np.asarray(self.mean + self.scale * draws)

    def _limited(self, limit: Limit, what: str) -> tuple["Forecast", Floats]:
        if isinstance(limit, Mapping):
            numbers = _present(_convert.numbers(list(limit.values()), what), what)
            if numbers.ndim != 1:
                raise Error(f"{what}: give one number a feature")
            return self.select(features=list(limit)), numbers
        numbers = _present(_convert.numbers(limit, what), what)
        try:
            np.broadcast_to(numbers, self.mean.shape)
        except ValueError:
            raise Error(
                f"{what}: an array of shape {numbers.shape} does not fit [series × times × features], {self.mean.shape}"
            ) from None
        return self, numbers

    def _each(self, function: Any, argument: Floats) -> Floats:
        try:
            x = np.broadcast_to(argument, self.mean.shape)
        except ValueError:
            raise Error(
                f"an array of shape {argument.shape} does not fit [series × times × features], "
                f"{self.mean.shape}"
            ) from None
        return _elementwise(function, self.mean, self.scale, self.dof, x)

    # ---- as something else -----------------------------------------------------------------------

    def moments(self) -> Any:
        """The asked times as they would be written, series after series: date-times or floats."""
        if self.time_axis is None:
            return self.times.ravel()
        if self.given is not None:
            return self.time_axis.localised(self.given.ravel())
        series = np.repeat(np.arange(len(self)), self.times.shape[1])
        return self.time_axis.localised(self.time_axis.to_moments(self.times.ravel(), series))

    def to_frame(
        self, level: Optional[float] = 0.9, quantiles: Union[float, Sequence[float], None] = None
    ) -> Any:
        """A DataFrame with a row for every series, time and feature; deviations, not variances."""
        pd = compat.pandas()
        series, times, features = self.shape
        frame = pd.DataFrame({
            "id": np.repeat(array_of(self.ids), times * features),
            "time": self.moments().repeat(features),
            "feature": np.tile(np.asarray(self.features, dtype=object), series * times),
            "mean": self.mean.ravel(),
            "aleatoric_sd": np.sqrt(self.aleatoric).ravel(),
            "epistemic_sd": np.sqrt(self.epistemic).ravel(),
            "predictive_sd": self.std.ravel(),
            "scale": self.scale.ravel(),
            "dof": self.dof.ravel(),
        })  # fmt: skip
        if level is not None:
            lower, upper = self.interval(level)
            frame["lower"], frame["upper"] = lower.ravel(), upper.ravel()
        for p in np.atleast_1d(() if quantiles is None else quantiles).tolist():
            frame[f"q{p:g}"] = self.quantile(p).ravel()
        return frame

    def plot(self, series: Any = None, *, data: Any = None, level: float = 0.9,
             features: Union[str, Sequence[str], None] = None, axes: Any = None) -> Any:  # fmt: skip
        """A matplotlib figure of one series, the first where none is named: the mean, and its interval in
        two tones.

        Dark is what would remain of the interval if the model knew everything (the noise of the
        data); light is what its own uncertainty adds. ``data`` adds what was observed.
        """
        from .dataset import Dataset
        from .plotting import plot_forecast

        if data is not None and not isinstance(data, Dataset):
            raise TypeError(f"data is of type {type(data).__name__}; give the Dataset that was forecast")

        if len(self) == 0 or self.times.shape[1] == 0:
            raise Error("the forecast has no series or no times; there is nothing to draw")
        series = np.zeros(1, np.int64) if series is None else series
        part = self.select(series, features)
        if len(part) != 1:
            raise Error(f"series={series!r}: a figure shows one series, and these are {len(part)}")
        return plot_forecast(part, data, level, axes)


def _by_name(limit: Any, what: str, features: list[str]) -> Any:
    """A Series as the mapping that it is, unless it only counts the features; a table is none."""
    if hasattr(limit, "columns") and hasattr(limit, "iloc"):
        raise TypeError(f"{what} is a DataFrame; give a number a feature by name, or an array")
    if hasattr(limit, "index") and hasattr(limit, "items") and not isinstance(limit, Mapping):
        if limit.index.has_duplicates:
            raise Error(f"{what}: the index names a feature twice")
        if list(limit.index) == list(range(len(features))):
            return np.asarray(limit)
        return {str(name): value for name, value in limit.items()}
    return limit


def _present(limits: Floats, what: str) -> Floats:
    if np.isnan(limits).any():
        raise Error(f"{what} is missing; give a number, which may be infinite")
    return limits


def _elementwise(function: Any, *arguments: Any) -> Floats:
    """Of a function of edict.h that takes mean, scale, dof and x, which are broadcast."""
    arrays = [np.ascontiguousarray(a, dtype=np.float64) for a in np.broadcast_arrays(*arguments)]
    out = np.empty(arrays[0].shape)
    check(function(out.size, *(address(a) for a in arrays), address(out)))
    return out


def _places(asked: Any, names: Sequence[Any], what: str) -> npt.NDArray[np.int64]:
    if asked is None:
        return np.arange(len(names), dtype=np.int64)
    return _convert.places(asked, names, what)
