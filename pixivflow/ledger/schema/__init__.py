"""The ledger's migrations, `NNNN_name.sql`, applied in the order of their numbers, each in one transaction."""
