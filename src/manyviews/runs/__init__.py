"""Many fits, resumable.

Here is what a fit is and what came of it (``outcomes``), the file of finished fits (``store``), the processes that fit
under limits (``pool``, ``worker``), and the call that makes the fits that are missing (``runner``). What they are for
is the matter of the rooms above: ``papers`` and ``recommend``.
"""
