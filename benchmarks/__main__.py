"""All benchmarks, one after another."""

from . import figures, speed

speed.main()
figures.main()
