"""The edge of files: a work's pictures, from the image host to names on the disk that nothing can be wrong with.

    known, or named before ─────────────────────────────────────────────┐
    transfer ──▶ .part ──▶ verify ──▶ every page of the work is there ──┴─▶ store: final names, folder fsynced
        └── cut, spoiled: continued, or begun afresh, as often as the settings say

A final name only ever stands for a whole, verified and fsynced file, and is never taken from another file. Pillow is
imported when the first picture is looked at. No request carries a token, and none goes to a host that is not allowed.

If the process dies in the middle: `.part` files are left and nothing else; `reconcile` removes them at the next start.
Once names are given but nothing is recorded, the next run finds the files by their names and asks for none of them.
"""
