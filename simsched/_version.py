"""The version of simsched, stated here and nowhere else."""

__version__ = "0.1.0"
