"""A session of a Spark Connect server, which waits for one that is not there no longer than a person does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crfdeid.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CONNECT = "sc://"
_ANSWER = 10  # seconds, in which a server takes a connection; Spark itself tries for more than ten minutes
_TRIES = 6  # again, of a call that cannot reach the server: over a minute
_MISSING = "Spark Connect is not installed: pip install 'crfdeid[spark]'"
_NO_SERVER = "no Spark Connect server answers there: start it, or correct --master"
# Spark's own words can have the URL in them, and so its token.
_REFUSED = (
    "Spark Connect refuses --master: correct it (sc://host:15002), or the token in SPARK_CONNECT_AUTHENTICATE_TOKEN"
)


def connected(master: str) -> SparkSession:
    """A session of a server.

    Args:
        master: the server's URL (sc://...).

    Raises:
        UsageError: there is no server, or it does not let this process in, or what Connect needs is not installed.
    """
    try:
        import grpc  # noqa: PLC0415
        from pyspark.errors import PySparkException  # noqa: PLC0415
        from pyspark.sql import SparkSession  # noqa: PLC0415
        from pyspark.sql.connect.client import DefaultChannelBuilder  # noqa: PLC0415
    except ImportError:
        raise UsageError(_MISSING) from None

    try:
        with DefaultChannelBuilder(master).toChannel() as channel:
            grpc.channel_ready_future(channel).result(timeout=_ANSWER)
        session = SparkSession.builder.appName("crfdeid redact").remote(master).getOrCreate()
    except grpc.FutureTimeoutError:
        raise UsageError(_NO_SERVER) from None
    except (PySparkException, ValueError):  # Python's, of a port that is no number
        raise UsageError(_REFUSED) from None
    set_patient(session, True)
    return session


def set_patient(session: SparkSession, patient: bool) -> None:
    """Whether calls of a session that cannot reach its server try again."""
    from pyspark.sql.connect.client.retries import DefaultPolicy  # noqa: PLC0415

    session.client.set_retry_policies([DefaultPolicy(max_retries=_TRIES if patient else 0)])
