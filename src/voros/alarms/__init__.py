"""Alarms over a stay: when a score sounds one, and which events it catches."""

from voros.alarms.points import StayRows, alarm_points
from voros.alarms.rule import AlarmRule
from voros.alarms.stream import AlarmState

__all__ = ["AlarmRule", "AlarmState", "StayRows", "alarm_points"]
