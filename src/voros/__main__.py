"""``python -m voros`` is the command line."""

from voros.cli import main

if __name__ == "__main__":
    main()
