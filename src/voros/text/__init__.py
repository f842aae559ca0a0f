"""Plain text and HTML of small results."""
