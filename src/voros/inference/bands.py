"""Bands around the ROC curve and the area curve."""
