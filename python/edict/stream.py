"""Series as they happen, one or many."""

from __future__ import annotations

import ctypes
from ctypes import c_double, c_int32, c_int64
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from ._native import Error, Handle, address, bytes_of, check, doubles, lib, made, raise_for
from .forecast import Arrays, Forecast, empty_arrays
from .guard import GuardPointer
from .model import GuardLike, Model

Floats = npt.NDArray[np.float64]


class Stream:
    """One series. Asking never disturbs it; it only goes forward in time.

    >>> import edict
    >>> data = edict.Dataset.from_frame(edict.waves(series=60), label="label")
    >>> model = edict.Model.train(data, epochs=2, hidden=8, batch=16, threads=1)
    >>> stream = edict.Stream(model)
    >>> stream.observe(0.3, {"level": 0.4})
    >>> stream.observe(1.1, {"level": 0.9, "flow": -0.2})
    >>> stream.time
    1.1
    >>> stream.predict([1.5, 3.0]).mean.shape
    (1, 2, 2)
    """

    def __init__(
        self, model: Model, *, start: Optional[float] = None,
        static: Optional[Mapping[str, float]] = None, guard: GuardLike = None,
    ) -> None:  # fmt: skip
        self.model = model
        self._guard = guard
        begin = None if start is None else np.array([float(start)])
        self._streams = _new(model, 1, begin, _statics(model, [static]), guard)
        features = model.features
        self._place = {name: j for j, name in enumerate(features)}
        # Prepared once: a call then costs a few assignments more than the library itself.
        self._zero = c_int64(0)
        self._time = c_double()
        self._first = (c_int64 * 2)()
        self._feature = (c_int32 * len(features))()
        self._value = (c_double * len(features))()
        self._arguments = (
            self._streams.pointer, 1, ctypes.addressof(self._zero), ctypes.addressof(self._time),
            ctypes.addressof(self._first), ctypes.addressof(self._feature),
            ctypes.addressof(self._value),
        )  # fmt: skip
        self._observe = lib.edict_streams_observe

    def observe(self, time: float, values: Mapping[str, float]) -> None:
        """Absorbs the features that were observed at a time, by name.

        After an error (an unknown name, a time before the last one) the stream is as before.
        """
        place, feature, value = self._place, self._feature, self._value
        count = 0
        try:
            for name, observed in values.items():
                feature[count] = place[name]
                value[count] = observed
                count += 1
        except KeyError:
            raise Error(
                f"there is no feature {name!r}; the model has {', '.join(place)}"
            ) from None
        self._first[1] = count
        self._time.value = time
        code = self._observe(*self._arguments)
        if code:
            raise_for(code)

    def predict(self, at: Any) -> Forecast:
        """The distribution of every feature at one or more times, none before the last observation."""
        times = doubles(np.atleast_1d(at))
        places = np.zeros(times.size, np.int64)
        arrays = empty_arrays(1, times.size, len(self.model.features))
        _predict(self._streams, places, times, arrays)
        return Forecast(
            ["stream"], self.model.features, times[None, :], *arrays,
            correlations=self.model.correlations,
        )  # fmt: skip

    @property
    def time(self) -> float:
        """Of the last observation, or of the start before any.

        Minus infinity where the first observation is to be the start.
        """
        return float(_times(self._streams, 1)[0])

    @property
    def state(self) -> bytes:
        """A few hundred bytes from which another process goes on."""
        return _save(self._streams, 0)

    @state.setter
    def state(self, content: bytes) -> None:
        _restore(self._streams, 0, content)

    def __reduce__(self) -> tuple[Any, ...]:
        return _stream_from, (self.model, self._guard, self.state)


