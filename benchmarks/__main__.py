"""All benchmarks that need no other package, one after another."""

from . import baselines, embeddings, explorer, figures, gpu, networks, scale, speed

speed.main()
scale.main()
figures.main()
baselines.main()
embeddings.main()
explorer.main()
networks.main()
gpu.main()
