"""The promises, each with a checker that knows only the wire, the ledger file and the folder of works.

A checker is a pure judge: `judge(evidence) -> list of violations`, each a sentence that names its rows, none when the
promise was kept. It never imports the program, so it cannot share the program's mistakes; the tables of legal states in
here are read from the specification, not from the code they judge.

    evidence     what the outside saw, line by line, and the ledger opened read-only
    accepted     what a client saw accepted has its row, after any kill
    fsynced      and was on the disk before, as the kernel saw it
    once         one publication a work and route: one key, one body, no second arrival without a cause
    kept         nothing accepted stays unfinished, nothing is called delivered that never arrived
    moves        no state goes a way that the tables do not know; what is final stays final
    origins      a timeout ends a slot, a shutdown never does
    liveness     a live run is never taken away, a dead one always is taken up
    hints        nothing waits for a message that may be lost
    secrets      a planted credential turns up nowhere
    parts        what has no final name is counted by a row, what has one is what its row says
    consistent   the file is sound and its rows agree with each other
    verdict      all of them together
"""
