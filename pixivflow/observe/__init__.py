"""What this process says about itself: log lines with names and fields, and nothing secret in any of them.

    note(event, **fields) -> context of the run -> redacted -> one line, text or JSON -> stderr

Edges and assembly say what happened; rooms decide and are silent. The walk of a run names plan, slot, target and work
of whatever is noted below it, also by those who know none of them. Every line passes one redaction, and a line that
cannot be written is lost rather than anything else: work never waits for a log.
"""
