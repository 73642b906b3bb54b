"""How Sphinx makes the site; scripts/site lays out the pages and calls it."""

import re
from pathlib import Path

from pygments.lexers.special import TextLexer

ROOT = Path(__file__).resolve().parents[2]

project = "edict"
copyright = "The edict authors"
version = release = re.search(r"project\(edict VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text()).group(1)

extensions = ["myst_parser", "sphinx.ext.autodoc"]
root_doc = "index"
source_suffix = {".md": "markdown"}
exclude_patterns = []

myst_heading_anchors = 3
# Some pages begin a subject with a heading of the third level.
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
highlight_language = "text"

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_default_options = {"members": True, "undoc-members": False}

html_theme = "furo"
html_title = f"edict {version}"
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
html_permalinks_icon = "#"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
# Nothing is fetched from elsewhere: the site can be read without a network.
html_theme_options = {"navigation_with_keys": True}


def setup(app):
    # A table as it stands in a file has no colours.
    app.add_lexer("csv", TextLexer)
