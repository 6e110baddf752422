#!/bin/sh
# Makes the files in FOLDER (. by default), fits the prices and predicts new houses.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
roofs=${ROOFS:-roofs}
cd "${1:-.}"
python3 "$here/make.py" .
"$roofs" fit houses.csv --y "price €" --id "House ID" --thousands --missing median -o model.json
"$roofs" predict model.json new.csv -o predictions.csv
"$roofs" report model.json -o report.html
"$roofs" inspect model.json --top 8
head -4 predictions.csv
