"""`Redactor`: model, policy, keys and columns, which all ways in and out run: command, Arrow, Spark, service, spaCy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from importlib import import_module
from itertools import repeat
from logging import getLogger
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from crfdeid.documents import Document
from crfdeid.errors import DataError, MismatchError, OptionConflictError, SecretError
from crfdeid.io.date_columns import DateColumns
from crfdeid.io.records import (
    LONGEST_NOTE,
    RAW_LINES,
    Columns,
    Note,
    NoteResult,
    count_concepts,
    count_sources,
    count_words,
)
from crfdeid.io.worker import Result, isolate_failures, require_no_mojibake
from crfdeid.known_phi.patients import read_columns
from crfdeid.markup import BINARY_READERS, find_base64, read_markup, require_prose
from crfdeid.model_card.card import model_digest, read_card
from crfdeid.model_card.drift import DriftProfile, NoteReader, drift_measures
from crfdeid.model_card.pretrained import find_model
from crfdeid.pipeline import Deidentifier, load
from crfdeid.redaction.operators import NoteContext
from crfdeid.redaction.policy import Operators, Policy
from crfdeid.redaction.redact import Recorded, Redaction, redact_by
from crfdeid.secrets import KeyFiles, Keys
from crfdeid.serialization import ModelFolder, has_private_vocabulary, open_model
from crfdeid.thresholds import chosen_sensitivity, chosen_threshold, warn_of_low_ppv
from crfdeid.utils.process import one_thread

if TYPE_CHECKING:
    from crfdeid.markup.blocks import MarkupText
    from crfdeid.review.sampling import Candidate

# Models loaded at a time: a table has a column of notes or two, and a model takes 100 MB to 1 GB.
_MODELS = 2
_load_lock = Lock()
_log = getLogger(__name__)


@dataclass(frozen=True)
class Redactor:
    """Model, policy, keys and columns: all that the result of a note depends on. Frozen and picklable.

    The pickle has no weights, and with `KeyFiles` no secret. Another process reads the model from its path.

    Args:
        model: a model's folder, or the name of a built-in model, as of `crfdeid.load`.
        policy: detection and replacement of PHI.
        keys: the keys, or the files from which each process reads its own.
        columns: columns of tables with a meaning. Those with dates get the policy's order of dates, and next to
            surrogates dates in other columns are refused.
        concepts: find concepts too, with a model that can.
        with_completeness: estimate for each note the probability that nothing was missed.
        evidence: give each span its source and score.
        model_sha256: digest of the model (`pinned`), which another process then requires; None for no check.
        find: finds the model's folder in the process that uses it; None for the path of ``model``.

    Raises:
        OptionConflictError: columns that contradict each other or the policy.

    Example:
        >>> redactor = Redactor("model/", Policy("surrogate"), KeyFiles(Path("secret")))  # doctest: +SKIP
        >>> redactor.start().redact("Seen by Dr. Quill.", patient="12").text  # doctest: +SKIP
        'Seen by Dr. Hart.'
    """

    model: Path | str | ModelFolder
    policy: Policy = field(default_factory=Policy)
    keys: Keys | KeyFiles = field(default_factory=KeyFiles)
    columns: Columns = field(default_factory=Columns)
    concepts: bool = False
    with_completeness: bool = False
    evidence: bool = False
    model_sha256: str | None = None
    find: Callable[[], Path | str] | None = None

    def __post_init__(self) -> None:
        columns, policy = self.columns, self.policy
        dates = replace(columns.dates, refuse=policy.invents, date_order=policy.date_order)
        for text in columns.texts:
            dates.require_possible(text, columns.drop)
        object.__setattr__(self, "columns", replace(columns, dates=dates))

    @classmethod
    def of_table(
        cls,
        model: Path | str | ModelFolder,
        policy: Policy | None = None,
        text_column: str | Sequence[str] = "text",
        patient_column: str | None = None,
        *,
        known: str | None = None,
        drop_columns: Sequence[str] = (),
        shift_columns: Sequence[str] = (),
        hash_columns: Sequence[str] = (),
        allow_columns: Sequence[str] = (),
        raw_columns: Sequence[str] = (),
        markup_column: str | None = None,
        longest_note: int | None = LONGEST_NOTE,
        find: Callable[[], Path | str] | None = None,
        secret_file: Path | str | None = None,
        key_file: Path | str | None = None,
        encryption_key_file: Path | str | None = None,
    ) -> Redactor:
        """Return the redactor of a table's columns of notes, whose keys each process reads from files.

        Args:
            model: as of `Redactor`.
            policy: detection and replacement of PHI; None for the default policy.
            text_column: column of the notes, or several.
            patient_column: column of the patient, for surrogates; None for a separate patient for each note.
            known: columns with known PHI of the patient, as in `crfdeid redact --record-columns`: "name,birth_date".
                The values are hidden in the note and stay in their column, unless that is dropped.
            drop_columns: columns that the results leave out.
            shift_columns: with surrogates, columns whose dates are shifted like those of the patient's notes. A column
                of dates next to surrogates would reveal that shift: it is refused unless it is dropped, shifted, hashed
                or allowed. Only types are checked, so name text columns with dates yourself.
            hash_columns: columns whose values are replaced by keyed hashes, as text.
            allow_columns: columns of dates or of raw lines that may stay unchanged.
            raw_columns: columns of whole raw lines, to be refused likewise, in addition to `RAW_LINES`.
            markup_column: column of the notes' formats, such as "rtf" or "text/html", in place of the policy's; a row
                with another value fails.
            longest_note: most characters of a note; a longer one fails as `NoteTooLong`, so that it cannot exhaust a
                worker's memory. None for no limit; by default 10 million, with which a worker with a CRF stays below
                1 GiB.
            find: called on the worker to find the model's folder there; None for the same path as here.
            secret_file: path, on the worker, of the file with the secret of surrogates and hashes; None for the
                environment variable ``CRFDEID_SECRET``.
            key_file: path, on the worker, of the file with the secret of a private vocabulary; None for the variable.
            encryption_key_file: path, on the worker, of the file with the key of encrypted values.

        Raises:
            OptionConflictError: columns that contradict each other or the policy, or an encryption key that nothing
                needs, or none where it is needed.
        """
        policy = policy or Policy()
        if policy.needs_encryption_key != (encryption_key_file is not None):
            raise OptionConflictError("the operator 'encrypt' and an encryption_key_file need each other")
        texts = (text_column,) if isinstance(text_column, str) else tuple(text_column)
        if not texts or len({*texts}) < len(texts):
            raise OptionConflictError("text_column: name one column of notes, or several different ones")
        columns = Columns(
            texts[0],
            other_texts=texts[1:],
            patient=patient_column,
            markup=markup_column,
            known=() if known is None else read_columns(known),
            drop=tuple(drop_columns),
            dates=DateColumns(
                tuple(shift_columns),
                tuple(hash_columns),
                tuple(allow_columns),
                options="drop_columns, shift_columns, hash_columns or allow_columns",
            ),
            longest=longest_note,
            raw_lines=(*RAW_LINES, *raw_columns),
        )
        used = {patient_column, markup_column, *(column.name for column in columns.known)}
        if text := next((text for text in texts if text in used), None):
            raise OptionConflictError(f"'{text}' is the text of the notes: it can have no other use")
        files = (None if path is None else Path(path) for path in (secret_file, encryption_key_file, key_file))
        return cls(model, policy, KeyFiles(*files), columns, find=find)

    @cached_property
    def folder(self) -> ModelFolder:
        """The model's folder in this process; a built-in model is made at first use."""
        return find_model(self.model) if self.find is None else open_model(self.find())

    @cached_property
    def sensitivity(self) -> float | None:
        """The sensitivity of the policy, or the model's default; None where none chooses the threshold."""
        return chosen_sensitivity(read_card(self.folder), self.policy.sensitivity, self.policy.max_leak_rate)

    @cached_property
    def threshold(self) -> float | None:
        """The threshold of the policy or the model (`chosen_threshold`); None for the most probable tags.

        Raises:
            UsageError: the model's card does not support it.
        """
        return chosen_threshold(read_card(self.folder), self.policy.sensitivity, self.policy.max_leak_rate)

    def pinned(self) -> Redactor:
        """Return the redactor for other processes: of a model at its absolute path, with its digest, computed once.

        A sensitivity that costs much causes a warning.

        Raises:
            DataError: the model is missing or damaged.
            UsageError: its development notes do not support the sensitivity.
        """
        if self.model_sha256 is not None:
            return self
        here = find_model(self.model)
        local = replace(self, model=here, find=None)
        if local.threshold is not None and local.sensitivity is not None:  # an error here, and not on each worker
            warn_of_low_ppv(read_card(here), local.sensitivity)
        return replace(self, model=here.path.absolute(), model_sha256=model_digest(here))

    def keyed_columns(self) -> Columns:
        """Return the columns with the secret, if some are shifted or hashed; without one, a `SecretError`."""
        if not self.columns.dates.changed:
            return self.columns
        return replace(self.columns, dates=replace(self.columns.dates, keys=_read(self.keys, secret=True)))

    def read(self, note: Note) -> tuple[Note, MarkupText | None]:
        """Return a note as a model reads it, and for a note in markup the map to its source.

        Raises:
            DataError: it is in markup that is not read, or in mojibake, unless the policy accepts that.
        """
        policy = self.policy
        is_plain = policy.markup == "plain" and note.markup not in BINARY_READERS
        form = "plain" if is_plain else note.markup or policy.markup
        spans_only = policy.operator_table is None or self.concepts
        if spans_only:  # They would be those of the codes.
            require_prose(note.text, form)
        self._require_intact(note.text)
        markup = None if spans_only else read_markup(note.text, form)
        if markup is None:
            return note, None
        from crfdeid.redaction.in_markup import readable_note  # noqa: PLC0415  Few notes are in markup.

        return readable_note(note, markup, policy)

    def require_prose(self, text: str) -> None:
        """Refuse a text as `read` does, and any text in markup."""
        require_prose(text, self.policy.markup)
        self._require_intact(text)

    def _require_intact(self, text: str) -> None:
        if not self.policy.accept_damaged:
            require_no_mojibake(text)

    def load(self, *, keys: Keys | None = None, members: bool = False) -> Deidentifier:
        """Load the model with the policy's threshold and lists.

        Args:
            keys: keys that were read before; None to read them.
            members: list what each member of a combined model marked, as "keep" and "generalise" need it anyway.

        Raises:
            DataError: the model is missing or damaged.
            UsageError: its secret is missing, or there is no threshold for the sensitivity.
        """
        shows = self.policy.shows
        return load(
            self.folder,
            key=(keys or self._keys()).vocabulary,
            sensitivity=self.policy.sensitivity,
            max_leak_rate=self.policy.max_leak_rate,
            consistent=self.policy.consistent,
            lists=self.policy.lists,
            concepts=self.concepts,
            evidence=self.evidence or shows,
            members=members or shows,
        )

    def start(self) -> StartedRedactor:
        """Read the keys and load the model.

        Raises:
            DataError: the model is missing or damaged.
            MismatchError: it is not the one of `pinned`.
            SecretError: a key is missing, unreadable or too short, or not that of the private vocabulary.
            MissingExtraError: the policy's operators need a library that is not installed.
            UnknownNameError: an operator of a type that the model and the lists do not have.
        """
        policy, keys = self.policy, self._keys()
        for operator in policy.used:
            if operator.module:
                import_module(operator.module)  # It needs an extra, which is to be missed before any note.
        required = self.model_sha256
        if required is not None and (found := model_digest(self.folder)) != required:
            difference = f"this is the model {found[:12]} and not {required[:12]}: put that one in its place"
            raise MismatchError(difference, path=self.folder.path)
        model = self.load(keys=keys)
        if policy.operator_table is not None:
            policy.operator_table.require_types(model.types)
        return StartedRedactor(self, model, keys, read_card(self.folder))

    def start_once(self) -> StartedRedactor:
        """Return the started redactor of this process, which computes in one thread from then on.

        The model is loaded once a process. The keys are read at each call, so that new ones take effect.
        """
        keys = self._keys()
        with _load_lock:  # Of several threads, one loads the model.
            return _started(replace(self, model=self.folder, keys=keys, columns=Columns(), find=None))

    def _keys(self) -> Keys:
        private = has_private_vocabulary(self.folder)
        policy = self.policy
        return _read(self.keys, secret=policy.needs_secret, encryption=policy.needs_encryption_key, vocabulary=private)


