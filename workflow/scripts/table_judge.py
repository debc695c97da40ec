"""Write the validity table of the judge."""

from cxrqba import step
from cxrqba.paper.judge_validity import validity_table
from cxrqba.paper.settings import paper_settings
from cxrqba.paper.tables import write_outputs


def main() -> None:
    args = step.arguments(__doc__, files=("csv", "markdown", "scores"))
    table = validity_table(args.scores, paper_settings(args.settings).title)
    write_outputs(table, args.csv, args.markdown)
    step.log.info("table_judge: %d rows", table.data.height)


if __name__ == "__main__":
    step.run(main)
