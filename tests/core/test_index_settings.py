# SPDX-License-Identifier: Apache-2.0
"""A machine that is set up for pip must work with uv, and uv's own variables come first."""

from __future__ import annotations

import pytest

from headwater.core.index_settings import certificates, find_links, index_url, uv_environment

Environ = dict[str, str]


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, None),
        ({"PIP_INDEX_URL": ""}, None),
        ({"PIP_INDEX_URL": "pip"}, "pip"),
        ({"PIP_INDEX_URL": "pip", "UV_INDEX_URL": "uv"}, "uv"),
        ({"PIP_INDEX_URL": "pip", "UV_INDEX_URL": ""}, "pip"),
        ({"UV_INDEX_URL": "old", "UV_DEFAULT_INDEX": "new"}, "new"),
    ],
)
def test_index_url(environ: Environ, expected: str | None) -> None:
    assert index_url(environ) == expected


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, []),
        ({"PIP_FIND_LINKS": ""}, []),
        ({"PIP_FIND_LINKS": "/wheels"}, ["/wheels"]),
        ({"PIP_FIND_LINKS": " /wheels\thttps://host/a,b "}, ["/wheels", "https://host/a,b"]),
        ({"UV_FIND_LINKS": "/my wheels, /b,,", "PIP_FIND_LINKS": "/c"}, ["/my wheels", "/b"]),
        ({"UV_FIND_LINKS": "", "PIP_FIND_LINKS": "/c"}, ["/c"]),
    ],
)
def test_find_links(environ: Environ, expected: list[str]) -> None:
    assert find_links(environ) == expected


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, None),
        ({"PIP_CERT": "/pip.pem"}, "/pip.pem"),
        ({"PIP_CERT": "/pip.pem", "REQUESTS_CA_BUNDLE": "/requests.pem"}, "/requests.pem"),
        ({"REQUESTS_CA_BUNDLE": "/requests.pem", "SSL_CERT_FILE": "/ssl.pem"}, "/ssl.pem"),
        ({"REQUESTS_CA_BUNDLE": "/requests.pem", "SSL_CERT_FILE": ""}, "/requests.pem"),
    ],
)
def test_certificates(environ: Environ, expected: str | None) -> None:
    assert certificates(environ) == expected


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, {}),
        ({"PATH": "/bin", "HOME": "/root"}, {}),
        ({"PIP_INDEX_URL": "", "PIP_FIND_LINKS": "", "PIP_CERT": "", "PIP_DEFAULT_TIMEOUT": ""}, {}),
        ({"PIP_INDEX_URL": "https://host/simple"}, {"UV_DEFAULT_INDEX": "https://host/simple"}),
        ({"UV_INDEX_URL": "https://host/simple"}, {"UV_DEFAULT_INDEX": "https://host/simple"}),
        ({"PIP_FIND_LINKS": "/a /b"}, {"UV_FIND_LINKS": "/a,/b"}),
        ({"PIP_CERT": "/pip.pem"}, {"SSL_CERT_FILE": "/pip.pem"}),
        ({"PIP_DEFAULT_TIMEOUT": "60"}, {"UV_HTTP_TIMEOUT": "60"}),
    ],
)
def test_pips_variables_in_uvs_words(environ: Environ, expected: Environ) -> None:
    assert uv_environment(environ) == expected


def test_uvs_own_time_out_stays() -> None:
    environ = {"PIP_DEFAULT_TIMEOUT": "60", "UV_HTTP_TIMEOUT": "300"}
    assert {**environ, **uv_environment(environ)}["UV_HTTP_TIMEOUT"] == "300"


def test_a_time_out_that_pip_takes_and_uv_does_not_is_rounded_up() -> None:
    # uv stops with "value should be an integer number of seconds"; pip takes fractions.
    assert uv_environment({"PIP_DEFAULT_TIMEOUT": "15.5"}) == {"UV_HTTP_TIMEOUT": "16"}
    assert uv_environment({"PIP_DEFAULT_TIMEOUT": "soon"}) == {}
