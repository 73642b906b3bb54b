"""Columns of a table, as the arrays that a dataset is built of.

Nothing here walks over rows in Python.
"""

from __future__ import annotations

from decimal import Decimal
from numbers import Number
from typing import TYPE_CHECKING, Any, Collection, Iterable, Iterator, Mapping, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from . import compat
from ._convert import Array, Floats, missing_objects, numbers, objects_of, text_of, unmasked
from ._native import Error, warn

if TYPE_CHECKING:
    from .cells import Cells
    from .missing import MissingCodes

Codes = npt.NDArray[np.int64]
Names = Union[str, Sequence[str], None]
_MOST_CATEGORIES = 50  # of a column, as in a file


def as_list(names: Any) -> list[str]:
    """Names of columns: one, several, or none; those that are numbers as they are written."""
    if names is None:
        return []
    if isinstance(names, (str, int, np.integer)):
        return [str(names)]
    if not isinstance(names, Iterable):
        raise TypeError(f"{names!r} names no columns; give a name or a list of names")
    return [str(name) for name in names]


class Table(Mapping[str, Any]):
    """A table by the names of its columns, written as texts: a DataFrame, with the levels of its index
    where they have names, a mapping, or an array with named fields."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame
        if isinstance(frame, np.ndarray) and frame.dtype.names:
            frame = {name: frame[name] for name in frame.dtype.names}
        elif hasattr(frame, "__arrow_c_stream__") and not hasattr(frame, "iloc"):
            from .arrow import read_stream

            frame = read_stream(frame)
        of_pandas = hasattr(frame, "iloc")
        if not hasattr(frame, "columns" if of_pandas else "keys"):
            raise TypeError(
                f"a {type(frame).__name__} is no table; give a DataFrame or a mapping from names to "
                "columns, or arrays to Dataset.from_arrays or Dataset.from_numpy3d"
            )
        if of_pandas:
            keys = list(frame.columns)
            self._columns = {str(key): frame.iloc[:, j] for j, key in enumerate(keys)}
            self.rows = len(frame)
        else:
            keys = list(frame.keys())
            self._columns = {str(key): _listed(frame[key], str(key)) for key in keys}
            self.rows = len(next(iter(self._columns.values()))) if keys else 0
            for name, values in self._columns.items():
                if len(values) != self.rows:
                    raise Error(f"column {name!r} has {len(values)} rows, and {keys[0]!r} {self.rows}")
        self._columns = {name: _native_order(values) for name, values in self._columns.items()}
        if len(self._columns) < len(keys):
            twice = next(str(key) for key in keys if [str(k) for k in keys].count(str(key)) > 1)
            raise Error(f"there are two columns {twice!r}; give each its own name")

    @property
    def index(self) -> Any:
        """Of a DataFrame, to give rows back under it."""
        return getattr(self.frame, "index", None) if hasattr(self.frame, "iloc") else None

    def _level(self, name: str) -> Any:
        """A level of the index; that of an index without a name is "index"."""
        if self.index is None:
            return None
        names = ["index" if own is None else str(own) for own in self.index.names]
        return self.index.get_level_values(names.index(name)) if names.count(name) == 1 else None

    def __getitem__(self, name: str) -> Any:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def rename(self, name: str, other: str) -> None:
        """Calls a column otherwise."""
        self._columns = {other if own == name else own: values for own, values in self._columns.items()}

    def has(self, name: str) -> bool:
        """Whether there is such a column or level of the index."""
        return name in self._columns or self._level(name) is not None

    def column(self, name: str, what: str) -> Any:
        """A column or a level of the index; ``what`` it is for."""
        if name in self._columns:
            return self._columns[name]
        level = self._level(name)
        if level is not None:
            return level
        import difflib

        own = {column.lower(): column for column in self._columns}
        near = difflib.get_close_matches(name.lower(), own, n=1, cutoff=0.5)
        shown = ", ".join(list(self._columns)[:12])
        hint = f"; did you mean {own[near[0]]!r}?" if near else f"; there are {shown}" if shown else ""
        if what == "time" and getattr(getattr(self.index, "dtype", None), "kind", "") in ("m", "M"):
            hint = '; the index holds times: give time="index"'
        elif what == "the id" and not near:
            hint += "; id=None takes the table as one series"
        raise Error(f"there is no column {name!r} for {what}{hint}")


def _native_order(values: Any) -> Any:
    """A column of the other byte order, which pandas does not read, in this machine's."""
    dtype = getattr(values, "dtype", None)
    if not isinstance(dtype, np.dtype) or dtype.isnative:
        return values
    return values.astype(dtype.newbyteorder("="))


