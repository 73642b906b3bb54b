"""The sources of the package themselves."""

import ast
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

import edict

ROOT = Path(__file__).resolve().parent.parent.parent
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


def test_the_types_of_settings_are_those_of_the_library():
    """Otherwise: PYTHONPATH=build/release/python scripts/typed-settings"""
    script = SourceFileLoader("typed_settings_script", str(ROOT / "scripts" / "typed-settings"))
    made = module_from_spec(spec_from_loader(script.name, script))
    script.exec_module(made)
    assert (ROOT / "python" / "edict" / "typed_settings.py").read_text() == made.source()


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_what_is_public_says_what_it_is(source):
    public = [
        (owner, member)
        for owner in ast.walk(ast.parse(source.read_text()))
        if isinstance(owner, (ast.Module, ast.ClassDef)) and not getattr(owner, "name", "").startswith("_")
        for member in owner.body
        if isinstance(member, (ast.FunctionDef, ast.ClassDef)) and not member.name.startswith("_")
        if not any(ast.unparse(d).endswith((".setter", "overload")) for d in member.decorator_list)
    ]
    lacking = [f"{getattr(owner, 'name', source.name)}.{member.name}" for owner, member in public if not ast.get_docstring(member)]
    assert not lacking
