"""Numbers and texts that stand for a missing value: -999 and its like."""

from __future__ import annotations

from numbers import Number
from typing import Any, Mapping, Optional, Sequence

import numpy as np
import numpy.typing as npt

from ._convert import Array, objects_of, text_of
from .columns import factorize, is_number, number_column


_FORMS = "give -999, \"column=-999\", a list of them, or a mapping from columns to values"


def as_codes(missing: Any) -> Optional[list[str]]:
    """One code or several, as the command-line tool takes them; None where nothing is said."""
    if missing is None:
        return None
    if isinstance(missing, Mapping):
        return [f"{name}={code}" for name, codes in missing.items() for code in _codes(codes, missing)]
    return _codes(missing, missing)


def _codes(given: Any, missing: Any) -> list[str]:
    if isinstance(given, (str, bytes, Number, np.generic)):
        given = [given]
    try:
        codes = [text_of(code) if isinstance(code, bytes) else code for code in given]
    except TypeError:
        codes = [None]
    for code in codes:
        if isinstance(code, (bool, np.bool_)) or not isinstance(code, (str, Number)):
            raise TypeError(f"missing={missing!r}: {_FORMS}")
    return [str(code) for code in codes]


def _number(text: str) -> Optional[float]:
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


class MissingCodes:
    """Codes of all columns, as "-999", or of one, as "column=-999", in lower or upper case."""

    def __init__(self, given: Sequence[str]) -> None:
        self._codes = [code for code in given if code != "none"]

    def __bool__(self) -> bool:
        return bool(self._codes)

    def _of(self, column: str) -> list[str]:
        """The codes that count for a column; what stands before "=" may be a part of the code too."""
        own = [code.rpartition("=") for code in self._codes]
        return self._codes + [code for name, _, code in own if name and name.lower() == column.lower()]

    def found(self, values: Any, column: str) -> npt.NDArray[np.bool_]:
        """Which cells of a column hold a code."""
        codes = self._of(column)
        numbers = [n for n in map(_number, codes) if n is not None]
        if not codes:
            return np.zeros(len(values), dtype=bool)
        if is_number(values):
            return np.isin(number_column(values, column), numbers)
        places, uniques = factorize(values)
        texts = [text_of(value) for value in objects_of(uniques)]
        coded = np.array([text in codes or _number(text) in numbers for text in texts] + [False])
        return np.asarray(coded[places], dtype=bool)

    def cleared(self, values: Any, column: str) -> Any:
        """The column without its codes; itself where it holds none."""
        found = self.found(values, column)
        if not found.any():
            return values
        if is_number(values):
            return np.where(found, np.nan, number_column(values, column))
        array: Array = np.array(values, dtype=object)
        array[found] = None
        return array
