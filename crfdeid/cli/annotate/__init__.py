"""`crfdeid annotate`: notes for annotators, and their agreement."""
