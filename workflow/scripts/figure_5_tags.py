"""Draw Figure 5: tags of the answers by question strategy."""

from cxrqba import step
from cxrqba.paper import style
from cxrqba.paper.settings import paper_settings
from cxrqba.paper.tables import write_csv
from cxrqba.paper.tags import tag_counts, tag_figure


def main() -> None:
    args = step.arguments(__doc__, files=("csv", "pdf", "png"), lists=("answers",))
    data = tag_counts(args.answers)
    write_csv(data, args.csv)
    style.save(tag_figure(data, paper_settings(args.settings).title), args.pdf, args.png)
    step.log.info("figure_5_tags: %d rows", data.height)


if __name__ == "__main__":
    step.run(main)
