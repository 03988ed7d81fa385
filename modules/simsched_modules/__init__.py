"""Models for attitude-control simulations, ready to be named in a scenario's `Tasks`."""
