"""Builds the shared library with CMake and puts it into the package; everything else is in pyproject.toml.

It is compiled for this machine alone. With EDICT_PORTABLE=1 it is compiled for three levels of x86-64, of
which the loader picks, which takes three times as long: a wheel for other machines. A build tree that is
there already (build/release, build/portable) is brought up to date, which takes seconds. CMAKE_ARGS are
handed to CMake, and CMAKE_BUILD_PARALLEL_LEVEL says how many compilers may run.
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


def built_tree():
    """The build tree, after building the library in it."""
    given = os.environ.get("CMAKE_ARGS", "").split()
    portable = os.environ.get("EDICT_PORTABLE", "") not in ("", "0")
    tree = ROOT / "build" / ("portable" if portable else "release")
    if given or not (tree / "CMakeCache.txt").exists():
        tree = ROOT / "build" / ("python-portable" if portable else "python")
        # What is installed finds its own parts beside itself.
        options = ["-DCMAKE_BUILD_TYPE=Release", "-DEDICT_TESTS=OFF", "-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON"]
        options += ["-DEDICT_PORTABLE=ON"] if portable else []
        subprocess.run(["cmake", "-S", ROOT, "-B", tree, *options, *given], check=True)
    # Not as many as there are files, which is what make takes --parallel for.
    jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or str(os.cpu_count() or 1)
    subprocess.run(["cmake", "--build", tree, "--target", "edict_capi", "--parallel", jobs], check=True)
    return tree


def library_files(tree):
    """Where the files of the library are in a build tree, by their places in the package."""
    files = {"libedict.so": tree / "libedict.so"}
    # A portable build has two more libraries, and the one that computes once for each level of
    # processor; the loader looks for them by these names.
    for pattern in ("libedict_app.so.?", "libedict_core.so.?", "glibc-hwcaps/*/libedict_core.so.?"):
        for part in tree.glob(pattern):
            files[str(part.relative_to(tree))] = part
    return files


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        target = Path(self.build_lib) / "edict"
        for place, file in library_files(built_tree()).items():
            (target / place).parent.mkdir(parents=True, exist_ok=True)
            # The file itself and not the link to it: a wheel holds no links.
            shutil.copyfile(file.resolve(), target / place)


class Native(Distribution):
    """The wheel is for this kind of machine, though no module in it is compiled."""

    def has_ext_modules(self):
        return True


class AnyPython(bdist_wheel):
    """The library is called through ctypes, so that one wheel serves every Python 3."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(version=version(), cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": AnyPython}, distclass=Native)
