"""What Farhand costs, each figure beside its floor in the same run."""
