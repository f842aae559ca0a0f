"""Does training toward partial VOROS cost less than log loss? Losses compared on open data sets.

`run` does all of it: `prepare` writes the splits of the data sets to files, `tasks` fits every loss
on them, `trees` fits boosted trees, and `summary` makes the table.
"""
