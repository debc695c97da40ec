"""Write Table 10: finding boxes against the ellipses of REFLACX, per class."""

from cxrqba import step
from cxrqba.paper.box_tables import class_table
from cxrqba.paper.settings import paper_settings
from cxrqba.paper.tables import write_outputs


def main() -> None:
    args = step.arguments(__doc__, files=("csv", "markdown"), lists=("scores",))
    title = paper_settings(args.settings).title
    table = class_table("Table 10", "reflacx", args.scores, title)
    write_outputs(table, args.csv, args.markdown)
    step.log.info("table_10_reflacx: %d rows", table.data.height)


if __name__ == "__main__":
    step.run(main)
