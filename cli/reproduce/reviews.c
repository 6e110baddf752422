#include "cli/reproduce/reviews.h"

#include "base/memory.h"
#include "base/random.h"
#include "base/sorted.h"
#include "cli/folder.h"
#include "cli/score.h"
#include "stream/source.h"
#include "stream/sparse.h"
#include "stream/tfidf.h"

#include <math.h>
#include <unistd.h>

enum { WORDS = 10000, LOWEST = 1, HIGHEST = 10 };

static const char TRAIN[] = "labeledBow.train.feat.xz", TEST[] = "labeledBow.test.feat.xz";

/* ---- the files --------------------------------------------------------- */

/* Counts of the most frequent words, by review, and the scores. */
typedef struct corpus {
    sparse counts;
    double *score;
} corpus;

struct reviews {
    corpus train, test;
};

roofs_status reviews_check(const char *path, roofs_error *err)
{
    const char *const names[] = {TRAIN, TEST};
    for (int k = 0; k < 2; k++) {
        char *full = NULL;
        TRY(folder_join(&full, path, names[k], err));
        int readable = access(full, R_OK) == 0;
        memory_free(full);
        if (!readable)
            return fail(err, ROOFS_BAD_DATA,
                        "%s has no file %s; get the Large Movie Review Dataset (Maas et al., ACL "
                        "2011, aclImdb_v1.tar.gz), compress its train/labeledBow.feat and "
                        "test/labeledBow.feat with xz to %s and %s, and give their folder with "
                        "--imdb",
                        path, names[k], TRAIN, TEST);
    }
    return ROOFS_OK;
}

static roofs_status copy_scores(corpus *c, const source *from, const char *path, roofs_error *err)
{
    const double *labels = source_labels(from);
    int64_t n = source_samples(from);
    if (!labels)
        return fail(err, ROOFS_BAD_DATA,
                    "%s: the file contains no scores; give a labeledBow.feat file", path);
    TRY(memory_get(&c->score, n, sizeof *c->score, "the scores", err));
    for (int64_t i = 0; i < n; i++)
        c->score[i] = labels[i];
    return ROOFS_OK;
}

static roofs_status read_words(corpus *c, source *from, roofs_error *err)
{
    enum { AT_ONCE = 500 };
    for (int64_t words = 0; words < WORDS; words += AT_ONCE) {
        roofs_block block;
        TRY(source_next(from, AT_ONCE, &block, err));
        if (block.count == 0)
            return ROOFS_OK;
        TRY(sparse_append(&c->counts, &block, err));
    }
    return ROOFS_OK;
}

static roofs_status corpus_read(corpus *c, const char *folder_path, const char *name,
                                roofs_error *err)
{
    char *path = NULL;
    source *from = NULL;
    const source_options options = {.base = INDEX_FROM_0, .features = WORDS}; /* in both files */
    TRY(folder_join(&path, folder_path, name, err));
    roofs_status status = source_open(&from, (const char *const *)&path, 1, &options, err);
    if (!status)
        status = copy_scores(c, from, path, err);
    if (!status)
        status = read_words(c, from, err);
    source_close(from);
    memory_free(path);
    return status;
}

roofs_status reviews_open(reviews **out, const char *path, roofs_error *err)
{
    TRY(memory_get(out, 1, sizeof **out, "the reviews", err));
    roofs_status status = corpus_read(&(*out)->train, path, TRAIN, err);
    if (!status)
        status = corpus_read(&(*out)->test, path, TEST, err);
    if (status) {
        reviews_close(*out);
        *out = NULL;
    }
    return status;
}

void reviews_close(reviews *r)
{
    if (!r)
        return;
    sparse_free(&r->train.counts);
    sparse_free(&r->test.counts);
    memory_free(r->train.score);
    memory_free(r->test.score);
    memory_free(r);
}

/* ---- the data of a trial ----------------------------------------------- */

typedef struct review_data {
    trial_data base;
    const reviews *all;
    sparse train, test; /* weighted, features in the order of the stream */
    double *y;
    unsigned char *clean;
    double *prediction;       /* of the test reviews */
    int64_t *reviews, *words; /* in the order drawn */
    sparse drawn;             /* the counts of the drawn reviews */
    double *idf;
} review_data;

