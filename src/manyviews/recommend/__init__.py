"""Which method suits data whose classes nobody knows.

Several methods on one data set (``comparison``), what can be said of their groupings (``criteria``),
the choice (``rule``), and how it is shown (``summary``, ``page``).
"""
