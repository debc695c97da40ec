"""Read one shard of a source: studies with their reports, the image manifest, the ledger.

Every study the source names is either in the studies table or in the ledger with a reason.
"""

from pydantic import TypeAdapter

from cxrqba import step
from cxrqba.config import HashShards, Source, SubjectPrefixShards
from cxrqba.reports.readers import prepare
from cxrqba.schema import IMAGES, LEDGER, STUDIES
from cxrqba.tables import write_table


def main() -> None:
    args = step.arguments(__doc__, files=("studies", "images", "ledger"))
    source = TypeAdapter(Source).validate_python(args.settings["source"])
    shards = TypeAdapter(SubjectPrefixShards | HashShards).validate_python(args.settings["shards"])
    prepared = prepare(source, shards, args.shard)
    write_table(prepared.studies, args.studies, STUDIES)
    write_table(prepared.images, args.images, IMAGES)
    write_table(prepared.ledger, args.ledger, LEDGER)
    step.log.info(
        "prepare_studies: shard %s: %d studies (%d without report), %d images, %d ledger rows",
        args.shard,
        prepared.studies.height,
        prepared.studies["report"].null_count(),
        prepared.images.height,
        prepared.ledger.height,
    )


if __name__ == "__main__":
    step.run(main)
