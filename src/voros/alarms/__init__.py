"""Alarms over a stay: when a score sounds one, and which events it catches."""
