"""Networks for tagging, in JAX and Flax.

    models/          one network a file, with its settings and its tagger: elman.py, jordan.py, bilstm_crf.py,
                     bert.py, multitask.py, stacked.py, private.py
    privacy/         private representations, the files to share, and the attacks on them
    layers/          parts that networks share: LSTM, softmax, CRF, dropout, transformer
    pretrained/      folders of pretrained encoders; fetch_encoder.py fetches a small one
    interfaces.py    of networks, scores and processors (sentences to rows of named arrays)
    network.py       structure and parameters of networks
    saving.py        files of taggers
    vocab.py         words to ids
    embeddings/      word vectors that a network can start from
    batching.py      rows to batches of a few fixed shapes
    training/        schedules, the training loop, the compiled steps
    decode.py        scores to tags and probabilities, for batches of sentences
    interpret.py     integrated gradients, and summaries of weights
    tagger.py        base class of all taggers: fit, predict, marginals, save, load
    inputs.py        further inputs of a token (casing class, characters, hand-made features): their ids and vectors
    words.py         sentences to word ids, and other parts of taggers with their own word vectors
    settings.py      settings that networks share
    compile_cache.py cache of compiled programs on disk

Letters of shapes, in comments and docstrings throughout:

    B  sentences in a batch        W  words in a context window, 2m + 1      H  hidden units
    T  tokens in a sentence        D  size of a word vector                  K  tags
    m  words on either side        V  rows of a table of vectors
    P  T and the words around      C  characters of a word                   F  features of a token
    L  word pieces in a window

The names below are imported on first use, so that a command of this package can report that JAX is not installed.
"""

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rnn.models.bilstm_crf import BilstmCrf, BilstmCrfSettings, BilstmCrfTagger
    from rnn.models.elman import Elman, ElmanSettings, ElmanTagger
    from rnn.models.jordan import Jordan, JordanSettings, JordanTagger
    from rnn.vocab import Vocabulary

__all__ = [
    "BilstmCrf",
    "BilstmCrfSettings",
    "BilstmCrfTagger",
    "Elman",
    "ElmanSettings",
    "ElmanTagger",
    "Jordan",
    "JordanSettings",
    "JordanTagger",
    "Vocabulary",
]

_FLAGS = os.environ.get("XLA_FLAGS", "")
# XLA reads them at the first computation. Sums in a fixed order: one seed gives one network on a GPU too. That also
# turns off autotuning, without which XLA's own kernels for products take long to compile and fail for BERT's training
# (jax-ml/jax issue 34010): the products are cuBLAS's.
_GPU_FLAGS = ("--xla_gpu_deterministic_ops=true", "--xla_gpu_enable_triton_gemm=false")
if any(map(find_spec, ("jax_cuda12_plugin", "jax_cuda13_plugin"))):
    _MISSING = [flag for flag in _GPU_FLAGS if flag.partition("=")[0] not in _FLAGS]
    os.environ["XLA_FLAGS"] = " ".join([_FLAGS, *_MISSING]).strip()

_MODULES = {
    "rnn.models.bilstm_crf": ("BilstmCrf", "BilstmCrfSettings", "BilstmCrfTagger"),
    "rnn.models.elman": ("Elman", "ElmanSettings", "ElmanTagger"),
    "rnn.models.jordan": ("Jordan", "JordanSettings", "JordanTagger"),
    "rnn.vocab": ("Vocabulary",),
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            from crfdeid.registry import import_string  # noqa: PLC0415

            globals()[name] = found = import_string(f"{module}:{name}")
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
