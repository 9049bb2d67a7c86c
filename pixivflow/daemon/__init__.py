"""The assembly: `tree` joins every actor to its ports, in order; `lifecycle` is the process around it.

Nothing is decided here. If the process dies, the next one finds everything in the ledger; what a signal does is drawn
in `lifecycle`.
"""
