"""Columns of texts that are numbers, read as the cells of a file are: 5.2 mmol/L, 97 %, <0.1, 1.234,5."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Mapping, Optional

import numpy as np

from . import _convert
from ._convert import Array, Floats, Ints, objects_of, text_of
from ._native import Error, address, json_of, lib, texts, warn
from .columns import factorize, number_column

if TYPE_CHECKING:
    from .missing import MissingCodes
    from .model import Model

DECIMALS = {"point": "point", ".": "point", "comma": "comma", ",": "comma"}


def decimal_word(decimal: Any) -> Optional[str]:
    """The decimal mark as the library names it."""
    if decimal is None:
        return None
    if not isinstance(decimal, str) or decimal not in DECIMALS:
        raise Error(f'decimal={decimal!r}: give "point" or ".", "comma" or ","')
    return DECIMALS[decimal]


class Cells:
    """Reads columns of numbers, and remembers the units that were taken off."""

    def __init__(self, decimal: Any = None, like: "Optional[Model]" = None) -> None:
        reading: Mapping[str, Any] = {} if like is None else like._info["reading"]
        self._decimal = decimal_word(decimal) or ""
        self._known = {u["column"]: u["unit"] for u in reading.get("units", ())}
        categories = {c["column"] for c in reading.get("categories", ())}
        self._numbers = {*reading.get("features", ()), *reading.get("statics", ())} - categories
        self.units: list[dict[str, str]] = []
        self.unknown: dict[str, set[str]] = {}  # of columns of names, the words that say nothing
        self.remarks: set[str] = set()  # columns of texts that are no categories
        self.recognise = True  # whether -999 and its like are looked for
        self.codes: list[str] = []  # that were found, as "column=-999"

    def numbers(self, values: Any, name: str, asked: bool = True) -> Optional[Floats]:
        """The numbers of a column, NaN where missing; None where it holds something else. Where the
        caller ``asked`` for the column, a text among numbers is refused."""
        try:
            return number_column(values, name)
        except Error:
            if getattr(getattr(values, "dtype", None), "kind", "O") not in "OUS":
                raise
            return self._of_texts(values, name, asked)

    def _of_texts(self, values: Any, name: str, asked: bool) -> Optional[Floats]:
        codes, uniques = factorize(values)
        words = objects_of(uniques)
        if not any(isinstance(word, str) for word in words):
            return None
        options = {
            "column": name, "decimal": self._decimal, "unit": self._known.get(name, ""),
            "numbers": name in self._numbers, "counts": np.bincount(codes[codes >= 0], minlength=len(words)).tolist(),
        }  # fmt: skip
        read = np.full(len(words) + 1, np.nan)  # the last is that of -1, a missing one
        written = texts([text_of(word).replace("\0", "\ufffd") for word in words])
        found = json_of(lib.edict_read_cells, len(words), written, json.dumps(options).encode(), address(read))
        if found["problem"] and asked:
            raise Error(found["problem"])
        if found["kind"] != "numbers":
            self.unknown[name] = set(found["unknown"])
            if found["kind"] == "texts":
                self.remarks.add(name)
            return None
        if found["unit"]:
            self.units.append({"column": name, "unit": found["unit"]})
        if found["notes"]:
            warn(f"{name!r}: {', '.join(found['notes'])}")
        return np.asarray(read[codes])

    def without_words(self, codes: Ints, uniques: Array, name: str) -> tuple[Ints, Array]:
        """Codes and names without those that are words such as NA, which is said."""
        words = objects_of(uniques)
        if not any(isinstance(word, str) for word in words):
            return codes, uniques
        written = texts([text_of(word).replace("\0", "\ufffd") for word in words])
        options = json.dumps({"column": name, "names": True}).encode()
        unknown = set(json_of(lib.edict_read_cells, len(words), written, options, None)["unknown"])
        gone = [k for k, word in enumerate(words) if isinstance(word, str) and word.strip() in unknown]
        if not gone:
            return codes, uniques
        said = ", ".join(repr(words[k]) for k in gone)
        warn(f"{said} counts as missing: {name!r}")
        left = np.setdiff1d(np.arange(len(words)), gone)
        place = np.full(len(words) + 1, -1, dtype=np.int64)  # the last is that of -1, a missing one
        place[left] = np.arange(left.size)
        return place[codes], np.asarray(uniques)[left]

    def without_codes(self, numbers: Floats, name: str) -> Floats:
        """The numbers without those that stand for a missing value, as in a file."""
        if not self.recognise:
            return numbers
        column = np.ascontiguousarray(numbers)
        found = json_of(lib.edict_find_codes, column.size, address(column))
        for code in found:
            self.codes.append(f"{name}={text_of(code['value'])}")
            warn(
                f"{text_of(code['value'])} counts as missing: {name!r} ({code['cells']} cells); missing=\"none\" keeps it")
        return np.where(np.isin(column, [code["value"] for code in found]), np.nan, column) if found else numbers

    def of_features(
        self, values: Any, codes: Ints, names: list[str], column: str, missing: "MissingCodes"
    ) -> Floats:
        """The values of the long form, those of each feature for themselves."""
        try:
            numbers = number_column(values, column)
        except Error:
            numbers = self._of_each(values, codes, names, column)
        for k, name in enumerate(names):
            own = missing.found(numbers, name) if missing else np.zeros(numbers.size, dtype=bool)
            numbers = np.where((codes == k) & own, np.nan, numbers)
        for k, name in enumerate(names):
            own = codes == k
            left = self.without_codes(numbers[own], name)
            if np.isnan(left).sum() > np.isnan(numbers[own]).sum():
                numbers = numbers.copy()
                numbers[own] = left
        return numbers

    def _of_each(self, values: Any, codes: Ints, names: list[str], column: str) -> Floats:
        held = _convert.as_array(values, f"column {column!r}").astype(object)
        result = np.full(held.size, np.nan)
        for k, name in enumerate(names):
            own = codes == k
            read = self.numbers(held[own], name)
            if read is None:
                raise Error(f"column {column!r}: the values of feature {name!r} are no numbers; give numbers")
            result[own] = read
        return result
