"""Account for every study, image and question: in, out, lost, where and why."""

from __future__ import annotations

from cxrqba import step
from cxrqba.provenance.accounting import Tables, account
from cxrqba.schema import ACCOUNTING
from cxrqba.tables import write_table

TABLES = (
    "studies",
    "ledgers",
    "statuses",
    "graphs",
    "observations",
    "questions",
    "answers",
    "skipped",
    "rated",
    "image_status",
)


def main() -> None:
    args = step.arguments(__doc__, lists=TABLES, files=("accounting",))
    accounting = account(Tables(**{name: getattr(args, name) for name in TABLES}))
    write_table(accounting, args.accounting, ACCOUNTING)
    step.log.info("account_studies: every study is accounted for, %d rows", accounting.height)


if __name__ == "__main__":
    step.run(main)
