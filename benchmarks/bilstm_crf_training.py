"""Training speed of our BiLSTM-CRF against the same network in PyTorch, eager, on one core.

    pip install -e ".[benchmarks]"
    python benchmarks/bilstm_crf_training.py                    # sentences drawn at random
    python benchmarks/bilstm_crf_training.py --corpus notes/    # those of a corpus

The network of the profile friedrich2019: word vectors of 100 dimensions beside 7 casing classes, two BiLSTM layers of
128 units a direction, dropout of the inputs, of the layers' inputs (the same at every step) and of the last states, a
CRF, Nadam, gradients shortened to 1, batches of 32 sentences of about one length. And once more with characters:
vectors of 25 dimensions, 50 filters over three of the first and last 20 characters of a word.

PyTorch's side is what its users write: `nn.LSTM` over packed sequences, which runs in C++, the CRF's forward algorithm
for a batch at once, `optim.NAdam`. It reads the same arrays, in batches made beforehand and sorted by length, with less
padding than ours. It leaves one thing out, which `nn.LSTM` does not have: the dropout of the states from step to step.
They take turns; the seconds are processor time, and the ratio is of medians.

Sentences that are drawn are about as long as MEDDOCAN's: log-normal with a median of 11 tokens and a mean of 16.5, one
in a hundred beyond 89 and none beyond 432; of 20,000 words by Zipf's law, of 1 to 20 letters. Their tags are random.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

# One core for both, said before either library starts its threads.
os.environ.setdefault("PJRT_NPROC", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import torch
from common import keep_to_cores, take_turns
from tabulate import tabulate
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from training import draw_sentences, tagger_epoch

from crfdeid.bio import encode
from crfdeid.corpora import read_corpus
from crfdeid.documents import PHI, LabelledSentence
from rnn.batching import Batch, Row, make_batch, make_buckets
from rnn.inputs import CASINGS, TokenProcessor
from rnn.models.bilstm_crf import BilstmCrfSettings, BilstmCrfTagger


class TorchBilstmCrf(nn.Module):
    """The same network in PyTorch."""

    def __init__(self, settings: BilstmCrfSettings, processor: TokenProcessor) -> None:
        super().__init__()
        self.settings = settings
        self.words = nn.Embedding(len(processor.vocabulary), settings.embedding_dim)
        size = settings.embedding_dim + len(CASINGS)
        self.characters = None
        if processor.characters is not None:
            self.characters = nn.Embedding(len(processor.characters), settings.char_dim, padding_idx=0)
            self.filters = nn.Conv1d(settings.char_dim, settings.char_filters, kernel_size=3, padding=1)
            size += settings.char_filters
        sizes = [size] + [2 * settings.hidden] * (settings.layers - 1)
        self.layers = nn.ModuleList(
            nn.LSTM(inputs, settings.hidden, batch_first=True, bidirectional=True) for inputs in sizes
        )
        tags = len(processor.tags[PHI])
        self.output = nn.Linear(2 * settings.hidden, tags)
        self.transitions = nn.Parameter(torch.zeros(tags, tags))

    def loss(self, inputs: dict[str, torch.Tensor], tags: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """The mean negative log-likelihood of a batch, [B, T], the longest sentence first."""
        parts = [self.words(inputs["words"]), nn.functional.one_hot(inputs["casing"], len(CASINGS)).float()]
        if self.characters is not None:
            parts.append(self.read_characters(inputs["characters"]))
        states = nn.functional.dropout(torch.cat(parts, dim=2), self.settings.input_dropout)
        rate = self.settings.variational_dropout
        for layer in self.layers:
            keep = torch.empty(len(states), 1, states.shape[2]).bernoulli_(1 - rate).div_(1 - rate)
            packed, _ = layer(pack_padded_sequence(states * keep, lengths, batch_first=True))
            states, _ = pad_packed_sequence(packed, batch_first=True)
        scores = self.output(nn.functional.dropout(states, self.settings.output_dropout))
        return self.negative_log_likelihood(scores, tags, lengths)

    def read_characters(self, characters: torch.Tensor) -> torch.Tensor:
        """The largest of each filter over each word's characters: [B, T, C] -> [B, T, F]."""
        flat = characters.flatten(0, 1)
        found = self.filters(self.characters(flat).transpose(1, 2)).relu()  # [B * T, F, C]
        found = found.masked_fill((flat == 0)[:, None], 0.0).amax(dim=2)
        return found.unflatten(0, characters.shape[:2])

    def negative_log_likelihood(self, scores: torch.Tensor, tags: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """That of a linear-chain CRF: emissions [B, T, K] -> the mean over the batch."""
        real = torch.arange(tags.shape[1])[None] < lengths[:, None].to(tags.device)  # [B, T]
        total = scores[:, 0]
        for t in range(1, tags.shape[1]):
            longer = torch.logsumexp(total[:, :, None] + self.transitions, dim=1) + scores[:, t]
            total = torch.where(real[:, t, None], longer, total)
        here = scores.gather(2, tags[:, :, None])[:, :, 0]
        steps = self.transitions[tags[:, :-1], tags[:, 1:]]
        path = (here * real).sum() + (steps * real[:, 1:]).sum()
        return (torch.logsumexp(total, dim=1).sum() - path) / len(tags)


def make_torch_epoch(settings: BilstmCrfSettings, processor: TokenProcessor, rows: Sequence[Row]) -> Callable[[], None]:
    """What trains PyTorch's network for one epoch at a call."""
    torch.manual_seed(0)
    network = TorchBilstmCrf(settings, processor)
    optimiser = torch.optim.NAdam(network.parameters(), lr=settings.lr)
    by_length = sorted(rows, key=lambda row: -row.length)
    data = [tensors(by_length[i : i + settings.batch]) for i in range(0, len(rows), settings.batch)]

    def epoch() -> None:
        for i in torch.randperm(len(data)).tolist():
            optimiser.zero_grad()
            network.loss(*data[i]).backward()
            nn.utils.clip_grad_norm_(network.parameters(), settings.max_norm or float("inf"))
            optimiser.step()

    return epoch


def tensors(rows: Sequence[Row]) -> tuple[dict[str, torch.Tensor], torch.Tensor, torch.Tensor]:
    """Inputs, tags and lengths of a batch, the longest sentence first."""
    batch: Batch = make_batch(rows, length=rows[0].length)
    inputs = {name: torch.tensor(array, dtype=torch.long) for name, array in batch.inputs.items()}
    return (
        inputs,
        torch.tensor(batch.targets[PHI], dtype=torch.long),
        torch.tensor(batch.lengths, dtype=torch.long, device="cpu"),
    )


def measure(
    settings: BilstmCrfSettings, known: Sequence[LabelledSentence], drawn: Sequence[LabelledSentence], rounds: int
) -> tuple[float, float, float, int]:
    """Seconds an epoch of PyTorch and of ours, seconds of our first compile, and the shapes that are compiled."""
    tagger = BilstmCrfTagger(settings)
    processor = tagger.processor(known)
    rows = processor.rows([item.sentence for item in drawn], drawn)
    updates = next(tagger.schedule(processor, rows)).updates
    shapes = len(make_buckets(rows, buckets=updates.buckets, cost=updates.bucket_cost))
    torch_epoch, epoch = make_torch_epoch(settings, processor, rows), tagger_epoch([tagger], processor, rows)
    theirs, ours = take_turns({"theirs": torch_epoch, "ours": epoch}, rounds).values()
    return theirs.median, ours.median, ours.first - ours.median, shapes


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, metavar="FOLDER", help="train on these notes instead of drawn sentences")
    parser.add_argument("--sentences", type=int, default=3000, help="how many sentences are drawn (default: 3000)")
    parser.add_argument("--rounds", type=int, default=5, help="epochs measured, after one to warm up (default: 5)")
    parser.add_argument("--seed", type=int, default=0, help="random seed of the sentences (default: 0)")
    args = parser.parse_args()
    keep_to_cores(1)
    torch.set_num_threads(1)
    if args.corpus is None:
        drawn, known = draw_sentences(args.sentences, args.seed)
    else:
        drawn = [item for document in read_corpus(args.corpus) for item in encode(document).sentences if item.tags]
        known = drawn
    tokens = sum(len(item.tags) for item in drawn)
    plain = BilstmCrfTagger.profiles()["friedrich2019"]
    lines = []
    for name, settings in (("friedrich2019", plain), ("with characters", replace(plain, char_dim=25))):
        theirs, ours, compiling, shapes = measure(settings, known, drawn, args.rounds)
        lines.append([name, theirs, ours, tokens / ours, theirs / ours, compiling, shapes])
    head = [
        "network",
        "PyTorch, s/epoch",
        "ours, s/epoch",
        "ours, tokens/s",
        "times PyTorch",
        "compiling once, s",
        "shapes",
    ]
    print(f"torch {torch.__version__}, jax {jax.__version__}, one core, processor time")
    print(f"{len(drawn):,} sentences, {tokens:,} tokens\n")
    print(tabulate(lines, head, tablefmt="pipe", floatfmt=("", ".2f", ".2f", ",.0f", ".2f", ".1f", "d")))


if __name__ == "__main__":
    main()
