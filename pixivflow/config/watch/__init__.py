"""A new configuration without a restart: noticed, read, judged, and put in force as a whole or not at all.

    the file changes ──> quiet for a while ─┐
    SIGHUP, a command ──────────────────────┴─> read ─> decide ─> in force │ refused: needs a restart │ faulty: named
                                                                               the snapshot in force stays

`decide` says what may change, `live` holds the snapshot in force, `folder` notices, `watcher` is the actor that joins
them. If it dies here nothing is half done: the next life looks at the file at once.
"""

from pixivflow.config.watch.decide import Keep, Refuse, Replace, decide
from pixivflow.config.watch.live import Live
from pixivflow.config.watch.watcher import Look, Parts, config_watcher, reader

__all__ = ["Keep", "Live", "Look", "Parts", "Refuse", "Replace", "config_watcher", "decide", "reader"]
