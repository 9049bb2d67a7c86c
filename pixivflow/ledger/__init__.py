"""The ledger: one SQLite file that holds everything this program may not forget.

A transaction is one plain function `fn(db, …) -> value`. It issues no BEGIN and no COMMIT, and SQL stands only in this
room. The modules of an aggregate (slots, cells, outbox, …) hold such functions; the rest carries them to the disk:

    await ledger.write(fn, …)                                      interface   what everybody sees
          │ queue                                                  writer      who waits, who is woken, who is told what
          ▼
    BEGIN IMMEDIATE ─┬─ SAVEPOINT  fn  RELEASE ─┬─ COMMIT, fsync   batch       many functions, one fsync
                     ├─ SAVEPOINT  fn  RELEASE ─┤     │            db          what a function may not do
                     └─ SAVEPOINT  fn  RELEASE ─┘     ▼            connection  the threads, and aiosqlite on trio
                                              callers are woken

    await ledger.read(fn, …)     BEGIN, fn, ROLLBACK on a second thread that cannot write          reader
    open_ledger, open_inline     lockfile, opening, migrate, check: before anything is served      ledger, inline

What if somebody dies here?

| who dies | what follows |
| --- | --- |
| a function, by an exception | its savepoint is rolled back, its caller gets the exception, the others are kept |
| a transaction, ended by SQLite | nothing of the batch is kept; each of its functions runs again, alone |
| a caller, cancelled | before its function was taken: nothing happens; after that it is written, the row tells |
| the writer | every waiting and later call raises `LedgerLost`, and so does `open_ledger`: the process stops in order |
| the process, at any instant | what was told is on the disk, what was not is whole or absent; the rows tell |
| the file | CORRUPT or NOTADB at a daemon's start: set aside and said so; found by a check: work stops, reads go on |

It may import the rooms (`slots`, `delivery`, `scheduling`), whose pure decisions run inside its transactions.
"""
