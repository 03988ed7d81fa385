"""The C++ side of simsched: modules written in C++ join a run as equals."""
