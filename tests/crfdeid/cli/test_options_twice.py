"""Options given twice, on the command line and in a file: no value is lost in silence."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from commands import error_of

from crfdeid.cli import COMMANDS, main
from crfdeid.cli.shell import Command, Commands, Option
from crfdeid.errors import SettingError, UsageError


def commands(group: click.Group, before: str = "") -> dict[str, Command]:
    found: dict[str, Command] = {}
    for name in group.list_commands(click.Context(group)):
        one = group.get_command(click.Context(group), name)
        found |= commands(one, f"{before}{name} ") if isinstance(one, click.Group) else {f"{before}{name}": one}
    return found


ALL = commands(Commands("crfdeid", "crfdeid.cli", COMMANDS))


@pytest.mark.parametrize("name", ALL)
def test_an_option_of_one_value_is_refused_when_it_is_given_twice(name: str) -> None:
    options = [one for one in ALL[name].params if isinstance(one, Option) and not one.multiple]
    assert len(options) >= 4
    for option in options:
        if option.name in ("help", "help_all"):
            continue
        given = option.opts if option.is_flag else [option.opts[0], "x"]
        problem = error_of(*name.split(), *given, *given)
        assert type(problem) is UsageError and option.opts[0] in str(problem)


def parsed(name: str, *args: str) -> dict[str, object]:
    context = ALL[name].make_context(name, ["model", "notes", *args])
    return context.params


def test_options_of_several_values_add_up() -> None:
    twice = (
        "--drop-columns",
        "name,mrn",
        "--drop-columns",
        "dob",
        "--record-columns",
        "a",
        "--record-columns",
        "b=date",
    )
    found = parsed("redact", *twice, "--hash-columns", "x", "--hash-columns", "y")
    assert (found["drop_columns"], found["record_columns"]) == (("name", "mrn", "dob"), "a,b=date")
    assert found["hash_columns"] == ("x", "y") and found["shift_columns"] == ()
    assert parsed("evaluate", "--mode", "strict", "--mode", "binary")["mode"] == ("strict", "binary")
    with pytest.raises(click.UsageError):
        parsed("redact", "--drop-columns", "a", "--drop-columns", "b,,c")


def test_the_command_line_takes_precedence_over_a_file_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config, table = tmp_path / "redact.toml", tmp_path / "notes.csv"
    config.write_text('drop-columns = ["name", "mrn"]\n')
    table.write_text("text,name,mrn\nseen today,Quill,48221\n")
    command = ["redact", "rules", str(table), "--config", str(config), "--output"]
    assert main([*command, str(tmp_path / "both")]) == 0
    assert (tmp_path / "both" / "notes.csv").read_text() == "text\nseen today\n"
    assert "replaces" not in capsys.readouterr().err
    assert main([*command, str(tmp_path / "one"), "--drop-columns", "mrn"]) == 0
    assert (tmp_path / "one" / "notes.csv").read_text() == "text,name\nseen today,Quill\n"
    assert "--drop-columns of the command line replaces that of --config" in capsys.readouterr().err
    assert main(["redact", "--help"]) == 0
    assert "precedence" in " ".join(capsys.readouterr().out.split())


def test_a_setting_is_refused_when_it_is_set_twice(tmp_path: Path) -> None:
    config = tmp_path / "train.toml"
    config.write_text('set = ["c1=1", "c1=2"]\n')
    for given in (("--set", "c1=1", "--set", "c1=2"), ("--config", config)):
        problem = error_of("train", tmp_path, "--output", tmp_path / "out", *given)
        assert type(problem) is SettingError and "c1" in str(problem)
    problem = error_of("share", "attack", "model", "notes", "--budget", "epochs=1", "--budget", "epochs=2")
    assert type(problem) is SettingError and "epochs" in str(problem)


def test_scalars_of_two_sources_and_two_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config, notes = tmp_path / "redact.toml", tmp_path / "notes"
    config.write_text("max-chars = 5\n")
    notes.mkdir()
    (notes / "note.txt").write_text("seen today by Dr. Quill\n")
    command = ["redact", "rules", str(notes), "--output", str(tmp_path / "out"), "--config", str(config)]
    assert main([*command, "--max-chars", "100"]) == 0  # the 23 characters are more than 5
    assert "--max-chars of the command line replaces that of --config" in capsys.readouterr().err
    problem = error_of("redact", "rules", notes, "--config", config, "--config", config)
    assert type(problem) is UsageError and "--config" in str(problem)
