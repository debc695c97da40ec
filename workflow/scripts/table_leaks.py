"""Write the table of leaks between splits and of balance."""

from cxrqba import step
from cxrqba.paper.leaks import leaks_table
from cxrqba.paper.settings import paper_settings
from cxrqba.paper.tables import write_outputs


def main() -> None:
    args = step.arguments(__doc__, files=("csv", "markdown", "scores", "gate"))
    table = leaks_table(args.scores, args.gate, paper_settings(args.settings).title)
    write_outputs(table, args.csv, args.markdown)
    step.log.info("table_leaks: %d rows", table.data.height)


if __name__ == "__main__":
    step.run(main)
