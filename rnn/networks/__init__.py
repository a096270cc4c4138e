"""One network a file: elman.py (equations 7-11), jordan.py (equation 12); recurrence.py is what they share."""

from rnn.networks.elman import Elman
from rnn.networks.jordan import Jordan

__all__ = ["Elman", "Jordan"]
