"""voros and its studies are released together."""

from importlib.metadata import requires, version


def test_the_studies_ask_for_the_same_version_of_voros():
    assert version("voros-studies") == version("voros")
    assert f"voros[cli]=={version('voros')}" in (requires("voros-studies") or ())
