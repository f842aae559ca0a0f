"""A deployed policy over time: cases as they arrive, labels when they become known."""

from voros.monitoring.monitor import Monitor
from voros.monitoring.renewal import Renewal
from voros.monitoring.status import Status, Update, Watch

__all__ = ["Monitor", "Renewal", "Status", "Update", "Watch"]
