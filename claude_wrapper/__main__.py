"""`python -m claude_wrapper` is the command `claude-wrapper`."""

import sys

from claude_wrapper.cli import main

if __name__ == "__main__":
    sys.exit(main())
