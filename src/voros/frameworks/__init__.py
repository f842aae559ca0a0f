"""Metrics for LightGBM, XGBoost, CatBoost and MLflow, in their own signatures."""

from voros.frameworks.boosting import CatBoostMetric, lightgbm_metric, xgboost_metric
from voros.frameworks.tracking import mlflow_metric

__all__ = ["CatBoostMetric", "lightgbm_metric", "mlflow_metric", "xgboost_metric"]
