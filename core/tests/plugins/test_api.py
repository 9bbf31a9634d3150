"""The declaration of plugin-API versions, and what a plugin outside of the range is told."""

import pytest

from tfdist.plugins import PLUGIN_API, ApiVersion, api


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("1.0", ["1.0", "1.7"], ["0.9", "2.0"]),
        ("1.2", ["1.2", "1.3"], ["1.1", "2.2"]),
        ("1.0-1.3", ["1.0", "1.3"], ["1.4", "2.0"]),
        ("1.1-1.x", ["1.1", "1.99"], ["1.0", "2.0"]),
        ("1.5-2.1", ["1.5", "1.9", "2.0", "2.1"], ["1.4", "2.2", "3.0"]),
        ("1.0-3.x", ["1.0", "2.8", "3.5"], ["0.9", "4.0"]),
    ],
)
def test_ranges(text: str, inside: list[str], outside: list[str]) -> None:
    found = api.parse_range(text)

    def version(dotted: str) -> ApiVersion:
        return ApiVersion(*(int(part) for part in dotted.split(".")))

    assert all(version(each) in found for each in inside)
    assert not any(version(each) in found for each in outside)


@pytest.mark.parametrize("text", ["", "1", "x.1", "1.0-", "1.0-2", "1.0 - 1.2", "v1.0", "1.x"])
def test_unreadable_ranges(text: str) -> None:
    with pytest.raises(ValueError, match="is not a range"):
        api.parse_range(text)


@pytest.mark.parametrize("text", ["1.3-1.2", "2.0-1.x"])
def test_ranges_that_end_before_they_start(text: str) -> None:
    with pytest.raises(ValueError, match="ends before it starts"):
        api.parse_range(text)


def test_a_range_is_written_in_full() -> None:
    assert str(api.parse_range("1.0")) == "1.0-1.x"
    assert str(api.parse_range("1.0-1.3")) == "1.0-1.3"


@pytest.mark.parametrize(
    "keywords",
    [
        "tfdist-plugin-api:1.0",
        "distributed,tfdist-plugin-api:1.0,training",
        "distributed tfdist-plugin-api:1.0 training",
        "distributed, training, tfdist-plugin-api:1.0",
    ],
)
def test_declaration_in_keywords_of_any_backend(keywords: str) -> None:
    assert api.declared(keywords) == "1.0"


def test_no_declaration() -> None:
    assert api.declared("") is None
    assert api.declared("tfdist,plugin,api:1.0") is None


def test_what_fits_is_not_refused() -> None:
    assert api.refusal("vendor", "1.0", str(PLUGIN_API)) is None


def test_refusal_of_a_plugin_built_for_later() -> None:
    assert api.refusal("vendor", "2.1", "7.0-7.x") == (
        "vendor 2.1 does not fit this tfdist. It was built for plugin API 7.0-7.x, and this tfdist "
        "has 1.0. Upgrade tfdist (`pip install --upgrade tfdist`), or install releases of both "
        "that agree."
    )


def test_refusal_of_a_plugin_built_for_earlier() -> None:
    assert api.refusal("vendor", "0.3", "0.1-0.9") == (
        "vendor 0.3 does not fit this tfdist. It was built for plugin API 0.1-0.9, and this tfdist "
        "has 1.0. Upgrade the plugin (`pip install --upgrade vendor`), or install releases of both "
        "that agree."
    )


def test_refusal_without_a_declaration() -> None:
    assert api.refusal("vendor", "2.1", None) == (
        "vendor 2.1 does not say which plugin API it was built for. This tfdist has plugin API "
        "1.0, and a plugin's metadata must hold a keyword such as 'tfdist-plugin-api:1.0'. "
        "Install a release of vendor that declares it."
    )


def test_refusal_of_what_cannot_be_read() -> None:
    assert api.refusal("vendor", "2.1", "new") == (
        "vendor 2.1 declares its plugin API in a way that cannot be read. 'new' is not a range "
        "such as '1.0', '1.0-1.3' or '1.0-1.x'. Install a release of vendor with a keyword such as "
        "'tfdist-plugin-api:1.0'."
    )
