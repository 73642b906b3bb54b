"""Writes the reference pages from what the programs, the header and the server say of themselves.

    reference.py EDICT EDICT_SERVER EDICT_H FOLDER
"""

import json
import re
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

# Of the Python package; each becomes a section.
PYTHON = {
    "edict": ["Dataset", "Model", "Forecast", "Stream", "Streams", "Guard", "TimeAxis", "Setting", "Choice",
              "Progress", "Error", "MachineError", "InternalError", "settings", "fit_settings", "waves"],
    "edict.sklearn": ["EdictForecaster", "EdictClassifier", "EdictEncoder"],
}  # fmt: skip


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def fenced(text, language="text"):
    return f"```{language}\n{text.rstrip()}\n```\n"


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ")


def commands(tool, server):
    names = [line.split("\t")[0] for line in output_of(tool, "__complete", "").splitlines()]
    parts = ["# Commands\n", "What `edict help COMMAND` prints. The manual pages hold the same.\n",
             fenced(output_of(tool, "--help"))]  # fmt: skip
    for name in names:
        # These two are explained by the program that they start.
        text = output_of(server, name, "--help") if name in ("serve", "demo") else output_of(tool, "help", name)
        parts += [f"## `edict {name}`\n", fenced(text.replace(f"{server} {name}", f"edict {name}"))]
    parts += ["## `edict-server token`\n",
              fenced(output_of(server, "token", "--help").replace(str(server), "edict-server"))]  # fmt: skip
    return "\n".join(parts)


def settings(tool):
    listed = json.loads(output_of(tool, "settings", "--json"))
    parts = ["# Settings\n",
             "What `edict settings` prints: `--set KEY=VALUE`, a TOML file for `--config`, or a keyword in Python. "
             "`edict train` without `--config` chooses some of them by the data ([how](../docs/understand/defaults.md)).\n"]  # fmt: skip
    table = None
    for setting in listed:
        own, _, _ = setting["key"].partition(".")
        if own != table:
            table = own
            parts += [f"\n## `[{table}]`\n", "| key | default | allowed | meaning |", "|---|---|---|---|"]
        default = setting["default"]
        default = str(default).lower() if isinstance(default, bool) else default
        parts.append(f"| `{setting['key']}` | `{default}` | {cell(setting['allowed'])} | {cell(setting['meaning'])} |")
    return "\n".join(parts) + "\n"


def header(path):
    """The header section by section; its beginning is text."""
    source = Path(path).read_text()
    beginning, rest = source.split("*/", 1)
    text = "\n".join(re.sub(r"^(/\*| \*) ?", "", line) for line in beginning.splitlines())
    text = text.replace("Conventions\n", "## Conventions\n")
    sections = re.split(r"/\* ---- (\S.*?) -+ \*/\n", rest)[1:]
    parts = ["# The C interface\n", text.strip() + "\n"]
    for name, code in zip(sections[::2], sections[1::2]):
        code = code.split("#ifdef __cplusplus")[0].replace("EDICT_EXPORT ", "").strip("\n")
        parts += [f"## {name.strip().capitalize()}\n", fenced(code, "c")]
    return "\n".join(parts)


def python():
    parts = ["# Python\n", "```{eval-rst}", ".. currentmodule:: edict", "```\n"]
    for module, names in PYTHON.items():
        for name in names:
            kind = "autofunction" if name[0].islower() else "autoclass"
            parts += [f"## `{module}.{name}`\n", "```{eval-rst}", f".. {kind}:: {module}.{name}", "```\n"]
    return "\n".join(parts)


def openapi(tool, server):
    """What a server describes at /openapi.json: one is started with a small model, on a free port."""
    with tempfile.TemporaryDirectory() as folder:
        output_of(tool, "generate", "synthetic", "--out", f"{folder}/waves.csv", "--series", "40")
        output_of(tool, "train", f"{folder}/waves.csv", "--out", f"{folder}/model", "--set", "train.epochs=1",
             "--set", "model.hidden=4", "--threads", "1")  # fmt: skip
        process = subprocess.Popen(
            [server, "serve", f"{folder}/model", "--listen", "127.0.0.1:0", "--store", f"{folder}/db"],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            url = re.search(r"http://[^\s,]+", process.stdout.readline()).group().rstrip("/")
            with urllib.request.urlopen(f"{url}/openapi.json", timeout=10) as answer:
                return json.load(answer)
        finally:
            process.terminate()
            process.wait(timeout=30)


def live(document):
    parts = ["# The server's addresses\n",
             "What a server describes at `/openapi.json`; [live](../docs/how-to/serve.md) shows how they are used.\n"]  # fmt: skip
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            parts += [f"## `{method.upper()} {path}`\n", operation["summary"] + "\n"]
            query = [p for p in operation.get("parameters", []) if p["in"] == "query"]
            if query:
                parts += ["| parameter | |", "|---|---|"]
                parts += [f"| `{p['name']}` | {cell(p['description'])} |" for p in query]
                parts.append("")
            body = operation.get("requestBody", {}).get("content", {})
            if body:
                parts.append("Takes " + ", ".join(f"`{kind}`" for kind in body) + ".\n")
            for status, answer in operation["responses"].items():
                if status != "default":
                    kinds = ", ".join(f"`{kind}`" for kind in answer.get("content", {})) or "nothing"
                    parts.append(f"Answers {status} with {kinds}.\n")
    return "\n".join(parts)


def main():
    tool, server, edict_h, folder = sys.argv[1:]
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "commands.md").write_text(commands(tool, server))
    (folder / "settings.md").write_text(settings(tool))
    (folder / "c.md").write_text(header(edict_h))
    (folder / "python.md").write_text(python())
    (folder / "server.md").write_text(live(openapi(tool, server)))


if __name__ == "__main__":
    main()
