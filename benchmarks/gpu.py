"""Networks on a GPU and on one CPU core: compile time, training, prediction, determinism and scores.

    python benchmarks/gpu.py --output gpu.json --limit 420
    python benchmarks/gpu.py --output gpu.json --small --only device elman     # a few seconds, also without a GPU
    python benchmarks/run.py --only      # makes the pages, and the times that choose devices, of results/gpu.json

The stages are in order of worth. Each is a process with a time limit of its own, which prints a line a result; the file
is written after each stage, with what a stage that ran out of time had printed. Where a stage is also measured on one
core, or with PyTorch's eager loop if that is installed, these processes run at the same time.

Without a GPU the first column is the CPU, all cores. The encoder is the small English one, if it was fetched, or else
one of its size with random weights, whose scores mean nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from common import make_parser

Row = dict[str, Any]
DEVICE, CORE, TORCH, ANY_ORDER = "device", "one core", "PyTorch on the device", "device, sums in any order"
SMALL = {
    "sentences": 40,
    "words": 200,
    "notes": 3,
    "replicates": [1, 2],
    "tokens": [16],
    "rounds": 1,
    "hidden": 32,
    "layers": 1,
    "seeds": 2,
    "epochs": 1,
}
ENVIRONMENT = {
    DEVICE: {},
    CORE: {"JAX_PLATFORMS": "cpu", "PJRT_NPROC": "1", "OMP_NUM_THREADS": "1"},
    TORCH: {"JAX_PLATFORMS": "cpu"},
    ANY_ORDER: {"XLA_FLAGS": "--xla_gpu_deterministic_ops=false"},
}


class Stage(NamedTuple):
    """Part of the measurement.

    Attributes:
        rows: function that yields its rows.
        limit: time limit in seconds.
        sides: what it is measured on, all at the same time.
        caches: keeps compiled programs, in a folder that is empty at first; others compile anew.
    """

    rows: Callable[[argparse.Namespace], Iterator[Row]]
    limit: float
    sides: tuple[str, ...] = (DEVICE,)
    caches: bool = False


class Ended(NamedTuple):
    """Outcome of a process: "done", "out of time" or its last line of errors; the rows that it printed, and seconds."""

    state: str
    rows: list[Row]
    seconds: float


def device(args: argparse.Namespace) -> Iterator[Row]:
    """The device, its driver, and versions."""
    import jax  # noqa: PLC0415

    found = jax.devices()[0]
    memory = (found.memory_stats() or {}).get("bytes_limit")
    yield {"fact": "device", "value": found.device_kind}
    yield {"fact": "memory, GiB", "value": None if memory is None else round(memory / 2**30, 1)}
    yield {"fact": "cores", "value": os.cpu_count()}
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    if found.platform == "gpu":
        told = subprocess.run(command, capture_output=True, text=True, check=False)
        yield {"fact": "driver", "value": told.stdout.strip() or None}
    for name in ("crfdeid", "jax", "jaxlib", "jax-cuda12-plugin", "flax", "optax", "torch"):
        try:
            yield {"fact": name, "value": version(name)}
        except PackageNotFoundError:
            continue


def compiling(args: argparse.Namespace) -> Iterator[Row]:
    """One epoch and one prediction of each network, with the programs that are compiled or read from the cache."""
    from jax import monitoring  # noqa: PLC0415

    from crfdeid.bio import encode  # noqa: PLC0415
    from crfdeid.registry import create  # noqa: PLC0415

    events: list[str] = []
    monitoring.register_event_listener(lambda event, **_: events.append(event))
    sentences = [item for note in notes(args) for item in encode(note).sentences]
    for name in ("elman", "jordan", "bilstm-crf", "bert"):
        settings = {"encoder": str(encoder(args))} if name == "bert" else {}
        events.clear()
        started = time.perf_counter()
        tagger = create(name, overrides={**settings, "epochs": 1})
        tagger.fit(sentences, sentences[:20])
        tagger.predict([item.sentence for item in sentences])
        yield {
            "network": name,
            "seconds": time.perf_counter() - started,
            "compiled": sum(event.endswith("/cache_misses") for event in events),
            "read": sum(event.endswith("/cache_hits") for event in events),
        }


def timed(
    network: str, epoch: Callable[[], None], args: argparse.Namespace, *, sentences: int, tokens: int, replicates: int
) -> Row:
    """Times of one epoch of some replicates: compiling is the first epoch without the time of a later one."""
    seconds = []
    for _ in range(args.rounds + 1):
        started = time.perf_counter()
        epoch()
        seconds.append(time.perf_counter() - started)
    each = sorted(seconds[1:])[args.rounds // 2]
    return {
        "network": network,
        "replicates": replicates,
        "compile_seconds": max(seconds[0] - each, 0.0),
        "sentence_milliseconds": 1000 * each / sentences,
        "tokens_per_second": replicates * tokens / each,
    }


def elman(args: argparse.Namespace) -> Iterator[Row]:
    """Replicates of the paper's Elman network, one update a sentence."""
    from training import draw_ids, elman_epoch  # noqa: PLC0415

    sizes = {"length": 14, "dim": 100, "window": 11, "tags": 15, "seed": 0}
    drawn = argparse.Namespace(**sizes, sentences=args.sentences, words=args.words, hidden=min(100, args.hidden))
    words, tags = draw_ids(drawn)
    counts = {"sentences": args.sentences, "tokens": sum(map(len, words))}
    for count in args.replicates if args.side != CORE else (1,):
        yield timed("elman", elman_epoch(drawn, words, tags, count), args, replicates=count, **counts)


