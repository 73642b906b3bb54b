"""The sources of the package themselves."""

import ast
from pathlib import Path

import pytest

import edict

SOURCES = sorted(Path(edict.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_a_name_of_a_module_means_one_thing(source):
    """A constant that is defined twice has the second value everywhere."""
    names = []
    for node in ast.parse(source.read_text()).body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names += [n.id for target in targets for n in ast.walk(target)
                      if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]  # fmt: skip
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.append(node.name)
    assert sorted(names) == sorted(set(names))