def _listed(values: Any, name: str) -> Any:
    """A column of a mapping as something that has a type."""
    if np.ndim(values) == 0 or isinstance(values, (str, bytes)):
        raise Error(f"column {name!r} is one value; give as many as there are rows")
    if hasattr(values, "dtype"):
        return values
    pd = compat.optional("pandas")
    return np.asarray(values) if pd is None else pd.Series(values)


def factorize(values: Any) -> tuple[Codes, Array]:
    """Codes in order of first appearance, -1 where missing, and what they stand for."""
    values, mask = unmasked(values)
    if mask is not None and mask.any():
        own, uniques = factorize(np.asarray(values)[~mask])
        codes = np.full(mask.shape, -1, dtype=np.int64)
        codes[~mask] = own
        return codes, uniques
    values = _native_order(values)
    if getattr(values, "dtype", None) == np.dtype(object):
        values = np.asarray(values)
        _check_types(values)
    pd = compat.optional("pandas")
    if pd is not None:
        try:
            codes, uniques = pd.factorize(values)
        except TypeError as e:  # of lists and the like
            raise Error(f"what stands for a name must be a text or a number: {e}") from None
        return np.asarray(codes, dtype=np.int64), np.asarray(uniques)
    array = np.asarray(values)
    if array.dtype.kind == "O":
        missing = missing_objects(array)
    else:
        missing = np.isnan(array) if array.dtype.kind == "f" else np.zeros(array.shape, dtype=bool)
    codes = np.full(array.shape, -1, dtype=np.int64)
    uniques, first, inverse = np.unique(array[~missing], return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    codes[~missing] = rank[inverse]
    return codes, uniques[order]


def _check_types(values: Array) -> None:
    """Refuses truth values among numbers, where True would be the same as 1."""
    given = values.ravel().tolist()
    if not {bool, np.bool_} & {type(value) for value in given}:
        return
    if any(isinstance(v, Number) and not isinstance(v, (bool, np.bool_)) and v == v for v in given):
        raise Error("names are truth values and numbers at once; make all of them texts")


def names_of(uniques: Array, what: str) -> list[str]:
    """The texts of different names, which must differ as well."""
    names = [text_of(v) for v in objects_of(uniques)]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise Error(f"two different {what} are written {twice!r}; make them texts that differ")
    return names


def is_number(values: Any) -> bool:
    """Of numpy's numbers and pandas' nullable ones."""
    return getattr(getattr(values, "dtype", None), "kind", None) in ("i", "u", "f", "b")


def number_column(values: Any, name: str) -> Floats:
    """A column as aligned doubles, NaN where missing; shares its memory where it is that already."""
    column = numbers(values, f"column {name!r}")
    if column.ndim != 1:
        raise Error(f"column {name!r} has {column.ndim} axes; give one value a row")
    return column


def constant_of_series(codes: Codes, series: Codes, ids: list[str], what: str) -> Codes:
    """The one code of each series, -1 where it has none. Error where a series has two."""
    result = np.full(len(ids), -1, dtype=np.int64)
    known = codes >= 0
    own, value = series[known], codes[known]
    result[own] = value
    differs = np.flatnonzero(result[own] != value)
    if differs.size:
        raise Error(
            f"series {ids[int(own[differs[0]])]}: its {what} changes from row to row; a series has "
            "one"
        )
    return result


def static_columns(
    table: Table, names: list[str], series: Codes, ids: list[str], known: Mapping[str, list[str]],
    missing: "MissingCodes", cells: "Cells",
) -> tuple[list[str], npt.NDArray[np.float64], dict[str, list[str]]]:
    """Covariates of each series; a column of texts becomes one of 0 and 1 for each of them. The last
    are those columns and their texts. ``known``: those of columns that a model was trained with."""
    result_names: list[str] = []
    result: list[npt.NDArray[np.float64]] = []
    categories: dict[str, list[str]] = {}
    for name in names:
        values = table.column(name, "a static covariate")
        categorical = is_category(values)
        values = missing.cleared(values, name)
        what = f"static covariate {name!r}"
        numbers = None if name in known or categorical else _numbers_if_all_are(values, name, cells)
        if numbers is not None:
            codes, uniques = factorize(numbers)
            of_series = constant_of_series(codes, series, ids, what)
            told = of_series >= 0
            own = np.full(len(ids), np.nan)
            own[told] = np.asarray(uniques, dtype=np.float64)[of_series[told]]
            result_names.append(name)
            result.append(own)
            continue
        texts, codes = categories_of(values, name, known.get(name, ()), cells.unknown.get(name, ()))
        of_series = constant_of_series(codes, series, ids, what)
        result_names += [f"{name}={text}" for text in texts]
        result += zeros_and_ones(of_series, len(texts))
        categories[name] = texts
    values2d = np.stack(result, axis=1) if result else np.empty((len(ids), 0))
    return result_names, np.ascontiguousarray(values2d), categories


def _numbers_if_all_are(values: Any, name: str, cells: "Cells") -> Optional[Floats]:
    """As in a file, texts that are all numbers are numbers; categories are not."""
    try:
        return number_column(values, name)
    except Error:
        return cells.numbers(values, name, False) if is_text(values) else None


def is_category(values: Any) -> bool:
    """Of pandas' type for categories."""
    return str(getattr(values, "dtype", "")) == "category"


def is_text(values: Any) -> bool:
    """Whether a column may hold names of categories."""
    dtype = getattr(values, "dtype", None)
    if str(dtype).startswith(("category", "string", "dictionary")):
        return True
    if getattr(dtype, "kind", "O") != "O":
        return getattr(dtype, "kind", "O") in ("U", "S")
    held = np.asarray(values, dtype=object)
    present = held[~missing_objects(held)]
    return present.size == 0 or isinstance(present[0], (str, bytes, Number, np.generic, Decimal))


def categories_of(
    values: Any, name: str, known: Sequence[str] = (), unknown: Collection[str] = ()
) -> tuple[list[str], Codes]:
    """The texts of a column, sorted as those of a file are, and the place of each row's among them, -1 for
    ``unknown`` ones. ``known``: those of a model; others then count as missing."""
    codes, uniques = factorize(values)
    texts = names_of(uniques, f"texts in {name!r}")
    left_out = {k for k, text in enumerate(texts) if text.strip() in unknown or (known and text not in known)}
    new = [k for k, text in enumerate(texts) if text not in known and k not in left_out]
    cells = int(np.isin(codes, [k for k in left_out if known and not texts[k].strip() in unknown]).sum())
    if cells:
        warn(f"{cells} cells of {name!r} hold a category that the model does not know and count as missing")
    try:
        order = sorted(new, key=lambda k: float(texts[k]))
    except ValueError:
        order = sorted(new, key=texts.__getitem__)
    listed = [*known, *(texts[k] for k in order)]
    place = {text: i for i, text in enumerate(listed)}
    rank = np.full(len(texts) + 1, -1, dtype=np.int64)  # the last is that of -1, a missing one
    rank[: len(texts)] = [place.get(text, -1) if k not in left_out else -1 for k, text in enumerate(texts)]
    return listed, rank[codes]


def zeros_and_ones(codes: Codes, count: int) -> list[npt.NDArray[np.float64]]:
    """A column a category; NaN where it is missing."""
    return [np.where(codes >= 0, (codes == k).astype(np.float64), np.nan) for k in range(count)]


def _changes(codes: Codes, series: Codes) -> bool:
    """Whether some series has two of them."""
    known = codes >= 0
    first = np.full(int(series.max(initial=-1)) + 1, -1, dtype=np.int64)
    first[series[known]] = codes[known]
    return bool((first[series[known]] != codes[known]).any())


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_empty(values: Any, name: str) -> bool:
    if is_number(values):
        return bool(np.isnan(number_column(values, name)).all())
    return is_text(values) and bool((factorize(values)[0] < 0).all())


def quoted(names: list[str]) -> str:
    """As the command-line tool lists them."""
    more = f" and {len(names) - 12} more" if len(names) > 12 else ""
    return ", ".join(f"'{name}'" for name in names[:12]) + more


def _say(note: str) -> None:
    """What was left out, for the caller of Dataset.from_frame."""
    if note:
        warn(note)


_ROW_NAMES = (
    "index", "row", "rowid", "rownum", "rownumber", "rowindex", "no", "nr", "lfdnr", "number", "n", "x1"
)  # fmt: skip


def _row_indices(table: Table, names: list[str]) -> list[str]:
    """Those of these columns that only count the rows: "Unnamed: 0" of pandas, and a first one that is
    called so."""
    first = next((name for name in table if name), "")

    def counts_rows(name: str) -> bool:
        called = "".join(c for c in name.lower() if c not in " _-.#/")
        if not (name.startswith("Unnamed: ") or (name == first and called in _ROW_NAMES)):
            return False
        if not is_number(table[name]):
            return False
        cells = number_column(table[name], name)
        cells = cells[~np.isnan(cells)][:200]
        return cells.size > 0 and cells[0] in (0, 1) and bool((np.diff(cells) == 1).all())

    return [name for name in names if counts_rows(name)]


class FeatureColumns:
    """The columns of a wide table that are features: those asked for, else all that are left but those
    that are empty or count the rows.

    A column of texts becomes one of 0 and 1, ``name=text``, for each of its texts, as the command line
    makes it of a file. Without features=, one that never changes within a series is left
    out: it is more likely a label or a covariate that was not named.
    """

    def __init__(
        self, table: Table, features: Names, used: set[str], series: Codes,
        known: Mapping[str, list[str]], missing: "MissingCodes", cells: "Cells",
    ) -> None:  # fmt: skip
        self._series = series
        self._known = known  # the categories of columns that a model was trained with
        self._missing = missing
        self._cells = cells
        self.columns: list[str] = []  # as the table calls them
        self.names: list[str] = []
        self.values: list[Floats] = []
        self.categories: dict[str, list[str]] = {}
        if features is not None:
            for name in as_list(features):
                self._add(name, table.column(name, "a feature"), asked=True)
        else:
            left = [name for name in table if name not in used]
            counting = _row_indices(table, left)
            left = [name for name in left if name not in counting]
            _say(f"left out, as it counts the rows: {quoted(counting)}" if counting else "")
            empty = [name for name in left if _is_empty(missing.cleared(table[name], name), name)]
            if len(empty) < len(left):
                left = [name for name in left if name not in empty]
                _say(f"empty and left out: {quoted(empty)}" if empty else "")
            ignored = [name for name in left if not self._add(name, table[name], asked=False)]
            if ignored:
                warn(
                    f"columns ignored, as they hold no numbers: {', '.join(ignored)}; name them as "
                    "label=, static= or, as categories, in features=; "
                    "numbers that are written as texts become numbers by pandas.to_numeric")
        if not self.names:
            raise Error("no column is left to be a feature; name them with features=")

    def _add(self, name: str, values: Any, asked: bool) -> bool:
        if not (asked or is_number(values) or is_text(values)):
            return False
        categorical = is_category(values) or name in self._known
        values = self._missing.cleared(values, name)
        numbers: Optional[Floats] = None
        if categorical or is_text(values):
            numbers = None if categorical else self._cells.numbers(values, name, asked)
        else:
            numbers = number_column(values, name)
        if numbers is None:
            unknown = self._cells.unknown.get(name, ())
            texts, codes = categories_of(values, name, self._known.get(name, ()), unknown)
            if not asked and name in self._cells.remarks:
                _say(f"{name!r} is left out: {len(texts)} different texts")
                return True
            if not asked and not _changes(codes, self._series):
                return False
            mixed = not categorical and any(_is_float(text) for text in texts)
            if mixed or len(texts) > _MOST_CATEGORIES:
                if not asked:
                    return False
                what = "numbers and texts" if mixed else f"{len(texts)} different texts"
                raise Error(
                    f"column {name!r} holds {what}; give numbers throughout, or at most "
                    f"{_MOST_CATEGORIES} categories"
                )
            self.columns.append(name)
            self.names += [f"{name}={text}" for text in texts]
            self.values += zeros_and_ones(codes, len(texts))
            self.categories[name] = texts
            return True
        if not asked and is_text(values) and numbers.size and np.isnan(numbers).all():
            _say(f"empty and left out: {name!r}")
            return True
        self.columns.append(name)
        self.names.append(name)
        self.values.append(self._cells.without_codes(numbers, name))
        return True
