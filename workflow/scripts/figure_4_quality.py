"""Draw Figure 4: grades of the QA pairs and what limited them."""

from cxrqba import step
from cxrqba.paper import quality, style
from cxrqba.paper.settings import paper_settings
from cxrqba.paper.tables import write_csv


def main() -> None:
    args = step.arguments(__doc__, files=("csv", "pdf", "png"), lists=("rated", "rated_answers"))
    data = quality.quality(args.rated, args.rated_answers)
    write_csv(data, args.csv)
    figure = quality.quality_figure(
        data, quality.subsets(args.rated), paper_settings(args.settings).title
    )
    style.save(figure, args.pdf, args.png)
    step.log.info("figure_4_quality: %d rows", data.height)


if __name__ == "__main__":
    step.run(main)
