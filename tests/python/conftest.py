"""Small data and a small model, trained once for all tests."""

import os
from pathlib import Path

import pytest

import edict

SMALL = dict(epochs=3, hidden=8, batch=16, step=0.5, threads=1)


@pytest.fixture(scope="session")
def frame():
    return edict.waves(series=60, seed=1)


@pytest.fixture(scope="session")
def data(frame):
    return edict.Dataset.from_frame(frame, label="label")


@pytest.fixture(scope="session")
def model(data):
    return edict.Model.train(data, **SMALL)


@pytest.fixture(scope="session")
def tool():
    """The command-line tool; the tests that compare with it cannot do without."""
    path = Path(os.environ["EDICT_TOOL"])
    assert path.exists(), path
    return path
