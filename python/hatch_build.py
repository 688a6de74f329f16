"""Names the wheel by the version and the platform of the binary in it."""

import os
import re
import subprocess

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HERE = os.path.dirname(os.path.abspath(__file__))
BINARY = os.path.join(HERE, "src", "unstall", "bin", "unstall")

# What the tag of a wheel is by the binary's GOARCH. A static binary runs with every C library.
PLATFORMS = {
    "amd64": "manylinux2014_x86_64.musllinux_1_1_x86_64",
    "arm64": "manylinux2014_aarch64.musllinux_1_1_aarch64",
}


def version():
    """The binary's version as PEP 440 has it: "v0.9.0-12-gab12cd" is 0.9.0.post12+gab12cd."""
    text = os.environ.get("UNSTALL_VERSION")
    if not text:
        text = subprocess.run([BINARY, "version"], check=True, capture_output=True, text=True).stdout
    m = re.search(r"\bv?(\d+(?:\.\d+)+)(?:-(\d+)-(g[0-9a-f]+))?", text)
    if m is None:
        commit = re.search(r"\b[0-9a-f]{7,40}", text)
        return "0.0.0" + ("+g" + commit.group() if commit else "")
    release, since, commit = m.groups()
    return release if since is None else f"{release}.post{since}+{commit}"


class Hook(BuildHookInterface):
    def initialize(self, version, build_data):
        if not os.access(BINARY, os.X_OK):
            raise SystemExit(f"{BINARY}: is not there: make wheel builds it first")
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-" + PLATFORMS[os.environ.get("GOARCH", "amd64")]
