"""Alarms over a stay: when a score sounds an alarm, and which events an alarm catches."""

from voros.alarms.entity_days import EntityDays, entity_days
from voros.alarms.points import alarm_points
from voros.alarms.rule import AlarmRule
from voros.alarms.stay_rows import StayRows
from voros.alarms.stream import AlarmState
from voros.alarms.totals import StayTotals

__all__ = [
    "AlarmRule",
    "AlarmState",
    "EntityDays",
    "StayRows",
    "StayTotals",
    "alarm_points",
    "entity_days",
]
