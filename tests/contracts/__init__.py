"""One suite a port: what an actor may rely on, asked of the fake that its tests use and of the ledger that it lives on.

A fake that is kinder than the ledger proves nothing; here it cannot be.
"""
