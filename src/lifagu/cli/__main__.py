"""``python -m lifagu.cli``."""

import sys

from lifagu.cli import main

sys.exit(main())
