"""Write the agreement of anatomy boxes with known anatomy."""

from cxrqba import step
from cxrqba.paper.scores import region_table
from cxrqba.paper.settings import paper_settings
from cxrqba.paper.tables import write_outputs


def main() -> None:
    args = step.arguments(__doc__, files=("csv", "markdown"), lists=("scores",))
    table = region_table(args.scores, paper_settings(args.settings).title)
    write_outputs(table, args.csv, args.markdown)
    step.log.info("table_regions: %d rows", table.data.height)


if __name__ == "__main__":
    step.run(main)
