"""What both programs share when they run: settings, log lines, failpoints, how to install."""
