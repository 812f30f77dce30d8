"""The papers' tables and figures beside ours.

Printed figures (``published``, ``paper``), how they were made (``setup``, ``protocols``), the data in the forms that
they were given (``material``), the fits that a table needs (``plan``), what came out beside what is printed
(``verdict``), and how that is shown (``tables``, ``figures``, ``page``).
"""
