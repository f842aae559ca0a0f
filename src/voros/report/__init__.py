"""A document for the record, and the words and values it shares with the command line."""
