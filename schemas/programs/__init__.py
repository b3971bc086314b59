"""What both programs share when they run: settings, log lines, failpoints, pauses, installing."""
