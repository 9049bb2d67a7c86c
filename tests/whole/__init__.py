"""The whole program as processes: `pixivflow scheduler` beside `pixivflow sandbox`, looked at only from outside.

    handover    gives a daemon its listening socket, as a service manager does, and says on which port
    settings    what the daemon is configured with
    pixiv       the sandbox and its control routes
    client      triggers, as clocks outside send them
    stage       one folder in which a life is played: the files, the processes, and the evidence in the end
    receipts    what the receiver holds against the ledger
    sleeper     whoever holds the socket while the daemon sleeps, and wakes it when somebody calls
    untidy      a daemon whose ledger does not wait for the disk, to show that the look at it can fail

Lives are judged by `tests.promises`, fed from the sandbox's receipts, the ledger file and the clients' own lines.
"""
