"""What edict reads and writes, held against readers that others wrote: pandas for tables, json and
struct for the files of models. EDICT_CASES asks for more tables than an ordinary test draws."""

import gzip
import itertools
import json
import os
import random
import struct

import pandas as pd
import pytest

import edict
from edict import Dataset

CASES = int(os.environ.get("EDICT_CASES", "250"))

# ---- tables ----

MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "-", ".", "?"]


def number(draw: random.Random) -> str:
    """A finite number as people and programs write them."""
    sign = draw.choice(["", "", "-", "+"])
    digits = "".join(draw.choices("0123456789", k=draw.randint(1, 6)))
    form = draw.randrange(8)
    if form == 0:
        return sign + digits
    if form == 1:
        return f"{sign}{digits}."
    if form == 2:
        return f"{sign}.{digits}"
    if form == 3:
        return f"{sign}{digits}.{draw.randrange(10**12):012d}"
    if form == 4:
        return f"{sign}{digits}{draw.choice('eE')}{draw.choice(['', '+', '-'])}{draw.randint(0, 290)}"
    if form == 5:
        # Every finite double there is, as often a large as a small one.
        drawn = struct.unpack("<d", draw.randbytes(8))[0]
        return repr(drawn) if abs(drawn) < float("inf") else "0"
    if form == 6:
        # Close to the middle between two doubles, where rounding has to look at every digit.
        return f"{sign}{2**53 + 2 * draw.randrange(2**20) + 1}.{'0' * draw.randint(0, 30)}1"
    return f"{sign}{digits}.{digits}"


class Table:
    """A table in the dialect that both readers know, written in one of many ways."""

    def __init__(self, draw: random.Random) -> None:
        self.separator = draw.choice(",;\t|")
        self.decimal = "," if self.separator != "," and draw.random() < 0.5 else "."
        self.encoding = draw.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1252"])
        self.end = draw.choice(["\n", "\r\n"])
        self.draw = draw
        letters = "bcdpqrsuvwxyzäßé" + ("" if self.encoding == "cp1252" else "λ漢𝄞")
        odd = [" ", '"', self.separator, "%", "(", "'"]
        features = set()
        while len(features) < draw.randint(1, 5):
            features.add("f" + "".join(draw.choices([*letters, *odd], k=draw.randint(1, 6))) + "f")
        self.features = sorted(features)
        self.columns = ["id", "time", *self.features]
        draw.shuffle(self.columns)
        ids = ["a", "7", "7.0", 'q"uote', f"se{self.separator}p", "Zoë", "x y", "line\nend"]
        self.rows = []
        for id in draw.sample(ids, draw.randint(1, len(ids))):
            for time in {self.time() for _ in range(draw.randint(1, 5))}:
                self.rows.append({"id": id, "time": time, **{f: self.value() for f in self.features}})
        draw.shuffle(self.rows)
        # A column without a number would be none of numbers.
        for feature in self.features:
            self.rows[0][feature] = self.point(number(draw))

    def point(self, text: str) -> str:
        return text.replace(".", self.decimal)

    def time(self) -> str:
        # Small: large ones are Unix time. Never two spellings of one moment.
        return self.point(f"{self.draw.randrange(1000)}.{self.draw.randrange(1000)}5")

    def value(self) -> str:
        if self.draw.random() < 0.3:
            return self.draw.choice(MISSING)
        return self.point(number(self.draw))

    def cell(self, column: str, text: str) -> str:
        special = any(c in text for c in f'"\r\n{self.separator}') or text != text.strip()
        if special or (text and self.draw.random() < 0.1):
            return '"' + text.replace('"', '""') + '"'
        if column != "id" and text not in MISSING and self.draw.random() < 0.1:
            return f" {text} "
        return text

    def content(self) -> bytes:
        lines = [self.separator.join(self.cell("id", name) for name in self.columns)]
        for row in self.rows:
            lines.append(self.separator.join(self.cell(c, row[c]) for c in self.columns))
            if self.draw.random() < 0.05:
                lines.append("")
        text = self.end.join(lines) + self.draw.choice(["", self.end])
        content = text.encode(self.encoding)
        return gzip.compress(content) if self.draw.random() < 0.2 else content

    def by_pandas(self, path: "os.PathLike[str]") -> "dict[tuple[str, float], dict[str, float]]":
        with open(path, "rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        frame = pd.read_csv(
            path, sep=self.separator, decimal=self.decimal, encoding=self.encoding,
            compression="gzip" if packed else None, float_precision="round_trip",
            keep_default_na=False, na_values={f: MISSING for f in self.features},
            dtype={"id": str, "time": float, **{f: float for f in self.features}},
        )  # fmt: skip
        events: "dict[tuple[str, float], dict[str, float]]" = {}
        for row in frame.to_dict("records"):
            observed = {f: row[f] for f in self.features if row[f] == row[f]}
            if observed:
                events[row["id"], row["time"]] = observed
        return events


def by_edict(data: Dataset) -> "dict[tuple[str, float], dict[str, float]]":
    arrays = data.arrays
    events = {}
    for series, id in enumerate(data.ids):
        for e in range(*arrays["first_event"][series : series + 2]):
            seen = slice(*arrays["first_observation"][e : e + 2])
            names = (data.features[f] for f in arrays["feature"][seen])
            events[id, arrays["times"][e]] = dict(zip(names, arrays["value"][seen]))
    return events


