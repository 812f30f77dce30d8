"""Many fits, resumable, and the papers' tables beside what they give."""
