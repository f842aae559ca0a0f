"""Settings of the documentation site; `make docs` builds it."""

from __future__ import annotations

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

from sphinx.util.nodes import make_refnode

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

import reference_pages  # noqa: E402

import voros  # noqa: E402

# `voros.costs` is a module of the core under a public name; Sphinx looks for it as a module.
sys.modules["voros.costs"] = voros.costs

project = "voros"
author = "The voros contributors"
project_copyright = "The voros contributors, MIT licence"
release = version = installed_version("voros")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_nb",
    "sphinx_gallery.gen_gallery",
    "matplotlib.sphinxext.plot_directive",
]
templates_path = ["_templates"]
exclude_patterns = [
    "_build",
    "_templates",
    "jupyter_execute",
    "sg_execution_times.rst",
    "gallery/*.ipynb",
]
source_suffix = {".rst": "restructuredtext", ".md": "myst-nb", ".ipynb": "myst-nb"}
root_doc = "index"
nitpicky = True
suppress_warnings = ["config.cache"]

# One backtick names a thing of the library where there is one, and is plain text elsewhere.
default_role = "autolink"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

plot_formats = [("png", 110)]
plot_html_show_formats = plot_html_show_source_link = False
plot_include_source = False

# Notebooks keep the outputs that the tests compare.
nb_execution_mode = "off"

mathjax_path = "mathjax/tex-svg.js"

html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_extra_path = ["live"]
html_css_files = ["voros.css"]
html_title = f"voros {release}"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": f"voros {release}"},
    "show_prev_next": True,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "search_bar_text": "Search the documentation",
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

sphinx_gallery_conf = {
    "examples_dirs": [str(ROOT / "examples")],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"/plot_|/example_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": True,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 10,
    "abort_on_example_error": True,
    "plot_gallery": True,
    "image_scrapers": ("matplotlib",),
    "reset_modules": ("matplotlib",),
    "doc_module": ("voros",),
    "reference_url": {"voros": None},
    "backreferences_dir": "gallery/backreferences",
}


def find_public_name(app, env, node, contnode):  # type: ignore[no-untyped-def]
    """Resolve `Selection.policy` as `voros.Selection.policy`, and an attribute as its class.

    Lower-case names are parameters and modules that have no page; they link nowhere.
    """
    if node.get("refdomain") != "py" or node.get("reftype") != "obj":
        return None
    target, objects = node["reftarget"], env.domains["py"].objects
    for name in (target, target.rpartition(".")[0]):
        full = next((path for path in sorted(objects, key=len) if path.endswith(f".{name}")), None)
        if name and full:
            here, entry = node.get("refdoc", env.docname), objects[full]
            return make_refnode(app.builder, here, entry.docname, entry.node_id, contnode, full)
    return contnode if target.islower() else None


def write_pages(*_):  # type: ignore[no-untyped-def]
    """Write what is made of the code, before Sphinx looks for pages."""
    reference_pages.write(ROOT / "docs" / "reference")
    patients = voros.datasets.load_support2().with_all_prognoses()
    live = ROOT / "docs" / "live"
    live.mkdir(exist_ok=True)
    voros.present.explorer.write_page(
        patients.outcome("hospital_death_within_7_days"),
        patients.prognoses,
        voros.Scenario(min_precision=0.2, capacity=0.1, cost_ratio=(1 / 40, 1 / 9)),
        live / "support2.html",
        title="Four prognoses of SUPPORT2",
        outcome="death in hospital within 7 days",
        cases="patients",
        force=True,
    )


def setup(app):  # type: ignore[no-untyped-def]
    """Connect the steps above to Sphinx."""
    app.connect("config-inited", write_pages)
    app.connect("missing-reference", find_public_name)
