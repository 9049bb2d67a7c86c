"""The door: how this process is asked and watched over HTTP.

    socket ─> server ─> front ─┬─ /health, /version          answered at once, before Quart is imported
              (Hypercorn,      └─> app (Quart-Trio) ─┬─ triggers   POST /internal/schedules/{id}/run
               one task a                            ├─ schedules  GET  /internal/schedules
               connection)                           └─ status     GET  /status

A route decodes, asks a room or the ledger, and encodes; it decides nothing. What is accepted is on the disk before it
is answered: commit first, answer after. Every error is one flat JSON object, never a framework's page.

If the process dies in the middle, a request that was answered with 202 has its slot, and one that was not has a row
that says so. If a client goes away, its handler is cancelled; what it has committed stays, and recovery runs it.
"""
