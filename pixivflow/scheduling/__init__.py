"""The room of plans: what a schedule is, when it fires, which fire an instant belongs to, and whether it may run now.

    cron ──> occurrence ──┬── a tick, a missed run      the fire is known (ticks, catchup)
                          └── a trigger                 judged by its window, answered by one table (disposition)
    admission             every guard before a run starts

It knows nothing of slots beyond the few facts that the guards ask for, and nothing of clocks: instants come as
arguments. If the process dies, nothing is lost here: how often a plan ran and how it fared stands in the ledger.
"""
