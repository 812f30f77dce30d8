"""``python -m manyviews`` is the ``manyviews`` command."""

import sys

from manyviews.cli import main

sys.exit(main())
