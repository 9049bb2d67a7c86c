"""The command line: reads arguments, asks the rooms below, prints; decides nothing.

`main` imports click and the version, nothing more: a person who asks for help waits for click alone (30 ms), not for
trio, the HTTP libraries and the web framework (300 ms). A command imports what it needs inside itself.
"""
