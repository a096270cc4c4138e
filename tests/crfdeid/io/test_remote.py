"""Notes elsewhere: in an S3 that is not Amazon's, in Google's store and in Azure's, as `fake_stores` has them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_stores import ACCOUNT, KEY, S3, Azure, Google, Store, running

from crfdeid.errors import DataError, OptionConflictError, ReadError, SettingError, UnknownNameError, UsageError
from crfdeid.io.remote import RemoteNotes

KINDS: dict[str, type[Store]] = {"s3": S3, "s3a": S3, "gs": Google, "abfs": Azure, "abfss": Azure, "az": Azure}
CONNECTION = "DefaultEndpointsProtocol=http;AccountName={};AccountKey={};BlobEndpoint={}/{};"
OF_AZURE = ("ACCOUNT", "ACCOUNT_NAME", "KEY", "ACCOUNT_KEY", "SAS_TOKEN", "CONNECTION_STRING")


@pytest.fixture(autouse=True)
def no_access(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment that says nothing of stores."""
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "CLOUD_STORAGE_EMULATOR_ENDPOINT", "STORAGE_EMULATOR_HOST"):
        monkeypatch.delenv(name, raising=False)
    for name in OF_AZURE:
        monkeypatch.delenv(f"AZURE_STORAGE_{name}", raising=False)


def say_where(patch: pytest.MonkeyPatch, store: type[Store], place: str) -> None:
    """Let the environment say where a store is, and who asks."""
    if store is S3:
        patch.setenv("AWS_ENDPOINT_URL", place)
        patch.setenv("AWS_ACCESS_KEY_ID", "key")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    elif store is Google:
        patch.setenv("CLOUD_STORAGE_EMULATOR_ENDPOINT", place)
    else:
        patch.setenv("AZURE_STORAGE_CONNECTION_STRING", CONNECTION.format(ACCOUNT, KEY, place, ACCOUNT))


