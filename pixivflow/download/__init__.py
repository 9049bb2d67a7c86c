"""The edge of files: a work's pictures, from the image host to names on the disk that nothing can be wrong with.

    known, or named before ─────────────────────────────────────────────┐
    transfer ──▶ .part ──▶ verify ──▶ every page of the work is there ──┴─▶ store: final names, folder fsynced
        │          └── marks: its row counts what of it is on the disk
        └── cut, spoiled: continued, or begun afresh, as often as the settings say

A final name only ever stands for a whole, verified and fsynced file, and is never taken from another file. Pillow is
imported when the first picture is looked at. No request carries a token, and none goes to a host that is not allowed.

What if the process dies in the middle?

| what is left | what follows |
| --- | --- |
| a `.part`, counted by a row | the next attempt within a day cuts it to that, and asks for the rest of the same file |
| a `.part` that is all there, its row with a hash | it is used once its bytes have that hash; no request |
| a `.part` that no row names, or of more than a day ago | `reconcile` removes it before the next process fetches |
| names, and nothing is recorded | the next run finds the files by their names and asks for none of them |

Whoever writes to a part has it locked (`living`), so processes on the same folders leave each other's alone.
"""
