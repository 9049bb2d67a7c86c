"""Lives of real processes: a daemon that is killed, frozen and started again, a receiver that is not always kind.

    ground     the daemon: the program's own ledger, runner and pump, joined to acts instead of Pixiv and to a real wire
    acts       what its executions do, and what they write down about it
    sender     one request over the wire
    receiver   the other end of it, in a process of its own, which writes down every arrival before it answers
    faults     what the receiver does to which arrival
    journal    lines that survive their writer
    client     asks for slots, as a trigger would
    process    starts, stops, kills, freezes and thaws a process, and writes that down too
    waiting    for a fact
    plans      what the daemon is configured with
    attempt    the receiver's words as an ACK
    small      lives with one end each
    stage      one folder in which a life is played: the files, the processes, and the evidence in the end

Nothing here decides by time: whoever waits, waits for a line, a row or an exit, with a limit that only a fault reaches.
"""
