"""Which column of a table is what, and what belongs to the series of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence

import numpy as np

from . import compat
from . import moments as _moments
from ._convert import Floats, Ints, objects_of
from ._native import Error, warn
from .builder import Builder, Values, check_duplicates
from .cells import Cells
from .columns import (
    Names, Table, as_list, constant_of_series, factorize, is_category, names_of, static_columns,
)  # fmt: skip
from .missing import MissingCodes, as_codes
from .times import UNITS, TimeAxis, counted

if TYPE_CHECKING:
    from .model import Model


class Roles:
    """Which column of a table is what: as the caller says, else as a model's training data had it,
    else by the usual names."""

    def __init__(
        self, table: Table, like: "Optional[Model]", id: Optional[str], time: str,
        label: Optional[str], group: Optional[str], static: Names, duplicates: Optional[str],
        missing: Any, decimal: Any = None,
    ) -> None:  # fmt: skip
        self.cells = Cells(decimal, like)
        self._table = table
        self._like = like
        known: Mapping[str, Any] = {} if like is None else like._info["reading"]
        if not known.get("time"):  # of a model that learnt from arrays
            known = {}
        self._known = known
        if like is not None:
            self._match_case([known.get(role, "") for role in ("id", "time", "label", "group")])
            self._match_case([*(known.get("features") or like.features), *(known.get("statics") or like.statics)])

        def needed(role: str) -> str:
            own = str(known.get(role) or role)
            # A table that to_frame made has the usual names.
            usual = own != "none" and not table.has(own) and table.has(role)
            return role if usual and (like is None or role not in like.features) else own

        self.time = needed("time") if time == "auto" else str(time)
        self.id = needed("id") if id == "auto" else None if id is None else str(id)
        if id == "auto" and self.id == "none":
            self.id = None

        def optional(name: Optional[str], role: str) -> Optional[str]:
            if name == "auto":
                own = known.get(role)
                return own if own and table.has(own) else None
            return None if name is None else str(name)

        self.label, self.group = optional(label, "label"), optional(group, "group")
        if static is None:
            self.statics = self._found(known.get("statics", ()), like.statics if like else [])
        else:
            self.statics = as_list(static)
        self.duplicates = duplicates or known.get("duplicates") or "error"
        check_duplicates(self.duplicates)
        codes = as_codes(missing)
        for name in missing if isinstance(missing, Mapping) else ():
            table.column(str(name), "missing")
        self._codes = list(known.get("missing", ())) if codes is None else codes
        self.missing = MissingCodes(self._codes)
        self.cells.recognise = "none" not in self._codes
        self.used = {
            name for name in (self.id, self.time, self.label, self.group, *self.statics) if name is not None
        }

    def _match_case(self, names: Sequence[str]) -> None:
        """Columns that are called as the model's but for upper and lower case count as those."""
        for name in names:
            if not name or name == "none" or self._table.has(name):
                continue
            near = [own for own in self._table if own.lower() == name.lower() and own not in names]
            if len(near) == 1:
                self._table.rename(near[0], name)
                warn(f"{near[0]!r} is taken for the model's {name!r}")

    def known_features(self) -> list[str]:
        """Those columns of the model's training data that this table has."""
        assert self._like is not None
        names = self._known.get("features") or self._like.features
        found = [name for name in self._found(names, self._like.features) if name not in self.used]
        if not found:
            raise Error(f"none of the model's features is a column of the table: {', '.join(names[:12])}")
        return found

    def _found(self, columns: Sequence[str], expanded: Sequence[str]) -> list[str]:
        """Which of these columns the table has; instead of one of categories, those of 0 and 1 that
        were made of it, or of one of those the column that it is made of."""
        found: list[str] = []
        for name in columns:
            of_name = [one for one in expanded if one.startswith(f"{name}=")]
            for one in (name, *of_name) if name not in self._table else (name,):
                found += [one] if self._table.has(one) else []
            whole = name.split("=")[0]
            if name not in self._table and whole in self._table and not of_name:
                found.append(whole)
        return list(dict.fromkeys(found))

    def categories(self, static: bool) -> dict[str, list[str]]:
        """The texts of columns that the model knows as categories."""
        return {
            c["column"]: list(c["values"]) for c in self._known.get("categories", ())
            if bool(c["static"]) == static
        }  # fmt: skip

    def reading(self, features: list[str], categories: list[dict[str, Any]]) -> dict[str, Any]:
        """How the table was read, in the library's words."""
        return {
            "id": "none" if self.id is None else self.id, "time": self.time,
            "label": self.label or "", "group": self.group or "", "statics": self.statics,
            "duplicates": "" if self.duplicates == "error" else self.duplicates,
            "features": features, "categories": categories, "missing": [*self._codes, *self.cells.codes],
            "units": self.cells.units,
        }  # fmt: skip