def kernel(args: argparse.Namespace) -> Iterator[Row]:
    """Updates of the Elman network's layer by `jax.lax.scan` and by the kernels of `elman_kernel`, in turns."""
    import jax  # noqa: PLC0415
    from common import take_turns  # noqa: PLC0415
    from elman_kernel import kernel_layer, make_updates  # noqa: PLC0415

    from rnn.models.elman import ElmanLayer  # noqa: PLC0415

    count = args.sentences // 10
    for tokens in args.tokens:
        for replicates in sorted({args.replicates[0], args.replicates[-1]}):
            sizes = {"hidden": min(100, args.hidden), "inputs": 11 * 100, "tokens": tokens, "replicates": replicates}
            scanned, fused = (make_updates(compute, **sizes) for compute in (ElmanLayer.__call__, kernel_layer))
            turns = {"scan": partial(scanned, count), "kernel": partial(fused, count)}
            found = take_turns(turns, 5 * args.rounds, time.perf_counter)
            apart = jax.tree.map(lambda a, b: float(abs(a - b).max()), scanned(count), fused(count))
            yield {
                "replicates": replicates,
                "tokens": tokens,
                "kernel": "compiled" if has_gpu() else "interpreted",
                **{f"{name}_compile_seconds": max(one.first - one.median, 0.0) for name, one in found.items()},
                **{f"{name}_update_milliseconds": 1000 * one.median / count for name, one in found.items()},
                "gain": found["scan"].median / found["kernel"].median,
                "largest_difference": max(jax.tree.leaves(apart)),
            }


