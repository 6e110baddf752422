"""examples/postgresql against a real server, started here and thrown away."""
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from conftest import PROGRAM, ROOT

EXAMPLE = ROOT / "examples" / "postgresql"


def server_programs():
    """The folder with initdb and pg_ctl, which Debian keeps off the PATH."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return next((f for f in reversed(folders) if (f / "initdb").exists() and (f / "pg_ctl").exists()), None)


@pytest.fixture
def server():
    """Environment for psql: a server that listens on a socket in a temporary folder only."""
    programs = server_programs()
    if not programs or not shutil.which("psql"):
        pytest.skip("PostgreSQL is not installed (Debian: postgresql)")
    as_user = []
    if os.geteuid() == 0:                                # the server refuses to run as root
        if subprocess.run(["id", "postgres"], capture_output=True).returncode or not shutil.which("runuser"):
            pytest.skip("running as root, and there is no user 'postgres' to run the server as")
        as_user = ["runuser", "-u", "postgres", "--"]
    folder = Path(tempfile.mkdtemp(prefix="roofs-pg-", dir="/tmp"))      # short: the path of a socket has 107 letters
    try:
        if as_user:
            shutil.chown(folder, "postgres")
        data = folder / "data"
        run = lambda *args: subprocess.run([*as_user, *map(str, args)], check=True, capture_output=True, timeout=100,
                                           cwd="/")
        run(programs / "initdb", "-D", data, "-A", "trust", "-U", "roofs", "--no-sync")
        run(programs / "pg_ctl", "-D", data, "-w", "-l", folder / "log", "-o", f"-c listen_addresses='' -k {folder} -F",
            "start")
        try:
            yield {**os.environ, "PGHOST": str(folder), "PGUSER": "roofs", "PGDATABASE": "postgres",
                   "ROOFS": str(PROGRAM)}
        finally:
            run(programs / "pg_ctl", "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test_features_come_from_a_database(server, tmp_path):
    subprocess.run(["psql", "-q", "-v", "ON_ERROR_STOP=1", "-f", EXAMPLE / "data.sql"], env=server, check=True,
                   capture_output=True, timeout=60)
    done = subprocess.run([EXAMPLE / "fit.sh", "model.json"], env=server, cwd=tmp_path, capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 0, done.stderr
    model = json.loads((tmp_path / "model.json").read_text())
    largest = sorted(model["features"], key=lambda f: -abs(f["coef"]))[:3]
    assert [(f["name"], round(f["coef"], 1)) for f in largest] == [("gene017", 3.0), ("gene123", -2.0),
                                                                   ("gene240", 1.5)]
    wrong = set(range(0, 200, 5))
    assert model["features_seen"] == 300 and len(wrong
                                                 - set(model["outliers"])) <= 4 and len(set(model["outliers"])
                                                                                        - wrong) <= 4
    count = subprocess.run(["psql", "-qAt", "-c", "SELECT count(*) FROM prediction"], env=server, capture_output=True,
                           text=True, check=True)
    assert count.stdout.strip() == "200"
    assert float(done.stdout.split()[2]) < 0.1
