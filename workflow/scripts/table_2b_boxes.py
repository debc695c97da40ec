"""Write Table 2b: finding boxes against expert boxes, all classes together."""

from cxrqba import step
from cxrqba.paper.box_tables import pooled_table
from cxrqba.paper.settings import paper_settings
from cxrqba.paper.tables import write_outputs


def main() -> None:
    args = step.arguments(__doc__, files=("csv", "markdown"), lists=("scores",))
    title = paper_settings(args.settings).title
    table = pooled_table(args.scores, title)
    write_outputs(table, args.csv, args.markdown)
    step.log.info("table_2b_boxes: %d rows", table.data.height)


if __name__ == "__main__":
    step.run(main)
