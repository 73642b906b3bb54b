"""What may or may not be installed, asked for in one place."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any, Callable, Optional

from ._native import Progress


def optional(name: str) -> Optional[ModuleType]:
    """A module, or None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def needed(name: str, purpose: str) -> Any:
    """A module; an ImportError that says what to install."""
    module = optional(name)
    if module is None:
        package = {"sklearn": "scikit-learn"}.get(name.split(".")[0], name.split(".")[0])
        raise ImportError(f"{purpose} needs {package}; install it with pip or apt")
    return module


def pandas() -> Any:
    """pandas, which is needed."""
    return needed("pandas", "this")


def progress_bar(
    progress: "bool | Callable[[Progress], None] | None", what: str
) -> Optional[Callable[[Progress], None]]:
    """What shows progress: a function as given, or tqdm where it is installed and someone looks.

    None asks whether standard error is a terminal or this is a notebook.
    """
    if callable(progress):
        return progress
    if progress not in (True, False, None):
        raise TypeError(f"progress={progress!r}: give True, False, None or a function")
    notebook = "ipykernel" in sys.modules
    if progress is False or (progress is None and not notebook and not sys.stderr.isatty()):
        return None
    tqdm = optional("tqdm.auto" if notebook else "tqdm")
    if tqdm is None:
        return None
    bar = tqdm.tqdm(total=1.0, desc=what, leave=False, bar_format="{desc}: {percentage:3.0f}% |{bar}| {elapsed}<{remaining}{postfix}")

    def show(p: Progress) -> None:
        bar.n = p.fraction
        if p.epochs_done:
            bar.set_postfix_str(
                f"epoch {p.epochs_done}/{p.epochs}, validation nll {p.validation_nll:.4f}"
                if p.validation_nll
                else f"epoch {p.epochs_done}/{p.epochs}",
                refresh=False,
            )
        bar.refresh()

    show.close = bar.close  # type: ignore[attr-defined]
    return show


def close(show: Optional[Callable[[Progress], None]]) -> None:
    """Ends a bar."""
    if show is not None and hasattr(show, "close"):
        show.close()
