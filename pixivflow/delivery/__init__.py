"""The room of delivery: promises, attempts and what their answers mean.

An **intent** is the promise that one work goes to one route; an **outbox row** owns the attempts at one side effect; an
**ACK** is the business answer of a receiver. Only a confirmed intent (`delivered` or `duplicate`) is a publication.

    intent   pending ──▶ delivered | duplicate        confirmed: nothing ever takes it back
                │  ▲
                ▼  └── revive, requeue
              failed ──▶ delivered | duplicate        a late ACK still counts

    row      pending ──▶ processing ──▶ done
                ▲          │  │  └────▶ retry_wait ──▶ processing
                │ release  │  └───────▶ dead ──┐
                └──────────┘                   ├── revive, requeue ──▶ pending, retry_wait
                └── cancel ───────▶ cancelled ─┘

The same key and the same frozen payload go out with every attempt, so that a receiver can tell a repetition from a
second publication. Nothing here waits, logs, draws randomness or knows SQL; `pixivflow.ledger` calls these functions
inside its transactions, so that an answer, its intent, its row and its cell change together.

If the process dies in the middle of an attempt, its row stays `processing` until the lease ends. Whoever takes it over
knows that an answer may have been lost, and reads the next answer in that light.
"""
