"""Corpora and runs by name or path, in any known format."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from karat.data.catalogue import choose, finished, named, needs_text, ready, stored_answers
from karat.data.iris import Bases, with_iris
from karat.data.own_tables import OwnTables, own_tables
from karat.data.pool import collide, pooled, pooled_run
from karat.data.recognise import formats, recognised
from karat.data.save import save_results
from karat.errors import InputError, UnknownNameError, UsageError
from karat.matching.read.pairing import pair
from karat.matching.read.texts import carries_others, misplaced, on_gold_text
from karat.model.corpus import WITHOUT_TEXT, Corpus
from karat.model.defects import Tolerance, collecting, tolerance
from karat.model.result import Result
from karat.model.run import Run
from karat.model.tables import check
from karat.parsing.surfaces.columns import ColumnRoles
from karat.parsing.surfaces.written import NoGoldError
from karat.registry import get, names
from karat.spec.dataset import is_bare_name
from karat.spec.engine import Parts
from karat.spec.format import Format, Manifest
from karat.storage.files import Source, write_folder, writing
from karat.work import making_many, working

if TYPE_CHECKING:
    from karat.data.objects import Foreign

OnError: TypeAlias = Literal["fail", "skip"]
SameId: TypeAlias = Literal["fail", "apart"]
WrongSpan: TypeAlias = Literal["refuse", "repair"]


def load(
    name: str | os.PathLike[str] | Foreign,
    *,
    format: str | None = None,
    text: bool = True,
    on_error: OnError | None = None,
    same_id: SameId | None = None,
    columns: Mapping[str, str] | None = None,
) -> Corpus:
    """A gold standard: a registered name such as `demo` or `msnbc@guo2018`, a path, or `-` for standard input.

    Also a `Dataset` of Hugging Face, in the layouts that its folders may have, or a list of spaCy's `Doc`.
    The format is told from the content unless given. Without `text`, a format that can leaves the texts out. The first
    defect of a document is an error, unless `on_error` is `skip`: then such documents are left out, and `skipped` says
    how many of each kind, and where the first are. With `same_id="apart"`, documents of one id get a number each.
    `columns` says which column of a CSV, TSV, JSON or JSONL file is what, as `{"doc": "doc_id", "text": "body"}`.
    """
    if not isinstance(name, str | os.PathLike):
        from karat.data.objects import corpus_from

        with collecting(_asked(on_error, same_id), "objects") as defects:
            corpus = corpus_from(name)
        return replace(corpus, skipped={**corpus.skipped, **defects.counts})
    return _gold(_Given(os.fspath(name), format, _asked(on_error, same_id), _own(columns)), text=text)


def load_run(
    name: str | os.PathLike[str] | Foreign,
    *,
    corpus: Corpus | None = None,
    system: str | None = None,
    format: str | None = None,
    on_error: OnError | None = None,
    same_id: SameId | None = None,
    wrong_span: WrongSpan | None = None,
    columns: Mapping[str, str] | None = None,
) -> Run:
    """A system's answers: a path, `-`, or stored answers such as `demo/prior`; `system` gives them another name.

    Also what other libraries hold: spaCy's `Doc` objects, as `nlp.pipe` gives them (`kb_id_` is the link), a `Dataset`
    of Hugging Face, or dictionaries: one for each answer, with the id of its document, one for each document, with
    `answers`, or lists of them, by ids or in the order of the corpus, as pipelines of Hugging Face give them.

    A file of gold labels is taken as the answers of a second annotator. With a corpus, documents and spans are
    checked against it at once; without, `evaluate` does so. Answers on the rows of a table of tokens, such as HIPE's,
    are laid on the tokens of the corpus; without it, on what the file itself says. Answers that give words in place of
    spans are placed in its texts; where both are given and disagree, `wrong_span` says whether that is an error, or the
    answer is moved to its words and counted. `on_error`, `same_id` and `columns` are those of `load`.
    """
    how = _asked(on_error, same_id, wrong_span)
    if isinstance(name, str | os.PathLike):
        given = _Given(os.fspath(name), format, how, _own(columns))
        run = _answers(given, None if corpus is None else partial(_itself, corpus))
        run = run if system is None else replace(run, name=system)
    else:
        from karat.data.objects import run_from

        with collecting(how, "objects") as defects:
            run = run_from(name, corpus, system)
        run = replace(run, skipped={**run.skipped, **defects.counts})
    if corpus is None:
        return run
    run = beside(corpus, run, how)
    pair(corpus, run)
    return run


def _asked(on_error: OnError | None, same_id: SameId | None, wrong_span: WrongSpan | None = None) -> Tolerance:
    """What is said here, and what else was asked for."""
    how = tolerance()
    skip = how.skip if on_error is None else on_error == "skip"
    repair = how.repair if wrong_span is None else wrong_span == "repair"
    return replace(how, skip=skip, apart=how.apart if same_id is None else same_id == "apart", repair=repair)


def _own(columns: Mapping[str, str] | None) -> OwnTables:
    """The columns that are named here, or those that were asked for."""
    return own_tables() if columns is None else OwnTables((ColumnRoles.of(columns),), strict=True)


def laid_on(corpus: Corpus, run: Run, name: str, *, format: str | None = None) -> Run:
    """A run that was read before its corpus was known: read again where it stands on rows, then put beside it."""
    given = _Given(name, format)
    if given.is_file and given.found.by_row:
        run = replace(_answers(given, lambda: corpus), name=run.name)
    return beside(corpus, run, given.how)


def beside(corpus: Corpus, run: Run, how: Tolerance | None = None) -> Run:
    """A run on the texts of its corpus.

    Where documents with defects are left out, so are replies that the corpus has no document for, and those with
    answers outside of their text.
    """
    how = how or tolerance()
    with collecting(how, run.name) as defects:
        run = on_gold_text(corpus, run)
        if how.skip:
            run = run.without(check.unsound(misplaced(corpus, run), run.where))
    return replace(run, skipped={**run.skipped, **defects.counts}) if defects.counts else run


class _Given(msgspec.Struct, frozen=True, dict=True):
    """A gold standard or answers as the user calls them. Of what can be read only once, the bytes are kept."""

    name: str
    format: str | None = None
    how: Tolerance = msgspec.field(default_factory=tolerance)
    tables: OwnTables = msgspec.field(default_factory=own_tables)

    @cached_property
    def source(self) -> Source:
        """The file."""
        return _source(self.name)

    @cached_property
    def found(self) -> Format:
        """The format of the file."""
        return recognised(self.source, self.format, self.tables)

    @cached_property
    def pool(self) -> tuple[_Given, ...]:
        """The corpora or runs that are to be taken as one, where the name joins several by `+`."""
        names = self.name.split("+")
        if len(names) == 1 or Path(self.name).exists() or not all(names):
            return ()
        return tuple(_Given(name, self.format, self.how, self.tables) for name in names)

    @property
    def kind(self) -> Literal["gold", "answers"]:
        """Which of the two it is, or is first of all."""
        if self.pool:
            return self.pool[0].kind
        if stored_answers(self.name) is not None:
            return "answers"
        return "gold" if named(self.name) is not None or self.found.holds_gold(self.source) else "answers"

    @cached_property
    def both(self) -> bool:
        """Whether it is a file with gold labels and answers."""
        holds = self.found.holds_both if self.is_file else None
        return holds is not None and holds(self.source)

    @property
    def is_file(self) -> bool:
        """Whether it is one file, folder or stream, and no name of several or of what is registered."""
        return not self.pool and stored_answers(self.name) is None and named(self.name) is None


def _gold(given: _Given, *, text: bool) -> Corpus:
    if given.pool:
        return pooled([_gold(part, text=text) for part in given.pool])
    asked = named(given.name)
    if asked is None:
        return _corpus(given.source, given.found, text=text, how=given.how)
    if stored_answers(given.name) is not None:
        raise UsageError(f"{given.name} are stored answers. Give the gold standard that they belong to.")
    chosen = choose(asked)
    source, found = Source(str(ready(chosen)), links=True), get("formats", given.format or chosen.format, Format)
    return finished(_corpus(source, found, text=text or needs_text(chosen), how=given.how), chosen)


def _corpus(source: Source, found: Format, *, text: bool, how: Tolerance) -> Corpus:
    if found.read_corpus is None:
        raise UsageError(f"{source.label}: {found.title} holds no gold labels. Give a gold file.")
    with collecting(how, source.label) as defects, working(f"reading {source.label}"), making_many():
        corpus = found.read_corpus(source, text)
    return replace(corpus, skipped={**corpus.skipped, **defects.counts})


def _answers(given: _Given, gold: Callable[[], Corpus] | None = None) -> Run:
    """The answers; `gold` is asked for what they answer where the format cannot do without."""
    if given.pool:
        runs = [_answers(part) for part in given.pool]
        return pooled_run(runs, numbered=collide(runs))
    answers = stored_answers(given.name)
    if answers is not None:
        return _run(Source(str(answers[0])), get("formats", given.format or answers[1], Format), gold, given.how)
    if named(given.name) is not None:
        corpus = _gold(given, text=True)
        return Run.of_gold(corpus, name=corpus.name)
    return _run(given.source, given.found, gold, given.how)


def _run(source: Source, found: Format, gold: Callable[[], Corpus] | None, how: Tolerance) -> Run:
    with collecting(how, source.label) as defects, working(f"reading {source.label}"), making_many():
        run = _read_run(source, found, gold)
    file = None if source.given == "-" else source.given
    return replace(run, skipped={**run.skipped, **defects.counts}, file=file)


def _read_run(source: Source, found: Format, gold: Callable[[], Corpus] | None) -> Run:
    if found.read_run_on is not None and gold is not None:
        return found.read_run_on(source, gold)
    if found.holds_gold(source) and not (found.either and found.read_run is not None):
        if found.read_corpus is None:
            raise UsageError(f"{source.label} holds gold labels, which {found.title} cannot read. Give answers.")
        return Run.of_gold(found.read_corpus(source, True), name=source.stem)
    if found.read_run is None:
        raise UsageError(f"{source.label}: {found.title} holds no answers. Give a file of answers.")
    return found.read_run(source)


def _gold_and_answers(given: _Given, *, text: bool) -> tuple[Corpus, Run]:
    """Both sides of one file."""
    if given.found.read_both is not None:
        with collecting(given.how, given.source.label) as defects, making_many():
            corpus, run = given.found.read_both(given.source)
        return replace(corpus, skipped={**corpus.skipped, **defects.counts}), run
    return _gold(given, text=text), _answers(given)


def noted(name: str, *, format: str | None = None) -> Manifest:
    """What is noted beside a file of answers, where its format knows of such notes."""
    given = _Given(name, format)
    if given.pool or named(name) is not None or stored_answers(name) is not None or given.source.passing:
        return Manifest()
    read = given.found.manifest
    return (None if read is None else read(given.source)) or Manifest()


class Inputs(msgspec.Struct, frozen=True):
    """A gold standard and the answers to it, recognised but not read.

    Where they are `alike`, every file holds both, and must have the gold labels of the first.
    """

    gold: _Given
    answers: tuple[_Given, ...]
    alike: bool = False

    @property
    def runs(self) -> list[str]:
        """What the files of answers were called."""
        return [given.name for given in self.answers]

    def load(self, *, text: bool = True) -> tuple[Corpus, list[Run]]:
        """Read side by side: while one file is parsed, another is checked. A file that is both is read once.

        Texts that files of answers carry are compared with the gold standard's, and not kept.
        """
        corpus, runs = self._read(text=text)
        if not corpus.has_text and any(carries_others(corpus, run) for run in runs):
            return self.load(text=True)  # how they differ only the texts can tell
        return corpus, [beside(corpus, run, self.gold.how) for run in runs]

    def _read(self, *, text: bool) -> tuple[Corpus, list[Run]]:
        if self.gold.pool:
            corpora = [_gold(part, text=text) for part in self.gold.pool]
            return pooled(corpora), [_pooled_answers(given, corpora) for given in self.answers]
        if not self.alike and not (self.gold in self.answers and self.gold.both):
            with ThreadPoolExecutor(max_workers=2) as pool:
                corpus = pool.submit(_gold, self.gold, text=text)
                texts = partial(self._with_text, corpus.result)
                runs = [pool.submit(_answers, given, texts) for given in self.answers]
                return corpus.result(), [run.result() for run in runs]
        gold, own = _gold_and_answers(self.gold, text=text)
        return gold, [own if given == self.gold else self._other(given, gold, text=text) for given in self.answers]

    def _with_text(self, gold: Callable[[], Corpus]) -> Corpus:
        """The gold standard for answers that cannot do without it: they look at its texts."""
        corpus = gold()
        return corpus if corpus.has_text else _gold(self.gold, text=True)

    @property
    def large(self) -> bool:
        """Whether the gold standard is a folder of files that can be read piece by piece."""
        return _parts(self.gold, gold=True) is not None and self.gold.source.folder

    def parts(self, *, text: bool) -> tuple[Corpus | Parts, list[Run | Parts]]:
        """The same for an engine: in pieces where that is possible."""
        at_once = self.gold.pool or self.alike or self.gold.how != Tolerance()
        if at_once or (self.gold in self.answers and self.gold.both):
            gold, runs = self.load(text=text)
            return gold, [*runs]
        gold_parts = _parts(self.gold, gold=True) or _gold(self.gold, text=text)
        corpus = gold_parts if isinstance(gold_parts, Corpus) else None
        whole = None if corpus is None else lambda: corpus
        return gold_parts, [_parts(given, gold=False) or _answers(given, whole) for given in self.answers]

    def _other(self, given: _Given, gold: Corpus, *, text: bool) -> Run:
        if not self.alike:
            return _answers(given, lambda: gold)
        corpus, run = _gold_and_answers(given, text=text)
        if corpus.digest != gold.digest:
            raise UsageError(
                f"{given.source.label} has other gold labels or texts than {self.gold.source.label} "
                f"({corpus.name}@{corpus.digest} and {gold.name}@{gold.digest}). Score it by itself, or give the gold "
                "standard for both as a file of its own, before them."
            )
        return run


def _pooled_answers(given: _Given, corpora: list[Corpus]) -> Run:
    if given.pool and len(given.pool) != len(corpora):
        raise UsageError(
            f"{given.name} are answers to {len(given.pool)} corpora, and {len(corpora)} are pooled. Give one file of "
            "answers for each of them, in the same order."
        )
    if not given.pool:
        return _answers(given)
    runs = [_answers(part, partial(_itself, corpus)) for part, corpus in zip(given.pool, corpora, strict=True)]
    return pooled_run(runs, numbered=collide(corpora))


def _itself(corpus: Corpus) -> Corpus:
    return corpus


def load_parts(name: str | os.PathLike[str], *, gold: bool, format: str | None = None) -> Corpus | Run | Parts:
    """A gold standard or answers for an engine: in pieces if they lie in Parquet files, else in memory.

    Give both sides to `evaluate`.
    """
    given = _Given(os.fspath(name), format)
    if gold:
        return _parts(given, gold=True) or _gold(given, text=True)
    return _parts(given, gold=False) or _answers(given)


def _parts(given: _Given, *, gold: bool) -> Parts | None:
    """The pieces of what was given, None where it has to be read at once."""
    registered = named(given.name) is not None or stored_answers(given.name) is not None
    if given.pool or registered or given.how != Tolerance():
        return None
    source, found = given.source, given.found
    if found.parts is None or source.passing or (not source.folder and source.compressed):
        return None
    return found.parts(source, gold) if found.holds_gold(source) == gold else None


def inputs(
    gold: str, answers: Sequence[str], *, gold_format: str | None = None, answers_format: str | None = None
) -> Inputs:
    """What is scored if these are named. A dataset as answers stands for its stored ones.

    A file that holds gold labels and answers is both where it is alone, or where all others hold both too.
    """
    if not answers:
        alone = _Given(gold, gold_format or answers_format)
        if not alone.both:
            raise _half(alone)
        return Inputs(alone, (alone,))
    first = _Given(gold, gold_format)
    others = tuple(_Given(name, answers_format) for given in answers for name in stored_runs(given))
    if not (first.both and all(given.both for given in others)):
        return Inputs(first, others)
    others = tuple(first if given.name == first.name else given for given in others)
    return Inputs(first, others if first in others else (first, *others), alike=True)


def _half(given: _Given) -> UsageError:
    """What to say of something that is to be scored and is not both gold and answers."""
    name = given.name
    if given.kind == "answers":
        return UsageError(f"{name} has no gold labels. Give the gold standard before it: karat score GOLD {name}")
    stored = stored_runs(name) != [name]
    hint = f"; its stored answers have its name: karat score {name} {name}" if stored else ""
    return UsageError(f"{name} has no answers. Give them after it: karat score {name} ANSWERS{hint}")


def load_both(
    gold: str,
    answers: Sequence[str],
    *,
    gold_format: str | None = None,
    answers_format: str | None = None,
    text: bool = True,
) -> tuple[Corpus, list[Run]]:
    """A gold standard and the runs on it, read side by side."""
    return Inputs(_Given(gold, gold_format), tuple(_Given(name, answers_format) for name in answers)).load(text=text)


def stored_runs(given: str) -> list[str]:
    """The names that a single argument stands for: the stored answers of a dataset, or the argument itself."""
    asked = named(given)
    answers = () if asked is None or stored_answers(given) is not None else choose(asked).split.answers
    return [f"{given}/{system}" for system in answers] or [given]


def read_for(name: str) -> list[str]:
    """What is read for a name: several corpora or runs where `+` joins them."""
    return [part.name for part in _Given(name).pool] or [name]


def load_either(
    name: str | os.PathLike[str], *, kind: str | None = None, format: str | None = None, gold: str | None = None
) -> Corpus | Run:
    """Gold or answers, whichever a file holds, unless `kind` says so. Answers are laid on the texts of `gold`."""
    given = _Given(os.fspath(name), format)
    if (kind or given.kind) == "gold" and gold is None:
        return _gold(given, text=True)
    if gold is None:
        return _answers(given)
    corpus = _gold(_Given(gold), text=True)
    return beside(corpus, _answers(given, lambda: corpus), given.how)


def load_run_among(name: str, corpora: Sequence[Corpus], *, format: str | None = None) -> Run:
    """Answers to one of several corpora, not checked beside it: words are placed in the one that has most documents."""
    given = _Given(name, format)
    try:
        return _answers(given)
    except NoGoldError:
        runs = [(_answers(given, partial(_itself, corpus)), corpus) for corpus in corpora]
        return max(runs, key=lambda one: int(pc.sum(pc.is_in(one[0].ids, one[1].ids)).as_py() or 0))[0]


def sort_of(name: str, *, format: str | None = None) -> Literal["gold", "answers"]:
    """Whether a file holds gold or answers; what nobody recognises, or can be read only once, is taken for gold."""
    try:
        given = _Given(name, format)
        return "gold" if named(name) is None and given.source.passing else given.kind
    except InputError:
        return "gold"


def converted_in_blocks(
    source: str, target: str, chosen: Format, *, kind: str | None, format: str | None
) -> tuple[int, int] | None:
    """Documents and labels written without holding all in memory; None where the formats cannot do that."""
    if kind == "answers" or named(source) is not None or chosen.write_blocks is None or tolerance() != Tolerance():
        return None
    asked = _Given(source, format)
    if asked.pool or asked.source.passing:
        return None
    given, found = asked.source, asked.found
    if found.corpus_blocks is None or not found.holds_gold(given):
        return None
    counts = [0, 0]
    seen: set[int] = set()

    def counted(blocks: Iterator[Corpus]) -> Iterator[Corpus]:
        for block in blocks:
            for id in block.ids.to_pylist():
                key = hash(id)
                if key in seen:
                    raise InputError(
                        given.label,
                        found=f"document {id!r} a second time",
                        expected="each document once",
                        remedy="Delete one of the two",
                    )
                seen.add(key)
            counts[0] += len(block)
            counts[1] += len(block.labels)
            yield block

    with writing(target) as file:
        chosen.write_blocks(counted(found.corpus_blocks(given)), file)
        if not counts[0]:
            check.some(pa.table({"id": []}), given.label)
    return counts[0], counts[1]


def target_format(path: str, format: str | None) -> tuple[str, Format]:
    """The format to write a file in, by its name and itself."""
    name = format or _by_suffix(path)
    return name, get("formats", name, Format)


def save(
    data: Corpus | Run | Result,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    base: str | None = None,
    entity_base: str | None = None,
) -> None:
    """Write a corpus or a run; the suffix chooses format and compression (`.gz`, `.zst`), `-` is standard output.

    NIF names things by IRIs, which ids are not always: with a `base` documents and types get absolute ones, and QIDs
    those of Wikidata; other entities need an `entity_base`. Without, ids are written as they are. What
    `datasets.load_from_disk` opens is a folder: a path without suffix, with the format `hf-datasets`. A result is
    written as JSON; `Result.from_json` reads it.
    """
    target = os.fspath(path)
    if isinstance(data, Result):
        save_results([data], target)
        return
    _, chosen = target_format(target, format)
    write = chosen.write_corpus if isinstance(data, Corpus) else chosen.write_run
    if write is None:
        raise UsageError(f"{chosen.title} cannot hold this. Choose another format.")
    if isinstance(data, Corpus) and not data.has_text:
        raise UsageError(f"{data.name} was loaded without its texts. Load it again with text=True.")
    if isinstance(data, Corpus) and data.skipped.get(WITHOUT_TEXT) and not chosen.textless:
        raise UsageError(
            f"{data.name} has no texts, and {chosen.title} holds texts: blanks would be written in their place. Give a "
            "gold standard with texts (--columns text=… or texts=… names those of a table), or choose a format without."
        )
    if base is not None or entity_base is not None:
        if not chosen.iris:
            raise UsageError(f"{chosen.title} names nothing by IRIs, and needs no base. Leave it out.")
        data = with_iris(data, Bases(base, entity_base))
    if chosen.write_folder is not None and target != "-" and not _bare(target).endswith(chosen.suffix):
        write_folder(target, chosen.write_folder(data))
        return
    with writing(target) as file:
        write(data, file)  # type: ignore[arg-type]  # which of the two was decided by the same test


def _source(given: str) -> Source:
    """A file or standard input; a bare word that is neither is taken for a misspelt name."""
    if is_bare_name(given) and not Path(given).exists():
        raise UnknownNameError("dataset or file", given, names("datasets"))
    return Source(given)


def _bare(path: str) -> str:
    """A path without the suffix of its compression."""
    return path.removesuffix(".gz").removesuffix(".zst")


def _by_suffix(path: str) -> str:
    if path == "-":
        return "karat-jsonl"
    bare = _bare(path)
    writers = [(name, known) for name, known in formats() if known.write_corpus or known.write_run]
    longest = max((len(known.suffix) for _, known in writers if bare.endswith(known.suffix)), default=0)
    found = [name for name, known in writers if bare.endswith(known.suffix) and len(known.suffix) == longest]
    own = [name for name in found if name.startswith("karat-")]
    if len(own or found) == 1:
        return (own or found)[0]
    if found:
        raise UsageError(f"{path}: the suffix could mean {', '.join(found)}. Name the format with --to.")
    suffixes = ", ".join(sorted({known.suffix for _, known in writers}))
    raise UsageError(f"{path}: the suffix names no format. Use one of {suffixes} (also .gz, .zst), or give the format.")
