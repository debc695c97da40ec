"""Write Table 9: finding boxes against MS-CXR, per class."""

from cxrqba import step
from cxrqba.paper.box_tables import class_table
from cxrqba.paper.settings import paper_settings
from cxrqba.paper.tables import write_outputs


def main() -> None:
    args = step.arguments(__doc__, files=("csv", "markdown"), lists=("scores",))
    title = paper_settings(args.settings).title
    table = class_table("Table 9", "ms_cxr", args.scores, title)
    write_outputs(table, args.csv, args.markdown)
    step.log.info("table_9_ms_cxr: %d rows", table.data.height)


if __name__ == "__main__":
    step.run(main)
