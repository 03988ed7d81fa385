"""Starting, watching, showing and ending the processes of a run."""
