"""The interactive page: limits and costs that people can move, in one HTML file.

>>> from voros.present.explorer import write_page
"""

from voros.present.explorer.page import render_page, write_page

__all__ = ["render_page", "write_page"]
