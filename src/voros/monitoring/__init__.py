"""A deployed policy watched over time: cases as they come, labels when they come."""

from voros.monitoring.monitor import Monitor
from voros.monitoring.renewal import Renewal
from voros.monitoring.status import Status, Update, Watch

__all__ = ["Monitor", "Renewal", "Status", "Update", "Watch"]
