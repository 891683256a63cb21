"""Make the starter model again: data, tokenizer, target, drafter, GGUF files, figures and card.

Run from the repository root: python resources/starter/make/make.py
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import torch
from guide import card, drafter, export, intents, shapes, target, tokenizer
from guide.dialogues import DialogueSource
from guide.encoding import Encoder
from guide.evaluate import Evaluation
from guide.patterns import Patterns
from guide.schedule import Budget
from guide.teacher import Teacher
from guide.texts import tokenizer_texts
from transformers import Gemma4ForCausalLM, GemmaTokenizer

HERE = Path(__file__).resolve().parent
TEACHER_QUESTIONS, TEACHER_EPOCHS = 150_000, 2
DRAFTER_SHARE = 0.15
"""The drafter's share of the training time."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Do all steps, or with --evaluate only the last one, and return the exit status."""
    options = parse(arguments)
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    knowledge = intents.load(HERE / "intents")
    minutes = trained_minutes(options.out if options.evaluate else options.start_from)
    if not options.evaluate:
        make(knowledge, options)
        minutes += options.minutes
    examination = intents.examination(HERE / "examination.toml", knowledge)
    evaluation = Evaluation(options.out, knowledge, examination, options.threads, options.seed)
    figures = evaluation.run()
    facts: dict[str, object] = {
        "intents": len(knowledge.intents),
        "phrasings": sum(len(intent.phrasings) for intent in knowledge.intents),
        "minutes": minutes,
        "threads": options.threads,
        "seed": options.seed,
    }
    card.write_figures(options.out / "figures.json", figures, facts)
    card.write(HERE / "card.md", options.out / "README.md", figures, facts)
    say((options.out / "README.md").read_text(encoding="utf-8"))
    return 0


def make(knowledge: intents.Knowledge, options: argparse.Namespace) -> None:
    """Train both networks and write them to `options.out` in both formats."""
    source = DialogueSource(knowledge, Patterns(HERE / "patterns"), options.seed, options.prefer)
    vocabulary, start, peak = beginning(knowledge, source, options.start_from)
    encoder = Encoder(vocabulary, Random(options.seed))
    source.use(taught(knowledge, source))
    special = (encoder.stops, encoder.pad, encoder.bos)
    with tempfile.TemporaryDirectory() as scratch:
        llama = export.llama_source(options.llama_source, Path(scratch))
        budget = Budget(options.minutes * (1 - DRAFTER_SHARE))
        answering = start or target.new_model(shapes.target_config(*special))
        answering.to(options.device)
        target.train(answering, source, encoder, budget, peak, options.compile, say)
        budget = Budget(options.minutes * DRAFTER_SHARE)
        drafting = (
            drafter.trained_model(options.start_from / "safetensors" / "drafter")
            if options.start_from
            else drafter.new_model(shapes.drafter_config(*special))
        )
        drafting.to(options.device)
        drafter.train(drafting, answering, source, encoder, budget, say)
        for model, folder, gguf, name in (
            (answering, "target", "starter.gguf", "Hearth guide"),
            (drafting, "drafter", "starter-mtp.gguf", "Hearth guide drafter"),
        ):
            weights = options.out / "safetensors" / folder
            export.save(model, vocabulary, encoder.stops, weights)
            export.convert(llama, weights, options.out / gguf, name)


def beginning(
    knowledge: intents.Knowledge, source: DialogueSource, folder: Path | None
) -> tuple[GemmaTokenizer, Gemma4ForCausalLM | None, float]:
    """Return the vocabulary, model and learning rate to begin with.

    They come from `folder`; without a folder, the vocabulary is trained and the model is None.
    """
    if folder is None:
        texts = tokenizer_texts(knowledge, source)
        return tokenizer.train(texts, HERE / "chat_template.jinja"), None, target.PEAK_RATE
    weights = folder / "safetensors" / "target"
    vocabulary = GemmaTokenizer.from_pretrained(weights)
    return vocabulary, target.trained_model(weights), target.FURTHER_RATE


def trained_minutes(folder: Path | None) -> float:
    """Return the training time of the results in `folder`, by their figures; 0 without a folder."""
    if folder is None:
        return 0.0
    figures = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
    return float(figures["minutes"])


def taught(knowledge: intents.Knowledge, source: DialogueSource) -> Teacher:
    """Return the judge of mixed-up questions, trained on the written ones."""
    teacher = Teacher([intent.name for intent in knowledge.intents])
    asked = [source.asked() for _ in range(TEACHER_QUESTIONS)]
    teacher.train([(question, name) for name, question in asked], TEACHER_EPOCHS, say)
    return teacher


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=52, help="training time (default: 52)")
    parser.add_argument("--threads", type=int, default=2, help="processor threads (default: 2)")
    parser.add_argument("--device", default="cpu", help="where to train, such as cuda")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=HERE.parent, help="folder for the results")
    parser.add_argument("--llama-source", type=Path, help="unpacked llama-cpp-python source")
    parser.add_argument(
        "--start-from", type=Path, metavar="DIR", help="train an earlier result, in DIR, further"
    )
    parser.add_argument(
        "--prefer",
        nargs="+",
        default=(),
        metavar="INTENT",
        help="ask more about these at first, such as new ones after --start-from",
    )
    parser.add_argument("--evaluate", action="store_true", help="only measure what is in --out")
    parser.add_argument(
        "--no-compile",
        dest="compile",
        action="store_false",
        help="do without a C++ compiler; trains a quarter slower",
    )
    return parser.parse_args(arguments)


def say(line: str) -> None:
    """Print a line of progress with the time of day."""
    print(time.strftime("%H:%M:%S"), line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
