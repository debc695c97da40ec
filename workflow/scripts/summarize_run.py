"""Write the summary of a run: what was made and which file to open first."""

from cxrqba import step
from cxrqba.paper.settings import paper_settings
from cxrqba.paper.summary import summarize
from cxrqba.tables import write_text


def main() -> None:
    args = step.arguments(__doc__, files=("summary",), lists=("accounting", "rated", "scores"))
    settings = paper_settings(args.settings)
    text = summarize(args.accounting, args.rated, args.scores, settings, args.summary.parent)
    write_text(text, args.summary)
    step.log.info("summarize_run: %d lines", text.count("\n"))


if __name__ == "__main__":
    step.run(main)
