"""Backend ``cxas``: masks of the CXAS network (Seibold et al. 2022, 2023; paper Sec. E.1.1).

As in the paper, films are shrunk to half their width and height and the network's masks belong to
that size. The network itself sees 512 x 512 pixels whatever the film's shape. Weights come from a
local folder: the cxas package would download them, and would take wrong ones without a word.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from cxrqba.errors import UserError
from cxrqba.regions.backends import Film, Finding, Note, from_structures, known_view
from cxrqba.regions.crops import Crop, Mask, clean, rescale
from cxrqba.step import log

MODEL = "UNet_ResNet50_default"
SIDE = 512
MEAN = np.array([0.485, 0.456, 0.406], dtype=np.float32)[:, None, None]
DEVIATION = np.array([0.229, 0.224, 0.225], dtype=np.float32)[:, None, None]
"""Of ImageNet, as cxas.file_io.FileLoader normalises."""

Network = Callable[[NDArray[np.float32]], NDArray[np.bool_]]
"""From (n, 3, 512, 512) normalised films to (n, 159, 512, 512) masks."""


class Cxas:
    """Segments films in batches with a network that is loaded once."""

    def __init__(self, network: Network, labels: tuple[str, ...], batch_size: int):
        self._network = network
        self._labels = labels
        self.batch_size = batch_size

    def sources(self, row: Mapping[str, Any]) -> list[Path]:
        """None besides the image; the weights are the same for all."""
        return []

    def find(self, films: Sequence[Film]) -> list[Finding]:
        """One finding a film."""
        predicted = self._network(np.stack([network_input(film.pixels) for film in films]))
        expected = (len(films), len(self._labels), SIDE, SIDE)
        if predicted.shape != expected or predicted.dtype != bool:
            raise UserError(f"the CXAS network gave masks {predicted.shape}, not {expected}")
        return [self._find(film, masks) for film, masks in zip(films, predicted, strict=True)]

    def _find(self, film: Film, masks: Mask) -> Finding:
        view = known_view(film)
        if view is None:
            note = Note("unknown_view", "neither the source nor the image tells frontal or lateral")
            return Finding(None, (note,))
        frame = half(film.size)
        crops = clean(zip(self._labels, masks, strict=True))
        scaled = {name: rescale(crop, (SIDE, SIDE), frame) for name, crop in crops.items()}
        kept: dict[str, Crop] = {name: crop for name, crop in scaled.items() if crop is not None}
        return from_structures(view, kept, frame, {})


def half(size: tuple[int, int]) -> tuple[int, int]:
    """Half of (height, width), at least one pixel."""
    return max(1, size[0] // 2), max(1, size[1] // 2)


def network_input(pixels: NDArray[np.float32]) -> NDArray[np.float32]:
    """(3, 512, 512) of a film (H, W), 0..1: halved, then as cxas.file_io.FileLoader does."""
    height, width = half((pixels.shape[0], pixels.shape[1]))
    image = Image.fromarray(np.ascontiguousarray(pixels))
    halved = np.asarray(image.resize((width, height), Image.Resampling.BOX))
    # torch's interpolate(..., mode="nearest") takes the pixel at floor(i * scale)
    rows, columns = np.arange(SIDE) * height // SIDE, np.arange(SIDE) * width // SIDE
    normalised: NDArray[np.float32] = (halved[np.ix_(rows, columns)][None] - MEAN) / DEVIATION
    return normalised


def load_network(weights: str, device: str) -> Network:
    """The network of the cxas package with the weights of a folder, on ``cpu`` or ``cuda``.

    :class:`UserError` if the package or the file is missing or the weights are not the network's.
    """
    path = Path(weights) / f"{MODEL}.pth"
    if not path.is_file():
        raise UserError(
            f"segmentation.weights: {path} is missing; nothing is downloaded, get it where the "
            "cxas package says and put it there"
        )
    os.environ["CXAS_NO_WELCOME"] = "1"  # it would write into the home folder
    try:
        torch: Any = importlib.import_module("torch")
        model: Any = importlib.import_module("cxas.models").get_unet(MODEL)
    except ImportError as error:
        raise UserError(
            f"segmentation.backend cxas needs the package '{error.name}'; see docs/regions.md"
        ) from None
    except RuntimeError:
        # what torchvision raises that was built for another torch
        raise UserError(
            "segmentation.backend cxas: torch and torchvision do not fit each other; install both "
            "from one place, see docs/regions.md"
        ) from None
    if device != "cpu" and not torch.cuda.is_available():
        raise UserError(f"segmentation.device is {device}, but torch sees no GPU; set it to cpu")
    _load_weights(torch, model, path)
    model = model.to(device).eval()

    def network(films: NDArray[np.float32]) -> NDArray[np.bool_]:
        with torch.inference_mode():
            found = model({"data": torch.from_numpy(films).to(device)})["segmentation_preds"]
        masks: NDArray[np.bool_] = found.cpu().numpy()
        return masks

    return network


def _load_weights(torch: Any, model: Any, path: Path) -> None:
    """Load a checkpoint and see that it sets every parameter of the network."""
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)["model"]
        state = {key.removeprefix("module."): value for key, value in content.items()}
        result = model.load_state_dict(state, strict=False)
    except Exception as error:
        # torch raises many kinds of exceptions on files that are no checkpoint of this network
        raise UserError(
            f"{path}: no checkpoint of {MODEL} ({type(error).__name__}); get the file again, "
            "or see docs/regions.md if it holds more than weights"
        ) from None
    # counters of batches are not used for inference, and old checkpoints have none
    missing = [k for k in result.missing_keys if not k.endswith("num_batches_tracked")]
    if missing:
        raise UserError(
            f"{path}: weights of another network: {len(missing)} parameters of {MODEL} are not "
            f"in it, such as {missing[0]}"
        )
    if result.unexpected_keys:
        count = len(result.unexpected_keys)
        log.info("%s: %d values in it are not used by %s", path, count, MODEL)
