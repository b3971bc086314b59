"""What is asked of machines, and what they answer: a plain class for each question and reply.

Where the machine's link is on this node, a question is handed over as it is; else it crosses the
bus, as `question` has it.
"""
