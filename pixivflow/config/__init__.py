"""What the operator asked for, as one frozen snapshot.

`model` says what exists and `mask` what nobody may see; everybody imports them. The doors to the outside stand above
the rooms: `load` reads a file and its environment, `validate` names everything that is wrong with it at once, `migrate`
brings old files up to date, `watch` notices a new one and decides whether it may replace the snapshot in force.

    file -> read -> migrate -> environment -> paths -> validate -> Settings (generation n)
                                                           |
                                    anything wrong: the snapshot in force stays, and every fault is named

A snapshot is never changed. Who decides something reads the one in force; a run keeps the one it started with. A
process that dies in the middle leaves nothing behind: the next one reads the file again.
"""
