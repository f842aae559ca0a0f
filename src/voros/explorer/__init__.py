"""The interactive page: limits and costs that people can move, in one HTML file.

>>> from voros.explorer import write_page
"""

from voros.explorer.page import render_page, write_page, write_page_points

__all__ = ["render_page", "write_page", "write_page_points"]
