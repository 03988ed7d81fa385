"""`simsched doctor`: what this machine has and lacks, and what to do about it."""

from __future__ import annotations


def doctor() -> int:
    """Show what this machine has and lacks.

    Exit code: 1 if something is wrong without which nothing runs.
    """
    from simsched.cli.machine import WRONG, findings
    from simsched.cli.shell import FAILED
    from simsched.cli.tables import show_table

    found = list(findings())
    rows = [[finding.what, finding.state, finding.found, finding.remedy] for finding in found]
    show_table(("what", "state", "found", "what to do"), rows)
    return FAILED if any(finding.state == WRONG for finding in found) else 0