def test_tables_are_what_pandas_reads(tmp_path):
    path = tmp_path / "table"
    values = 0
    for case in range(CASES):
        table = Table(random.Random(case))
        path.write_bytes(table.content())
        expected = table.by_pandas(path)
        data = Dataset.read_csv(path, id="id", time="time", features=table.features, missing="none")
        assert data.ids == list(dict.fromkeys(row["id"] for row in table.rows)), case
        assert by_edict(data) == expected, case
        values += sum(map(len, expected.values()))
    assert values > 10 * CASES  # there was something to compare


# ---- models ----


def parsed(content: bytes) -> "tuple[dict[str, list], dict[str, str]]":
    """Tensors as [shape, numbers] in the order of their bytes, and metadata, by the published
    description of the format alone."""
    (size,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8 : 8 + size])
    metadata = header.pop("__metadata__", {})
    tensors, at = {}, 8 + size
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, end = entry["data_offsets"]
        count = 1
        for extent in entry["shape"]:
            count *= extent
        assert entry["dtype"] == "F32" and end - begin == 4 * count and at == 8 + size + begin
        tensors[name] = [entry["shape"], struct.unpack_from(f"<{count}f", content, at)]
        at += end - begin
    assert at == len(content)  # no byte that nobody asked for
    return tensors, metadata


def assembled(tensors, metadata, *, change=None, write=json.dumps, padding=0) -> bytes:
    """A file of these. `change(header)` spoils its description."""
    header, body = {"__metadata__": metadata}, b""
    for name, (shape, numbers) in tensors.items():
        bytes_of = struct.pack(f"<{len(numbers)}f", *numbers)
        offsets = [len(body), len(body) + len(bytes_of)]
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": offsets}
        body += bytes_of
    if change:
        header = change(header) or header
    text = write(header).encode() + b" " * padding
    return struct.pack("<Q", len(text)) + text + body


def test_a_model_file_is_what_the_format_says(model):
    content = model.to_bytes()
    tensors, metadata = parsed(content)
    assert all(isinstance(value, str) for value in metadata.values())
    assert edict.Model.from_bytes(assembled(tensors, metadata)).to_bytes() == content


def test_files_that_are_odd_and_legal(model):
    content = model.to_bytes()
    tensors, metadata = parsed(content)
    backwards = dict(reversed(tensors.items()))
    odd = {
        "another order": assembled(backwards, dict(reversed(metadata.items()))),
        "metadata last": assembled(
            tensors, metadata, change=lambda h: dict(itertools.islice(h.items(), 1, None)) | h
        ),
        # A checkpoint is a model with more tensors, which whoever wants the model leaves alone.
        "an empty tensor more": assembled({**tensors, "none": [[3, 0], ()]}, metadata),
        "a number more": assembled({**tensors, "one": [[], (7,)]}, metadata),
        "padded": assembled(tensors, metadata, padding=1001),
        "indented": assembled(tensors, metadata, write=lambda h: json.dumps(h, indent=2)),
        "escaped": assembled(
            tensors, metadata, write=lambda h: json.dumps(h).replace("shape", "\\u0073hape")
        ),
    }
    for name, written in odd.items():
        assert written != content, name
        assert edict.Model.from_bytes(written).to_bytes() == content, name


def test_files_that_break_the_format_are_refused(model):
    tensors, metadata = parsed(model.to_bytes())
    first, second = list(tensors)[:2]

    def entry(**other):
        return lambda header: header[first].update(other)

    def offsets(begin, end):
        return entry(data_offsets=[begin, end])

    end = 4 * len(tensors[first][1])
    broken = {
        **{f"dtype {t}": entry(dtype=t) for t in ("F64", "F16", "BF16", "I32", "I64", "BOOL", "f32")},
        "no dtype": lambda header: header[first].pop("dtype") and None,
        "dtype of a number": entry(dtype=32),
        "shape of a fraction": entry(shape=[float(n) for n in tensors[first][0]]),
        "negative shape": entry(shape=[-n for n in tensors[first][0]]),
        "shape of more": entry(shape=[*tensors[first][0], 2]),
        "shape that overflows": entry(shape=[2**32, 2**32, *tensors[first][0]]),
        "too short": offsets(0, end - 4),
        "overlap": lambda header: header[second].update(data_offsets=header[first]["data_offsets"]),
        "beyond the end": offsets(10**15, 10**15 + end),
        "backwards": offsets(end, 0),
        "one offset": entry(data_offsets=[0]),
        "offsets of fractions": offsets(0.0, float(end)),
        "metadata of numbers": lambda header: header["__metadata__"].update(more=3),
        "a tensor too few": lambda header: header.pop(second) and None,
        "no object": lambda header: list(header),
    }
    written = {name: assembled(tensors, dict(metadata), change=c) for name, c in broken.items()}
    good = assembled(tensors, metadata)
    (size,) = struct.unpack_from("<Q", good)
    written.update(
        {
            "a name twice": assembled(
                tensors, metadata, write=lambda h: json.dumps(h).replace(f'"{second}"', f'"{first}"')
            ),
            "cut short": good[:-1],
            "longer": good + b"\0",
            "a header that is cut short": struct.pack("<Q", size - 1) + good[8:],
            "a header beyond the end": struct.pack("<Q", len(good)) + good[8:],
            "a header of 2^64 - 1": struct.pack("<Q", 2**64 - 1) + good[8:],
            "not a number": good[:-4] + struct.pack("<f", float("nan")),
            "nothing": b"",
            "seven bytes": good[:7],
        }
    )
    for name, content in written.items():
        with pytest.raises(edict.Error) as error:
            edict.Model.from_bytes(content)
            pytest.fail(f"{name}: was taken")
        assert "\n" not in str(error.value) and len(str(error.value)) > 20, name