def bilstm_crf(args: argparse.Namespace) -> Iterator[Row]:
    """The BiLSTM-CRF of friedrich2019 with characters; on a GPU also eight replicates at once."""
    from dataclasses import replace  # noqa: PLC0415

    from training import draw_sentences, tagger_epoch  # noqa: PLC0415

    from rnn.models.bilstm_crf import BilstmCrfTagger  # noqa: PLC0415

    settings = replace(BilstmCrfTagger.profiles()["friedrich2019"], char_dim=25)
    if args.small:
        settings = replace(settings, hidden=args.hidden)
    drawn, known = draw_sentences(args.sentences, 0, args.words)
    processor = BilstmCrfTagger(settings).processor(known)
    rows = processor.rows([item.sentence for item in drawn], drawn)
    counts = {"sentences": len(drawn), "tokens": sum(len(item.tags) for item in drawn)}
    if args.side == TORCH:
        from bilstm_crf_training import make_torch_epoch  # noqa: PLC0415

        epoch = on_torch_device(lambda: make_torch_epoch(settings, processor, rows))
        yield timed("bilstm-crf", epoch, args, replicates=1, **counts)
        return
    for count in args.replicates[:2] if args.side == DEVICE else (1,):
        taggers = [BilstmCrfTagger(settings, seed=seed) for seed in range(count)]
        yield timed("bilstm-crf", tagger_epoch(taggers, processor, rows), args, replicates=count, **counts)


def bert(args: argparse.Namespace) -> Iterator[Row]:
    """Fine-tuning of BERT on windows of synthetic notes."""
    from training import tagger_epoch  # noqa: PLC0415

    from crfdeid.bio import encode  # noqa: PLC0415
    from rnn.models.bert import BertSettings, BertTagger  # noqa: PLC0415

    labelled = [item for note in notes(args) for item in encode(note).sentences]
    tagger = BertTagger(BertSettings(encoder=str(encoder(args))))
    processor = tagger.processor(labelled)
    rows = processor.rows([item.sentence for item in labelled], labelled)
    epoch: Callable[[], None]
    if args.side == TORCH:
        from bert import TorchTagger  # noqa: PLC0415

        tagger.learned = tagger.initial(processor)
        epoch = on_torch_device(lambda: TorchTagger(tagger).make_epoch(rows))
    else:
        epoch = tagger_epoch([tagger], processor, rows)
    tokens = sum(len(item.tags) for item in labelled)
    yield timed("bert", epoch, args, replicates=1, sentences=len(labelled), tokens=tokens)


def on_torch_device(make: Callable[[], Callable[[], None]]) -> Callable[[], None]:
    """Make an eager epoch whose arrays are on the GPU, if PyTorch has one; a call ends when the GPU is done."""
    import torch  # noqa: PLC0415

    if not torch.cuda.is_available():
        return make()
    torch.set_default_device("cuda")
    work = make()

    def epoch() -> None:
        work()
        torch.cuda.synchronize()

    return epoch


def prediction(args: argparse.Namespace) -> Iterator[Row]:
    """Raw text to redacted text by untrained models, the second time."""
    from crfdeid.bio import encode  # noqa: PLC0415
    from crfdeid.pipeline import Deidentifier  # noqa: PLC0415
    from crfdeid.redaction.redact import redact  # noqa: PLC0415
    from crfdeid.registry import create  # noqa: PLC0415

    documents = notes(args)
    labelled = [item for note in documents for item in encode(note).sentences]
    tokens = sum(len(item.tags) for item in labelled)
    for name in ("bert", "bilstm-crf"):
        tagger: Any = create(name, overrides={"encoder": str(encoder(args))} if name == "bert" else {})
        tagger.learned = tagger.initial(tagger.prepare(labelled)[0])
        seconds = []
        for _ in range(2):
            started = time.perf_counter()
            for document in Deidentifier(tagger, evidence=False).annotate_all([note.text for note in documents]):
                redact(document)
            seconds.append(time.perf_counter() - started)
        yield {"network": name, "compile_seconds": seconds[0] - seconds[1], "tokens_per_second": tokens / seconds[1]}


def determinism(args: argparse.Namespace) -> Iterator[Row]:
    """Two trainings with one seed: whether their weights are equal, and the seconds of the second."""
    import numpy as np  # noqa: PLC0415

    from crfdeid.bio import encode  # noqa: PLC0415
    from crfdeid.registry import create  # noqa: PLC0415

    labelled = [item for note in notes(args) for item in encode(note).sentences]
    for name in ("elman", "bilstm-crf"):
        weights = []
        for _ in range(2):
            tagger: Any = create(name, seed=7, overrides={"epochs": 2})
            started = time.perf_counter()
            tagger.fit(labelled, [])
            weights.append({key: np.asarray(array) for key, array in tagger.learned.params.items()})
            seconds = time.perf_counter() - started
        equal = all(np.array_equal(weights[0][key], weights[1][key]) for key in weights[0])
        yield {"network": name, "equal_weights": equal, "fit_seconds": seconds}


