"""One model a file: its network, its settings and its tagger."""
