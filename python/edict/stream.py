"""Series as they happen, one or many."""

from __future__ import annotations

import ctypes
import threading
from ctypes import c_double, c_int32, c_int64
from typing import Any, Hashable, Mapping, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from . import _convert
from ._native import Error, Handle, address, buffer_of, bytes_of, check, lib, made, raise_for
from .clock import Clock
from .forecast import Arrays, Forecast, empty_arrays
from .guard import GuardPointer
from .model import GuardLike, Model

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Stream:
    """One series. Asking never disturbs it; it only goes forward in time. Several threads may use it.

    Times are numbers in the unit of the model's training data or, where those had date-times, date-times.

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
        self, model: Model, *, start: Any = None,
        static: Optional[Mapping[str, float]] = None, guard: GuardLike = None,
    ) -> None:  # fmt: skip
        self._model = model
        self._guard = guard
        self._lock = threading.Lock()  # the library's buffers and those below are one call's at a time
        self._clock = Clock(model, 1)
        begin = None
        if start is not None:
            begin, kept = self._clock.floats(start, _FIRST, "start", True)
            if begin.size != 1:
                raise Error(f"start: give one time, not {begin.size}")
            begin = np.ascontiguousarray(begin.reshape(1))
            self._clock.keep(kept)
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
            self._streams, 1, ctypes.addressof(self._zero), ctypes.addressof(self._time),
            ctypes.addressof(self._first), ctypes.addressof(self._feature),
            ctypes.addressof(self._value),
        )  # fmt: skip
        self._observe = lib.edict_streams_observe

    @property
    def model(self) -> Model:
        """Which predicts it."""
        return self._model

    def __repr__(self) -> str:
        features = len(self._place)
        begun = f"at {self.time:g}" if self.time > -np.inf else "not begun"
        return f"Stream({features} {'feature' if features == 1 else 'features'}, {begun})"

    def observe(self, time: Any, values: Mapping[str, float]) -> None:
        """Absorbs the features that were observed at a time, by name.

        After an error (an unknown name, a time before the last one) the stream is as before.
        """
        place, feature, value = self._place, self._feature, self._value
        with self._lock:
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
            except AttributeError:
                raise TypeError(
                    f"values are a {type(values).__name__}; give a mapping from names of features to numbers"
                ) from None
            except TypeError:
                raise Error(
                    f"{name!r} is {observed!r}, which is no number; leave out what was not observed"
                ) from None
            self._first[1] = count
            kept = None
            if type(time) is float or type(time) is int:
                self._time.value = time
            else:
                when, kept = self._clock.floats(time, _FIRST, "time", True)
                if when.size != 1:
                    raise Error(f"time: give one, not {when.size}")
                self._time.value = float(when.flat[0])
            code = self._observe(*self._arguments)
            if code:
                raise_for(code)
            self._clock.keep(kept)

    def predict(self, at: Any) -> Forecast:
        """The distribution of every feature at one or more times, none before the last observation."""
        with self._lock:
            when, _ = self._clock.floats(at, _FIRST, "at")
            times = np.ascontiguousarray(np.atleast_1d(when))
            if times.ndim != 1:
                raise Error(f"at: give one time or a list of them, not an array of {times.ndim} axes")
            places = np.zeros(times.size, np.int64)
            arrays = empty_arrays(1, times.size, len(self.model.features))
            _predict(self._streams, places, times, arrays)
            axis = self._clock.axis(_FIRST)
        return Forecast(
            ["stream"], self.model.features, times[None, :], *arrays, time_axis=axis,
            correlations=self.model.correlations,
        )  # fmt: skip

    @property
    def time(self) -> float:
        """Of the last observation, or of the start before any.

        Minus infinity where the first observation is to be the start.
        """
        with self._lock:
            return float(_times(self._streams, 1)[0])

    @property
    def state(self) -> bytes:
        """A few hundred bytes from which another process goes on."""
        with self._lock:
            return self._clock.with_origin(_save(self._streams, 0), 0)

    @state.setter
    def state(self, content: bytes) -> None:
        with self._lock:
            _restore(self._streams, 0, content, self._clock)

    def __reduce__(self) -> tuple[Any, ...]:
        return _stream_from, (self.model, self._guard, self.state)


class Streams:
    """Many series on one model, served in batches, which costs less than half of one at a time.

    A stream is known by its place or, where names are given, by its name. Several threads may use them.

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
        self, model: Model, streams: Union[int, Sequence[Any]], *, start: Any = None,
        static: Any = None, guard: GuardLike = None,
    ) -> None:  # fmt: skip
        self._model = model
        self._guard = guard
        self._lock = threading.Lock()
        self._clock = Clock(model, 0)  # which also says what is no model
        self._named = not isinstance(streams, (int, np.integer))
        if isinstance(streams, str) or (self._named and not hasattr(streams, "__iter__")):
            raise TypeError(f"streams={streams!r}: give a number of streams or a list of their names")
        self._names: tuple[Any, ...] = tuple(
            _convert.objects_of(_convert.listed(streams)) if not isinstance(streams, (int, np.integer))
            else [str(i) for i in range(_convert.whole(streams, "streams", 0))]
        )  # fmt: skip
        count = len(self._names)
        for i, name in enumerate(self._names):
            if _convert.is_missing(name):
                raise Error(f"streams[{i}] is missing; give each stream a name")
            if not isinstance(name, Hashable):
                raise TypeError(f"streams[{i}] is a {type(name).__name__}; give texts or numbers as names")
        self._numbered = any(isinstance(name, (int, float)) for name in self._names)
        self._place = {name: i for i, name in enumerate(self._names)}
        if len(self._place) != count:
            raise Error("two streams have one name; give each its own")
        self._all = np.arange(count, dtype=np.int64)
        self._clock = Clock(model, count)
        starts = None
        if start is not None:
            starts, kept = self._when(start, self._all, "start", True)
            self._clock.keep(kept)
        if self._named_by(static) is not None:  # a table with a row a stream
            missing = next((name for name in self._names if name not in static.index), None)
            if missing is not None or static.index.has_duplicates:
                raise Error(f"static: the index does not name each stream once ({missing!r}); give a row each")
            static = static.loc[list(self._names)]
        own = None if static is None else _rows(static, model.statics, "static covariate", count)
        self._streams = _new(model, count, starts, own, guard)

    @property
    def model(self) -> Model:
        """Which predicts them."""
        return self._model

    @property
    def names(self) -> list[Any]:
        """As they were given, or "0", "1", … where a number of streams was."""
        return list(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        streams, features = len(self), len(self.model.features)
        return (
            f"Streams({streams} {'stream' if streams == 1 else 'streams'}, "
            f"{features} {'feature' if features == 1 else 'features'})"
        )

    def observe(self, times: Any, values: Any, streams: Any = None) -> None:
        """A row of values a stream, [streams × features], NaN where nothing was observed.

        A DataFrame is taken by the names of its columns; a feature that it lacks was not observed, and
        its index may name the streams. ``times``: one for all, or one each. ``streams``: which, each
        at most once; by default all, in order. After an error every stream is as before.
        """
        own = self._named_by(values)
        if streams is None:
            streams = own
        places = self._places(streams)
        if own is not None and not np.array_equal(places, self._places(own)):
            raise Error("the index of values names other streams, or in another order, than streams=; give one of both")
        rows = _rows(values, self.model.features, "feature", places.size)
        with self._lock:
            when, kept = self._when(times, places, "times", True)
            check(
                lib.edict_streams_observe_rows(
                    self._streams, places.size, address(places), address(when), address(rows)
                )
            )
            self._clock.keep(kept)

    def _named_by(self, values: Any) -> Optional[list[Any]]:
        """The streams that the index of a table or a Series names; None where it names none."""
        if not self._named or not (hasattr(values, "index") and hasattr(values, "iloc")):
            return None
        if type(values.index).__name__ == "RangeIndex":
            return None
        named = [label in self._place for label in values.index]
        if any(named) and not all(named):
            raise Error(f"there is no stream {values.index[named.index(False)]!r}, which the index names")
        return list(values.index) if any(named) else None

    def predict(self, at: Any, streams: Any = None) -> Forecast:
        """The distributions at a time for all, or a time each; the forecast has one time a stream."""
        places = self._places(streams)
        arrays = empty_arrays(places.size, 1, len(self.model.features))
        with self._lock:
            when, _ = self._when(at, places, "at")
            _predict(self._streams, places, when, arrays)
            axis = self._clock.axis(places)
        names = [self._names[i] for i in places]
        return Forecast(
            names, self.model.features, when[:, None], *arrays, time_axis=axis,
            correlations=self.model.correlations,
        )  # fmt: skip

    def _when(self, times: Any, places: Ints, what: str, begins: bool = False) -> tuple[Floats, Any]:
        """A time for each of these streams; in a Series that names them, by its index."""
        if self._named_by(times) is not None:
            times = _convert.by_index(times, [self._names[i] for i in places], what)
        when, kept = self._clock.floats(times, places, what, begins)
        if when.shape not in ((), (1,), places.shape):
            raise Error(f"{what} of shape {when.shape} for {places.size} streams; give one for all, or one each")
        return np.ascontiguousarray(np.broadcast_to(when, places.shape)), kept

    @property
    def times(self) -> Floats:
        """When each was last observed."""
        with self._lock:
            return _times(self._streams, len(self))

    def state(self, stream: Any) -> bytes:
        """The state of one stream as bytes, from which another process goes on."""
        place = self._one(stream)
        with self._lock:
            return self._clock.with_origin(_save(self._streams, place), place)

    def restore(self, stream: Any, content: bytes) -> None:
        """Brings back a stream from what :meth:`state`, or that of a :class:`Stream`, made."""
        place = self._one(stream)
        with self._lock:
            _restore(self._streams, place, content, self._clock, place)

    def _one(self, stream: Any) -> int:
        places = self._places([stream])
        if places.size != 1:
            raise TypeError(f"stream={stream!r}: give one stream, by its place or its name")
        return int(places[0])

    def _places(self, streams: Any) -> Ints:
        if streams is None:
            return self._all
        if isinstance(streams, slice):
            return self._all[streams].copy()
        array = np.atleast_1d(np.asarray(streams))
        if array.dtype.kind in "iu" and not self._numbered:
            # The library refuses a place that is not there.
            return np.ascontiguousarray(array, dtype=np.int64)
        if array.dtype.kind == "b" and not all(isinstance(name, bool) for name in self._names):
            return _convert.places(array, self._names, "streams")
        named = isinstance(streams, (str, bytes)) or np.ndim(streams) == 0
        wanted = [streams] if named else _convert.objects_of(streams)
        for name in wanted:
            if not isinstance(name, Hashable) or name not in self._place:
                shown = ", ".join(str(known) for known in self._names[:12])
                raise Error(f"there is no stream {name!r}; there are {shown}")
        return np.array([self._place[name] for name in wanted], dtype=np.int64)

    def __reduce__(self) -> tuple[Any, ...]:
        with self._lock:
            states = [self._clock.with_origin(_save(self._streams, i), i) for i in range(len(self))]
        names: Any = list(self._names) if self._named else len(self)
        return _streams_from, (self.model, names, self._guard, states)


_FIRST = np.zeros(1, dtype=np.int64)  # the place of the only one


def _stream_from(model: Model, guard: GuardLike, state: bytes) -> Stream:
    stream = Stream(model, guard=guard)
    stream.state = state
    return stream


def _streams_from(model: Model, names: Any, guard: GuardLike, states: list[bytes]) -> Streams:
    streams = Streams(model, names, guard=guard)
    for i, state in enumerate(states):
        streams.restore(i if isinstance(names, int) else names[i], state)
    return streams


def _rows(values: Any, names: list[str], what: str, count: int) -> Floats:
    """[count × names], from an array in that order or from columns by name."""
    if not (hasattr(values, "columns") or isinstance(values, Mapping)):
        rows = _convert.contiguous(values, "values" if what == "feature" else what)
        if rows.shape != (count, len(names)):
            raise Error(
                f"values of shape {rows.shape} for {count} streams and {len(names)} {what}s"
            )
        return rows
    rows = np.full((count, len(names)), np.nan)
    for key in values.keys():
        if str(key) not in names:
            raise Error(f"there is no {what} {str(key)!r}; the model has {', '.join(names)}")
        own = _convert.numbers(values[key], f"column {str(key)!r}")
        if own.shape not in ((), (count,)):
            raise Error(f"column {str(key)!r} has the shape {own.shape} for {count} streams")
        rows[:, names.index(str(key))] = own
    return rows


def _new(
    model: Model, count: int, start: Optional[Floats], static: Optional[Floats], guard: GuardLike
) -> Handle:
    pointer = GuardPointer(guard)
    return made(
        "streams", lib.edict_streams_new, model._handle, count, address(start),
        address(static), pointer.address,
    )  # fmt: skip


def _statics(model: Model, given: Sequence[Optional[Mapping[str, float]]]) -> Optional[Floats]:
    if all(one is None for one in given):
        return None
    rows = np.full((len(given), len(model.statics)), np.nan)
    for i, one in enumerate(given):
        for name, value in (one or {}).items():
            if name not in model.statics:
                known = ", ".join(model.statics) or "none"
                raise Error(f"the model has no static covariate {name!r}; it has {known}")
            rows[i, model.statics.index(name)] = _convert.numbers(value, f"static covariate {name!r}")
    return rows


def _predict(
    streams: Handle, places: npt.NDArray[np.int64], times: Floats, arrays: Arrays
) -> None:
    check(
        lib.edict_streams_predict(
            streams, places.size, address(places), address(times),
            *(address(a) for a in arrays),
        )
    )  # fmt: skip


def _times(streams: Handle, count: int) -> Floats:
    times = np.empty(count)
    check(lib.edict_streams_times(streams, address(times)))
    return times


def _save(streams: Handle, place: int) -> bytes:
    return bytes_of(lib.edict_streams_save, streams, place)


def _restore(streams: Handle, place: int, content: bytes, clock: Clock, own: int = 0) -> None:
    state, known = clock.without_origin(content)
    buffer = buffer_of(state, "the state")
    check(lib.edict_streams_restore(streams, place, ctypes.addressof(buffer), len(buffer)))
    clock.restore(own, known)
