"""The sandbox: a fake Pixiv and a receiver of deliveries in one server on loopback, so that nothing else is needed.

It is as strict as the real service where that one is strict, as deterministic as its seed, and as broken as its rules
say. It keeps nothing: if the process dies, it begins again from the seed.

    request ─▶ hosts: which part? ─▶ journal: it came ─▶ gates: is it held? ─▶ rules: does it meet a fault?
                                                                                  │ no           │ yes
        answer ◀─ sending ◀─ spoil: what of it, and how ◀─ mishaps ───────────────┼──────────────┘
           ▲                                                                      ▼
           └───────────────────────────────────────── parts: api, oauth, web, imagehost, sink

Everything up to `sending` is a function of a request, a state and a clock, and needs no socket: `service` is that
function, `http` is a connection that asks it, `serve` makes a server of it. `control` is the way in for tests.
"""
