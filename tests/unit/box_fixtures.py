"""Expert files in their source layout, observations and images for the tests of boxes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from cxrqba.evaluate.box_scores import Settings
from cxrqba.evaluate.boxes import Evaluation, Expert, evaluate
from cxrqba.reference.tables import load_reference
from cxrqba.schema import IMAGES, OBSERVATIONS, REGION_BOXES
from cxrqba.tables import frame

REFERENCE = load_reference(Path(__file__).parents[2] / "resources" / "reference")
MS_CXR_HEADER = "dicom_id,category_name,label_text,path,x,y,w,h,image_width,image_height,split\n"
PHASE_1 = [
    "Airway wall thickening",
    "Atelectasis",
    "Consolidation",
    "Emphysema",
    "Enlarged cardiac silhouette",
    "Fibrosis",
    "Fracture",
    "Groundglass opacity",
    "Mass",
    "Nodule",
    "Other",
    "Pleural effusion",
    "Pleural thickening",
    "Pneumothorax",
    "Pulmonary edema",
    "Quality issue",
    "Support devices",
    "Wide mediastinum",
]
PHASE_3 = [
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
]
FLAGS = ("Quality issue", "Support devices")


def observation(finding: str, image: str, *boxes: Sequence[float], **more: Any) -> dict[str, Any]:
    return {
        "study_id": image.replace("i", "s"),
        "obs_id": "O01",
        "obs_entities": [finding],
        "positiveness": "pos",
        "from_report": True,
        "localization": [{"image_id": image, "bboxes": [list(map(float, b)) for b in boxes]}],
        **more,
    }


def images(width: int | None = 100, height: int | None = 100) -> pl.DataFrame:
    return frame(
        [
            {
                "patient_id": f"p{n}",
                "study_id": f"s{n}",
                "image_id": f"i{n}",
                "width": width,
                "height": height,
            }
            for n in (1, 2)
        ],
        IMAGES,
    )


def lung(image: str, region: str, *box: float, **more: Any) -> dict[str, Any]:
    return {
        "image_id": image,
        "region": region,
        "bboxes": [list(box)],
        "is_fallback": False,
        **more,
    }


def ms_cxr(folder: Path, *rows: str, header: str = MS_CXR_HEADER) -> Path:
    path = folder / "MS_CXR_Local_Alignment_v1.1.0.csv"
    path.write_text(header + "".join(f"{r}\n" for r in rows), encoding="utf-8")
    return path


class Reflacx:
    """A folder in the layout of REFLACX, filled reading by reading."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "main_data").mkdir()

    def reading(
        self,
        name: str,
        image: str,
        ellipses: Iterable[tuple[Sequence[object], object, Sequence[str]]] | None,
        stated: dict[str, object] | None = None,
        labels: Sequence[str] = PHASE_3,
        ellipse_labels: Sequence[str] | None = None,
        size: tuple[object, object] = (100, 100),
    ) -> None:
        """One reader's marks: (corners, certainty, labels) each; None writes no ellipse file."""
        phase = name[1]
        table = self.folder / "main_data" / f"metadata_phase_{phase}.csv"
        columns = "id,split,eye_tracking_data_discarded,image,dicom_id,subject_id"
        if not table.exists():
            head = f"{columns},image_size_x,image_size_y,{','.join(labels)}\r\n"
            table.write_text(head, newline="")
        cells = [
            (stated or {}).get(n, "False" if n in FLAGS else "" if n == "Other" else 0)
            for n in labels
        ]
        path = f"physionet.org/files/mimic-cxr/2.0.0/files/p10/p1/s1/{image}.dcm"
        row = [name, "train", "False", path, image, "1", *size, *cells]
        with table.open("a", newline="") as file:
            file.write(",".join(map(str, row)) + "\r\n")
        if ellipses is None:
            return
        shown = ellipse_labels or labels
        lines = [f"xmin,ymin,xmax,ymax,certainty,{','.join(shown)}"]
        for corners, certainty, names in ellipses:
            lines.append(",".join(map(str, [*corners, certainty, *(n in names for n in shown)])))
        (table.parent / name).mkdir()
        text = "".join(f"{line}\r\n" for line in lines)
        (table.parent / name / "anomaly_location_ellipses.csv").write_text(text, newline="")


def run(
    expert: Expert,
    observations: Iterable[dict[str, Any]] = (),
    shown: pl.DataFrame | None = None,
    lungs: Iterable[dict[str, Any]] = (),
    bootstrap: int = 20,
) -> Evaluation:
    return evaluate(
        [frame(observations, OBSERVATIONS)],
        images() if shown is None else shown,
        [frame(lungs, REGION_BOXES)],
        [expert],
        REFERENCE,
        Settings("test", bootstrap),
    )


def values(found: Evaluation, pooling: str = "union") -> dict[tuple[str, str, str], float]:
    """(system, class, metric) -> value, with pairs and targets as further metrics."""
    rows = found.scores.filter(pooling=pooling).iter_rows(named=True)
    cells: dict[tuple[str, str, str], float] = {}
    for row in rows:
        key = row["system"], row["class"]
        cells[*key, row["metric"]] = row["value"]
        cells |= {(*key, name): row[name] for name in ("pairs", "targets")}
    return cells