def series_of(table: Table, id: Optional[str]) -> tuple[Ints, list[str], Optional[list[Any]]]:
    """Whose each row is, the names of the series, and what they were before they became texts."""
    if id is None:
        return np.zeros(table.rows, dtype=np.int64), ["0"], None
    codes, uniques = factorize(table.column(id, "the id"))
    if id == "none":  # which says of a file that it has no ids
        raise Error("a column called 'none' cannot hold ids, as the word stands for no column; rename it")
    if (codes < 0).any():
        raise Error(f"column {id!r}: row {int(np.argmax(codes < 0))} has no id")
    return codes, names_of(uniques, "ids"), objects_of(uniques)


def counted_times(
    table: Table, time: str, series: Ints, count: int, unit: Optional[str], origin: Any,
    like: "Optional[Model]",
) -> tuple[Floats, Optional[TimeAxis]]:  # fmt: skip
    """The time column as floats: in the model's unit from its origin, where there is a model and
    nothing else is said."""
    what = f"column {time!r}"
    given = _moments.times(table.column(time, "time"), what)
    if given.values.ndim != 1:
        raise Error(f"{what} has {given.values.ndim} axes; give one time a row")
    rules = None if like is None else like._time_rules
    if rules is not None:
        if given.kind == "numbers" and rules["kind"].startswith("unix"):
            scale = {"seconds": 1e9, "milliseconds": 1e6, "microseconds": 1e3, "nanoseconds": 1}[
                rules["kind"].split()[1]
            ]
            moments = np.rint(np.nan_to_num(given.values) * scale).astype(np.int64).astype("datetime64[ns]")
            moments[np.isnan(given.values)] = np.datetime64("NaT")
            given = _moments.Times(moments)
        unit = unit or rules["unit"]
        if origin is None and not rules["from_first"]:
            if given.kind == "date-times" and (rules["style"]["zone"] != 0) != (given.zone is not None):
                raise Error(
                    f"{what}: the model's date-times have {'a' if given.zone is None else 'no'} zone, "
                    f"these have {'none' if given.zone is None else 'one'}; give both alike"
                )
            epoch = np.datetime64(round(rules["epoch"]), "us").astype("datetime64[ns]")
            origin = epoch if given.zone is None else compat.pandas().Timestamp(epoch).tz_localize("UTC")
    if given.kind == "durations" and like is not None and like._info["time_axis"]["unit"] in UNITS:
        unit = unit or like._info["time_axis"]["unit"]
    if given.kind == "numbers" and rules is not None:
        raise Error(f"{what} holds numbers, and the model's times are date-times; give those")
    if given.kind == "numbers" and like is not None and origin is None:
        given = given._replace(values=_from_origin(given.values, series, count, like._info["time_axis"]))
    return counted(given, series, count, unit, origin)


def _from_origin(times: Floats, series: Ints, count: int, rules: Mapping[str, Any]) -> Floats:
    """Numbers from where the model's count: its origin, or the first of each series."""
    if rules["from_first"]:
        first = np.full(count, np.inf)
        there = ~np.isnan(times)
        np.minimum.at(first, series[there], times[there])
        return np.asarray(times - first[series])
    return np.asarray(times - rules["epoch"]) if rules["epoch"] != 0 else times


def attach(
    builder: Builder, table: Table, series: Ints, ids: list[str], roles: Roles,
    id_values: Optional[list[Any]],
) -> tuple[Values, list[dict[str, Any]]]:  # fmt: skip
    """What belongs to whole series, from columns that repeat it in every row; tells which of
    them became categories."""
    known: dict[str, Any] = {"ids": id_values}
    for name, put, what, values in (
        (roles.label, builder.labels, "label", "classes"), (roles.group, builder.groups, "group", "groups"),
    ):  # fmt: skip
        if name is None:
            continue
        codes, uniques = factorize(table.column(name, what))
        if not is_category(table.column(name, what)):
            codes, uniques = roles.cells.without_words(codes, uniques, name)
        own = constant_of_series(codes, series, ids, what)
        names = names_of(uniques, f"{what}s")
        put(names, own.astype(np.int32))
        known[values] = dict(zip(names, objects_of(uniques)))
    categories: list[dict[str, Any]] = []
    if roles.statics:
        columns, numbers, of_texts = static_columns(
            table, roles.statics, series, ids, roles.categories(True), roles.missing, roles.cells
        )
        builder.statics(columns, numbers)
        categories = categories_in_json(of_texts, True)
    return Values(**known), categories


def categories_in_json(columns: Mapping[str, list[str]], static: bool) -> list[dict[str, Any]]:
    """Columns of categories as a reading has them."""
    return [
        {"column": name, "static": static, "values": texts} for name, texts in columns.items()
    ]
