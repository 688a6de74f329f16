"""Finds which mechanism in a runtime or the kernel makes a service's requests slow.

    >>> import unstall
    >>> d = unstall.diagnose("gateway-1402.unstall")
    >>> [v["cause"] for v in d["verdicts"] if v["verdict"] == "supported"]
    ['go.gc-rate']

The package runs the binary of the same name, which it holds. What comes back is its JSON
(docs/json.md of the project); unstall.spark reads files by the thousand.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import Any, Iterable, Sequence, Union

__all__ = ["Error", "binary", "diagnose", "inspect", "export", "main"]

Path = Union[str, "os.PathLike[str]"]

# Exit codes of the binary.
_DONE, _FOUND, _WRONG_USE, _UNREADABLE = 0, 1, 2, 3


class Error(Exception):
    """A file could not be read, or the binary was asked for what it does not know.

    code is its exit code: 2 wrong use, 3 unreadable.
    """

    def __init__(self, text: str, code: int):
        super().__init__(text)
        self.code = code


def binary() -> str:
    """The binary that is run: $UNSTALL_BINARY, the one in this package, or the first on PATH."""
    named = os.environ.get("UNSTALL_BINARY")
    if named:
        return named
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "unstall")
    if os.access(own, os.X_OK):
        return own
    found = shutil.which("unstall")
    if found and not _is_ours(found):
        return found
    raise FileNotFoundError("there is no unstall: install the wheel of this platform, or set UNSTALL_BINARY to one")


def _is_ours(path: str) -> bool:
    """Whether a program on PATH is this package's own script, which would start itself."""
    with open(path, "rb") as f:
        return f.read(2) == b"#!"


def diagnose(*paths: Path, slo: str | None = None, since: str | None = None, until: str | None = None,
             timeout: float | None = None, cwd: Path | None = None) -> dict[str, Any]:
    """Says why requests are slow, from a capture or files of one incident.

    slo ("300ms") says which requests are slow; since and until cut the time, as on the
    command line. The dict is the document unstall.diagnosis/v1. Raises Error if a file
    cannot be read, and subprocess.TimeoutExpired after timeout seconds.
    """
    options = [f"--{k}={v}" for k, v in (("slo", slo), ("since", since), ("until", until)) if v is not None]
    return json.loads(_run(["diagnose", "--format", "json", *options, "--", *_names(paths)], timeout, cwd))


def inspect(*paths: Path, timeout: float | None = None, cwd: Path | None = None) -> dict[str, Any]:
    """Says what files hold, without a verdict: unstall.inspect/v1, or unstall.gc/v1 of the log of a collector."""
    return json.loads(_run(["inspect", "--format", "json", "--", *_names(paths)], timeout, cwd))


def export(paths: Iterable[Path], to: Path, slo: str | None = None, together: bool = False,
           timeout: float | None = None) -> None:
    """Writes tables of each file's requests, ledger and verdicts as Parquet to a directory or s3://BUCKET/PREFIX.

    Files that cannot be read have a row in runs that says why, and raise Error when the rest is written.
    """
    options = ["--together"] if together else []
    if slo is not None:
        options.append(f"--slo={slo}")
    _run(["export", "--to", "parquet", "-o", os.fspath(to), *options, "--", *_names(paths)], timeout, None)


def _names(paths: Iterable[Path]) -> list[str]:
    names = [os.fspath(p) for p in paths]
    if not names:
        raise ValueError("no file is given")
    return names


def _run(args: Sequence[str], timeout: float | None, cwd: Path | None) -> bytes:
    ran = subprocess.run([binary(), *args], stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, cwd=cwd)
    if ran.returncode not in (_DONE, _FOUND):
        raise Error(_said(ran.stderr) or f"unstall ended with {ran.returncode}", ran.returncode)
    return ran.stdout


def _said(stderr: bytes) -> str:
    """The errors among what a run said."""
    lines = stderr.decode("utf-8", "replace").splitlines()
    return "\n".join(line[len("unstall: "):] for line in lines if line.startswith("unstall: "))


def main() -> None:
    """The command: the binary in this process's place."""
    path = binary()
    os.execv(path, ["unstall", *sys.argv[1:]])
