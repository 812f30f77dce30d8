"""Methods that fuse one partition per view."""
