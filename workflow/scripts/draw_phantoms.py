"""Draw the synthetic images of the demo and the table of their known anatomy."""

from __future__ import annotations

from cxrqba import step
from cxrqba.regions.phantom import read_phantoms, truth_rows
from cxrqba.regions.phantom_film import draw, write_film
from cxrqba.schema import PHANTOM_TRUTH
from cxrqba.tables import frame, write_table


def main() -> None:
    args = step.arguments(__doc__, files=("phantoms", "lesions", "images", "truth"))
    images = read_phantoms(args.phantoms, args.lesions)
    args.images.mkdir(parents=True, exist_ok=True)
    truth = []
    for image in step.progress(images, len(images), "draw_phantoms"):
        chest = image.chest()
        write_film(draw(image, chest), args.images / image.path)
        truth += truth_rows(image, chest)
    table = frame(truth, PHANTOM_TRUTH).sort("image_id", "structure")
    write_table(table, args.truth, PHANTOM_TRUTH)
    step.log.info("draw_phantoms: %d images", len(images))


if __name__ == "__main__":
    step.run(main)
