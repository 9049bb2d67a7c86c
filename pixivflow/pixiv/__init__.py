"""The edge of Pixiv: what the rooms ask of it, asked as an app would ask, and its answers sorted by what follows.

    Source ──▶ Client ──▶ Gate ──▶ Account ──▶ exchange ──▶ the transport that it was given
      │          │         │         └── one refresh at a time; a dead login is asked about no second time
      │          │         └── one pace for the account; a limit cools everything down, also across a restart
      │          └── answers ── served, limited, no token, gone, rejected, down, broken
      └── wire ── translate ──▶ works

Structs as received never leave this package, nor do httpx's errors. No token stands in an error, a note or a
`__repr__`. It reads and writes the ledger only through `ports`.

If the process dies in the middle: a refreshed token that was answered and not written is lost, the old one is tried
again; a cool-down that was written is still honoured. Everything else here is memory that one request makes again.
"""
