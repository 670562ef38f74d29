"""The search for optima: climbs and races, families of spines and submanifolds, starts."""
