"""Write Table 15: templates of findings and devices."""

from cxrqba import step
from cxrqba.paper.definitions import template_table
from cxrqba.paper.settings import paper_settings
from cxrqba.paper.tables import write_outputs
from cxrqba.qa.templates import load_templates


def main() -> None:
    args = step.arguments(__doc__, files=("csv", "markdown", "templates"), lists=("questions",))
    title = paper_settings(args.settings).title
    table = template_table("Table 15", load_templates(args.templates), args.questions, title)
    write_outputs(table, args.csv, args.markdown)
    step.log.info("table_15_finding_templates: %d rows", table.data.height)


if __name__ == "__main__":
    step.run(main)
