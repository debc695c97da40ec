"""Write Table 12: levels of the judge's criteria and the best grade each allows."""

from cxrqba import step
from cxrqba.paper.definitions import text_quality_table
from cxrqba.paper.settings import paper_settings
from cxrqba.paper.tables import write_outputs


def main() -> None:
    args = step.arguments(__doc__, files=("csv", "markdown"))
    table = text_quality_table(paper_settings(args.settings).title)
    write_outputs(table, args.csv, args.markdown)
    step.log.info("table_12_text_quality: %d rows", table.data.height)


if __name__ == "__main__":
    step.run(main)