def _read(keys: Keys | KeyFiles, **needed: bool) -> Keys:
    try:
        return keys.read(**needed)
    except DataError as problem:  # of an unreadable file, which is no error of a note
        raise SecretError(str(problem)) from None


@dataclass(frozen=True, eq=False)
class StartedRedactor:
    """Redactor with its keys and its model in memory, for one process.

    Args:
        redactor: the redactor.
        model: its model.
        keys: its keys.
        card: the model's card; None without one.
        mapping: map of numbered tokens to values, as of `crfdeid.redact`, to which each note adds; None for none. Notes
            in markup are then refused.
    """

    redactor: Redactor
    model: Deidentifier
    keys: Keys
    card: Mapping[str, Any] | None = None
    mapping: MutableMapping[str, str] | None = None

    @property
    def _profile(self) -> DriftProfile | None:
        return None if self.card is None else self.card["drift_profile"]

    @property
    def policy_name(self) -> str:
        """Name of the policy, followed for a secret and an encryption key by four digits that change with each."""
        return "-".join([self.redactor.policy.name, *self.keys.fingerprints.values()])

    def __call__(self, notes: Sequence[Note]) -> list[Result]:
        """Return one result per note, in order; a note that fails does not fail the others."""
        return isolate_failures(self._results)(notes)

    def redact(self, text: str, *, patient: str | float | None = None) -> Document:
        """Return a text redacted by the policy, with the replacements as spans.

        Args:
            text: a note.
            patient: its patient, as of `crfdeid.redact`.

        Raises:
            DataError: the note is in markup that is not read, or in mojibake, or fails otherwise.
        """
        return self.redact_note(Note("", text, None), patient=patient)

    def redact_note(self, note: Note, *, patient: str | float | None = None) -> Document:
        """Return a note redacted by the policy, as `redact` does."""
        read = self.redactor.read(note)
        return self.hide_in(self.model.annotate(read[0].text, known=read[0].known), read, patient=patient)

    def hide_in(
        self, document: Document, read: tuple[Note, MarkupText | None], *, patient: str | float | None = None
    ) -> Document:
        """Return the source of a note with the PHI of its text replaced by the policy, with the replacements as spans.

        Args:
            document: the text of the note, with the model's PHI.
            read: the note, as of `Redactor.read`.
            patient: its patient, as of `crfdeid.redact`; None for that which the note names, if it does.
        """
        note, markup = read
        done = self.hide(_in_blocks(document, markup), patient=note.patient if patient is None else patient)
        return _in_source(done, markup).document

    def hide(self, document: Document, *, patient: str | float | None = None, marked: bool = True) -> Redaction:
        """Replace the spans of a document by the policy; a policy of spans only writes labels.

        Args:
            document: a document with the model's PHI.
            patient: its patient, as of `crfdeid.redact`.
            marked: return the spans of the replacements.
        """
        policy = self.redactor.policy
        context = NoteContext(
            self.keys,
            patient,
            policy.locale,
            policy.date_order,
            by_month=policy.date_precision == "month",
            this_year=policy.this_year,
        )
        operators = policy.operator_table or Operators()
        if self.mapping is None:
            return redact_by(document, operators, context, marked=marked)
        return redact_by(document, operators, context, mapping=self.mapping, types=self.model.types, marked=marked)

    def with_map(self, mapping: MutableMapping[str, str]) -> StartedRedactor:
        """Return the redactor that writes numbered tokens of a map for all types."""
        policy = replace(self.redactor.policy, operators="numbered", locale=None, date_order=None, date_precision=None)
        return replace(self, redactor=replace(self.redactor, policy=policy), mapping=mapping)

    def _results(self, notes: Sequence[Note]) -> list[Result]:
        if self.mapping is not None:  # A value is to be restored where a token is, not in the codes of a source.
            for note in notes:
                self.redactor.require_prose(note.text)
        read = [self.redactor.read(note) for note in notes]
        unmarked = (Document(note.id, note.text) for note, _ in read)
        found = self.model.annotate_documents(unmarked, known=[note.known for note, _ in read])
        documents = [_in_blocks(document, markup) for document, (_, markup) in zip(found, read, strict=True)]
        rated: Iterable[Candidate | None] = repeat(None)
        if self.redactor.with_completeness:
            from crfdeid.review.sampling import candidates  # noqa: PLC0415

            rated = candidates(documents, self.model.tagger, threshold=self.model.threshold)
        return [
            replace(
                self._measured(self._result(document, *one_read), document.text),
                p_no_miss=None if one is None else one.p_no_miss,
            )
            for (document, one_read), one in zip(zip(documents, read, strict=True), rated, strict=False)
        ]

    def _result(self, document: Document, note: Note, markup: MarkupText | None) -> NoteResult:
        found = Counter(span.label for span in document.spans)
        concepts = count_concepts(document) if self.redactor.concepts else None
        sources = count_sources(document) if self.redactor.evidence else None
        if self.redactor.policy.operator_table is None:
            return NoteResult(document, found=found, concepts=concepts, sources=sources)
        done = self.hide(document, patient=note.patient, marked=False)  # The results are texts.
        words, hidden_words = count_words(document, [part.span for part in done.parts if not part.operator.keeps])
        remaining = None if concepts is None else count_concepts(done.document)
        written = _in_source(done, markup)
        return NoteResult(
            written.document,
            found=found,
            locale=done.locale,
            concepts=remaining,
            left_out=None if concepts is None or remaining is None else concepts - remaining,
            words=words,
            hidden_words=hidden_words,
            tokens=sum(part.operator.reversible for part in done.parts),
            kept=Counter(part.span.label for part in done.parts if part.operator.keeps),
            sources=sources,
            base64=_unread_blocks(note.text, markup),
            kept_fields=markup.structured.fields if markup and self.redactor.policy.structured == "keep" else (),
            record=written.record,
        )

    @cached_property
    def _reader(self) -> NoteReader | None:
        return None if self._profile is None else NoteReader.of(self._profile, self.keys.vocabulary)

    def _measured(self, result: NoteResult, text: str) -> NoteResult:
        if self._reader is None or self._profile is None:
            return result
        measures = self._reader.measure(text, result.found)
        raised = self.model.threshold is not None
        return replace(result, measures=measures, drift_warnings=drift_measures(self._profile, measures, raised=raised))


def _in_blocks(document: Document, markup: MarkupText | None) -> Document:
    """Return a document whose spans end where the blocks of its markup do."""
    if markup is None:
        return document
    from crfdeid.redaction.in_markup import split_at_blocks  # noqa: PLC0415

    return split_at_blocks(document, markup)


def _unread_blocks(text: str, markup: MarkupText | None) -> list[tuple[int, int]]:
    """Return the blocks of base64 in the source of a note that its result has too."""
    if markup is None:
        return find_base64(text)
    blocks = find_base64(markup.source)
    return [block for block in blocks if not any(one.start <= block[0] < one.end for one in markup.dropped)]


def _in_source(done: Redaction, markup: MarkupText | None) -> Redaction | Recorded:
    """Return a redaction as it is, or for a note in markup that of its source."""
    if markup is None:
        return done
    from crfdeid.redaction.in_markup import write_redaction  # noqa: PLC0415

    return write_redaction(markup, done)


@lru_cache(maxsize=_MODELS)
def _started(redactor: Redactor) -> StartedRedactor:
    one_thread()
    started = redactor.start()
    _log.info("loaded the model %s", (redactor.model_sha256 or "")[:12])
    return started
