"""All benchmarks that need no other package, one after another."""

from . import baselines, embeddings, explorer, figures, gpu, scale, speed

speed.main()
scale.main()
figures.main()
baselines.main()
embeddings.main()
explorer.main()
gpu.main()
