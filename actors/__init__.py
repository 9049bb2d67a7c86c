"""Actors: they know time, leases, mailboxes, failure and cancellation, and have never heard of Pixiv or SQL.

Each actor declares the ports it asks of the outside; whoever assembles the tree joins them. Only the standard library
and trio are imported here.
"""
