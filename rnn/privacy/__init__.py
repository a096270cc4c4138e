"""Training data that can be shared without its text, and the attacks that measure it; docs/sharing.md says how well.

neighbours.py       the nearest neighbours of words, by their vectors
pseudonyms.py       sentences whose PHI is replaced by neighbours
encoder.py          what turns sentences into the vectors that are shared
representation.py   R = N_out + BiLSTM(E + N_in): the private representation, saved, loaded and encoding
settings.py         what can be set of it, its adversaries, its training and the attack
pairs.py            real and fake pairs of sentences     adversaries.py   who has to tell them apart
network.py          representation, tagger and adversaries as one network, and what its parts descend
schedule.py         the phases of training               training.py      `train_representation`
same_sentence.py    the adversaries' attack on a frozen representation, with its controls
pair_attack.py      how that attack trains and tries adversaries
encoding.py         annotated sentences to what may leave the house
shared.py           the file of it: vectors, casing, tags and lengths
plain_arrays.py     arrays out of a file of anybody     processor.py          rows for a tagger over a representation
once.py             notes are encoded once              system_random.py    noise and order from nobody's seed
attacks/            attacks on vectors, and what came of them
attack_card.py      all attacks as one card            kept_card.py        it is kept beside the representation
provide.py          what the provider of a representation does

Reference:
    M. Friedrich, A. Köhn, G. Wiedemann, C. Biemann (2019). Adversarial learning of privacy-preserving text
    representations for de-identification of medical records. ACL.
"""
