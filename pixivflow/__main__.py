"""`python -m pixivflow`: the same as the command."""

from pixivflow.cli.main import main

main(prog_name="pixivflow")
