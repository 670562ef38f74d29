"""Speed, memory and the figures of the README, each printed by a command: `python -m benchmarks` runs them all."""
