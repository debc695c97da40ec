"""Write the page to look through tables, figures and a sample of studies."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from cxrqba import step
from cxrqba.browse.build import index_page
from cxrqba.browse.gather import TABLES
from cxrqba.config import BrowseConfig
from cxrqba.tables import write_text


class Settings(BaseModel):
    """Settings of the step."""

    model_config = ConfigDict(extra="forbid")

    title: str
    browse: BrowseConfig = BrowseConfig()


def main() -> None:
    args = step.arguments(
        __doc__, lists=(*TABLES, "tables", "figures", "captions"), files=("html",)
    )
    settings = Settings.model_validate(args.settings)
    sample = settings.browse
    made = index_page(
        settings.title,
        {name: getattr(args, name) for name in TABLES},
        (args.tables, args.figures, args.captions),
        (sample.studies, sample.seed, sample.megabytes),
        lambda rows: step.progress(rows, len(rows), "index"),
    )
    write_text(made.text, args.html)
    step.log.info(
        "index: %d of %d chosen studies, of %d in all", made.shown, made.chosen, made.known
    )


if __name__ == "__main__":
    step.run(main)
