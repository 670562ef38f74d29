"""All benchmarks, one after another."""

from . import baselines, embeddings, explorer, figures, speed

speed.main()
figures.main()
baselines.main()
embeddings.main()
explorer.main()
