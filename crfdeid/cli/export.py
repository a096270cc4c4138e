"""`crfdeid export`: a BERT model as a token classifier for the library transformers."""

from __future__ import annotations

import sys
from types import SimpleNamespace

from crfdeid.cli.options import MODEL, OUTPUT, find_named, require_new_folder
from crfdeid.cli.shell import command
from crfdeid.errors import UsageError

_MODEL = "bert"
_README = """---
library_name: transformers
pipeline_tag: token-classification
tags: [de-identification]
---

# Token classifier of protected health information

Exported by crfdeid from a model of clinical notes. In this folder's parent:

```python
from transformers import AutoTokenizer, pipeline

tokenizer = AutoTokenizer.from_pretrained("{name}", model_max_length={window})
find = pipeline(
    "token-classification", "{name}", tokenizer=tokenizer, aggregation_strategy="first", stride={overlap}
)
find("Seen by Dr. Huntington on 03/14/72.")
```

- Give `model_max_length` and `stride` together: with the first alone, a pipeline leaves out the end of a long note, and
  all PHI in it. With neither, it fails on a long note.
- A pipeline takes each word's most probable label, by the tokenizer's words. crfdeid can find more: it has thresholds,
  valid sequences of tags, lists, and repeats a find elsewhere in its note. Of the scores below, those of the model
  alone come closest. Measure this classifier before you rely on it.
- Its weights can hold rare words of the training notes. Keep it as safe as the notes.

"""


@command(
    MODEL,
    OUTPUT.but(help="New folder for the classifier."),
    details="The folder has the layout of the Hugging Face hub: config.json, safetensors, a tokenizer, and the model's "
    "card as README.md.",
    examples=("crfdeid export model/ --output classifier/", "crfdeid export finetuned/ --output hub/our-phi/"),
)
def run(options: SimpleNamespace) -> None:
    """Check all files of the model, and write it."""
    from crfdeid.model_card.card import model_digest, read_card  # noqa: PLC0415
    from crfdeid.model_card.render import render_card  # noqa: PLC0415
    from crfdeid.registry import import_string, load_tagger  # noqa: PLC0415

    require_new_folder(options.output, {})
    model = find_named(options.model)
    kind = model.description["model"]
    if kind != _MODEL:
        raise UsageError(f"MODEL: {options.model} is of the kind '{kind}': only '{_MODEL}' can be exported")
    export = import_string("rnn.pretrained.export:export_classifier")
    model_digest(model)
    tagger = load_tagger(model)
    window, overlap = tagger.settings.window, tagger.settings.overlap
    readme = _README.format(name=options.output.resolve().name, window=window + 2, overlap=overlap)
    export(tagger, options.output, readme=readme + render_card(model, read_card(model)) + "\n")
    print(f"token classifier: {options.output}", file=sys.stderr)
