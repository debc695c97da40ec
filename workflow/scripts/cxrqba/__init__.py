"""CXR-QBA: chest X-ray reports and images to scene graphs and question-answer pairs.

The package is pure: no Snakemake inside. Its rooms follow the flow of the data and an earlier
room never imports a later one (``tests/unit/test_house.py`` holds this):
``reference`` -> ``reports`` -> ``regions`` -> ``extract`` -> ``mapping`` -> ``graph`` -> ``qa``
-> ``judge`` -> ``evaluate`` -> ``paper`` -> ``provenance``. The modules beside them (``errors``,
``schema``, ``tables``, ``config``, ``ledger``, ``step``) are the foundation all rooms stand on.
"""

__version__ = "0.1.0"
