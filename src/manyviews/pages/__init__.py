"""What every page shares, whatever it shows.

Templates, style and script (``environment``, ``templates``), colours and marks (``palette``), numbers and names as
people read them (``wording``), the frame of all charts (``charts``), and data that stand inside a page (``inline``).
"""
