"""Settings of the documentation for Sphinx; CONTRIBUTING.md has the commands that build it."""

import importlib.metadata
import sys
from pathlib import Path

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

sys.path.insert(0, str(Path(__file__).parent))
from generate import OTHER_TOOLS, write_pages

project = "crfdeid"
author = "the authors of crfdeid"
release = importlib.metadata.version("crfdeid")

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
# Pages are named: what else lies in the folder, such as a lesson's helpers, is no page.
include_patterns = [
    "index.md",
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
html_math_renderer = "mathml"  # MathJax would be loaded from a network
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
add_module_names = False  # a heading above names the module
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
suppress_warnings = ["ref.python"]  # `type` in an annotation is no attribute of that name
python_maximum_signature_line_length = 100


def skip_member(app, what, name, found, skip, options):
    """Leave out the fields of named tuples, which the text of their class describes."""
    return True if (found.__doc__ or "").startswith("Alias for field number") else None


def inline_math(translator, node):
    """Write a formula in a line as MathML."""
    translator.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def display_math(translator, node):
    """Write a formula in a paragraph of its own as MathML."""
    translator.body.append(f"<p>{tex2mathml(node.astext(), as_block=True)}</p>")
    raise nodes.SkipNode


def setup(app):
    """Write the generated pages before Sphinx reads any."""
    app.connect("builder-inited", write_pages)
    app.connect("autodoc-skip-member", skip_member)
    app.add_html_math_renderer("mathml", (inline_math, None), (display_math, None))
