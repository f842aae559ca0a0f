"""Draw bands on the ROC curve and the area curve."""
