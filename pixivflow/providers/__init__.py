"""The edge of delivery: one network attempt at one row, and what a receiver's answer means.

    row ──▶ attempts ──▶ webhook | http_multipart ──▶ exchange ──▶ egress ──▶ the receiver
              │                                           │
              └── one Ack, whatever happened ◀── parsing ─┘

A provider knows one row and the route it goes to. It knows no ledger, no other route and no second try; whatever
becomes of its request is an ACK. It may read the files that a payload names and the environment that a route refers to.

If the process dies in the middle, the receiver may have the work while nobody here knows: the row stays leased, and the
same key and the same payload are sent again once the lease has ended.
"""
