"""Write Table 7: finding tags against expert labels, per class of CheXpert."""

from cxrqba import step
from cxrqba.paper.label_tables import class_table
from cxrqba.paper.settings import paper_settings
from cxrqba.paper.tables import write_outputs


def main() -> None:
    args = step.arguments(__doc__, files=("csv", "markdown"), lists=("scores", "variants"))
    title = paper_settings(args.settings).title
    table = class_table("Table 7", False, args.scores, args.variants, title)
    write_outputs(table, args.csv, args.markdown)
    step.log.info("table_7_chexpert: %d rows", table.data.height)


if __name__ == "__main__":
    step.run(main)
