"""Backend cxas with a network put in its place: what it sees, where its masks land, its weights."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cxrqba.config import SegmentationConfig
from cxrqba.errors import UserError
from cxrqba.reference.tables import load_regions
from cxrqba.regions import cxas
from cxrqba.regions.backends import Film
from cxrqba.regions.cxas import Cxas, half, load_network, network_input
from cxrqba.regions.cxas_files import load_labels
from cxrqba.regions.engine import localize

REFERENCE = Path(__file__).parents[2] / "resources" / "reference"
REGIONS = load_regions(REFERENCE)
LABELS = load_labels(REFERENCE)


def film(height: int, width: int, name: str = "d1") -> Film:
    ramp = np.linspace(0, 1, height * width, dtype=np.float32).reshape(height, width)
    return Film({"image_id": name, "path": f"{name}.jpg", "view": "frontal"}, ramp)


class FakeNetwork:
    """Finds two lungs and a heart in every film, and remembers the batches it was given."""

    def __init__(self) -> None:
        self.batches: list[tuple[int, ...]] = []

    def __call__(self, films: np.ndarray) -> np.ndarray:
        self.batches.append(films.shape)
        masks = np.zeros((len(films), 159, 512, 512), dtype=bool)
        masks[:, LABELS.index("right lung"), 64:384, 32:224] = True
        masks[:, LABELS.index("left lung"), 64:384, 288:480] = True
        masks[:, LABELS.index("heart"), 256:400, 192:352] = True
        return masks


def test_masks_land_in_the_original_image_at_half_its_size() -> None:
    backend = Cxas(FakeNetwork(), LABELS, batch_size=2)
    findings = backend.find([film(3072, 2048, "a"), film(512, 1024, "b")])
    large, wide = (finding.anatomy for finding in findings)
    assert large is not None
    assert large.frame == (1536, 1024)
    assert large.masks["left lung"].pixels.shape == (960, 384)
    rows = {r["region"]: r for r in localize(large, REGIONS, (3072, 2048), 25)}
    assert rows["left lung"]["bboxes"] == [[1152, 384, 1920, 2304]]
    assert rows["left lung"]["mask_ids"] == ["left lung"]
    assert wide is not None
    rows = {r["region"]: r for r in localize(wide, REGIONS, (512, 1024), 25)}
    assert rows["heart"]["bboxes"] == [[384, 256, 704, 400]]
    assert large.quality == 3 / 8  # of the landmarks


def test_films_go_through_the_network_together() -> None:
    network = FakeNetwork()
    Cxas(network, LABELS, 3).find([film(40, 30), film(300, 200), film(17, 16)])
    assert network.batches == [(3, 3, 512, 512)]


def test_a_film_without_lungs_has_no_localisation() -> None:
    backend = Cxas(lambda films: np.zeros((len(films), 159, 512, 512), bool), LABELS, 1)
    assert backend.find([film(60, 50)])[0].anatomy is None


def test_an_output_of_another_shape_stops_the_run() -> None:
    backend = Cxas(lambda films: np.zeros((1, 14, 512, 512), bool), LABELS, 1)
    with pytest.raises(UserError, match="masks"):
        backend.find([film(60, 50)])


def test_films_are_halved_and_normalised_as_cxas_does() -> None:
    """2 x 2 blocks are averaged, each then covers 256 x 256 pixels; the mean is taken off."""
    pixels = np.kron([[0.0, 1.0], [0.5, 0.25]], np.ones((2, 2))).astype(np.float32)
    given = network_input(pixels)
    assert given.shape == (3, 512, 512)
    assert given.dtype == np.float32
    assert given[0, 0, 0] == pytest.approx((0 - 0.485) / 0.229)
    assert given[1, 255, 256] == pytest.approx((1 - 0.456) / 0.224)
    assert given[2, 256, 255] == pytest.approx((0.5 - 0.406) / 0.225)
    assert half((3001, 1)) == (1500, 1)


# --- weights --------------------------------------------------------------------------------------


class FakeModel:
    """A network of two parameters, as torch's modules answer."""

    def load_state_dict(self, state: dict[str, Any], strict: bool) -> SimpleNamespace:
        own = {"head.weight", "norm.num_batches_tracked"}
        if state.get("head.weight") == "wrong shape":
            raise RuntimeError("size mismatch")
        return SimpleNamespace(
            missing_keys=sorted(own - state.keys()), unexpected_keys=sorted(state.keys() - own)
        )

    def to(self, device: str) -> FakeModel:
        return self

    def eval(self) -> FakeModel:
        return self