enum purpose { FOR_REVIEWS = 101, FOR_WORDS = 102, FOR_CORRUPTED = 103, FOR_ATTACK = 104 };

static random_key reviews_key(int64_t seed, enum purpose purpose)
{
    return (random_key){.seed = (uint64_t)seed, .stream = (uint32_t)purpose};
}

/* Replaces counts by weights with the given idf, or computes it first. */
static roofs_status reviews_weigh(sparse *s, double *idf, int compute, roofs_error *err)
{
    tfidf t;
    roofs_block block;
    sparse_view(s, 0, s->count, &block);
    roofs_status status = tfidf_create(&t, s->n, compute ? NULL : idf, s->count, err);
    if (!status)
        status = tfidf_measure(&t, &block, err);
    if (!status) {
        tfidf_measured(&t);
        tfidf_weigh(&t, 0, &block, s->values);
        for (int64_t k = 0; compute && k < s->count; k++)
            idf[k] = t.idf[k];
    }
    tfidf_free(&t);
    return status;
}

/* Draws reviews at random, because the files are sorted by score. Words are in the order of the
 * file (frequent first) or shuffled. */
static roofs_status reviews_draw(review_data *r, arrival when, int64_t seed, roofs_error *err)
{
    const corpus *train = &r->all->train;
    const int64_t n = r->base.what.n, p = r->base.what.p;
    random_permutation(reviews_key(seed, FOR_REVIEWS), train->counts.n, r->reviews);
    random_permutation(reviews_key(seed, FOR_WORDS), p, r->words);
    for (int64_t k = 0; when == ARRIVAL_FIRST && k < p; k++)
        r->words[k] = k;
    for (int64_t i = 0; i < n; i++)
        r->y[i] = train->score[r->reviews[i]];
    TRY(sparse_choose_samples(&train->counts, r->reviews, n, &r->drawn, err));
    TRY(sparse_choose_features(&r->drawn, r->words, p, &r->train, err));
    sparse_free(&r->drawn);
    TRY(sparse_choose_features(&r->all->test.counts, r->words, p, &r->test, err));
    TRY(reviews_weigh(&r->train, r->idf, 1, err));
    return reviews_weigh(&r->test, r->idf, 0, err);
}

/* Adds U[-50, 50], five times the largest score, to the scores of the corrupted reviews. */
static void reviews_corrupt(review_data *r, int64_t seed)
{
    const int64_t n = r->base.what.n;
    const int64_t corrupted = (int64_t)round(r->base.what.corruption * (double)n);
    random_permutation(reviews_key(seed, FOR_CORRUPTED), n, r->reviews);
    for (int64_t k = 0; k < n; k++) {
        int64_t i = r->reviews[k];
        r->clean[i] = k >= corrupted;
        if (!r->clean[i])
            r->y[i] += 10.0 * HIGHEST *
                       (random_uniform(reviews_key(seed, FOR_ATTACK), 0, (uint64_t)i) - 0.5);
    }
}

/* ---- scores ------------------------------------------------------------ */

static double mean_absolute_error(const review_data *r)
{
    double sum = 0;
    for (int64_t i = 0; i < r->test.n; i++)
        sum += fabs(fmin(fmax(r->prediction[i], LOWEST), HIGHEST) - r->all->test.score[i]);
    return sum / (double)r->test.n;
}

static void predict(review_data *r, const roofs_result *answer)
{
    for (int64_t i = 0; i < r->test.n; i++)
        r->prediction[i] = answer->intercept;
    for (int64_t k = 0; k < answer->selected; k++) {
        const roofs_feature *word = &answer->features[k];
        for (int64_t q = r->test.starts[word->index]; q < r->test.starts[word->index + 1]; q++)
            r->prediction[r->test.samples[q]] += word->coef * r->test.values[q];
    }
}

static roofs_status reviewed_score(trial_data *m, const roofs_result *answer, double *scores,
                                   roofs_error *err)
{
    (void)err;
    review_data *r = (review_data *)m;
    const truth known = {.clean = r->clean, .n = m->what.n};
    predict(r, answer);
    scores[MEASURE_MAE] = mean_absolute_error(r);
    scores[MEASURE_CLEAN_F1] = score_sample_f1(answer, &known, 1);
    scores[MEASURE_CORRUPTED_F1] = score_sample_f1(answer, &known, 0);
    return ROOFS_OK;
}

