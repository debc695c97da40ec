"""Write Table 2b: agreement of finding boxes with expert boxes."""

from cxrqba import step
from cxrqba.paper.scores import box_table
from cxrqba.paper.settings import paper_settings
from cxrqba.paper.tables import write_outputs


def main() -> None:
    args = step.arguments(__doc__, files=("csv", "markdown"), lists=("scores",))
    table = box_table(args.scores, paper_settings(args.settings).title)
    write_outputs(table, args.csv, args.markdown)
    step.log.info("table_2b_boxes: %d rows", table.data.height)


if __name__ == "__main__":
    step.run(main)
