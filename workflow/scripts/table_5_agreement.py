"""Write Table 5: agreement of the judge with people."""

from cxrqba import step
from cxrqba.paper.judge_agreement import agreement_table
from cxrqba.paper.settings import paper_settings
from cxrqba.paper.tables import write_outputs


def main() -> None:
    args = step.arguments(__doc__, files=("csv", "markdown", "scores"))
    table = agreement_table(args.scores, paper_settings(args.settings).title)
    write_outputs(table, args.csv, args.markdown)
    step.log.info("table_5_agreement: %d rows", table.data.height)


if __name__ == "__main__":
    step.run(main)
