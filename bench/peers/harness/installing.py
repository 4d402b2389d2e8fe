"""Installs what an engine needs into a folder of the cache, once per set of versions. Nothing goes anywhere else."""

import shutil
import subprocess
import sys
from pathlib import Path

from harness.processes import environment_with, last_words

FROM_NPM = "npm:"


class NotInstalled(Exception):
    """Something cannot be had here; the text says what."""


def install(cache, name, packages):
    """The folder with a Python environment in `python/` and, where the engine has some, packages of npm in `node_modules/`."""
    folder = Path(cache) / name
    stamp, wanted = folder / "installed", "\n".join(packages) + "\n"
    if stamp.is_file() and stamp.read_text() == wanted:
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    from_npm, from_pypi = split(packages)
    _run([sys.executable, "-m", "venv", folder / "python"], folder, "the Python environment")
    pip = [folder / "python/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run([*pip, *from_pypi], folder, "pip install")
    if from_npm:
        if not shutil.which("npm"):
            raise NotInstalled("npm is not there")
        quiet = ["--no-save", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"]
        _run(["npm", "install", *quiet, "--prefix", folder, *from_npm], folder, "npm install")
    stamp.write_text(wanted)
    return folder


def split(packages):
    """Those of npm, without their mark, and those of PyPI."""
    from_npm = [package.removeprefix(FROM_NPM) for package in packages if package.startswith(FROM_NPM)]
    return from_npm, [package for package in packages if not package.startswith(FROM_NPM)]


def _run(command, folder, what):
    log = folder / "install.log"
    with open(log, "wb") as output:
        try:
            ended = subprocess.run(
                [str(part) for part in command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment_with({"SCARF_ANALYTICS": "false"}),
                timeout=900,
            )
        except subprocess.TimeoutExpired as slow:
            raise NotInstalled(f"{what} took longer than 15 minutes") from slow
    if ended.returncode != 0:
        raise NotInstalled(f"{what} failed: {last_words(log)}")
