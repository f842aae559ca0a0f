"""Documents for people: the report and the interactive page."""
