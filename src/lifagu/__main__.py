"""``python -m lifagu``."""

import sys

from lifagu.cli import main

sys.exit(main())
