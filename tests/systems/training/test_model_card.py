"""The model card of a trained model: what Hugging Face reads, what is unknown, and scores that are added later."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import karat
from karat import InputError, UsageError
from karat.systems.training.model_card import _replace_key, update_card
from karat.systems.training.options import TrainingOptions

pytestmark = pytest.mark.extras

QUICK = TrainingOptions(epochs=3, batch_size=4, learning_rate=3e-3, max_length=32, dimension=16, bf16=False)


@pytest.fixture
def model(world, tiny_encoder, tmp_path, monkeypatch):
    from karat.systems.training.train import train_linker

    monkeypatch.setenv("KARAT_HOME", str(tmp_path / "home"))
    train_linker("fevry", world, tmp_path / "my-model", QUICK, dev=world, encoder=str(tiny_encoder), device="cpu")
    return tmp_path / "my-model"


def score(model, world, tmp_path, **more):
    run = karat.link(f"fevry:{model}", world, gold_mentions=True)
    return karat.evaluate(world, run, settings={"task": "d2kb"}, **more)


def card(model):
    hub = pytest.importorskip("huggingface_hub")
    return hub.ModelCard.load(model / "README.md")


def test_a_training_leaves_a_folder_as_the_hub_has_them_and_says_what_is_unknown(model, tiny_encoder):
    assert {path.name for path in model.iterdir()} >= {"README.md", "config.json", "model.safetensors", "linker.json"}
    data = card(model).data
    assert (data.license, data.library_name, data.datasets, data.eval_results) == ("unknown", "karat", ["world"], None)
    assert data.tags == ["entity-linking", "entity-disambiguation", "karat", "fevry"]
    text = (model / "README.md").read_text(encoding="utf-8")
    for row in ("licence", "language", "licence of the training data", "intended use, limits, bias"):
        assert f"| {row} | unknown |" in text
    assert "No test scores yet" in text
    assert "| epochs | 3, of which number" in text
    assert "| dimension | 16 |" in text
    assert "mask_prob" not in text  # only LUKE masks entities
    assert str(tiny_encoder.parent) not in text  # a path of this machine is nobody's business
    assert json.loads((model / "linker.json").read_text(encoding="utf-8"))["digest"] in text


def test_scores_are_added_with_their_signatures_and_the_rest_is_the_users(model, world, tmp_path):
    path = model / "README.md"
    edited = path.read_text(encoding="utf-8").replace("license: unknown", "license: mit\nlanguage:\n- en")
    path.write_text(edited.replace("## Facts", "My own words.\n\n## Facts"), encoding="utf-8")
    result = score(model, world, tmp_path, resamples=50)
    update_card(model, [result])
    update_card(model, [result])  # the same scores again change nothing
    data = card(model).data
    assert (data.license, data.language) == ("mit", ["en"])
    found = {item.metric_type: item for item in data.eval_results}
    assert set(found) == set(result.table_measures)
    assert len(data.eval_results) == len(found)
    f1 = found["strong:micro.f1"]
    assert f1.metric_value == pytest.approx(result["strong:micro.f1"], abs=1e-6)
    assert str(karat.parse_signature(f1.metric_args["signature"])) == str(result.signature)
    assert (f1.dataset_name, f1.task_type, f1.task_name) == ("world (training data)", "entity-linking", "d2kb")
    assert f1.dataset_args == {"digest": world.digest}
    text = path.read_text(encoding="utf-8")
    assert "My own words." in text
    assert "No test scores yet" not in text
    assert text.count(str(result.signature)) == len(found) + 1  # those of the header, and one below the table
    assert f"| {result['strong:micro.f1']:.4f} (95%: " in text


def test_several_datasets_and_undefined_scores(model, world, tmp_path):
    unlinked = karat.Corpus.from_documents([karat.Document("x", "We saw Mercury", ())], name="empty | set")
    update_card(model, [score(model, world, tmp_path)])
    scores = update_card(model, [score(model, unlinked, tmp_path)])
    assert [item.dataset for item in scores] == ["empty | set", "world"]
    found = {(item.dataset_name, item.metric_type) for item in card(model).data.eval_results}
    assert ("world (training data)", "strong:micro.f1") in found
    assert ("empty | set", "strong:micro.f1") not in found
    assert "| empty \\| set | 1 | d2kb | strong:micro.f1 | undefined |" in (model / "README.md").read_text(
        encoding="utf-8"
    )


def test_scores_with_an_option_name_it(model, world, tmp_path):
    result = score(model, world, tmp_path)
    metadata = {**result.run_metadata, "options": f"argument={model},candidate-file=lists.jsonl"}
    (scores,) = update_card(model, [replace(result, run_metadata=metadata)])
    assert scores.title == "world (training data, candidate-file=lists.jsonl)"
    assert "| world (training data, candidate-file=lists.jsonl) |" in (model / "README.md").read_text(encoding="utf-8")


def test_scores_of_other_predictions_are_refused(model, world, tmp_path):
    before = (model / "README.md").read_bytes()
    other = karat.evaluate(world, karat.Run.from_gold(world))
    with pytest.raises(UsageError, match="the run does not name its weights"):
        update_card(model, [other])
    linker = json.loads((model / "linker.json").read_text(encoding="utf-8"))
    result = score(model, world, tmp_path)
    (model / "linker.json").write_text(json.dumps(linker | {"digest": "0" * 16}), encoding="utf-8")
    with pytest.raises(UsageError, match="the run has other weights"):
        update_card(model, [result])
    assert (model / "README.md").read_bytes() == before
    assert not (model / "scores.json").exists()


def test_the_command_adds_scores_and_a_licence(model, world, tmp_path, karat_cli):
    result = tmp_path / "result.json"
    karat.save(score(model, world, tmp_path), result)
    ran = karat_cli("systems", "card", model, "--scores", result, "--licence", "apache-2.0")
    assert (ran.code, ran.out) == (0, f"{model / 'README.md'}: scores on 1 dataset\n")
    assert card(model).data.license == "apache-2.0"
    assert "| licence | apache-2.0 |" in (model / "README.md").read_text(encoding="utf-8")
    for arguments, message in (
        (("--licence", "My: own"), "not an identifier of a licence"),
        (("--scores", tmp_path / "nothing.json"), "no results"),
    ):
        ran = karat_cli("systems", "card", model, *arguments)
        assert ran.code == 2
        assert message in ran.err
    (model / "README.md").write_text("no header", encoding="utf-8")
    with pytest.raises(InputError, match="a card without YAML header"):
        update_card(model, [score(model, world, tmp_path)])
    (model / "README.md").unlink()  # older models have none
    update_card(model, licence="mit")
    assert (card(model).data.license, card(model).data.library_name) == ("mit", "karat")
    assert "| device | unknown |" in (model / "README.md").read_text(encoding="utf-8")


def test_a_key_of_a_header_is_replaced_with_its_block_only():
    header = ["a: 1", "b:", "- x", "  y: 2", "", "# note", "c: 3"]
    assert _replace_key(header, "b", ["b: 9"]) == ["a: 1", "b: 9", "c: 3"]
    assert _replace_key(header, "c", ["c: 4"]) == [*header[:-1], "c: 4"]
    assert _replace_key(header, "d", ["d: 5"]) == [*header, "d: 5"]


@pytest.mark.parametrize(("file", "library"), [("meta.json", "spacy"), ("config.json", "transformers")])
def test_the_model_of_another_library_gets_a_card_that_says_what_was_not_checked(
    world, tmp_path, karat_cli, file, library
):
    model = tmp_path / "my_pipeline"
    model.mkdir()
    (model / file).write_text("{}", encoding="utf-8")
    karat.save(karat.evaluate(world, karat.Run.from_gold(world)), tmp_path / "result.json")
    ran = karat_cli("systems", "card", model, "--scores", tmp_path / "result.json", "--licence", "mit")
    assert (ran.code, ran.out) == (0, f"{model / 'README.md'}: scores on 1 dataset\n")
    data = card(model).data
    assert (data.license, data.library_name, data.tags) == ("mit", library, ["entity-linking"])
    assert {item.metric_value for item in data.eval_results if item.metric_type == "strong:micro.f1"} == {1.0}
    text = (model / "README.md").read_text(encoding="utf-8")
    assert text.count("cannot check that they come from this model") == 1
    assert json.loads((model / "scores.json").read_text(encoding="utf-8"))[0]["dataset"] == "world"


def test_a_card_of_the_users_own_keeps_its_text(world, tmp_path):
    (tmp_path / "README.md").write_text("---\nlicense: mit\n---\n# Mine\n\nMy words.\n", encoding="utf-8")
    update_card(tmp_path, [karat.evaluate(world, karat.Run.from_gold(world))])
    assert card(tmp_path).data.license == "mit"
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "# Mine\n\nMy words.\n\n## Scores\n" in text


def test_all_files_of_a_model_have_the_same_permissions(model):
    assert len({path.stat().st_mode for path in model.iterdir()}) == 1


def test_a_folder_without_a_model_gets_no_card(world, tmp_path):
    with pytest.raises(UsageError, match="has no trained model"):
        update_card(tmp_path, [karat.evaluate(world, karat.Run.from_gold(world))])
    assert not list(tmp_path.iterdir())
