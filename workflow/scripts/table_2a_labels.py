"""Write Table 2a: agreement of finding tags with expert labels."""

from cxrqba import step
from cxrqba.paper.scores import label_table
from cxrqba.paper.settings import paper_settings
from cxrqba.paper.tables import write_outputs


def main() -> None:
    args = step.arguments(__doc__, files=("csv", "markdown"), lists=("scores",))
    table = label_table(args.scores, paper_settings(args.settings).title)
    write_outputs(table, args.csv, args.markdown)
    step.log.info("table_2a_labels: %d rows", table.data.height)


if __name__ == "__main__":
    step.run(main)
