"""Doctests of modules whose packages are missing are not collected."""

from importlib.util import find_spec

NETWORKS = ("counts", "fitting", "losses", "networks", "partial_auc", "tasks", "trees")

collect_ignore = []
if find_spec("torch") is None:
    collect_ignore += [f"src/voros_studies/training/{name}.py" for name in NETWORKS]
