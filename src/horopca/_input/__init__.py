"""The user's array as points of the hyperboloid, wherever it lives: in memory, on a device, on a cluster, in a stream."""
