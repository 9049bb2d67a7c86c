"""The room of plans: what a schedule is, and whether it may start a run now.

It knows nothing of slots beyond the few facts that the guards ask for, and nothing of clocks: instants come as
arguments. If the process dies, nothing is lost here: how often a plan ran and how it fared stands in the ledger.
"""
