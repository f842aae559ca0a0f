"""
Which shapes can the limits leave?
==================================

A precision floor and a capacity cut ROC space. These are all the shapes that can come out.
"""

import matplotlib.pyplot as plt

from voros.plotting import region_gallery

region_gallery()
plt.show()
