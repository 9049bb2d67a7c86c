"""pixivflow finds, filters and downloads Pixiv works on schedules and hands the results to other services.

One process, one SQLite file, no other service. `docs/ABOUT.md` draws the whole.
"""

__version__ = "0.1.0"
