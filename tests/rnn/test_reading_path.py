"""A reader of one model opens few files: those whose functions run in `fit` and `predict` of Elman's tagger."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = """
import sys
from crfdeid.documents import LabelledSentence
from features.tokens import Sentence
from rnn import ElmanSettings, ElmanTagger

item = LabelledSentence(Sentence.from_words(["Dr", "Doe"]), ("O", "B-DOCTOR"))
tagger, files = ElmanTagger(ElmanSettings(epochs=1, min_count=1)), set()

def follow(frame, event, argument):
    if event == "call" and frame.f_code.co_name != "<module>":
        files.add(frame.f_code.co_filename)

sys.setprofile(follow)
tagger.fit([item], [item])
tagger.predict([item.sentence])
sys.setprofile(None)
print("\\n".join(files))
"""


def test_elman_runs_in_few_modules():
    run = subprocess.run([sys.executable, "-c", CODE], cwd=ROOT, capture_output=True, text=True, check=True)
    files = [Path(line).relative_to(ROOT) for line in run.stdout.splitlines() if Path(line).is_relative_to(ROOT)]
    networks = [path for path in files if path.parts[0] in ("rnn", "features")]
    core = [path for path in files if path.parts[0] == "crfdeid"]
    assert Path("rnn/models/elman.py") in networks
    assert len(networks) <= 16
    assert len(core) <= 10
    assert sum(len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path in networks) <= 2_300
