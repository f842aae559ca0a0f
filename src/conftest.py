"""Examples of modules whose packages are not installed are left out."""

from importlib.util import find_spec

collect_ignore = []
if find_spec("torch") is None or find_spec("torchmetrics") is None:
    collect_ignore += ["voros/torch/metric.py"]
if find_spec("mlflow") is None:
    collect_ignore += ["voros/frameworks/tracking.py"]
