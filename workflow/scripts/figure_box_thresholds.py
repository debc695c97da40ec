"""Draw the share of finding boxes that reach a threshold of overlap, over all thresholds."""

from cxrqba import step
from cxrqba.paper import style
from cxrqba.paper.box_thresholds import threshold_data, threshold_figure
from cxrqba.paper.settings import paper_settings
from cxrqba.paper.tables import write_csv


def main() -> None:
    args = step.arguments(__doc__, files=("csv", "pdf", "png"), lists=("pairs",))
    data = threshold_data(args.pairs)
    write_csv(data, args.csv)
    style.save(threshold_figure(data, paper_settings(args.settings).title), args.pdf, args.png)
    step.log.info("figure_box_thresholds: %d points", data.height)


if __name__ == "__main__":
    step.run(main)