@pytest.fixture
def checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the fake torch reads from the weights file; tests change it."""
    content: dict[str, Any] = {"model": {"module.head.weight": 1}}

    def load(path: Path, map_location: str, weights_only: bool) -> dict[str, Any]:
        assert weights_only
        return content

    torch = SimpleNamespace(load=load, cuda=SimpleNamespace(is_available=lambda: False))
    modules = {"torch": torch, "cxas.models": SimpleNamespace(get_unet=lambda name: FakeModel())}
    monkeypatch.setattr(cxas.importlib, "import_module", modules.__getitem__)
    (tmp_path / "UNet_ResNet50_default.pth").write_bytes(b"")
    return content


def test_weights_of_the_network_are_taken(checkpoint: dict[str, Any], tmp_path: Path) -> None:
    assert callable(load_network(str(tmp_path), "cpu"))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"model": {"body.weight": 1}}, "another network: 1 parameters .* such as head.weight"),
        ({"model": {"head.weight": "wrong shape"}}, "no checkpoint"),
        ({"state": {}}, "no checkpoint"),
        ({"model": {}}, "another network"),
    ],
)
def test_other_weights_are_noticed(
    checkpoint: dict[str, Any], tmp_path: Path, content: dict[str, Any], reason: str
) -> None:
    checkpoint.clear()
    checkpoint.update(content)
    with pytest.raises(UserError, match=reason):
        load_network(str(tmp_path), "cpu")


def test_a_gpu_that_is_not_there_is_one_line(checkpoint: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(UserError, match="torch sees no GPU"):
        load_network(str(tmp_path), "cuda")


def test_missing_weights_and_package_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UserError, match=r"UNet_ResNet50_default\.pth is missing"):
        load_network(str(tmp_path), "cpu")
    (tmp_path / "UNet_ResNet50_default.pth").write_bytes(b"")

    def import_module(name: str) -> None:
        raise ModuleNotFoundError(f"No module named '{name}'", name=name)

    monkeypatch.setattr(cxas.importlib, "import_module", import_module)
    with pytest.raises(UserError, match="needs the package 'torch'"):
        load_network(str(tmp_path), "cpu")


def test_a_torchvision_of_another_torch_is_one_line(
    checkpoint: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def get_unet(name: str) -> None:
        raise RuntimeError("operator torchvision::nms does not exist")

    modules = {"torch": SimpleNamespace(), "cxas.models": SimpleNamespace(get_unet=get_unet)}
    monkeypatch.setattr(cxas.importlib, "import_module", modules.__getitem__)
    with pytest.raises(UserError, match="do not fit each other"):
        load_network(str(tmp_path), "cpu")


@pytest.mark.parametrize("settings", [{"backend": "cxas"}, {"backend": "precomputed"}])
def test_settings_name_what_a_backend_needs(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="needs"):
        SegmentationConfig.model_validate(settings)


def test_only_the_network_on_a_gpu_asks_for_one() -> None:
    weights = {"backend": "cxas", "weights": "w"}
    assert SegmentationConfig().gpus == 0
    assert SegmentationConfig.model_validate(weights).gpus == 1
    assert SegmentationConfig.model_validate({**weights, "device": "cpu"}).gpus == 0
