"""Our BERT beside the same encoder in PyTorch (eager, by the library transformers): redaction and training.

    python -m rnn.fetch_encoder
    pip install -e ".[oracles]"
    python benchmarks/bert.py                    # on one core
    PJRT_NPROC=2 python benchmarks/bert.py       # on two

Both have the same weights, the small encoder's under a map to 15 tags that is drawn, and read the same windows of the
same notes of the synthetic corpus, or of `--corpus`.

- redaction: raw text to text with its PHI as labels, all of it: only the network that is asked is another one.
  PyTorch's side is what its users write: windows sorted by length, in batches padded to the longest, `inference_mode`.
- updates: forward, backward, gradients shortened to 40, Adam, on batches of 8 windows of about one length, dropout
  0.1. PyTorch pads each batch to its longest window, ours to one of a few lengths.

They take turns, and the ratio is of medians. On one core the seconds are processor time, on several those of the clock:
nothing else may run then. What they compute is compared first.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

# Said before either library starts its threads.
os.environ.setdefault("PJRT_NPROC", "1")
os.environ["OMP_NUM_THREADS"] = os.environ["PJRT_NPROC"]
os.environ.setdefault("JAX_PLATFORMS", "cpu")

try:
    import torch
    from transformers import AutoModel, logging
except ImportError:
    sys.exit('torch and transformers are not installed: pip install -e ".[oracles]"')

import jax
import numpy as np
from common import keep_to_cores, take_turns
from tabulate import tabulate
from training import tagger_epoch

from crfdeid.bio import encode
from crfdeid.corpora import read_corpus
from crfdeid.corpora.synthetic import generate
from crfdeid.documents import PHI, LabelledSentence
from crfdeid.pipeline import Deidentifier
from crfdeid.redaction.redact import redact
from features.tokens import Sentence
from rnn.batching import Row
from rnn.models.bert import BertTagger
from rnn.pretrained.hub import small_encoder
from rnn.pretrained.subwords import NOT_COUNTED, PIECES

CORES = int(os.environ["PJRT_NPROC"])
BATCH = 32  # windows that PyTorch reads at once: 16 and 64 are no faster


class TorchTagger(BertTagger):
    """Our tagger, but for its network, which is PyTorch's."""

    def __init__(self, tagger: BertTagger) -> None:
        super().__init__(tagger.settings)
        self.learned = tagger.learned
        self.encoder = AutoModel.from_pretrained(small_encoder(), add_pooling_layer=False)
        params = tagger.learned.params
        self.head = torch.nn.Linear(self.encoder.config.hidden_size, len(tagger.tags))
        with torch.no_grad():
            self.head.weight.copy_(torch.tensor(np.asarray(params["network.head.W"]).T))
            self.head.bias.copy_(torch.tensor(np.asarray(params["network.head.b"])))

    def scores(self, rows: Sequence[Row]) -> torch.Tensor:
        """A score for each tag at each piece of some windows, [B, L, K]."""
        longest = max(row.length for row in rows)
        pieces, real = torch.zeros((2, len(rows), longest), dtype=torch.long)
        for i, row in enumerate(rows):
            pieces[i, : row.length] = torch.from_numpy(row.inputs[PIECES])
            real[i, : row.length] = 1
        states = self.encoder(input_ids=pieces, attention_mask=real).last_hidden_state
        return self.head(torch.nn.functional.dropout(states, training=self.encoder.training, p=self.settings.dropout))

    def marginals(self, sentences: Sequence[Sentence]) -> list[np.ndarray]:
        """As of ours."""
        processor = self.trained().processor
        rows = processor.rows(sentences)
        order = sorted(range(len(rows)), key=lambda i: rows[i].length)
        found: list[Any] = [None] * len(rows)
        self.encoder.eval()
        with torch.inference_mode():
            for start in range(0, len(order), BATCH):
                some = order[start : start + BATCH]
                for i, table in zip(some, self.scores([rows[i] for i in some]).softmax(dim=2).numpy(), strict=True):
                    found[i] = table[: rows[i].length]
        return processor.scatter_to_tokens(rows, found, sentences)

    def predict(self, sentences: Sequence[Sentence]) -> list[list[str]]:
        """As of ours."""
        return self.choose_tags(self.marginals(sentences), self.tags)

    def make_epoch(self, rows: Sequence[Row]) -> Callable[[], None]:
        """What trains for one epoch at a call."""
        settings = self.settings
        parameters = [*self.encoder.parameters(), *self.head.parameters()]
        adam = torch.optim.Adam(parameters, lr=settings.lr)
        by_length = sorted(rows, key=lambda row: -row.length)
        cut = [by_length[i : i + settings.batch] for i in range(0, len(rows), settings.batch)]

        def epoch() -> None:
            self.encoder.train()
            for i in torch.randperm(len(cut)).tolist():
                scores = self.scores(cut[i])
                wanted = torch.full(scores.shape[:2], NOT_COUNTED)
                for line, row in zip(wanted, cut[i], strict=True):
                    line[: row.length] = torch.from_numpy(row.targets[PHI])
                loss = torch.nn.functional.cross_entropy(
                    scores.flatten(0, 1), wanted.flatten().long(), ignore_index=NOT_COUNTED, reduction="sum"
                )
                adam.zero_grad()
                (loss / len(cut[i])).backward()
                torch.nn.utils.clip_grad_norm_(parameters, settings.max_norm or float("inf"))
                adam.step()

        return epoch


