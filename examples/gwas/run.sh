#!/bin/sh
# Simulates genotypes in FOLDER (. by default), fits two phenotypes in one reading, and compares the answer with the
# truth. Further arguments are for simulate.py: run.sh FOLDER --people 4000 --variants 10000 --causal 100
set -eu
here=$(cd "$(dirname "$0")" && pwd)
roofs=${ROOFS:-roofs}
python=${PYTHON:-python3}
folder=${1:-.}
[ $# -gt 0 ] && shift
"$python" "$here/simulate.py" "$folder" "$@"
cd "$folder"
"$roofs" fit gwas.bed --pheno pheno.txt --pheno-name BMI,HEIGHT --missing-code none -o model.json
"$roofs" report model.BMI.json -o report.html
"$roofs" predict model.BMI.json gwas.bed -o score.csv
"$roofs" predict model.BMI.json gwas.bed --loco -o BMI.loco
"$roofs" inspect model.BMI.json --json > found.json
"$python" "$here/compare.py" truth.json found.json
