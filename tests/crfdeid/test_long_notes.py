"""What a process takes for a note of megabytes, beside what it takes for a small one."""

import subprocess
import sys
from pathlib import Path

import pytest

from crfdeid.bio import encode
from crfdeid.corpora.synthetic import generate_notes
from crfdeid.ensembles.hybrid import HybridSettings, HybridTagger

REDACT = """
import re, sys
from crfdeid import load, redact
model = load(sys.argv[1])
note, characters = open(sys.argv[2]).read(), int(sys.argv[3])
if sys.argv[4] == "pasted":
    note = "".join(note.split())
text = (note * (characters // len(note) + 1))[:characters]
redact(model.annotate(text))
print(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])
"""


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model, and the text of some notes."""
    folder = tmp_path_factory.mktemp("long")
    notes = list(generate_notes(12, seed=0))
    tagger = HybridTagger(HybridSettings(options={"max_iterations": 10}))
    tagger.fit([item for note in notes for item in encode(note).sentences], [])
    tagger.save(folder / "model")
    (folder / "note.txt").write_text("\n".join(note.text for note in notes))
    return folder


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux says how much memory a process took")
# With all its tokens and sentences in memory, prose of 1,500,000 characters takes 94,000; as one sentence, 479,000.
@pytest.mark.parametrize(("kind", "characters", "most"), [("prose", 1_500_000, 60_000), ("pasted", 750_000, 90_000)])
def test_a_process_takes_little_more_for_a_long_note(box: Path, kind: str, characters: int, most: int) -> None:
    def peak(characters: int) -> int:
        """Kilobytes at most, while a note of so many characters is redacted."""
        arguments = [str(box / "model"), str(box / "note.txt"), str(characters), kind]
        command = [sys.executable, "-c", REDACT, *arguments]
        return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    small, large = peak(30_000), peak(characters)
    assert large - small < most
