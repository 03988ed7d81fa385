"""`python -m simsched`: the command line."""

from __future__ import annotations

import sys

from simsched.cli import main

if __name__ == "__main__":
    sys.exit(main())
