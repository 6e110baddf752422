"""The methods of the library. A program of the build (methods.c) prints them: Python cannot load a library with
sanitizers."""
import subprocess

from conftest import PROGRAM

LINES = subprocess.run([PROGRAM.parent / "tests" / "roofs_methods"], capture_output=True, text=True,
                       check=True).stdout.splitlines()
METHODS = [line.split()[0] for line in LINES]


def methods_with(ability):
    """ability: splits, gpu, reserve or joint."""
    return [line.split()[0] for line in LINES if ability in line.split()[1:]]


def required(method):
    """The options that a method cannot do without."""
    return ["--clean-ratio", "0.8"] if method == "torrent" else []