def scores(args: argparse.Namespace) -> Iterator[Row]:
    """F of three seeds, all on the device or all on the CPU."""
    place = "cpu" if args.side == CORE or not has_gpu() else "gpu"
    seeds = min(3, args.seeds)
    yield from compared(args, ["--models", "elman,bilstm-crf", "--seeds", str(seeds), "--device", place])


def comparison(args: argparse.Namespace) -> Iterator[Row]:
    """A comparison of all networks, each on the device that `experiments.core.devices` chooses."""
    models = "elman,jordan,bilstm-crf,bert"
    yield from compared(args, ["--models", models, "--seeds", str(args.seeds), "--set", f"encoder={encoder(args)}"])


def compared(args: argparse.Namespace, options: Sequence[str]) -> Iterator[Row]:
    """Run a comparison on the synthetic corpus, or on a few of its notes, and read its results."""
    from crfdeid.corpora import write_corpus  # noqa: PLC0415
    from experiments.results.measurements import OVERALL  # noqa: PLC0415

    folder = Path(tempfile.mkdtemp(dir=args.work))
    if args.small:
        for split in ("train", "dev"):
            write_corpus(notes(args), folder / f"{split}.jsonl", format="jsonl")
        options = [*options, "--train", str(folder / "train.jsonl"), "--dev", str(folder / "dev.jsonl")]
    if args.epochs is not None:
        options = [*options, "--epochs", str(args.epochs)]
    command = [sys.executable, "-m", "experiments.compare", *options, "--output", str(folder / "results")]
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    seconds = time.perf_counter() - started
    results = json.loads((folder / "results" / "results.json").read_text("utf-8"))
    for system in results["systems"]:
        rows = [row for row in results["measurements"] if row["system"] == system]
        micro = ("entity_strict", "f1", OVERALL)
        f1 = [row["value"] for row in rows if (row["kind"], row["measure"], row["category"]) == micro]
        fits = [row["value"] for row in rows if row["measure"] == "fit_seconds"]
        yield {
            "network": system,
            "trained_on": next(run.get("device") for run in results["runs"] if run["system"] == system),
            "seeds": len(f1),
            "f1": [100 * value for value in f1],
            "fit_seconds": sum(fits) / len(fits),
            "command_seconds": seconds,
        }


STAGES = {
    "device": Stage(device, 40),
    "compile, empty cache": Stage(compiling, 150, caches=True),
    "compile, kept programs": Stage(compiling, 60, caches=True),
    "elman": Stage(elman, 90, (DEVICE, CORE)),
    "kernel": Stage(kernel, 40),
    "bilstm-crf": Stage(bilstm_crf, 70, (DEVICE, CORE, TORCH)),
    "bert": Stage(bert, 60, (DEVICE, CORE, TORCH)),
    "prediction": Stage(prediction, 60, (DEVICE, CORE)),
    "determinism": Stage(determinism, 60, (DEVICE, ANY_ORDER)),
    "scores": Stage(scores, 90, (DEVICE, CORE), caches=True),
    "comparison": Stage(comparison, 150, caches=True),
}


def has_gpu() -> bool:
    """True where JAX computes on a GPU."""
    import jax  # noqa: PLC0415

    return jax.default_backend() == "gpu"


def notes(args: argparse.Namespace) -> list[Any]:
    """Training notes of the synthetic corpus."""
    from crfdeid.corpora.splits import generate_corpus  # noqa: PLC0415

    return list(generate_corpus("default").train.documents)[: args.notes]


