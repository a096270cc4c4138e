"""Settings of the tests on Spark, in place before gRPC is loaded."""

import os

# Spark starts Java by a fork. gRPC, which Spark Connect loads into the same process, would take part in it and can end
# the child before Java runs.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
