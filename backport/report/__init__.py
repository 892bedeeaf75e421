"""SAY: one model of what happened, and its views."""