/* The mean error if the prediction is the score of a random training review. */
static double error_of_guess(const review_data *r)
{
    double count[HIGHEST + 1] = {0}, sum = 0;
    for (int64_t i = 0; i < r->all->train.counts.n; i++)
        count[(int)fmin(fmax(r->all->train.score[i], 0), HIGHEST)]++;
    for (int64_t i = 0; i < r->test.n; i++)
        for (int score = LOWEST; score <= HIGHEST; score++)
            sum += count[score] * fabs(score - r->all->test.score[i]);
    return sum / (double)r->test.n / (double)r->all->train.counts.n;
}

/* Predicts the median of the training scores. */
static roofs_status score_constant(review_data *r, double *scores, roofs_error *err)
{
    double *sorted = NULL;
    int64_t n = r->base.what.n;
    TRY(sorted_copy(&sorted, r->y, n, err));
    for (int64_t i = 0; i < r->test.n; i++)
        r->prediction[i] = 0.5 * (sorted[(n - 1) / 2] + sorted[n / 2]);
    memory_free(sorted);
    scores[MEASURE_MAE] = mean_absolute_error(r);
    return ROOFS_OK;
}

static roofs_status reviewed_reference(trial_data *m, answer_kind kind, double *scores,
                                       roofs_error *err)
{
    review_data *r = (review_data *)m;
    if (kind == ANSWER_NULL)
        return score_constant(r, scores, err);
    scores[MEASURE_MAE] = error_of_guess(r);
    return ROOFS_OK;
}

static roofs_status reviewed_block(trial_data *m, int64_t first, int64_t count, roofs_block *out,
                                   roofs_error *err)
{
    (void)err;
    sparse_view(&((review_data *)m)->train, first, count, out);
    return ROOFS_OK;
}

static void reviewed_destroy(trial_data *m)
{
    review_data *r = (review_data *)m;
    sparse_free(&r->train);
    sparse_free(&r->test);
    memory_free(r->y);
    memory_free(r->clean);
    memory_free(r->prediction);
    memory_free(r->reviews);
    memory_free(r->words);
    sparse_free(&r->drawn);
    memory_free(r->idf);
    memory_free(r);
}

static const trial_data_kind reviewed_kind = {.block = reviewed_block,
                                              .score = reviewed_score,
                                              .reference = reviewed_reference,
                                              .destroy = reviewed_destroy};

static roofs_status reviews_prepare(review_data *r, arrival when, int64_t seed, roofs_error *err)
{
    const setting *what = &r->base.what;
    if (what->n > r->all->train.counts.n || what->p > r->all->train.counts.count)
        return fail(err, ROOFS_BAD_DATA,
                    "the IMDb files have fewer reviews or words than table3 needs");
    TRY(memory_get(&r->y, what->n, sizeof *r->y, "the scores", err));
    TRY(memory_get(&r->clean, what->n, sizeof *r->clean, "the scores", err));
    TRY(memory_get(&r->prediction, r->all->test.counts.n, sizeof *r->prediction, "scores", err));
    TRY(memory_get(&r->reviews, r->all->train.counts.n, sizeof *r->reviews, "reviews", err));
    TRY(memory_get(&r->words, what->p, sizeof *r->words, "words", err));
    TRY(memory_get(&r->idf, what->p, sizeof *r->idf, "weights of words", err));
    TRY(reviews_draw(r, when, seed, err));
    reviews_corrupt(r, seed);
    r->base.y = r->y;
    return ROOFS_OK;
}

roofs_status trial_data_reviews(trial_data **out, const reviews *all, const setting *what,
                                arrival when, int64_t seed, roofs_error *err)
{
    review_data *r = NULL;
    TRY(memory_get(&r, 1, sizeof *r, "a trial", err));
    r->base = (trial_data){.kind = &reviewed_kind, .what = *what};
    r->all = all;
    roofs_status status = reviews_prepare(r, when, seed, err);
    if (status)
        reviewed_destroy(&r->base);
    else
        *out = &r->base;
    return status;
}
