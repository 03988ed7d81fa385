"""Print the versions installed in this environment as a constraints file: names and versions alone."""

from __future__ import annotations

from importlib.metadata import distributions

# of the environment itself, or the project
NOT_PINNED = frozenset({"pip", "setuptools", "wheel", "simsched"})


def pins() -> list[str]:
    """Lines `name==version`, in the order of the names."""
    found = {each.metadata["Name"]: each.version for each in distributions()}
    return [f"{name}=={found[name]}" for name in sorted(found, key=str.lower) if name not in NOT_PINNED]


if __name__ == "__main__":
    print("# The versions that the tests passed with. `make pins` writes this file: run it with the oldest")
    print(
        "# Python that counts, Debian 12's 3.11.2; a newer one finds versions that the oldest cannot install."
    )
    print("\n".join(pins()))
