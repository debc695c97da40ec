"""The lesions of the synthetic films as a reading in the format of REFLACX 1.0.0, phase 3.

Some lesions are drawn as ellipses, so their ellipse is known without a reader: it fills the box of
the lesion as drawn. The others (heart, fluid, air) have no ellipse; the reading's table calls them
present and gives no place. Unspecific opacities have no label in phase 3 and are left out.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from cxrqba.regions.phantom import Phantom, lesion_boxes, truth_rows
from cxrqba.tables import write_text

LABELS = (
    "Abnormal mediastinal contour",
    "Acute fracture",
    "Atelectasis",
    "Consolidation",
    "Enlarged cardiac silhouette",
    "Enlarged hilum",
    "Groundglass opacity",
    "Hiatal hernia",
    "High lung volume / emphysema",
    "Interstitial lung disease",
    "Lung nodule or mass",
    "Other",
    "Pleural abnormality",
    "Pneumothorax",
    "Pulmonary edema",
    "Support devices",
)
"""Labels of phase 3, in the order of the files."""
DRAWN_AS_ELLIPSES = {
    "Atelectasis": "Atelectasis",
    "Consolidation": "Consolidation",
    "Edema": "Pulmonary edema",
    "Nodule": "Lung nodule or mass",
    "Pneumonia": "Consolidation",
}
"""Category of lesions.csv -> label."""
DRAWN_OTHERWISE = {
    "Cardiomegaly": "Enlarged cardiac silhouette",
    "Pleural Effusion": "Pleural abnormality",
    "Pneumothorax": "Pneumothorax",
}
CERTAIN = 5
PREFIX = "physionet.org/files/mimic-cxr/2.0.0"
METADATA = (
    "id",
    "split",
    "eye_tracking_data_discarded",
    "image",
    "dicom_id",
    "subject_id",
    "image_size_x",
    "image_size_y",
)
CORNERS = ("xmin", "ymin", "xmax", "ymax")


def reflacx_files(images: Iterable[Phantom], splits: Mapping[str, str]) -> dict[str, str]:
    """Files below the data set's folder: path -> text; one reading a frontal image.

    ``splits`` gives train, validate or test by dicom id.
    """
    files: dict[str, str] = {}
    table: list[Sequence[object]] = [(*METADATA, *LABELS)]
    frontal = [image for image in images if image.view == "frontal"]
    for number, image in enumerate(frontal, start=1):
        name = f"P300R{number:06d}"
        folder = f"main_data/{name}"
        table.append(_reading(name, image, splits[image.dicom_id]))
        files[f"{folder}/anomaly_location_ellipses.csv"] = _csv(_ellipses(image))
        files[f"{folder}/chest_bounding_box.csv"] = _csv([CORNERS, _chest(image)])
    return {"main_data/metadata_phase_3.csv": _csv(table)} | files


def write_reflacx(files: Mapping[str, str], folder: Path) -> None:
    """Write all files below ``folder``."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(text, path)


def _reading(name: str, image: Phantom, split: str) -> Sequence[object]:
    categories = {lesion.category for lesion in image.lesions}
    placed = {**DRAWN_AS_ELLIPSES, **DRAWN_OTHERWISE}
    present = {label for category, label in placed.items() if category in categories}
    levels: dict[str, object] = {label: CERTAIN if label in present else 0 for label in LABELS}
    levels |= {"Other": "", "Support devices": "Device" in categories}
    path = f"{PREFIX}/{image.path.removesuffix('.jpg')}.dcm"
    return (
        *(name, split, True, path, image.dicom_id, image.subject_id, image.width, image.height),
        *levels.values(),
    )


def _ellipses(image: Phantom) -> list[Sequence[object]]:
    """One row an ellipse below the header, which stands alone where there is none."""
    rows: list[Sequence[object]] = [(*CORNERS, "certainty", *LABELS)]
    for lesion, box in lesion_boxes(image):
        label = DRAWN_AS_ELLIPSES.get(lesion.category)
        if label:
            rows.append((*map(round, box), CERTAIN, *(name == label for name in LABELS)))
    return rows


def _chest(image: Phantom) -> list[int]:
    """The box around both lungs."""
    lungs = ("left lung", "right lung")
    truth = truth_rows(image, image.chest())
    boxes = [row["bboxes"][0] for row in truth if row["structure"] in lungs]
    starts = [min(b[i] for b in boxes) for i in (0, 1)]
    return [round(v) for v in (*starts, *(max(b[i] for b in boxes) for i in (2, 3)))]


def _csv(rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    return text.getvalue()
