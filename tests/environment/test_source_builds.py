"""What a build's log says is put into one line."""

from __future__ import annotations

import pytest

from backport.environment.source_builds import build_env, explain

LOGS = {
    "gcc": (
        "running build_ext\nunable to execute 'gcc': No such file or directory\n"
        "error: command 'gcc' failed with exit status 1\n",
        "there is no compiler: install gcc (it looked for gcc)",
    ),
    "gcc of newer Pythons": (
        "error: command 'x86_64-linux-gnu-gcc' failed: No such file or directory\n",
        "install gcc (it looked for x86_64-linux-gnu-gcc)",
    ),
    "Python's headers": (
        "src/x.c:4:10: fatal error: Python.h: No such file or directory\ncompilation terminated.\n"
        "error: command 'gcc' failed with exit status 1\n",
        "the headers of Python are missing (Python.h)",
    ),
    "a library's headers": (
        "x.c:1:10: fatal error: libxml/xmlversion.h: No such file or directory\n"
        "error: command 'gcc' failed with exit status 1\n",
        "a header is missing: libxml/xmlversion.h",
    ),
    "a library": ("/usr/bin/ld: cannot find -lffi\n", "a library is missing: ffi"),
    "the disk": ("error: [Errno 28] No space left on device\n", "the disk is full"),
    "a build requirement, by pip": (
        "ERROR: No matching distribution found for pbr>=1.8\n",
        "it wants pbr to be built, which the lock does not hold as a wheel",
    ),
    "a build requirement, by setuptools 44": (
        "distutils.errors.DistutilsError: Command '['/e/bin/python', '-m', 'pip', '-q', 'wheel', "
        "'--no-deps', '-w', '/tmp/x', '--quiet', 'pbr>=1.8']' returned non-zero exit status 1\n",
        "it wants pbr to be built",
    ),
    "a build requirement, by easy_install": (
        "distutils.errors.DistutilsError: Could not find suitable distribution for "
        "Requirement.parse('cffi>=1.4')\n",
        "it wants cffi to be built",
    ),
    "another error": (
        "Traceback (most recent call last):\n  File 'x.py'\nValueError: bad error\nCleaning up\n",
        "ValueError: bad error",
    ),
    "no error": ("one\ntwo\n\n", "two"),
    "nothing": ("", "it said nothing"),
}


@pytest.mark.parametrize("case", LOGS)
def test_a_log_is_explained(case: str) -> None:
    log, reason = LOGS[case]
    assert reason in explain(log)
    assert "\n" not in explain(log)


def test_a_build_sees_nothing_of_the_users_pip_python_or_network() -> None:
    user = {
        "PATH": "/bin",
        "CFLAGS": "-O1",
        "PIP_INDEX_URL": "https://one",
        "PYTHONPATH": "/lib",
        "VIRTUALENV_SYSTEM_SITE_PACKAGES": "1",
        "HTTPS_PROXY": "http://proxy",
        "no_proxy": "*",
    }
    env = build_env(user)
    assert env["PATH"] == "/bin"
    assert env["CFLAGS"] == "-O1"
    assert env["PIP_NO_INDEX"] == "1"
    assert "no_proxy" not in env
    assert env["https_proxy"] == env["HTTPS_PROXY"] == "http://127.0.0.1:9"
    assert not {"PYTHONPATH", "PIP_INDEX_URL", "VIRTUALENV_SYSTEM_SITE_PACKAGES"} & set(env)