def encoder(args: argparse.Namespace) -> Path:
    """Folder of the small encoder, or of a BERT of random weights that each side of the stages writes for itself."""
    from rnn.pretrained.hub import small_folder  # noqa: PLC0415

    folder = Path(args.work) / f"encoder {args.side}"
    if small_folder().is_dir() and not args.small:
        return small_folder()
    if not folder.is_dir():
        write_encoder(folder, args)
    return folder


def write_encoder(folder: Path, args: argparse.Namespace) -> None:
    """Write a BERT of the small encoder's kind, with random weights and a piece for each frequent word of the notes."""
    from collections import Counter  # noqa: PLC0415

    import jax  # noqa: PLC0415
    from flax import nnx  # noqa: PLC0415
    from tokenizers.implementations import BertWordPieceTokenizer  # noqa: PLC0415

    from crfdeid.bio import encode  # noqa: PLC0415
    from crfdeid.documents import PHI  # noqa: PLC0415
    from rnn.models.bert import BertSettings, BertTagger  # noqa: PLC0415
    from rnn.network import Structure, TrainedModel, with_tables  # noqa: PLC0415
    from rnn.pretrained.config import EncoderConfig  # noqa: PLC0415
    from rnn.pretrained.export import export_classifier  # noqa: PLC0415
    from rnn.pretrained.hub import WordpieceTokenizer  # noqa: PLC0415
    from rnn.pretrained.subwords import SubwordProcessor  # noqa: PLC0415

    words = [word.lower() for note in notes(args) for item in encode(note).sentences for word in item.sentence.words]
    letters = sorted(set("".join(words)))
    special = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    frequent = [word for word, _ in Counter(words).most_common(args.words)]
    names = dict.fromkeys((*special, *letters, *(f"##{letter}" for letter in letters), *frequent))
    pieces = BertWordPieceTokenizer({piece: number for number, piece in enumerate(names)}, lowercase=True)
    config = EncoderConfig.of_hub(
        {
            "model_type": "bert",
            "vocab_size": len(names),
            "hidden_size": args.hidden,
            "num_hidden_layers": args.layers,
            "num_attention_heads": max(1, args.hidden // 32),
            "intermediate_size": 4 * args.hidden,
            "max_position_embeddings": 512,
            "type_vocab_size": 2,
            "hidden_act": "gelu",
            "layer_norm_eps": 1e-12,
            "pad_token_id": 0,
        }
    )
    tagger = BertTagger(BertSettings())
    processor = SubwordProcessor(config, WordpieceTokenizer.of(pieces, "bert"), {PHI: ("B-ID", "O")})
    structure, params = Structure.split(tagger.network(processor, nnx.Rngs(0)))
    table = jax.random.normal(jax.random.key(0), (config.pieces, config.hidden)) / 50
    tagger.learned = TrainedModel(processor, structure, with_tables({"pieces": table}, params))
    export_classifier(tagger, folder, readme="Random weights.")


def end_in(seconds: float, command: Sequence[str], environment: Mapping[str, str], log: Path) -> Callable[[], Ended]:
    """Start a process; return a function that waits for its end, and ends it with its children after some seconds.

    Args:
        seconds: the time limit.
        command: the command; it prints a JSON object a line.
        environment: variables that replace those of this process.
        log: path of the files of its output and of its errors, without suffix.
    """
    started = time.perf_counter()
    with log.with_suffix(".out").open("w") as out, log.with_suffix(".err").open("w") as err:
        how: dict[str, Any] = {"stdout": out, "stderr": err, "start_new_session": True}
        process = subprocess.Popen(command, env={**os.environ, **environment}, **how)

    def wait() -> Ended:
        state, code = "out of time", 0
        try:
            code = process.wait(max(0.0, seconds - (time.perf_counter() - started)))
            state = "done"
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        taken = time.perf_counter() - started
        if code:
            state = (log.with_suffix(".err").read_text().strip().splitlines() or [f"exit code {code}"])[-1]
        lines = log.with_suffix(".out").read_text().splitlines(keepends=True)
        return Ended(state, [json.loads(line) for line in lines if line.endswith("}\n")], taken)

    return wait


def run_stage(name: str, args: argparse.Namespace, options: Sequence[str], seconds: float) -> Row:
    """Run a stage on all of its sides at once."""
    sides = STAGES[name].sides
    if not (find_spec("torch") and find_spec("transformers")):
        sides = tuple(side for side in sides if side != TORCH)
    kept = {"CRFDEID_CACHE": str(Path(args.work) / "cache")}
    waits = {}
    for side in sides:
        environment = ENVIRONMENT[side] | (kept if STAGES[name].caches else {"CRFDEID_COMPILATION_CACHE": "off"})
        command = [sys.executable, __file__, *options, "--work", args.work, "--stage", name, "--side", side]
        waits[side] = end_in(seconds, command, environment, Path(args.work) / f"{name} {side}")
    ended = {side: wait() for side, wait in waits.items()}
    return {
        "state": {side: one.state for side, one in ended.items()},
        "seconds": max(one.seconds for one in ended.values()),
        "rows": [{"on": side, **row} for side, one in ended.items() for row in one.rows],
    }


def main() -> None:
    """Measure, and write what there is after each stage."""
    parser = make_parser(__doc__)
    parser.add_argument("--output", type=Path, default=Path("gpu.json"), help="the results (default: gpu.json)")
    parser.add_argument("--limit", type=float, default=420, help="seconds for all stages (default: 420)")
    parser.add_argument("--only", nargs="+", choices=STAGES, metavar="STAGE", help=f"stages, from {', '.join(STAGES)}")
    parser.add_argument("--small", action="store_true", help="small sizes, to try the script")
    parser.add_argument("--sentences", type=int, default=2000, help="drawn sentences an epoch (default: 2000)")
    parser.add_argument("--words", type=int, default=20_000, help="words of the drawn sentences (default: 20000)")
    parser.add_argument("--notes", type=int, default=60, help="synthetic notes for BERT and prediction (default: 60)")
    parser.add_argument("--replicates", type=int, nargs="+", default=[1, 8, 64], help="(default: 1 8 64)")
    parser.add_argument("--tokens", type=int, nargs="+", default=[16, 64], help="lengths for kernels (default: 16 64)")
    parser.add_argument("--rounds", type=int, default=2, help="epochs measured, after one (default: 2)")
    parser.add_argument("--hidden", type=int, default=384, help="size of the encoder's states (default: 384)")
    parser.add_argument("--layers", type=int, default=6, help="layers of the encoder (default: 6)")
    parser.add_argument("--seeds", type=int, default=8, help="seeds of the comparison (default: 8)")
    parser.add_argument("--epochs", type=int, help="epochs of the comparisons (default: the models')")
    for hidden in ("--stage", "--side", "--work"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.small:
        vars(args).update(SMALL)
    if args.stage is not None:
        for row in STAGES[args.stage].rows(args):
            print(json.dumps(row), flush=True)
        return
    from run import commit_of_code, provenance  # noqa: PLC0415  It imports the pages of the results, which import this.

    options = [word for word in sys.argv[1:] if word]
    command = " ".join(["python benchmarks/gpu.py", *options])
    found = {**provenance(command), "commit": commit_of_code(), "date": time.strftime("%Y-%m-%d"), "stages": {}}
    ends = time.perf_counter() + args.limit
    with tempfile.TemporaryDirectory(prefix="crfdeid-gpu-") as args.work:
        for name in args.only or STAGES:
            left = ends - time.perf_counter()
            if left <= 0:
                break
            limit = left if args.small else STAGES[name].limit
            found["stages"][name] = run_stage(name, args, options, min(left, limit))
            print(name, json.dumps(found["stages"][name]["state"]), flush=True)
            args.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
