"""Alarms over a stay: when a score sounds one, and which events it catches."""

from voros.alarms.points import StayRows, alarm_points
from voros.alarms.rule import AlarmRule

__all__ = ["AlarmRule", "StayRows", "alarm_points"]
