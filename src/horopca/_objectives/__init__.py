"""What the methods optimise: which pairs, what is averaged over them, and the same over all rows of a large array."""
