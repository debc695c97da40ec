"""REFLACX: its layout with all oddities, and how several readers become one target."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from box_fixtures import PHASE_1, REFERENCE, Reflacx, images, observation, run, values

from cxrqba.errors import UserError
from cxrqba.evaluate.boxes import Expert
from cxrqba.evaluate.reflacx import Cut, read_reflacx
from cxrqba.evaluate.shapes import Shape

LABELS = REFERENCE.labels["reflacx"]
AIR, EDEMA = "Pneumothorax", "Pulmonary edema"
BOX = (10, 10, 30, 20)
ALL = ("union", "majority", "reading")


@pytest.fixture
def source(tmp_path: Path) -> Reflacx:
    return Reflacx(tmp_path)


def expert(source: Reflacx, phases: tuple[int, ...] = (3,), **more: object) -> Expert:
    cut = Cut(phases, int(str(more.pop("certainty", 3))))
    return Expert("gold", "reflacx", source.folder, poolings=ALL, cut=cut, **more)  # type: ignore[arg-type]


def test_an_ellipse_fills_its_rectangle(source: Reflacx) -> None:
    source.reading("P300R000001", "i1", [(BOX, 5, [AIR])], {AIR: 5})
    cells = values(run(expert(source), [observation("pneumothorax", "i1", BOX)]))
    assert cells["ours", AIR, "iop"] == pytest.approx(math.pi / 4)
    assert cells["ours", AIR, "iot"] == pytest.approx(1.0)


def test_one_ellipse_can_stand_for_several_labels(source: Reflacx) -> None:
    source.reading("P300R000001", "i1", [(BOX, 4, [AIR, EDEMA])])
    ((reading,), faults) = read_reflacx(source.folder, LABELS, Cut((3,)))
    assert reading.shapes == {AIR: [Shape(*BOX, True)], EDEMA: [Shape(*BOX, True)]}
    assert faults == []


def test_ellipses_below_the_cut_are_left_out(source: Reflacx) -> None:
    source.reading("P300R000001", "i1", [(BOX, 2, [AIR]), (BOX, 3, [EDEMA])])
    by_cut = {
        cut: sorted(read_reflacx(source.folder, LABELS, Cut((3,), cut))[0][0].shapes)
        for cut in (1, 3, 4)
    }
    assert by_cut == {1: [AIR, EDEMA], 3: [EDEMA], 4: []}
    scores = run(expert(source, certainty=4)).scores
    assert "certainty 4 (probably) or higher, phase 3" in scores["protocol"][0]


def test_a_file_with_its_header_alone_says_nothing_is_there(source: Reflacx) -> None:
    source.reading("P300R000001", "i1", [])
    cells = values(run(expert(source), [observation("pneumothorax", "i1", BOX)]))
    assert cells["ours", AIR, "targets"] == 0
    assert cells["ours", AIR, "predictions_without_target"] == 1


def test_a_label_without_an_ellipse_says_nothing_of_the_place(source: Reflacx) -> None:
    source.reading("P300R000001", "i1", [], {AIR: 4, EDEMA: 2, "Other": "a|b"})
    seen = [observation("pneumothorax", "i1", BOX), observation("pulmonary edema", "i1", BOX)]
    cells = values(run(expert(source), seen))
    assert cells["ours", AIR, "predictions_without_target"] == 0
    assert cells["ours", EDEMA, "predictions_without_target"] == 1
    ((reading,), _) = read_reflacx(source.folder, LABELS, Cut((3,)))
    assert reading.unplaced == {AIR, "Other"}


def test_labels_of_another_phase_are_not_asked_for(source: Reflacx) -> None:
    """Phase 3 knows no label Nodule: a box of a nodule is not one too many."""
    source.reading("P300R000001", "i1", [])
    cells = values(run(expert(source), [observation("pulmonary nodule", "i1", BOX)]))
    assert cells["ours", "Nodule", "predictions_without_target"] == 0
    assert cells["ours", "Lung nodule or mass", "predictions_without_target"] == 1


def test_an_ellipse_file_of_another_phase_is_an_error(source: Reflacx) -> None:
    source.reading("P300R000001", "i1", [(BOX, 5, ["Nodule"])], ellipse_labels=PHASE_1)
    with pytest.raises(UserError, match=r"line 2: label 'Nodule' is none of the reading's phase"):
        run(expert(source))


def three_readers(source: Reflacx) -> None:
    """Three of phase 1 draw bands that overlap; the third of i2 is alone with his."""
    bands = {"P101R000001": (0, 0, 30, 10), "P101R000002": (10, 0, 40, 10)}
    for name, band in bands.items():
        source.reading(name, "i1", [(band, 5, [AIR])], labels=PHASE_1)
    source.reading("P101R000003", "i1", [], labels=PHASE_1)
    source.reading("P102R000001", "i2", [(BOX, 5, [AIR])], labels=PHASE_1)
    source.reading("P102R000002", "i2", [], labels=PHASE_1)


def test_readers_are_pooled_in_three_ways(source: Reflacx) -> None:
    three_readers(source)
    seen = [observation("pneumothorax", "i1", (0, 0, 40, 10))]
    found = run(expert(source, (1,)), seen)
    ellipse = math.pi / 4 * 300
    union = values(found, "union")
    assert (union["ours", AIR, "targets"], union["ours", AIR, "pairs"]) == (2, 1)
    each = values(found, "reading")
    assert (each["ours", AIR, "targets"], each["ours", AIR, "pairs"]) == (3, 2)
    assert each["ours", AIR, "iop"] == pytest.approx(ellipse / 400)
    assert each["ours", AIR, "predictions_without_target"] == 1  # the third reader of i1
    majority = values(found, "majority")
    assert majority["ours", AIR, "targets"] == 1  # in i2 one of two is no majority
    # the lens of two circles of radius 15 with centres 10 apart, squeezed to a third
    lens = (450 * math.acos(10 / 30) - 5 * math.sqrt(900 - 100)) / 3
    assert majority["ours", AIR, "iop"] == pytest.approx(lens / 400)
    assert union["ours", AIR, "iop"] == pytest.approx((2 * ellipse - lens) / 400)
    pairs = found.pairs.filter(pooling="reading", system="ours")
    assert pairs["reading"].to_list() == ["P101R000001", "P101R000002", "P102R000001"]


def test_a_majority_that_agrees_on_no_place_is_no_target(source: Reflacx) -> None:
    for name, box in (("P101R000001", (0, 0, 10, 10)), ("P101R000002", (50, 50, 60, 60))):
        source.reading(name, "i1", [(box, 5, [AIR])], labels=PHASE_1)
    found = run(expert(source, (1,)))
    assert values(found, "union")["ours", AIR, "targets"] == 1
    assert values(found, "majority")["ours", AIR, "targets"] == 0


def test_phases_with_labels_of_their_own_are_merged(source: Reflacx) -> None:
    source.reading("P101R000001", "i1", [(BOX, 5, ["Wide mediastinum"])], labels=PHASE_1)
    source.reading("P300R000001", "i1", [(BOX, 5, ["Abnormal mediastinal contour"])])
    merges = {"Mediastinum": ["Wide mediastinum", "Abnormal mediastinal contour"]}
    found = run(expert(source, (1, 3), merges=merges))
    assert values(found)["ours", "Mediastinum", "targets"] == 1
    assert values(found, "majority")["ours", "Mediastinum", "targets"] == 1
    assert values(found, "reading")["ours", "Mediastinum", "targets"] == 2


def test_a_frame_of_another_size_is_scaled(source: Reflacx) -> None:
    source.reading("P300R000001", "i1", [(BOX, 5, [AIR])])
    seen = [observation("pneumothorax", "i1", (20, 20, 60, 40))]
    cells = values(run(expert(source), seen, images(200, 200)))
    assert cells["ours", AIR, "iou"] == pytest.approx(math.pi / 4)


def test_an_ellipse_over_the_edge_keeps_its_form(source: Reflacx) -> None:
    source.reading("P300R000001", "i1", [((-10, 10, 10, 30), 5, [AIR])])
    found = run(expert(source))
    assert found.ledger["reason"].to_list() == ["beyond_image"]
    areas = found.pairs["target_area"].unique().to_list()
    assert areas == pytest.approx([math.pi * 100 / 2])


@pytest.mark.parametrize(
    ("corners", "labels", "reason"),
    [
        (("", 10, 30, 20), [AIR], "no_coordinates"),
        ((30, 10, 30, 20), [AIR], "no_area"),
        ((30, 10, 20, 20), [AIR], "no_area"),
        ((130, 10, 140, 20), [AIR], "outside_image"),
        (BOX, [], "no_label"),
    ],
)
def test_unusable_ellipses_stand_in_the_ledger(
    source: Reflacx, corners: tuple[object, ...], labels: list[str], reason: str
) -> None:
    source.reading("P300R000001", "i1", [(corners, 5, labels)])
    found = run(expert(source))
    (row,) = found.ledger.iter_rows(named=True)
    assert (row["item_id"], row["reason"]) == ("i1", reason)
    assert "anomaly_location_ellipses.csv, line 2" in row["detail"]
    assert found.pairs.is_empty()


def test_missing_images_and_files_stand_in_the_ledger(source: Reflacx) -> None:
    source.reading("P300R000001", "elsewhere", [(BOX, 5, [AIR])])
    source.reading("P300R000002", "i2", None)
    found = run(expert(source))
    reasons = dict(found.ledger.select("item_id", "reason").iter_rows())
    assert reasons == {"elsewhere": "not_in_dataset", "i2": "no_ellipse_file"}
    assert "WARNING: no image in common" in found.remarks[0]


def test_bad_files_are_named(source: Reflacx) -> None:
    source.reading("P300R000001", "i1", [(BOX, 5, [AIR])])
    main = source.folder / "main_data"
    assert len(read_reflacx(main, LABELS, Cut((3,)))[0]) == 1  # main_data itself will do
    with pytest.raises(UserError, match=r"metadata_phase_1.csv: no such file.*leave 1 out"):
        read_reflacx(source.folder, LABELS, Cut((1, 3)))
    table = main / "metadata_phase_3.csv"
    good = table.read_text()
    for old, new, message in (
        ("dicom_id", "dicom", "no column 'dicom_id' .did you mean 'dicom'"),
        ("Pneumothorax", "Pneumotorax", "unknown label column 'Pneumotorax' .*'Pneumothorax'"),
        (",100,100,", ",0,100,", "line 2: the image's size 0 x 100 is not positive"),
    ):
        table.write_text(good.replace(old, new, 1))
        with pytest.raises(UserError, match=message):
            read_reflacx(source.folder, LABELS, Cut((3,)))
    table.write_text(good + good.splitlines()[1] + "\n")
    with pytest.raises(UserError, match="line 3: reading P300R000001 appears twice"):
        read_reflacx(source.folder, LABELS, Cut((3,)))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (",5,", ",7,", "line 2, certainty: '7' is not within 1 to 5"),
        ("True", "yes", "line 2, Pneumothorax: 'yes' is neither True nor False"),
        ("10,10,30", "10,x,30", "line 2, ymin: 'x' is not a number"),
        ("xmin", "x_min", "no column 'xmin' .did you mean 'x_min'"),
    ],
)
def test_bad_ellipses_are_named(source: Reflacx, old: str, new: str, message: str) -> None:
    source.reading("P300R000001", "i1", [(BOX, 5, [AIR])])
    path = source.folder / "main_data" / "P300R000001" / "anomaly_location_ellipses.csv"
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(UserError, match=message):
        read_reflacx(source.folder, LABELS, Cut((3,)))
