"""`python -m jaxdiff` is the command line."""

import sys

from jaxdiff.cli.main import main

sys.exit(main())
