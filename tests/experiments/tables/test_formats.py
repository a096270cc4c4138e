"""Tables as text: blocks for a terminal, Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
import re
from textwrap import dedent

import pandas as pd
import pytest
from samples import as_view, rich_results, rich_view

from experiments import tables
from experiments.compare.experiment import corpus_tables
from experiments.tables import Table, comparison_tables, settings_table

ALL = {**corpus_tables(rich_results()), "settings": settings_table(rich_results())}
ALL |= comparison_tables(as_view(rich_view()), published=True)
NASTY = r"50 % & $x_1$ #{~^} <a|b> \ ± ≤"


def table(*columns: str, group: int = 1, rows: tuple[str, ...] = ("DATE",)) -> Table:
    return Table("Scores", pd.DataFrame("1.00", index=list(rows), columns=list(columns)), ("A note.",), group=group)


def test_a_table_that_fits_is_one_block() -> None:
    assert tables.to_text(table("a F", "b F")) == dedent(
        """\
        Scores
        ======
                a F    b F
        ----  -----  -----
        DATE   1.00   1.00
        A note.
        """
    )


def test_a_table_that_is_too_wide_is_cut_between_systems() -> None:
    columns = [f"{system} {letter}" for system in ("one", "two", "three") for letter in "RPF"]
    text = tables.to_text(table(*columns, group=3), width=60)
    heads = [line.split("  ") for line in text.splitlines() if " R" in line]
    assert [[name.strip() for name in head if name.strip()] for head in heads] == [columns[:6], columns[6:]]
    assert text.count("DATE") == 2
    assert max(map(len, text.splitlines())) <= 60


def test_a_block_has_a_whole_system_however_narrow_the_terminal() -> None:
    columns = ["one R", "one P", "one F", "two R", "two P", "two F"]
    text = tables.to_text(table(*columns, group=3), width=5)
    assert "one R    one P    one F\n" in text
    assert "two R    two P    two F\n" in text


@pytest.mark.parametrize("name", ALL)
def test_no_line_of_a_table_is_wider_than_the_terminal(name: str) -> None:
    lines = tables.to_text(ALL[name]).splitlines()
    rows = lines[: len(lines) - len(ALL[name].notes)]
    assert max(map(len, rows)) <= 160


def test_marks_leave_the_digits_below_each_other() -> None:
    cells = pd.DataFrame({"F": ["89.22*", "9.18"]}, index=["ID", "DATE"])
    text = tables.to_text(Table("T", cells))
    ends = [line.rindex(digits) for line in text.splitlines() for digits in ("22", "18") if digits in line]
    assert len(ends) == 2
    assert ends[0] == ends[1]


def test_markdown_keeps_names_in_their_cells() -> None:
    text = tables.to_markdown(Table("T", pd.DataFrame({"a|b": ["1"]}, index=["<i>"]), ("x <b>",)))
    [head, _, row] = [line for line in text.splitlines() if line.startswith("|")]
    assert r"a\|b" in head
    assert r"\<i>" in row
    assert r"- x \<b>" in text
    assert len(re.findall(r"(?<!\\)\|", row)) == 3


def test_latex_escapes_every_special_character() -> None:
    text = tables.to_latex(Table(NASTY, pd.DataFrame({NASTY: [NASTY]}, index=[NASTY]), (NASTY,)), "t")
    escaped = (
        r"50 \% \& \$x\_1\$ \#\{\textasciitilde{}\^{}\} \ensuremath{<}a\textbar{}b\ensuremath{>} "
        r"\textbackslash{} $\pm$ $\leq$"
    )
    assert rf"\caption{{{escaped}}}" in text
    assert f"{escaped} & {escaped} \\\\" in text
    assert rf"\scriptsize {escaped}}}" in text


def test_latex_with_groups_has_a_name_above_its_columns() -> None:
    text = tables.to_latex(table("my net R", "my net P", "my net F", group=3), "scores")
    assert text == dedent(
        r"""
        % \usepackage{booktabs} \usepackage[T1]{fontenc} \usepackage[utf8]{inputenc}
        \begin{table}[htbp]
        \centering\footnotesize
        \caption{Scores}
        \label{tab:scores}
        \begin{tabular}{lrrr}
        \toprule
         & \multicolumn{3}{c}{my net} \\
        \cmidrule(lr){2-4}
        & R & P & F \\
        \midrule
        DATE & 1.00 & 1.00 & 1.00 \\
        \bottomrule
        \end{tabular}

        \medskip
        \parbox{\linewidth}{\scriptsize A note.}
        \end{table}
        """
    ).removeprefix("\n")


@pytest.mark.parametrize("name", ALL)
def test_latex_is_balanced_and_every_row_has_its_cells(name: str) -> None:
    text = tables.to_latex(ALL[name], name)
    bare = re.sub(r"\\[\\&%$#_{}]", "", text)
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    assert re.findall(r"\\begin{(\w+)}", text) == [*["table"], *["tabular"] * text.count(r"\toprule")]
    for columns, body in re.findall(r"\\begin{tabular}{(l[r]+)}(.*?)\\end{tabular}", text, re.DOTALL):
        rows = body.split(r"\midrule")[1].split(r"\bottomrule")[0].strip().splitlines()
        assert rows
        for row in rows:
            assert row.endswith(r"\\")
            assert len(re.findall(r"(?<!\\)&", row)) == len(columns) - 1


def test_a_latex_row_never_begins_with_what_the_line_before_would_take() -> None:
    text = tables.to_latex(Table("T", pd.DataFrame({"F": ["1", "2", "3"]}, index=["ID", "[x]", "*y"])), "t")
    assert "\n{}[x] & 2" in text
    assert "\n{}*y & 3" in text


def test_a_latex_label_holds_plain_characters_alone() -> None:
    assert r"\label{tab:confusions-elman-a-b}" in tables.to_latex(table("F"), "confusions-elman-a_b")


def test_csv_is_rfc_4180_and_reads_back() -> None:
    data = pd.DataFrame({"system": ["a,b", 'say "x"', "two\nlines"], "value": [1 / 3, None, 1e-9]})
    text = tables.to_csv(Table("T", pd.DataFrame(), data=data))
    assert text == 'system,value\r\n"a,b",0.3333333333333333\r\n"say ""x""",\r\n"two\nlines",1e-09\r\n'
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["system"] for row in rows] == data["system"].tolist()
    assert float(rows[0]["value"]) == 1 / 3


@pytest.mark.parametrize("name", ALL)
def test_the_csv_of_every_table_reads_back_as_it_was(name: str) -> None:
    data = ALL[name].data
    assert len(data)
    back = pd.read_csv(io.StringIO(tables.to_csv(ALL[name])), keep_default_na=False, na_values=[""])
    assert list(back.columns) == list(data.columns)
    for column in data.select_dtypes("number"):
        assert back[column].tolist() == pytest.approx(data[column].tolist(), rel=0, abs=0, nan_ok=True)


def test_csv_holds_full_precision() -> None:
    view = rich_view()
    back = pd.read_csv(io.StringIO(tables.to_csv(ALL["scores"])))
    f1 = back.set_index(["system", "category", "measure"]).loc[("crf", "Overall", "f1"), "value"]
    assert f1.item() == view["systems"]["crf"]["runs"][0]["scores"]["entity_strict"]["micro"]["f1"]


@pytest.mark.parametrize(
    "write", [tables.to_text, tables.to_markdown, tables.to_csv, lambda t: tables.to_latex(t, "x")]
)
def test_the_same_results_give_the_same_bytes(write) -> None:
    again = comparison_tables(as_view(rich_view()), published=True)
    assert all(write(again[name]) == write(ALL[name]) for name in again)
