"""The user's pip settings are read as pip itself reads them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from backport.download.pip_settings import IndexSettings, parse_settings, read_settings, redact
from backport.errors import CannotTellError
from localindex import pip_env

HOME = {"HOME": "/home/ann"}
PLAIN = IndexSettings()


@pytest.mark.parametrize(
    ("listing", "expected"),
    [
        ("", PLAIN),
        ("global.index-url='https://m/simple'", replace(PLAIN, index_url="https://m/simple")),
        (
            "global.index-url='https://m'\n:env:.index-url='https://e'",
            replace(PLAIN, index_url="https://e"),
        ),
        (
            ":env:.index-url='https://e'\nglobal.index-url='https://m'",
            replace(PLAIN, index_url="https://e"),
        ),
        (
            "install.index-url='https://i'\nglobal.index-url='https://m'",
            replace(PLAIN, index_url="https://i"),
        ),
        ("download.index-url='https://d'", PLAIN),
        (
            "global.extra-index-url='\\nhttps://a\\nhttps://b'",
            replace(PLAIN, extra_index_urls=("https://a", "https://b")),
        ),
        (
            "global.find-links='~/wheels /opt/w'",
            replace(PLAIN, find_links=("/home/ann/wheels", "/opt/w")),
        ),
        (":env:.find-links=''\nglobal.find-links='/opt/w'", replace(PLAIN, find_links=("/opt/w",))),
        ("global.no-index='true'", replace(PLAIN, no_index=True)),
        (":env:.no-index='0'\nglobal.no-index='1'", PLAIN),
        ("global.trusted-host='a b:81'", replace(PLAIN, trusted_hosts=("a", "b:81"))),
        ("global.proxy='http://p:3128'", replace(PLAIN, proxy="http://p:3128")),
        ("global.cert='~/ca.pem'", replace(PLAIN, cert=Path("/home/ann/ca.pem"))),
        ("global.client-cert='/me.pem'", replace(PLAIN, client_cert=Path("/me.pem"))),
        ("global.timeout='60'\nglobal.retries='2'", replace(PLAIN, timeout=60.0, retries=2)),
        (":env:.default-timeout='180'", replace(PLAIN, timeout=180.0)),
        ("WARNING: something\nglobal.quiet='1'", PLAIN),
    ],
)
def test_what_pip_lists_is_taken_in_pips_order(listing: str, expected: IndexSettings) -> None:
    assert parse_settings(listing, HOME, "install") == expected


@pytest.mark.parametrize("name", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_certificates_are_those_that_pip_would_take(name: str) -> None:
    env = {**HOME, name: "/ca.pem"}
    assert parse_settings("", env, "install").cert == Path("/ca.pem")
    assert parse_settings("global.cert='/own.pem'", env, "install").cert == Path("/own.pem")


def test_a_number_that_is_none_is_told() -> None:
    with pytest.raises(CannotTellError, match="timeout is no number: soon"):
        parse_settings("global.timeout='soon'", HOME, "install")


def test_files_and_variables_are_merged_by_pip(tmp_path: Path) -> None:
    file = tmp_path / "pip.conf"
    file.write_text(
        "[global]\nindex-url = https://one/simple\ntimeout = 7\n[download]\nretries = 1\n"
    )
    env = pip_env(tmp_path, config_file=str(file), extra_index_url="https://two/simple")
    settings = read_settings(env, "download")
    assert settings.index_url == "https://one/simple"
    assert settings.extra_index_urls == ("https://two/simple",)
    assert (settings.timeout, settings.retries) == (7.0, 1)
    assert read_settings(env, "install").retries == PLAIN.retries


def test_a_configuration_that_pip_cannot_read_is_told(tmp_path: Path) -> None:
    file = tmp_path / "pip.conf"
    file.write_text("this is no configuration")
    with pytest.raises(CannotTellError, match="pip's configuration cannot be read"):
        read_settings(pip_env(tmp_path, config_file=str(file)))


def test_the_pip_that_virtualenv_brings_along_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    settings = read_settings(pip_env(tmp_path, index_url="https://one/simple"))
    assert settings.index_url == "https://one/simple"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://ann:sesame@host:8/simple", "https://****@host:8/simple"),
        ("https://token@host/simple", "https://****@host/simple"),
        ("https://ann:p@ss@host/simple", "https://****@host/simple"),
        ("https://host/a@b", "https://host/a@b"),
        ("https://ann:sesame@[oops/simple", "https://****@[oops/simple"),
        ("/opt/wheels", "/opt/wheels"),
    ],
)
def test_credentials_are_not_shown(url: str, shown: str) -> None:
    assert redact(url) == shown