class Streams:
    """Many series on one model, served in batches, which costs less than half of one at a time.

    A stream is known by its place or, where names are given, by its name.

    >>> import edict, numpy as np
    >>> data = edict.Dataset.from_frame(edict.waves(series=60), label="label")
    >>> model = edict.Model.train(data, epochs=2, hidden=8, batch=16, threads=1)
    >>> pumps = edict.Streams(model, ["north", "south", "east"], start=0)
    >>> pumps.observe(0.5, [[0.1, np.nan], [0.7, 0.2]], streams=["south", "east"])
    >>> pumps.times
    array([0. , 0.5, 0.5])
    >>> pumps.predict(1.0).mean.shape
    (3, 1, 2)
    """

    def __init__(
        self, model: Model, streams: Union[int, Sequence[str]], *, start: Any = None,
        static: Any = None, guard: GuardLike = None,
    ) -> None:  # fmt: skip
        self.model = model
        self._guard = guard
        count = streams if isinstance(streams, int) else len(streams)
        self.names = [str(i) for i in range(count)] if isinstance(streams, int) else list(streams)
        self._place = {name: i for i, name in enumerate(self.names)}
        if len(self._place) != count:
            raise Error("two streams have one name")
        self._all = np.arange(count, dtype=np.int64)
        starts = None
        if start is not None:
            starts = doubles(np.broadcast_to(np.asarray(start, np.float64), (count,)))
        own = None if static is None else doubles(static)
        if own is not None and own.shape != (count, len(model.statics)):
            raise Error(f"static covariates of shape {own.shape} for {count} streams")
        self._streams = _new(model, count, starts, own, guard)

    def __len__(self) -> int:
        return len(self.names)

    def observe(self, times: Any, values: Any, streams: Any = None) -> None:
        """A row of values a stream, [streams × features], NaN where nothing was observed.

        ``times``: one for all, or one each. ``streams``: which, each at most once; by default all, in
        order. After an error every stream is as before.
        """
        places = self._places(streams)
        when = doubles(np.broadcast_to(np.asarray(times, np.float64), places.shape))
        rows = doubles(values)
        if rows.shape != (places.size, len(self.model.features)):
            raise Error(
                f"values of shape {rows.shape} for {places.size} streams and "
                f"{len(self.model.features)} features"
            )
        check(
            lib.edict_streams_observe_rows(
                self._streams.pointer, places.size, address(places), address(when), address(rows)
            )
        )

    def predict(self, at: Any, streams: Any = None) -> Forecast:
        """The distributions at a time for all, or a time each; the forecast has one time a stream."""
        places = self._places(streams)
        when = doubles(np.broadcast_to(np.asarray(at, np.float64), places.shape))
        arrays = empty_arrays(places.size, 1, len(self.model.features))
        _predict(self._streams, places, when, arrays)
        names = [self.names[i] for i in places]
        return Forecast(
            names, self.model.features, when[:, None], *arrays,
            correlations=self.model.correlations,
        )  # fmt: skip

    @property
    def times(self) -> Floats:
        """When each was last observed."""
        return _times(self._streams, len(self))

    def state(self, stream: Union[int, str]) -> bytes:
        return _save(self._streams, int(self._places([stream])[0]))

    def restore(self, stream: Union[int, str], content: bytes) -> None:
        _restore(self._streams, int(self._places([stream])[0]), content)

    def _places(self, streams: Any) -> npt.NDArray[np.int64]:
        if streams is None:
            return self._all
        array = np.atleast_1d(np.asarray(streams))
        if array.dtype.kind in ("U", "O"):
            try:
                return np.array([self._place[str(name)] for name in array], dtype=np.int64)
            except KeyError as e:
                raise Error(f"there is no stream {e.args[0]!r}") from None
        return np.ascontiguousarray(array, dtype=np.int64)

    def __reduce__(self) -> tuple[Any, ...]:
        states = [_save(self._streams, i) for i in range(len(self))]
        return _streams_from, (self.model, self.names, self._guard, states)


def _stream_from(model: Model, guard: GuardLike, state: bytes) -> Stream:
    stream = Stream(model, guard=guard)
    stream.state = state
    return stream


def _streams_from(
    model: Model, names: list[str], guard: GuardLike, states: list[bytes]
) -> Streams:
    streams = Streams(model, names, guard=guard)
    for i, state in enumerate(states):
        streams.restore(i, state)
    return streams


def _new(
    model: Model, count: int, start: Optional[Floats], static: Optional[Floats], guard: GuardLike
) -> Handle:
    pointer = GuardPointer(guard)
    return made(
        "streams", lib.edict_streams_new, model.pointer, count, address(start),
        address(static), pointer.address,
    )  # fmt: skip


def _statics(model: Model, given: Sequence[Optional[Mapping[str, float]]]) -> Optional[Floats]:
    if not model.statics or all(one is None for one in given):
        return None
    rows = np.full((len(given), len(model.statics)), np.nan)
    for i, one in enumerate(given):
        for name, value in (one or {}).items():
            if name not in model.statics:
                raise Error(f"the model has no static covariate {name!r}")
            rows[i, model.statics.index(name)] = value
    return rows


def _predict(
    streams: Handle, places: npt.NDArray[np.int64], times: Floats, arrays: Arrays
) -> None:
    check(
        lib.edict_streams_predict(
            streams.pointer, places.size, address(places), address(times),
            *(address(a) for a in arrays),
        )
    )  # fmt: skip


def _times(streams: Handle, count: int) -> Floats:
    times = np.empty(count)
    check(lib.edict_streams_times(streams.pointer, address(times)))
    return times


def _save(streams: Handle, place: int) -> bytes:
    return bytes_of(lib.edict_streams_save, streams.pointer, place)


def _restore(streams: Handle, place: int, content: bytes) -> None:
    buffer = ctypes.create_string_buffer(content, len(content))
    check(
        lib.edict_streams_restore(streams.pointer, place, ctypes.addressof(buffer), len(content))
    )
