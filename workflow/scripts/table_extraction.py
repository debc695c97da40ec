"""Write the table of the extraction's agreement with annotated reports."""

from cxrqba import step
from cxrqba.paper.extraction import extraction_table
from cxrqba.paper.settings import paper_settings
from cxrqba.paper.tables import write_outputs


def main() -> None:
    args = step.arguments(__doc__, files=("csv", "markdown", "scores", "stages"))
    table = extraction_table(args.scores, args.stages, paper_settings(args.settings).title)
    write_outputs(table, args.csv, args.markdown)
    step.log.info("table_extraction: %d rows", table.data.height)


if __name__ == "__main__":
    step.run(main)
