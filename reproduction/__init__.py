"""The paper's experiments, computed again: ``python -m reproduction``, or ``reproduce()``.

| file           | what is in it                                                                                   |
|----------------|-------------------------------------------------------------------------------------------------|
| `paper`        | what the paper prints, and what its code gives today                                            |
| `claims`       | the paper's claims, a row each, with the check (of `judging`) that judges it                     |
| `items`        | everything else in the paper, a row each: where it is implemented, tested and reproduced        |
| `experiments`  | a file for each table or figure: its cells, and the text and pictures of their results          |
| `cells`        | the computations, pure functions; `cells.systems` has a row for every system that is measured   |
| `results.json` | the committed results, from which docs/reproduction*.md are generated                           |

Finished cells are files in a folder, so that an interrupted reproduction can be resumed.
"""

from .command import Outcome, reproduce
from .experiments import EXPERIMENTS

__all__ = ["EXPERIMENTS", "Outcome", "reproduce"]
