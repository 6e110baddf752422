#!/bin/sh
# Predicts scores from two LIBSVM files, and lists the words with the largest effect.
#   run.sh DATA [WORK]     DATA holds labeledBow.train.feat.xz, labeledBow.test.feat.xz, imdb.vocab
# Variables: REVIEWS, WORDS, MU, SHARES (of corrupted scores), SEED, OPTIONS (for fit).
set -eu
example=$(cd "$(dirname "$0")" && pwd)
roofs=${ROOFS:-roofs}
data=$1
work=${2:-imdb-work}
reviews=${REVIEWS:-10000} words=${WORDS:-10000} mu=${MU:-1000} seed=${SEED:-1}
SHARES=${SHARES:-0.05 0.10 0.20 0.30 0.40}
mkdir -p "$work"
cd "$work"

# The files are sorted by score: choose reviews at random. Weigh the words by the training reviews, and
# use the same weights for the test reviews.
all=$(xz -dc "$data/labeledBow.train.feat.xz" | wc -l)
"$example/scores.py" choose "$reviews" "$all" "$seed" > rows.txt
"$roofs" convert "$data/labeledBow.train.feat.xz" --names "$data/imdb.vocab" --rows rows.txt \
    --features "$words" --tfidf --save-idf idf.txt --save-y y.txt -o train.npz
"$roofs" convert "$data/labeledBow.test.feat.xz" --names "$data/imdb.vocab" \
    --features "$words" --use-idf idf.txt --save-y y-test.txt -o test.npz

for share in $SHARES; do
    "$example/scores.py" corrupt y.txt "$share" "$seed" > y-bad.txt
    # shellcheck disable=SC2086 # OPTIONS is a list of words
    "$roofs" fit --y y-bad.txt --mu "$mu" --orient samples --quiet ${OPTIONS:-} train.npz -o "model-$share.json"
    "$roofs" predict "model-$share.json" test.npz --orient samples -o yhat.txt
    echo "corrupted $share: mean absolute error $("$example/scores.py" error yhat.txt y-test.txt)"
done
"$example/scores.py" words "model-${SHARES%% *}.json" idf.txt
