"""The program on a terminal: narrow ones, Ctrl-C, help and completion."""
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import time

import pytest


@pytest.fixture
def slow_fit(roofs, tmp_path):
    """A fit that takes a minute, as a list of words."""
    roofs("simulate", "-o", tmp_path / "d", "--n", 2000, "--p", 4000, "--mu", 100, "--seed", 1)
    return ["fit", "--y", tmp_path / "d/y.npy", "--orient", "features", "--mu", "400", "--passes", "200",
            "--threads", "1", tmp_path / "d/X.npy", "-o", tmp_path / "m.json"]


def stopped_on_terminal(program, words, columns, seconds):
    """What a fit writes to a terminal of this width until it is interrupted."""
    main, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    running = subprocess.Popen([program, *map(str, words)], stderr=other, stdin=subprocess.DEVNULL,
                               env={**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8"})
    os.close(other)
    time.sleep(seconds)
    running.send_signal(signal.SIGINT)
    text = b""
    try:
        while piece := os.read(main, 65536):
            text += piece
    except OSError:                                        # the other end is closed
        pass
    os.close(main)
    return running.wait(60), text.decode()


@pytest.mark.parametrize("columns", [40, 60, 120])
def test_progress_fits_the_terminal(program, slow_fit, columns):
    code, text = stopped_on_terminal(program, slow_fit, columns, 2.5)
    lines = re.findall("\r([^\r\x1b]+)\x1b", text)
    if code == 0 or not lines:
        pytest.skip("the fit was over before it drew a line")
    assert max(map(len, lines)) < columns and all(line.startswith("fit  ") for line in lines)


def test_interrupt_names_the_checkpoint(program, slow_fit):
    code, text = stopped_on_terminal(program, slow_fit, 80, 1.0)
    if code == 0:
        pytest.skip("the fit was over before the signal came")
    assert code == 130 and "--checkpoint FILE" in text


def test_help_of_mu_names_auto(roofs):
    text = " ".join(roofs("help", "fit").stdout.split())
    assert re.search(r"--mu N .{0,200}auto: by cross-validation", text)


def test_fish_completes_verbs_options_and_words(roofs):
    text = roofs("help", "--completion", "fish").stdout
    assert re.search(r"^complete -c roofs -f -n __fish_use_subcommand -a fit -d '.+'$", text, flags=re.M)
    option = next(line for line in text.splitlines() if "from fit' -l device" in line)
    assert "-a 'cpu cuda auto'" in option
    assert all(line.count("'") % 2 == 0 for line in text.splitlines() if "\\'" not in line)
