"""Ask a model for the sentences of reports, as far as no answer is stored (Sec. E.1.2)."""

from __future__ import annotations

from cxrqba import step
from cxrqba.config import PassesConfig
from cxrqba.llm.run import answer, store_of
from cxrqba.schema import MODEL_REQUESTS, RECEIPTS
from cxrqba.tables import read_table, write_table


def main() -> None:
    args = step.arguments(__doc__, files=("requests", "receipts"))
    config = PassesConfig.model_validate(args.settings)
    requests = read_table(args.requests, MODEL_REQUESTS)
    receipts = answer(requests, config, store_of(args.receipts), "sentences", args.shard)
    write_table(receipts, args.receipts, RECEIPTS)


if __name__ == "__main__":
    step.run(main)
