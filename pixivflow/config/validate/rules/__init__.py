"""What must hold between values. Each rule takes the document as it will be used and yields what it finds.

A value that was refused stands there as `WRONG`; a rule that needs its content passes it over, and a rule that asks
whether it is there at all finds it.
"""
