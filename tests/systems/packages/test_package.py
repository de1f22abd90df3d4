"""A package is named as an experiment names its system."""


def test_its_name(package):
    assert package.name == "little@1"
