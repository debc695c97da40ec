"""Draw Figure 6: lengths of the answers in words."""

from cxrqba import step
from cxrqba.paper import style
from cxrqba.paper.lengths import length_counts, length_figure
from cxrqba.paper.settings import paper_settings
from cxrqba.paper.tables import write_csv


def main() -> None:
    args = step.arguments(__doc__, files=("csv", "pdf", "png"), lists=("answers",))
    data = length_counts(args.answers)
    write_csv(data, args.csv)
    style.save(length_figure(data, paper_settings(args.settings).title), args.pdf, args.png)
    step.log.info("figure_6_lengths: %d rows", data.height)


if __name__ == "__main__":
    step.run(main)
