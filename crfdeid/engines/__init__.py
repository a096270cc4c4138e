"""Notes in tables that are too large for one machine: one callable on Arrow's batches, for every engine that has them.

batches.py   RedactBatches: batches in, redacted batches out
worker.py    the model and the secret, where the work is done
schema.py    which columns the results have
"""

from crfdeid.engines.batches import RedactBatches
from crfdeid.engines.worker import ModelDiffers, ModelMissing, SecretError

__all__ = ["ModelDiffers", "ModelMissing", "RedactBatches", "SecretError"]
