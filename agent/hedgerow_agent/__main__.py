"""`python -m hedgerow_agent` is `hedgerow-agent`."""

import sys

from hedgerow_agent.main import main

if __name__ == "__main__":
    sys.exit(main())
