"""``python -m hedgerow_operator.cli``: the same as ``hedgerow``."""

from hedgerow_operator.cli.main import main

main()
