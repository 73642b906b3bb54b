"""What the times of streams are."""

from __future__ import annotations

import json
import struct
from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from . import moments as _moments
from .moments import Times
from ._native import Error, bytes_like
from .model import Model
from .times import UNITS, TimeAxis, between, in_units, zone_name, zone_of

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_WITH_CLOCK = b"edict clock 1\n"  # before a state that remembers its first moment


class Clock:
    """What the times of streams are: numbers in the model's unit or, where it was trained with
    date-times, date-times. A series that begins at its own first moment begins at that of its first
    observation."""

    def __init__(self, model: Model, count: int) -> None:
        if not isinstance(model, Model):
            raise TypeError(f"model is of type {type(model).__name__}; give a Model, as from Model.load")
        self._rules = model._time_rules
        self._unit = model._info["time_axis"]["unit"]
        self._zone: Any = None
        self._dated = False  # whether date-times were given
        self._origin = np.full(count, "NaT", dtype="datetime64[ns]")
        if self._rules is not None and not self._rules["from_first"]:
            self._origin[:] = np.datetime64(round(self._rules["epoch"]), "us")

    def floats(self, given: Any, places: Ints, what: str, begins: bool = False) -> tuple[Floats, Any]:
        """Times of these streams in the model's unit, and what to keep (:meth:`keep`) once they were
        taken. ``begins``: whether a stream may begin with them."""
        times = _moments.times(given, what).present(what)
        if times.kind == "numbers":
            return np.ascontiguousarray(times.values, dtype=np.float64), None
        if self._unit not in UNITS or (self._rules is None and times.kind == "date-times"):
            raise Error(f"{what} holds {times.kind}, but the model's times are plain numbers; give those")
        if times.kind == "durations":
            return np.ascontiguousarray(in_units(times.values, self._unit)), None
        moments, zone = self._utc(times, what)
        moments = np.broadcast_to(moments, np.broadcast_shapes(moments.shape, places.shape))
        origin = self._origin[places]
        new = np.isnat(origin)
        if new.any():
            if not begins:
                raise Error(f"{what}: a stream without observations has no moment to count from; give start=")
            origin = np.where(new, moments, origin)
        return in_units(between(moments, origin, what), self._unit), (places, origin, zone)

    def _utc(self, times: Times, what: str) -> tuple[Any, Any]:
        zone = self._zone if self._dated else times.zone
        assert self._rules is not None
        if not self._rules["from_first"] and (self._rules["style"]["zone"] != 0) != (times.zone is not None):
            raise Error(
                f"{what}: the model's date-times have {'a' if times.zone is None else 'no'} zone, these have "
                f"{'none' if times.zone is None else 'one'}; give both alike"
            )
        return _moments.in_zone(times, zone, what), zone

    def keep(self, taken: Any) -> None:
        """What :meth:`floats` said, once the library took the times."""
        if taken is not None:
            places, origin, self._zone = taken
            self._origin[places] = origin
            self._dated = True

    def with_origin(self, state: bytes, place: int) -> bytes:
        """A state, with the moment that its times count from where the model does not know it."""
        if self._rules is None or not self._dated or np.isnat(self._origin[place]):
            return state
        # Zones may be anything that is a tzinfo; another process needs what was said.
        known = {"origin": int(self._origin[place].astype(np.int64)), "zone": zone_name(self._zone)}
        text = json.dumps(known).encode()
        return _WITH_CLOCK + struct.pack("<I", len(text)) + text + state

    def without_origin(self, content: Any) -> tuple[bytes, Optional[dict[str, Any]]]:
        """What :meth:`with_origin` was given, and what it added."""
        held = bytes_like(content, "the state")
        if not held.startswith(_WITH_CLOCK):
            return held, None
        begin = len(_WITH_CLOCK) + 4
        try:
            (size,) = struct.unpack("<I", held[len(_WITH_CLOCK) : begin])
            known = json.loads(held[begin : begin + size])
            known = {"origin": np.datetime64(int(known["origin"]), "ns"), "zone": zone_of(known["zone"])}
        except (struct.error, ValueError, KeyError, TypeError) as e:
            raise Error(f"the state is damaged: {e}; take the one that was saved before") from None
        return held[begin + size :], known

    def restore(self, place: int, known: Optional[dict[str, Any]]) -> None:
        """The origin of a stream that was brought back."""
        if self._rules is None:
            return
        if known is not None:
            self._origin[place], self._zone, self._dated = known["origin"], known["zone"], True
        elif self._rules["from_first"]:
            self._origin[place] = np.datetime64("NaT")

    def axis(self, places: Ints) -> Optional[TimeAxis]:
        """For a forecast of these streams; None where times were numbers."""
        if self._rules is None or not self._dated or np.isnat(self._origin[places]).any():
            return None
        return TimeAxis(
            self._rules["unit"], self._origin[places], self._zone, 1000, self._rules["from_first"]
        )
