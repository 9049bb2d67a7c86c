"""The ledger: one SQLite file that holds everything this program may not forget."""
