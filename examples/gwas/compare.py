#!/usr/bin/env python3
"""compare.py truth.json found.json: the regions that `roofs inspect --json` prints, against the causal variants."""
import json
import sys

truth, found = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:3])
causal, hits, listed = set(truth["causal"]), 0, 0
for group in found["groups"]:
    if group["probability"] < 0.95:
        continue
    members = {member["name"]: member["probability"] for member in group["members"]}
    region, inside = group["region"], causal & members.keys()
    listed, hits = listed + 1, hits + bool(inside)
    lead = ", ".join(f"{name} ({share:.2f})" for name, share in list(members.items())[:4])
    print(f"chr{region['chr']}:{region['from']}-{region['to']}  {lead}  "
          f"{'causal: ' + ', '.join(sorted(inside)) if inside else 'no causal variant'}")
print(f"{hits} of {listed} regions hold a causal variant; {len(causal)} variants are causal")
