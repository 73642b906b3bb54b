"""Builds libedict.so with CMake and puts it into the package; everything else is in pyproject.toml.

A build tree that is there already (build/release) is brought up to date, which takes seconds; else one
without tests is made in build/python. CMAKE_ARGS are handed to CMake.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

ROOT = Path(__file__).parent.resolve()


def version():
    """The project's, which CMakeLists.txt holds."""
    found = re.search(r"project\(edict VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())
    return found.group(1)


def built_library():
    """The path of libedict.so, after building it."""
    tree = ROOT / "build" / "release"
    given = os.environ.get("CMAKE_ARGS", "").split()
    if given or not (tree / "CMakeCache.txt").exists():
        tree = ROOT / "build" / "python"
        subprocess.run(
            ["cmake", "-S", ROOT, "-B", tree, "-DCMAKE_BUILD_TYPE=Release", "-DEDICT_TESTS=OFF", *given],
            check=True,
        )
    subprocess.run(["cmake", "--build", tree, "--target", "edict_capi", "--parallel"], check=True)
    return tree / "libedict.so"


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        target = Path(self.build_lib) / "edict"
        target.mkdir(parents=True, exist_ok=True)
        # The file itself and not the link to it: a wheel holds no links.
        shutil.copyfile(built_library().resolve(), target / "libedict.so")


class Native(Distribution):
    """The wheel is for this kind of machine, though no module in it is compiled."""

    def has_ext_modules(self):
        return True


class AnyPython(bdist_wheel):
    """The library is called through ctypes, so that one wheel serves every Python 3."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(version=version(), cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": AnyPython}, distclass=Native)