def new_taggers(sentences: Sequence[LabelledSentence]) -> tuple[BertTagger, TorchTagger]:
    """Ours and PyTorch's, of the same weights; neither has learned anything."""
    ours = BertTagger()
    ours.learned = ours.initial(ours.processor(sentences))
    theirs = TorchTagger(ours)
    some = [item.sentence for item in sentences[:20]]
    for a, b in zip(ours.marginals(some), theirs.marginals(some), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-4)
    return ours, theirs


def redact_all(tagger: BertTagger, texts: Sequence[str]) -> None:
    """Raw text to redacted text, with an untrained model."""
    for document in Deidentifier(tagger, evidence=False).annotate_all(texts):
        redact(document)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, help="these notes, in any format, instead of the synthetic ones")
    parser.add_argument("--notes", type=int, default=24, help="how many of them (default: 24)")
    parser.add_argument("--rounds", type=int, default=5, help="turns that are measured, after one (default: 5)")
    args = parser.parse_args()
    logging.set_verbosity_error()  # its pooler is not used, and it would say so
    logging.disable_progress_bar()
    keep_to_cores(CORES)
    torch.set_num_threads(CORES)
    torch.manual_seed(0)
    documents = list(read_corpus(args.corpus) if args.corpus else generate("default").test)[: args.notes]
    labelled = [item for document in documents for item in encode(document).sentences]
    ours, theirs = new_taggers(labelled)
    rows = ours.learned.processor.rows([item.sentence for item in labelled], labelled)
    tokens = sum(len(item.tags) for item in labelled)
    print(f"torch {torch.__version__}, jax {jax.__version__}, cores: {CORES}")
    print(f"{tokens:,} tokens in {len(documents)} notes, {len(rows):,} windows\n", flush=True)
    texts = [document.text for document in documents]
    tasks = {
        "raw text to redacted text": (partial(redact_all, theirs, texts), partial(redact_all, ours, texts)),
        "updates": (theirs.make_epoch(rows), tagger_epoch([ours], ours.learned.processor, rows)),
    }
    clock = time.process_time if CORES == 1 else time.perf_counter
    lines = []
    for name, (torch_work, work) in tasks.items():
        b, a = take_turns({"theirs": torch_work, "ours": work}, args.rounds, clock).values()
        lines.append([name, tokens / b.median, tokens / a.median, b.median / a.median, a.first - a.median])
    head = ["", "PyTorch, tokens/s", "ours, tokens/s", "times PyTorch", "compiling once, s"]
    print(tabulate(lines, head, tablefmt="pipe", floatfmt=("", ",.0f", ",.0f", ".2f", ".1f")))


if __name__ == "__main__":
    main()
