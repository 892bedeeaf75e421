"""Tiny packages, and package indexes of them: folders, or servers on this machine only."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import tarfile
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

SETUP = """
from setuptools import setup
setup(name={name!r}, version={version!r}, py_modules=[{name!r}])
"""


def sha256(file: Path) -> str:
    """Return a file's checksum, in hexadecimal."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def make_wheel(
    folder: Path, name: str, version: str, files: Mapping[str, str], scripts: str = ""
) -> Path:
    """Write a wheel for any Python; ``scripts`` is the text of its ``entry_points.txt``."""
    info = f"{name}-{version}.dist-info"
    content = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py2.py3-none-any\n",
    }
    if scripts:
        content[f"{info}/entry_points.txt"] = scripts
    record = "".join(f"{path},{_record(text)}\n" for path, text in content.items())
    content[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n"
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{name}-{version}-py2.py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        for path, text in content.items():
            file.writestr(zipfile.ZipInfo(path), text)  # a fixed date: the same bytes each time
    return wheel


def _record(text: str) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
    return f"sha256={digest.decode()},{len(text.encode())}"


def make_sdist(
    folder: Path, name: str, version: str, files: Mapping[str, str] | None = None
) -> Path:
    """Write a source archive of one module; ``files`` go over what it has by itself."""
    content = {
        "setup.py": SETUP.format(name=name, version=version),
        f"{name}.py": f"VERSION = {version!r}\n",
        "PKG-INFO": f"Metadata-Version: 1.0\nName: {name}\nVersion: {version}\n",
        **(files or {}),
    }
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / f"{name}-{version}.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        for path, text in content.items():
            member = tarfile.TarInfo(f"{name}-{version}/{path}")
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))
    return archive


def make_index(folder: Path, *files: Path, checksums: bool = True) -> str:
    """Write a simple index (PEP 503) of the files, and return its file:// URL."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        page = folder / file.name.partition("-")[0].lower().replace("_", "-")
        page.mkdir(exist_ok=True)
        (page / file.name).write_bytes(file.read_bytes())
        names = sorted(one for one in page.iterdir() if one.name != "index.html")
        (page / "index.html").write_text("".join(_link(one, checksums) for one in names))
    return folder.as_uri()


def _link(file: Path, checksums: bool) -> str:
    fragment = f"#sha256={sha256(file)}" if checksums else ""
    return f'<a href="{file.name}{fragment}">{file.name}</a>\n'


@dataclass
class Server:
    """An index that is served on this machine, and what was asked of it."""

    port: int
    requests: list[str] = field(default_factory=list)  # paths
    password: str = ""  # asked for when it is not empty; the user is "ann"
    failures: list[int] = field(default_factory=list)  # status codes for the next requests
    cut: int = 0  # how many of the next files end too soon

    @property
    def url(self) -> str:
        """The index's URL."""
        return f"http://127.0.0.1:{self.port}"


class _Handler(SimpleHTTPRequestHandler):
    def __init__(self, state: Server, folder: Path, *args: Any) -> None:
        self.state = state
        super().__init__(*args, directory=str(folder))

    def do_GET(self) -> None:
        state, asked = self.state, self.headers.get("Authorization", "")
        state.requests.append(self.path)
        wanted = base64.b64encode(f"ann:{state.password}".encode()).decode()
        if state.failures:
            self.send_error(state.failures.pop(0))
        elif state.password and asked != f"Basic {wanted}":
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="index"')
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif state.cut and not self.path.endswith("/"):
            state.cut -= 1
            self.send_response(200)
            self.send_header("Content-Length", "1000000")
            self.end_headers()
            self.wfile.write(b"the beginning of it")
            self.close_connection = True
        else:
            super().do_GET()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    """Serve a folder on a free port of this machine."""
    state = Server(0)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, state, folder))
    state.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def pip_env(home: Path, **settings: str) -> dict[str, str]:
    """Return an environment whose pip knows these settings only: PIP_ is put before the names."""
    pip = {f"PIP_{name.upper()}": value for name, value in settings.items()}
    return {"PATH": os.environ["PATH"], "HOME": str(home), "PIP_CONFIG_FILE": os.devnull, **pip}
