"""Draw Figure 1: one question-answer pair of each strategy over its image."""

from cxrqba import step
from cxrqba.paper import style
from cxrqba.paper.examples import Tables, choose_examples, examples_frame
from cxrqba.paper.examples_figure import examples_figure
from cxrqba.paper.settings import paper_settings
from cxrqba.paper.tables import write_csv

TABLES = ("questions", "answers", "observations", "regions", "rated", "images", "studies")


def main() -> None:
    args = step.arguments(
        __doc__,
        files=("csv", "pdf", "png"),
        lists=TABLES,
    )
    examples = choose_examples(Tables(**{name: getattr(args, name) for name in TABLES}))
    write_csv(examples_frame(examples), args.csv)
    figure = examples_figure(examples, paper_settings(args.settings).title)
    style.save(figure, args.pdf, args.png)
    step.log.info("figure_1_examples: %d examples", len(examples))


if __name__ == "__main__":
    step.run(main)
