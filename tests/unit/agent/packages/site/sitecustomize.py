"""A user's own start-up code, which must still run."""

import builtins

builtins.theirs = "ran"
