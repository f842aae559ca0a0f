"""Data sets in the package, ready to score.

>>> from voros.datasets import load_support2
>>> len(load_support2())
9105
"""

from voros.datasets.support2 import Support2, load_support2

__all__ = ["Support2", "load_support2"]
