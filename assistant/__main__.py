"""`python -m assistant` is `gpu-advisor`."""

from assistant.cli import main

main()
