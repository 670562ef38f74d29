"""The user's array as points of the hyperboloid, wherever it is stored: in memory, on a device or on a cluster."""