@pytest.fixture(params=KINDS)
def lake(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of a bucket or container in a store that runs, which the environment names."""
    with running(KINDS[request.param]) as place:
        say_where(monkeypatch, KINDS[request.param], place)
        yield f"{request.param}://lake"


def test_the_environment_says_where_a_store_is(lake: str, tmp_path: Path) -> None:
    notes = RemoteNotes(f"{lake}/notes/")
    files = list(notes.files())
    assert [(file.name, file.size, file.patient) for file in files] == [
        ("a.txt", 15, None),
        ("ward 1/b.txt", 13, "ward 1"),
    ]
    fetched = notes.fetch(files[1], tmp_path / "b.txt")
    assert fetched.path.read_bytes() == b"Seen on 3/14."
    (only,) = RemoteNotes(f"{lake}/notes/ward%201").files()
    assert only.name == "b.txt"


def test_one_file_of_a_store(lake: str, tmp_path: Path) -> None:
    notes = RemoteNotes(f"{lake}/one.txt")
    (file,) = notes.files()
    assert notes.fetch(file, tmp_path / "one.txt").path.read_bytes() == b"x"


def test_what_a_store_has_not_is_named(lake: str) -> None:
    with pytest.raises(UnknownNameError, match=f"{lake}/nothing"):
        list(RemoteNotes(f"{lake}/nothing").files())
    other = lake.replace("lake", "other")
    with pytest.raises((UsageError, DataError), match=f"{other}/notes"):
        list(RemoteNotes(f"{other}/notes").files())


@pytest.mark.parametrize(
    "url",
    [
        f"abfss://lake@{ACCOUNT}.dfs.core.windows.net/notes",
        f"abfss://{ACCOUNT}.dfs.core.windows.net/lake/notes",
        f"az://{ACCOUNT}.blob.core.windows.net/lake/notes",
    ],
)
def test_the_ways_in_which_others_write_a_place_in_azure(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with running(Azure) as place:
        say_where(monkeypatch, Azure, place)
        assert [file.name for file in RemoteNotes(url).files()] == ["a.txt", "ward 1/b.txt"]


def test_what_refuses_is_named_and_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    notes = RemoteNotes("abfs://lake/notes")
    with running(Azure) as place:
        monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", CONNECTION.format("other", KEY, place, "other"))
        with pytest.raises(ReadError, match="AuthenticationFailed") as refused:
            list(notes.files())
        assert KEY not in str(refused.value)
        monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", CONNECTION.format(ACCOUNT, "?", place, ACCOUNT))
        with pytest.raises(ReadError, match="ArrowException"):  # a key that is none
            list(notes.files())


@pytest.mark.parametrize(
    ("given", "url", "expected"),
    [
        ({"KEY": KEY}, "abfss://lake@clinic.dfs.core.windows.net/x", {"account_key": KEY}),
        (
            {"ACCOUNT_KEY": KEY, "SAS_TOKEN": "sig=1"},
            "abfss://lake@clinic.dfs.core.windows.net/x",
            {"account_key": KEY},
        ),
        ({"SAS_TOKEN": "sig=1"}, "abfss://lake@clinic.dfs.core.windows.net/x", {"sas_token": "?sig=1"}),
        ({"SAS_TOKEN": "?sig=1", "ACCOUNT": "clinic"}, "az://lake/x", {"sas_token": "?sig=1"}),
        ({"ACCOUNT_NAME": "clinic"}, "abfs://lake/x", {}),
        ({"CONNECTION_STRING": f"AccountName=clinic;AccountKey={KEY}=="}, "abfs://lake/x", {"account_key": f"{KEY}=="}),
        (
            {"CONNECTION_STRING": f"AccountName=clinic;AccountKey={KEY};EndpointSuffix=core.example.cn"},
            "abfs://lake/x",
            {
                "account_key": KEY,
                "blob_storage_authority": ".blob.core.example.cn",
                "dfs_storage_authority": ".dfs.core.example.cn",
            },
        ),
        (
            {"CONNECTION_STRING": "BlobEndpoint=https://clinic.blob.core.windows.net/;SharedAccessSignature=sig=1"},
            "abfs://lake/x",
            {"sas_token": "?sig=1"},
        ),
        (
            {"KEY": KEY},
            "abfss://lake@clinic.dfs.core.example.cn/x",
            {
                "account_key": KEY,
                "blob_storage_authority": ".blob.core.example.cn",
                "dfs_storage_authority": ".dfs.core.example.cn",
            },
        ),
    ],
)
def test_what_azures_own_programs_read_gives_access(
    given: dict[str, str], url: str, expected: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: dict[str, str] = {}
    monkeypatch.setattr("crfdeid.io.remote._azure_system", lambda **options: made.update(options))
    for name, value in given.items():
        monkeypatch.setenv(f"AZURE_STORAGE_{name}", value)
    with RemoteNotes(url)._reached() as (_, path):
        assert path == "lake/x"
    usual = {
        "account_name": "clinic",
        "blob_storage_authority": ".blob.core.windows.net",
        "dfs_storage_authority": ".dfs.core.windows.net",
        "blob_storage_scheme": "https",
        "dfs_storage_scheme": "https",
    }
    assert {**usual, **made} == {**usual, **expected}


@pytest.mark.parametrize(
    ("given", "url", "error", "named"),
    [
        ({}, "abfs://lake/x", SettingError, "AZURE_STORAGE_ACCOUNT"),
        (
            {"ACCOUNT": "clinic", "KEY": KEY},
            "abfss://lake@ward.dfs.core.windows.net/x",
            OptionConflictError,
            "ward",
        ),
    ],
)
def test_an_account_that_is_missing_or_anothers_is_refused(
    given: dict[str, str], url: str, error: type[UsageError], named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(f"AZURE_STORAGE_{name}", value)
    with pytest.raises(error, match=named) as refused:
        list(RemoteNotes(url).files())
    assert KEY not in str(refused.value)


def test_hdfs_without_its_library_is_refused_on_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("HADOOP_HOME", "ARROW_LIBHDFS_DIR", "JAVA_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    with pytest.raises(UsageError, match=r"hdfs://host/notes.*\(OSError\).*CLASSPATH") as refused:
        list(RemoteNotes("hdfs://host/notes").files())
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    ["s3://key@lake/notes", "s3://key:secret@lake/notes", "s3://lake/notes?secret=1", "abfs://box:key@host/notes"],
)
def test_a_url_holds_no_secret(url: str) -> None:
    with pytest.raises(SettingError):
        RemoteNotes(url)


@pytest.mark.parametrize("url", ["s3://lake/a@b", "abfss://box@account.dfs.core.windows.net/notes"])
def test_an_at_sign_that_is_no_users(url: str) -> None:
    assert str(RemoteNotes(url)) == url
