"""Draw the images in which anatomy boxes overlap least with known anatomy."""

from cxrqba import step
from cxrqba.paper import style
from cxrqba.paper.regions_figure import regions_figure, worst_images
from cxrqba.paper.settings import paper_settings
from cxrqba.paper.tables import write_csv


def main() -> None:
    args = step.arguments(__doc__, files=("overlaps", "csv", "pdf", "png"), lists=("status",))
    data = worst_images(args.overlaps, args.status)
    write_csv(data.drop("path", "true_box", "found_boxes"), args.csv)
    style.save(regions_figure(data, paper_settings(args.settings).title), args.pdf, args.png)
    step.log.info("figure_regions: %d images", data["image_id"].n_unique())


if __name__ == "__main__":
    step.run(main)
