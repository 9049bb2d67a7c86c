"""The room of choosing: which works a target asks for, in which order they are tried, and why others are passed over.

    target ──▶ walk of a list ──▶ filters ──▶ seen before? ──▶ a window of candidates, each skip counted by its code

Everything but the walk is a pure function over frozen structs, with `now` and chance as arguments; the walk asks its
`Source` for one page after the other and its caller what has been seen. A limit counts works that nobody has yet, never
those that were stored or promised before: otherwise the newest block of a list, once taken, would hide all the rest.

Nothing here writes anything: if the process dies in the middle, the next run looks again, and what was bound, stored or
promised meanwhile is told by the ledger.
"""
