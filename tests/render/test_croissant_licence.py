"""Licences in Croissant: addresses or SPDX ids."""

import pytest

from karat.render.data.croissant import _to_croissant_licence


@pytest.mark.parametrize(
    ("licence", "written"),
    [
        ("CC BY 4.0", "https://creativecommons.org/licenses/by/4.0/"),
        ("CC-BY-NC-SA-3.0", "https://creativecommons.org/licenses/by-nc-sa/3.0/"),
        ("CC0", "https://creativecommons.org/publicdomain/zero/1.0/"),
        ("Apache-2.0", "Apache-2.0"),
        ("free for research", "free for research"),
        (None, None),
    ],
)
def test_licences_of_creative_commons_are_addresses(licence, written):
    assert _to_croissant_licence(licence) == written
