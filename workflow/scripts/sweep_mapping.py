"""Score entity mapping on the gold phrases at thresholds 0.30 to 0.90 (paper Sec. E.1.3)."""

from __future__ import annotations

from cxrqba import step
from cxrqba.config import EmbeddingConfig
from cxrqba.errors import UserError
from cxrqba.mapping.backends import load_backend
from cxrqba.mapping.mapper import Mapper
from cxrqba.mapping.sweep import PARTS, as_markdown, read_gold, sweep
from cxrqba.reference.tables import load_reference
from cxrqba.tables import write_text


def main() -> None:
    args = step.arguments(__doc__, files=("gold", "reference", "scores", "table"))
    part = args.settings.get("part", "dev")
    if part not in PARTS:
        raise UserError(f"part '{part}': take one of {', '.join(PARTS)}")
    config = EmbeddingConfig.model_validate(args.settings.get("embedding", {}))
    reference = load_reference(args.reference)
    phrases = [p for p in read_gold(args.gold, reference) if p.part == part]
    scores = sweep(Mapper(reference, load_backend(config)), phrases)
    write_text(scores.write_csv(), args.scores)
    write_text(as_markdown(scores, config.backend, part), args.table)
    step.log.info("sweep_mapping: %d phrases of part %s", len(phrases), part)


if __name__ == "__main__":
    step.run(main)
