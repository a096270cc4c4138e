"""A trained model and its card: the training corpus, the scores and the thresholds.

- training: train, measure and save a model, from notes or from shared vectors.
- card: the card as data in the model's folder, and the custom lists saved there.
- render: the card as Markdown.
- drift: differences between notes and the development notes.
- pretrained: the built-in model 'synthetic'.
"""
