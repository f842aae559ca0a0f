"""Alarms over a stay: when a score sounds one, and which events it catches."""

from voros.alarms.points import alarm_points
from voros.alarms.rule import AlarmRule
from voros.alarms.stay_rows import StayRows
from voros.alarms.stream import AlarmState
from voros.alarms.totals import StayTotals

__all__ = ["AlarmRule", "AlarmState", "StayRows", "StayTotals", "alarm_points"]
