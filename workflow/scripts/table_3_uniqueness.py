"""Write Table 3: how often questions, answers and tag sets repeat."""

from cxrqba import step
from cxrqba.paper.settings import paper_settings
from cxrqba.paper.tables import write_outputs
from cxrqba.paper.uniqueness import uniqueness_table


def main() -> None:
    args = step.arguments(__doc__, files=("csv", "markdown"), lists=("questions", "answers"))
    table = uniqueness_table(args.questions, args.answers, paper_settings(args.settings).title)
    write_outputs(table, args.csv, args.markdown)
    step.log.info("table_3_uniqueness: %d rows", table.data.height)


if __name__ == "__main__":
    step.run(main)
