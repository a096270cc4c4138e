"""The equations of the BiLSTM-CRF in plain NumPy, word by word: LSTM, character CNN, the network on top of them."""

import numpy as np


def s(x):
    return 1 / (1 + np.exp(-x))


def lstm_by_hand(W, R, b, inputs, keep):
    """One direction: W [4H, D], R [H, 4H], b [4H] with the gates i, f, o, g; the states, [T, H]."""
    size = len(keep)
    hidden, cell, states = np.zeros(size), np.zeros(size), []
    for x in inputs:
        i, f, o, g = np.split(W @ x + (hidden * keep) @ R + b, 4)
        cell = s(f) * cell + s(i) * np.tanh(g)
        hidden = s(o) * np.tanh(cell)
        states.append(hidden)
    return np.array(states).reshape(-1, size)


def bilstm_by_hand(W, R, b, inputs, keep):
    """Both directions of `rnn.layers.lstm.BiLstm`: W [8H, D], R [2, H, 4H], b [8H], keep [2, H]; [T, 2H]."""
    half = len(b) // 2
    forward = lstm_by_hand(W[:half], R[0], b[:half], inputs, keep[0])
    backward = lstm_by_hand(W[half:], R[1], b[half:], inputs[::-1], keep[1])[::-1]
    return np.concatenate([forward, backward], axis=1)


def cnn_by_hand(W, b, words, width):
    """The largest of each filter over the windows of each word: ``words`` are arrays [characters, D]; [T, F]."""
    rows = []
    for characters in words:
        found = np.zeros(len(b))  # ReLU is never below 0, and neither is a word without characters
        for place in range(len(characters)):
            window = np.zeros((width, characters.shape[1]))
            for k in range(width):
                at = place + k - width // 2
                if 0 <= at < len(characters):
                    window[k] = characters[at]
            found = np.maximum(found, W @ window.reshape(-1) + b)
        rows.append(found)
    return np.array(rows)
