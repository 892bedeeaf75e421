"""Releases are fetched as the user's pip would, checked before anything else, and never run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from backport.checkout.embedded import fetch_sdist, unpack_sdist
from backport.download.pip_settings import IndexSettings, read_settings
from backport.errors import CannotTellError, ExitCode
from backport.progress import Silent
from localindex import Server, make_index, make_sdist, make_wheel, pip_env, serving, sha256


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
    ):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def sdist(tmp_path: Path) -> Path:
    return make_sdist(tmp_path / "made", "thing", "1.0")


@pytest.fixture
def server(tmp_path: Path, sdist: Path) -> Iterator[Server]:
    make_index(tmp_path / "served", sdist)
    with serving(tmp_path / "served") as state:
        yield state


def only(url: str, **settings: object) -> IndexSettings:
    return IndexSettings(index_url=url, **{"retries": 0, **settings})  # type: ignore[arg-type]


def fetch(tmp_path: Path, digest: str, settings: IndexSettings, version: str = "1.0") -> Path:
    return fetch_sdist("thing", version, digest, tmp_path / "cache", settings, Silent())


def kept(tmp_path: Path) -> list[Path]:
    found = (tmp_path / "cache").rglob("*")
    return [path for path in found if path.is_file() and path.name != ".lock"]


def test_a_release_comes_from_a_folder_that_is_an_index(tmp_path: Path, sdist: Path) -> None:
    url = make_index(tmp_path / "index", sdist)
    file = fetch(tmp_path, sha256(sdist), only(url))
    assert file.read_bytes() == sdist.read_bytes()
    assert file.name == "thing-1.0.tar.gz"
    assert kept(tmp_path) == [file]


@pytest.mark.parametrize("form", ["{}", "file://{}", "{}/thing-1.0.tar.gz"])
def test_a_release_comes_from_a_find_links_place(tmp_path: Path, sdist: Path, form: str) -> None:
    settings = IndexSettings(no_index=True, find_links=(form.format(sdist.parent),))
    assert fetch(tmp_path, sha256(sdist), settings).read_bytes() == sdist.read_bytes()


def test_a_release_comes_from_an_extra_index_when_the_first_has_none(
    tmp_path: Path, sdist: Path, server: Server
) -> None:
    empty = make_index(tmp_path / "empty")
    settings = only(empty, extra_index_urls=(server.url,))
    assert fetch(tmp_path, sha256(sdist), settings).is_file()


def test_a_dead_extra_index_does_not_matter_when_another_has_the_file(
    tmp_path: Path, sdist: Path, server: Server
) -> None:
    settings = only("http://127.0.0.1:9/simple", extra_index_urls=(server.url,))
    assert fetch(tmp_path, sha256(sdist), settings).is_file()


def test_an_index_without_checksums_will_do_because_ours_decides(
    tmp_path: Path, sdist: Path
) -> None:
    url = make_index(tmp_path / "index", sdist, checksums=False)
    assert fetch(tmp_path, sha256(sdist), only(url)).read_bytes() == sdist.read_bytes()


def test_a_second_fetch_asks_nobody(tmp_path: Path, sdist: Path, server: Server) -> None:
    first = fetch(tmp_path, sha256(sdist), only(server.url))
    asked = len(server.requests)
    assert fetch(tmp_path, sha256(sdist).upper(), only(server.url)) == first
    assert len(server.requests) == asked


def test_a_damaged_file_of_the_cache_is_fetched_again(
    tmp_path: Path, sdist: Path, server: Server
) -> None:
    file = fetch(tmp_path, sha256(sdist), only(server.url))
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    assert fetch(tmp_path, sha256(sdist), only(server.url)).read_bytes() == sdist.read_bytes()


@pytest.mark.parametrize("checksums", [True, False])
def test_another_checksum_is_an_error_that_names_both_and_nothing_is_kept(
    tmp_path: Path, sdist: Path, checksums: bool
) -> None:
    url = make_index(tmp_path / "index", sdist, checksums=checksums)
    with pytest.raises(CannotTellError) as caught:
        fetch(tmp_path, "0" * 64, only(url))
    assert "0" * 64 in caught.value.message
    assert sha256(sdist) in caught.value.message
    assert caught.value.exit_code == ExitCode.CANNOT_TELL
    assert kept(tmp_path) == []


def test_an_index_that_lies_about_a_checksum_is_found_out(tmp_path: Path, sdist: Path) -> None:
    wanted = sha256(sdist)
    url = make_index(tmp_path / "index", sdist)
    (tmp_path / "index/thing/thing-1.0.tar.gz").write_bytes(b"something else")
    with pytest.raises(CannotTellError, match=wanted):
        fetch(tmp_path, wanted, only(url))
    assert kept(tmp_path) == []


def test_a_release_that_is_not_there_names_the_index_without_its_password(
    tmp_path: Path, sdist: Path, server: Server
) -> None:
    server.password = "sesame"
    url = server.url.replace("http://", "http://ann:sesame@")
    with pytest.raises(CannotTellError) as caught:
        fetch(tmp_path, "1" * 64, only(url), version="2.0")
    said = caught.value.message + caught.value.hint
    assert "thing 2.0" in said
    assert f"127.0.0.1:{server.port}" in said
    assert "sesame" not in said


def test_a_wheel_is_no_source(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path / "made", "thing", "1.0", {"thing.py": ""})
    url = make_index(tmp_path / "index", wheel)
    with pytest.raises(CannotTellError, match=r"thing 1\.0"):
        fetch(tmp_path, sha256(wheel), only(url))


def test_a_password_in_the_url_is_used(tmp_path: Path, sdist: Path, server: Server) -> None:
    server.password = "sesame"
    url = server.url.replace("http://", "http://ann:sesame@")
    assert fetch(tmp_path, sha256(sdist), only(url)).is_file()


def test_a_password_out_of_netrc_is_used(tmp_path: Path, sdist: Path, server: Server) -> None:
    server.password = "sesame"
    netrc = Path.home() / ".netrc"  # of the HOME that every test has to itself
    netrc.write_text("machine 127.0.0.1 login ann password sesame\n")
    netrc.chmod(0o600)
    assert fetch(tmp_path, sha256(sdist), only(server.url)).is_file()


def test_without_the_password_the_servers_answer_is_told(
    tmp_path: Path, sdist: Path, server: Server
) -> None:
    server.password = "sesame"
    with pytest.raises(CannotTellError, match="401"):
        fetch(tmp_path, sha256(sdist), only(server.url))


def test_trouble_that_passes_is_waited_out(tmp_path: Path, sdist: Path, server: Server) -> None:
    server.failures, server.cut = [503, 502], 1
    assert fetch(tmp_path, sha256(sdist), only(server.url, retries=3)).is_file()


def test_a_network_that_is_down_is_told_as_such(tmp_path: Path) -> None:
    with pytest.raises(CannotTellError, match=r"cannot fetch thing 1\.0.*127\.0\.0\.1:9") as caught:
        fetch(tmp_path, "1" * 64, only("http://127.0.0.1:9/simple"))
    assert "pip config list" in caught.value.hint


def test_plain_http_elsewhere_is_refused_unless_pip_trusts_the_host(tmp_path: Path) -> None:
    with pytest.raises(CannotTellError, match="trusted-host"):
        fetch(tmp_path, "1" * 64, only("http://index.invalid/simple"))


def test_the_proxy_of_pips_settings_is_asked(tmp_path: Path, sdist: Path, server: Server) -> None:
    settings = only("http://index.invalid", proxy=server.url, trusted_hosts=("index.invalid",))
    with pytest.raises(CannotTellError):
        fetch(tmp_path, sha256(sdist), settings)
    assert server.requests == ["http://index.invalid/thing/"]


@pytest.mark.parametrize(
    "settings",
    [
        IndexSettings(proxy="nonsense"),
        IndexSettings(cert=Path("/nonexistent/ca.pem")),
        IndexSettings(client_cert=Path("/nonexistent/me.pem")),
        IndexSettings(index_url="https://[oops/simple", retries=0),
    ],
)
def test_settings_that_cannot_be_meant_so_are_told(tmp_path: Path, settings: IndexSettings) -> None:
    with pytest.raises(CannotTellError):
        fetch(tmp_path, "1" * 64, settings)


def test_nothing_of_a_release_is_run(tmp_path: Path) -> None:
    trap = f"open({str(tmp_path / 'sprung')!r}, 'w')\n"
    sdist = make_sdist(tmp_path / "made", "thing", "1.0", {"setup.py": trap})
    url = make_index(tmp_path / "index", sdist)
    unpack_sdist(fetch(tmp_path, sha256(sdist), only(url)), tmp_path / "out")
    assert (tmp_path / "out" / "setup.py").read_text() == trap
    assert not (tmp_path / "sprung").exists()


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path, sdist: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    with pytest.raises(CannotTellError, match=r"cannot be (kept|written)"):
        fetch(tmp_path, sha256(sdist), only(make_index(tmp_path / "index", sdist)))


def test_a_release_comes_as_pips_own_settings_say(
    tmp_path: Path, sdist: Path, server: Server
) -> None:
    settings = read_settings(pip_env(tmp_path, index_url=server.url), "download")
    assert fetch(tmp_path, sha256(sdist), settings).is_file()
    assert server.requests[0] == "/thing/"
