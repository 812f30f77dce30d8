"""What every page shares: scripts and data that may stand inside one."""
