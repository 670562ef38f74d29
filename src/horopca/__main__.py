"""``python -m horopca``: the command line."""

from .cli import main

main(prog_name="horopca")
