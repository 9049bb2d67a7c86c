"""The room of occurrences: what a slot and its cells are, and every decision about how they end.

A **slot** is the durable row of one occurrence; a **cell** is the durable row of one (slot, target) and holds at most
one work. A **run** owns a slot by its lease while it works.

    slot    pending ── claim ──▶ running ── every cell ended ──▶ success | partial | failed
                                    │                                                  │
                                    └── a delivery is still owed: stays running        └─ failed, a cell still open:
                                                                                          a late ACK lifts it

    cell    pending ◀── release, fallback ── selected ──▶ delivery_pending ──▶ submitted | duplicate | failed
               └──────────── bind ────────────▲ └──────────────────────────▶ no_candidate

Decisions are structs in, structs out, with `now` as an argument; `pixivflow.ledger` calls them inside its transactions,
so that a decision and its rows are one. Only the walk of a run waits, and only on its ports:

    coordinator   all cells of a run, pass after pass      turn       one cell, to the outcome that it ends with
    attempt       one work: bound, fetched, recorded       setbacks   what an error means for work, cell and run

If the process dies in the middle, nothing here remembers anything: the rows say which cells are open, which work each
is bound to, how many it has brought and at which fallback stage it stood, and the next run goes on from there.
"""
