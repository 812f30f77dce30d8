"""The claim that clusters can be told apart, also by colour-blind readers, on light and on dark pages."""

import numpy as np
import pytest

from manyviews.pages.palette import DARK, LIGHT, MARKERS, look_of

# Full protanopia, deuteranopia and tritanopia on linear RGB (Machado, Oliveira and Fernandes, 2009).
VISION = {
    "normal": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
OKABE_ITO = ("#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7")
PAGES = [(LIGHT, "#ffffff"), (DARK, "#181c23")]


def linear(colours):
    rgb = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in colours]) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def oklab(rgb):
    to_lms = [[0.41222, 0.53633, 0.05145], [0.21190, 0.68070, 0.10740], [0.08830, 0.28172, 0.62998]]
    to_lab = [[0.21045, 0.79362, -0.00407], [1.97800, -2.42859, 0.45059], [0.02590, 0.78277, -0.80868]]
    return np.cbrt(np.clip(rgb, 0, 1) @ np.array(to_lms).T) @ np.array(to_lab).T


def smallest_difference(colours, vision):
    lab = oklab(linear(colours) @ np.array(VISION[vision]).T)
    distances = np.linalg.norm(lab[:, None] - lab[None], axis=2)
    return distances[np.triu_indices(len(colours), 1)].min()


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_ten_hues_differ_more_than_the_seven_of_a_known_palette(colours, vision):
    assert len(set(colours)) == 10
    known = min(smallest_difference(OKABE_ITO, kind) for kind in VISION)
    assert smallest_difference(colours, vision) > known


@pytest.mark.parametrize(("colours", "page"), PAGES, ids=["light", "dark"])
def test_hues_stand_out_from_the_page(colours, page):
    weights = np.array([0.2126, 0.7152, 0.0722])
    light, ground = linear(colours) @ weights + 0.05, (linear([page]) @ weights + 0.05)[0]
    assert np.maximum(light / ground, ground / light).min() > 2


def test_looks_differ_for_many_clusters():
    looks = [look_of(i)[:2] for i in range(len(LIGHT) * len(MARKERS))]
    assert len(set(looks)) == len(looks) == 70
    assert look_of(70) == look_of(0)
    assert look_of(10).hollow
    assert not look_of(9).hollow
