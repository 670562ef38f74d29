"""All benchmarks, one after another."""

from . import baselines, explorer, figures, speed

speed.main()
figures.main()
baselines.main()
explorer.main()
