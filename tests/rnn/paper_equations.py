"""Equations (5)-(12) of yadav2016, word by word in plain NumPy: written from the paper, not from the code."""

import numpy as np


def f(x):
    return 1 / (1 + np.exp(-x))  # equation 9


def g(z):
    return np.exp(z) / np.exp(z).sum()  # equation 11


def windows_by_hand(vectors, width):
    """Equation 5: v(i-m) + … + v(i) + … + v(i+m), concatenated, for each word i."""
    m = width // 2
    rows = range(m, len(vectors) - m)
    return np.array([np.concatenate([vectors[i + k] for k in range(-m, m + 1)]) for i in rows])


def elman_by_hand(layers, U, c, windows, keep=None):
    """Posteriors by equations 7, 8 and 10, word by word.

    Args:
        layers: W, V and b of each layer.
        U: of the output.
        c: bias of the output.
        windows: context windows.
        keep: factors of the last layer's units before the softmax, [T, H] (section 3.6); None for no dropout.
    """
    previous = [np.zeros(len(bias)) for _, _, bias in layers]
    posteriors = []
    for t, x in enumerate(windows):
        signal = x
        for n, (weights, recurrent, bias) in enumerate(layers):
            previous[n] = signal = f(weights @ signal + recurrent @ previous[n] + bias)
        posteriors.append(g(U @ (signal if keep is None else signal * keep[t]) + c))
    return np.array(posteriors)


def jordan_by_hand(weights, feedback, bias, U, c, windows, keep=None):
    """Posteriors by equations 12 and 10, word by word; ``keep`` as in `elman_by_hand`."""
    posterior, posteriors = np.zeros(len(c)), []
    for t, x in enumerate(windows):
        hidden = f(weights @ x + feedback @ posterior + bias)
        posterior = g(U @ (hidden if keep is None else hidden * keep[t]) + c)
        posteriors.append(posterior)
    return np.array(posteriors)
