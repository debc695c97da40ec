"""Films of every kind are read to the same grey values; unusable ones say why."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pydicom
import pytest
from PIL import Image
from pydicom.dataset import FileDataset, FileMetaDataset
from pydicom.uid import ExplicitVRLittleEndian

from cxrqba.reports.images import ImageError, read_image

RAMP = np.tile(np.arange(64, dtype=np.uint8) * 4, (48, 1))


def save(path: Path, image: Image.Image, **options: object) -> Path:
    image.save(path, **options)  # type: ignore[arg-type]
    return path


def dicom(path: Path, photometric: str = "MONOCHROME2", **changes: object) -> Path:
    meta = FileMetaDataset()
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    meta.MediaStorageSOPClassUID = pydicom.uid.DigitalXRayImageStorageForPresentation
    meta.MediaStorageSOPInstanceUID = "1.2.3"
    data = FileDataset(str(path), {}, file_meta=meta, preamble=b"\0" * 128)
    data.Rows, data.Columns = RAMP.shape
    data.SamplesPerPixel, data.BitsAllocated, data.BitsStored, data.HighBit = 1, 16, 12, 11
    data.PixelRepresentation, data.PhotometricInterpretation = 0, photometric
    data.PixelData = (RAMP.astype(np.uint16) * 16).tobytes()
    for key, value in changes.items():
        setattr(data, key, value)
    data.save_as(path, enforce_file_format=True)
    return path


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "P", "CMYK", "LA", "I;16"])
@pytest.mark.parametrize("ending", ["png", "tif"])
def test_every_mode_gives_the_same_ramp(tmp_path: Path, mode: str, ending: str) -> None:
    if mode == "I;16":
        image = Image.fromarray(RAMP.astype(np.uint16) * 257)
    elif mode == "CMYK":
        image = Image.fromarray(RAMP).convert("RGB").convert("CMYK")
    else:
        image = Image.fromarray(RAMP).convert(mode)
    if (mode, ending) in {("CMYK", "png")}:
        image = image.convert("RGB")
    pixels = read_image(save(tmp_path / f"x.{ending}", image))
    assert pixels.dtype == np.float32
    assert pixels.shape == RAMP.shape
    assert pixels.min() == 0.0
    assert pixels.max() == 1.0
    assert np.abs(pixels - RAMP / RAMP.max()).max() < 0.02


def test_exif_rotation_is_applied(tmp_path: Path) -> None:
    image = Image.fromarray(RAMP)
    exif = image.getexif()
    exif[0x0112] = 6
    path = save(tmp_path / "x.jpg", image, exif=exif)
    assert read_image(path).shape == (64, 48)


def test_monochrome1_is_inverted_and_the_ending_does_not_matter(tmp_path: Path) -> None:
    plain = read_image(dicom(tmp_path / "a.dcm"))
    inverted = read_image(dicom(tmp_path / "b.img", "MONOCHROME1"))
    assert np.allclose(plain, 1 - inverted)
    assert plain[0, -1] == 1.0


@pytest.mark.parametrize("photometric", ["MONOCHROME2", "MONOCHROME1"])
def test_padding_around_a_film_is_dark_and_stretches_no_grey_value(
    tmp_path: Path, photometric: str
) -> None:
    pixels = RAMP.astype(np.uint16) * 4 + 2000
    pixels[:, :8] = 0
    path = dicom(tmp_path / "x.dcm", photometric, PixelData=pixels.tobytes(), PixelPaddingValue=0)
    grey = read_image(path)
    assert (grey[:, :8] == 0).all()
    ends = grey[0, 8], grey[0, -1]
    assert sorted(ends) == [0.0, 1.0]
    assert (ends[1] > ends[0]) == (photometric == "MONOCHROME2")


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.png", b"", "empty"),
        ("a.png", b"not an image", "known format"),
        ("a.dcm", b"not a dicom", "DICOM"),
        ("a.dcm", b"\0" * 128 + b"DICM" + b"\1\2\3", "DICOM"),
    ],
)
def test_broken_files_say_why(tmp_path: Path, name: str, content: bytes, reason: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ImageError, match=reason):
        read_image(path)


@pytest.mark.parametrize("ending", ["png", "jpg"])
def test_a_truncated_file_is_not_half_an_image(tmp_path: Path, ending: str) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (256, 256), dtype=np.uint8)
    path = save(tmp_path / f"x.{ending}", Image.fromarray(noise))
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(ImageError, match="readable"):
        read_image(path)


@pytest.mark.parametrize(
    ("size", "reason"), [((1, 1), "too few"), ((15, 4000), "too few"), ((12_000, 12_000), "many")]
)
def test_sizes_no_film_has_are_refused(tmp_path: Path, size: tuple[int, int], reason: str) -> None:
    """Before a pixel is decoded."""
    with pytest.raises(ImageError, match=reason):
        read_image(save(tmp_path / "x.png", Image.new("1", size)))


def test_a_large_dicom_is_refused_unread(tmp_path: Path) -> None:
    path = dicom(tmp_path / "x.dcm", Rows=12_000, Columns=12_000)
    with pytest.raises(ImageError, match="12000 x 12000 pixels are too many"):
        read_image(path)


def test_large_grey_values_keep_their_order(tmp_path: Path) -> None:
    """16 bit: neighbouring values stay apart, none wraps around."""
    deep = np.arange(64 * 48, dtype=np.uint16).reshape(48, 64) + 60_000
    pixels = read_image(save(tmp_path / "x.png", Image.fromarray(deep)))
    assert (np.diff(pixels.ravel()) > 0).all()
    assert (pixels[0, 0], pixels[-1, -1]) == (0.0, 1.0)


def test_values_that_are_no_numbers_are_dark(tmp_path: Path) -> None:
    film = RAMP.astype(np.float32)
    film[0, 0], film[0, 1] = np.nan, np.inf
    pixels = read_image(save(tmp_path / "x.tif", Image.fromarray(film)))
    assert (pixels[0, 0], pixels[0, 1], pixels[1, -1]) == (0.0, 0.0, 1.0)
    film[:] = np.nan
    with pytest.raises(ImageError, match="no pixel holds a number"):
        read_image(save(tmp_path / "y.tif", Image.fromarray(film)))


def test_a_blank_image_and_a_missing_file(tmp_path: Path) -> None:
    assert read_image(save(tmp_path / "x.png", Image.new("L", (50, 50), 128))).max() == 0.0
    with pytest.raises(ImageError, match="cannot open"):
        read_image(tmp_path / "nowhere.png")


def test_a_cine_dicom_is_not_a_film(tmp_path: Path) -> None:
    path = dicom(
        tmp_path / "x.dcm",
        NumberOfFrames=2,
        PixelData=np.tile(RAMP.astype(np.uint16), (2, 1, 1)).tobytes(),
    )
    with pytest.raises(ImageError, match="2 frames"):
        read_image(path)


def test_a_folder_named_like_a_film_is_no_film(tmp_path: Path) -> None:
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(ImageError, match="cannot open"):
        read_image(tmp_path / "folder.png")
