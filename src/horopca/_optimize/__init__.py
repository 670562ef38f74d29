"""Objectives over pairs of points, one batched L-BFGS, and the multi-start search that drives both."""
