"""Draw Figure 12: ratings of the same questions by two judges."""

from cxrqba import step
from cxrqba.paper import style
from cxrqba.paper.judge_confusion import confusion_data, confusion_figure
from cxrqba.paper.settings import paper_settings
from cxrqba.paper.tables import write_csv


def main() -> None:
    args = step.arguments(__doc__, files=("confusion", "csv", "pdf", "png"))
    counts = confusion_data(args.confusion)
    write_csv(counts, args.csv)
    style.save(confusion_figure(counts, paper_settings(args.settings).title), args.pdf, args.png)
    step.log.info("figure_12_confusion: %d rows", counts.height)


if __name__ == "__main__":
    step.run(main)
