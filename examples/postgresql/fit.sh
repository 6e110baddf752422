#!/bin/sh
# Fits a model to features in PostgreSQL, and stores the predictions there.
#   fit.sh [MODEL]
# PGHOST, PGPORT, PGDATABASE and PGUSER choose the server, as for psql.
set -eu
roofs=${ROOFS:-roofs}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# The response, one number per sample.
psql -q -c "COPY (SELECT y FROM response ORDER BY sample) TO STDOUT" > "$folder/y.txt"

# The features as triplets, sorted by feature. roofs reads them from a pipe and holds mu features and one
# batch, however large the table is.
features="SELECT gene AS feature, sample, value FROM expression WHERE value <> 0 ORDER BY gene, sample"
psql -q -c "COPY ($features) TO STDOUT WITH (FORMAT csv, HEADER)" |
    "$roofs" fit --y "$folder/y.txt" --mu 10 -o "$folder/model.json" -
cp "$folder/model.json" "${1:-model.json}"

# roofs finds the selected genes by their names in the model, and skips the others.
psql -q -c "COPY ($features) TO STDOUT WITH (FORMAT csv, HEADER)" |
    "$roofs" predict "$folder/model.json" - | awk '{ print NR - 1 "\t" $1 }' |
    psql -q -c "COPY prediction FROM STDIN"
psql -q -c "SELECT round(percentile_cont(0.5) WITHIN GROUP (ORDER BY abs(r.y - p.y))::numeric, 3) AS median_error
            FROM response r JOIN prediction p USING (sample)"
