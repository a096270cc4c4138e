"""Networks for tagging, in JAX and Flax.

    models/          one network a file, with its settings and its tagger: elman.py, jordan.py, bilstm_crf.py,
                     bert.py, multitask.py, stacked.py, private.py
    sharing/         private representations: what may be shared, and the attacks on it
    layers/          parts that networks share: windows, recurrence, LSTM, CRF, characters, transformer
    encoders/        pretrained encoders, as the hub lays them out; fetch_encoder.py fetches a small one
    network.py       what a network is: scores of a sentence, from vectors and draws that it is given
    vocabulary.py    words to ids                     embeddings/      the word vectors a network can start from
    processors/          sentences to rows of named arrays, and back
    batches.py       rows to batches of a few fixed shapes
    training/        phases, the loop that goes through them, the compiled updates, all that is drawn
    inference.py     the best tags, and the probability of each
    decoding.py      from a network's scores to these: the best sequence, what valid IOB2 allows
    gradients.py     which words speak for a tag      contents.py      what can be read off weights
    tagger.py        a network as a `crfdeid.tagger.Tagger`: fit, predict, marginals, save, load, for all of them;
                     saved_weights.py, its weights as the arrays of a file; further.py, what training goes on from
    word_tagger.py, window_tagger.py, bilstm_tagger.py    what taggers share that read words, or context windows, or
                     words, characters and features by BiLSTM layers; joint_tagger.py, those that tag concepts too
    settings.py      settings that they share         compilation.py   compiled programs are kept on disk

Letters of shapes, in comments and docstrings throughout:

    B  sentences in a batch        W  words in a context window, 2m + 1      H  hidden units
    T  tokens in a sentence        D  size of a word vector                  K  tags
    m  words on either side        V  rows of a table of vectors             N  replicates
    P  T and the words around      C  characters of a word                   F  features of a token
    L  word pieces in a window
"""

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
