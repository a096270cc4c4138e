"""Training data that can be shared without its text, and attacks on its privacy; docs/how-to/share.md is the guide.

neighbours.py       nearest neighbours of words, by their vectors
substitution.py     pseudonyms: sentences with PHI replaced by neighbours
settings.py         settings of the representation, its adversaries, its training and the attack
representation.py   R = N_out + BiLSTM(E + N_in): the private representation, a model with files
adversaries.py      the two adversaries, and the real and fake pairs that they classify
training.py         representation, tagger and adversaries as one network, its losses, and `train_representation`
shared_file.py      the file of shared vectors, read without trust
release.py          annotated notes to a shared file, each note once
system_random.py    random numbers of the operating system
attacks/            attacks on shared vectors
attack_card.py      all attacks with their controls as one card, and training with an audit

The tagger over a representation is `rnn.models.private`.

Reference:
    M. Friedrich, A. Köhn, G. Wiedemann, C. Biemann (2019). Adversarial learning of privacy-preserving text
    representations for de-identification of medical records. ACL.
"""
