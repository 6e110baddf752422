"""What a newcomer sees first must work and say something true."""
import json
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_demo_runs(program, tmp_path):
    done = subprocess.run([ROOT / "scripts" / "demo", program, tmp_path], capture_output=True, text=True, check=True)
    scores = json.loads(done.stdout.splitlines()[-1])
    assert scores["feature_f1"] > 0.8 and scores["clean_f1"] > 0.95 and scores["l2_error"] < 0.5
    assert "Samples that are not trusted" in done.stdout and "Largest effects" in done.stdout
    assert (tmp_path / "model.json").exists() and (tmp_path / "data" / "X.npy").exists()
