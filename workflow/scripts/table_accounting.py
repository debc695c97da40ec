"""Write the accounting as a table for reading."""

from cxrqba import step
from cxrqba.paper.accounting import accounting_table
from cxrqba.paper.settings import paper_settings
from cxrqba.paper.tables import write_outputs


def main() -> None:
    args = step.arguments(__doc__, files=("csv", "markdown"), lists=("accounting",))
    table = accounting_table(args.accounting, paper_settings(args.settings).title)
    write_outputs(table, args.csv, args.markdown)
    step.log.info("table_accounting: %d rows", table.data.height)


if __name__ == "__main__":
    step.run(main)
