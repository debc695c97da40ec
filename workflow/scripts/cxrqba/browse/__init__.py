"""Pages to look through tables, figures and studies; they hold report text and stay in results."""
