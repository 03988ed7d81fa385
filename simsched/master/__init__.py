"""The master's parts: a seat for each task, steps, waits, joining, and where processes run."""
