"""Settings of the documentation for Sphinx; CONTRIBUTING.md has the commands that build it."""

import importlib.metadata
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from generate import OTHER_TOOLS, write_pages

project = "crfdeid"
author = "the authors of crfdeid"
release = importlib.metadata.version("crfdeid")

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
# Pages are named: what else lies in the folder, such as a lesson's helpers, is no page.
include_patterns = [
    "index.md",
    "faq.md",
    "teaching.md",
    "benchmarks.md",
    "contributing.md",
    "changelog.md",
    "tutorials/*",
    "how-to/*",
    "reference/**",
    "explanation/*",
    "lessons/[0-9]_*.py",
]
exclude_patterns = ["**/.*"]

html_theme = "furo"
html_title = f"crfdeid {release}"
html_copy_source = False
html_show_copyright = False

myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
nb_custom_formats = {".py": ["generate.read_lesson", {}]}
nb_execution_mode = "cache"
nb_execution_timeout = 300
nb_execution_raise_on_error = True

default_role = "py:obj"  # docstrings put names of code in single backticks
napoleon_use_ivar = True
autodoc_mock_imports = OTHER_TOOLS
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
suppress_warnings = ["ref.python"]  # `type` in an annotation is no attribute of that name
python_maximum_signature_line_length = 100


def setup(app):
    """Write the generated pages before Sphinx reads any."""
    app.connect("builder-inited", write_pages)
