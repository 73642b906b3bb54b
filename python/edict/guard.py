"""What to do with an observation before a model absorbs it."""

from __future__ import annotations

import ctypes
from numbers import Real
from typing import Any, Optional

from ._native import Error, GuardStruct

_KINDS = {"none": 0, "edgr": 1, "pop-mean": 2}
_DEVIATIONS = {"epistemic": 0, "predictive": 1}


class Guard:
    """Limits implausible observations before a model absorbs them.

    ``"edgr"`` clips to what the model expects, ``"pop-mean"`` to what the training data held. ``eta``
    is how many deviations an observation may be off; EDGR counts in the model's own uncertainty alone
    (``"epistemic"``, as published) or with the noise of the data (``"predictive"``), which clips far
    fewer clean observations.

    It has the methods that scikit-learn asks of a parameter, so ``guard__eta`` can be searched.

    >>> Guard("edgr", eta=3.0)
    Guard('edgr', eta=3.0, deviation='epistemic')
    >>> Guard("egdr")
    Traceback (most recent call last):
        ...
    edict._native.Error: guard 'egdr' is unknown; give one of none, edgr, pop-mean
    """

    def __init__(
        self, kind: str = "edgr", *, eta: float = 1.96, deviation: str = "epistemic"
    ) -> None:
        self.kind = kind
        self.eta = eta
        self.deviation = deviation
        self.to_struct()

    def to_struct(self) -> GuardStruct:
        """As the library takes it; refused where a parameter cannot be."""
        if self.kind not in _KINDS:
            raise Error(f"guard {self.kind!r} is unknown; give one of {', '.join(_KINDS)}")
        if self.deviation not in _DEVIATIONS:
            raise Error(
                f"deviation {self.deviation!r} is unknown; give one of {', '.join(_DEVIATIONS)}"
            )
        if isinstance(self.eta, bool) or not isinstance(self.eta, Real):
            raise TypeError(f"eta={self.eta!r}: give a number")
        if not 0 <= float(self.eta) < float("inf"):
            raise Error(f"eta={self.eta!r}: give the number of deviations, at least 0")
        return GuardStruct(_KINDS[self.kind], _DEVIATIONS[self.deviation], float(self.eta))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Kind, eta and deviation, for scikit-learn."""
        return {"kind": self.kind, "eta": self.eta, "deviation": self.deviation}

    def set_params(self, **params: Any) -> "Guard":
        """Changes some of them."""
        for name, value in params.items():
            if name not in ("kind", "eta", "deviation"):
                raise Error(f"a guard has no parameter {name!r}; it has kind, eta, deviation")
            setattr(self, name, value)
        self.to_struct()
        return self

    def __repr__(self) -> str:
        return f"Guard({self.kind!r}, eta={self.eta!r}, deviation={self.deviation!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Guard) and self.get_params() == other.get_params()

    def __hash__(self) -> int:
        return hash((self.kind, self.eta, self.deviation))


class GuardPointer:
    """A guard as the library takes it, kept alive for the call."""

    def __init__(self, guard: "Guard | str | None") -> None:
        if isinstance(guard, str):
            guard = Guard(guard)
        if guard is not None and not isinstance(guard, Guard):
            raise TypeError(f"guard={guard!r}: give an edict.Guard, or the name of its kind")
        self.struct: Optional[GuardStruct] = None if guard is None else guard.to_struct()
        self.address = None if self.struct is None else ctypes.addressof(self.struct)
