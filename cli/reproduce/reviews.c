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
        int there = access(full, R_OK) == 0;
        memory_free(full);
        if (!there)
            return fail(err, ROOFS_BAD_DATA,
                        "%s has no %s; get the Large Movie Review Dataset (Maas et al., ACL 2011; "
                        "search for aclImdb_v1.tar.gz), put its train/labeledBow.feat and "
                        "test/labeledBow.feat there under this name, compressed with xz, and name "
                        "the folder with --imdb",
                        path, names[k]);
    }
    return ROOFS_OK;
}

static roofs_status copy_scores(corpus *c, const source *from, const char *path, roofs_error *err)
{
    const double *labels = source_labels(from);
    int64_t n = source_samples(from);
    if (!labels)
        return fail(err, ROOFS_BAD_DATA, "%s: the rows carry no scores", path);
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

typedef struct reviewed {
    material base;
    const reviews *all;
    sparse train, test; /* weighted, features in the order of the stream */
    double *y;
    unsigned char *clean;
    double *prediction; /* of the test reviews */
} reviewed;

enum purpose { FOR_REVIEWS = 101, FOR_WORDS = 102, FOR_CORRUPTED = 103, FOR_ATTACK = 104 };

static random_key reviews_key(int64_t seed, enum purpose purpose)
{
    return (random_key){.seed = (uint64_t)seed, .stream = (uint32_t)purpose};
}

/* Replaces counts by weights. If idf is NULL, learns it and copies it to `learned`. */
static roofs_status reviews_weigh(sparse *s, const double *idf, double *learned, roofs_error *err)
{
    tfidf t;
    roofs_block block;
    sparse_view(s, 0, s->count, &block);
    roofs_status status = tfidf_create(&t, s->n, idf, s->count, err);
    if (!status)
        status = tfidf_measure(&t, &block, err);
    if (!status) {
        tfidf_measured(&t);
        tfidf_weigh(&t, 0, &block, s->values);
        for (int64_t k = 0; learned && k < s->count; k++)
            learned[k] = t.idf[k];
    }
    tfidf_free(&t);
    return status;
}

static roofs_status choose_words(reviewed *r, const sparse *train, const int64_t *words,
                                 roofs_error *err)
{
    double *idf = NULL;
    int64_t p = r->base.what.p;
    TRY(sparse_choose_features(train, words, p, &r->train, err));
    TRY(sparse_choose_features(&r->all->test.counts, words, p, &r->test, err));
    TRY(memory_get(&idf, p, sizeof *idf, "weights of words", err));
    roofs_status status = reviews_weigh(&r->train, NULL, idf, err);
    if (!status)
        status = reviews_weigh(&r->test, idf, NULL, err);
    memory_free(idf);
    return status;
}

static roofs_status choose_reviews(reviewed *r, const int64_t *chosen, const int64_t *words,
                                   roofs_error *err)
{
    sparse some = {0};
    int64_t n = r->base.what.n;
    for (int64_t i = 0; i < n; i++)
        r->y[i] = r->all->train.score[chosen[i]];
    roofs_status status = sparse_choose_samples(&r->all->train.counts, chosen, n, &some, err);
    if (!status)
        status = choose_words(r, &some, words, err);
    sparse_free(&some);
    return status;
}

/* Draws reviews at random, because the files are sorted by score. Words come in the order of the
 * file (frequent first) or shuffled. */
static roofs_status reviews_draw(reviewed *r, arrival when, int64_t seed, roofs_error *err)
{
    const int64_t reviews_all = r->all->train.counts.n, words_all = r->base.what.p;
    int64_t *chosen = NULL, *words = NULL;
    roofs_status status = memory_get(&chosen, reviews_all, sizeof *chosen, "reviews", err);
    if (!status)
        status = memory_get(&words, words_all, sizeof *words, "words", err);
    if (!status) {
        random_permutation(reviews_key(seed, FOR_REVIEWS), reviews_all, chosen);
        random_permutation(reviews_key(seed, FOR_WORDS), words_all, words);
        for (int64_t k = 0; when == ARRIVAL_FIRST && k < words_all; k++)
            words[k] = k;
        status = choose_reviews(r, chosen, words, err);
    }
    memory_free(chosen);
    memory_free(words);
    return status;
}

/* Adds U[-50, 50], five times the largest score, to some scores. */
static roofs_status reviews_corrupt(reviewed *r, int64_t seed, roofs_error *err)
{
    int64_t n = r->base.what.n, *order = NULL;
    int64_t corrupted = (int64_t)round(r->base.what.corruption * (double)n);
    TRY(memory_get(&order, n, sizeof *order, "reviews", err));
    random_permutation(reviews_key(seed, FOR_CORRUPTED), n, order);
    for (int64_t k = 0; k < n; k++) {
        int64_t i = order[k];
        r->clean[i] = k >= corrupted;
        if (!r->clean[i])
            r->y[i] += 10.0 * HIGHEST *
                       (random_uniform(reviews_key(seed, FOR_ATTACK), 0, (uint64_t)i) - 0.5);
    }
    memory_free(order);
    return ROOFS_OK;
}

/* ---- scores ------------------------------------------------------------ */

static double mean_absolute_error(const reviewed *r)
{
    double sum = 0;
    for (int64_t i = 0; i < r->test.n; i++)
        sum += fabs(fmin(fmax(r->prediction[i], LOWEST), HIGHEST) - r->all->test.score[i]);
    return sum / (double)r->test.n;
}

static void predict(reviewed *r, const roofs_result *answer)
{
    for (int64_t i = 0; i < r->test.n; i++)
        r->prediction[i] = answer->intercept;
    for (int64_t k = 0; k < answer->selected; k++) {
        const roofs_feature *word = &answer->features[k];
        for (int64_t q = r->test.starts[word->index]; q < r->test.starts[word->index + 1]; q++)
            r->prediction[r->test.samples[q]] += word->coef * r->test.values[q];
    }
}

static roofs_status reviewed_score(material *m, const roofs_result *answer, double *scores,
                                   roofs_error *err)
{
    (void)err;
    reviewed *r = (reviewed *)m;
    const truth known = {.clean = r->clean, .n = m->what.n};
    predict(r, answer);
    scores[MEASURE_MAE] = mean_absolute_error(r);
    scores[MEASURE_CLEAN_F1] = score_sample_f1(answer, &known, 1);
    scores[MEASURE_CORRUPTED_F1] = score_sample_f1(answer, &known, 0);
    return ROOFS_OK;
}

/* The error of the score of a random training review. */
static double error_of_guess(const reviewed *r)
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
static roofs_status score_constant(reviewed *r, double *scores, roofs_error *err)
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

static roofs_status reviewed_reference(material *m, answer_kind kind, double *scores,
                                       roofs_error *err)
{
    reviewed *r = (reviewed *)m;
    if (kind == ANSWER_NULL)
        return score_constant(r, scores, err);
    scores[MEASURE_MAE] = error_of_guess(r);
    return ROOFS_OK;
}

static roofs_status reviewed_block(material *m, int64_t first, int64_t count, roofs_block *out,
                                   roofs_error *err)
{
    (void)err;
    sparse_view(&((reviewed *)m)->train, first, count, out);
    return ROOFS_OK;
}

static void reviewed_destroy(material *m)
{
    reviewed *r = (reviewed *)m;
    sparse_free(&r->train);
    sparse_free(&r->test);
    memory_free(r->y);
    memory_free(r->clean);
    memory_free(r->prediction);
    memory_free(r);
}

static const material_kind reviewed_kind = {.block = reviewed_block,
                                            .score = reviewed_score,
                                            .reference = reviewed_reference,
                                            .destroy = reviewed_destroy};

static roofs_status reviews_prepare(reviewed *r, arrival when, int64_t seed, roofs_error *err)
{
    const setting *what = &r->base.what;
    if (what->n > r->all->train.counts.n || what->p > r->all->train.counts.count)
        return fail(err, ROOFS_BAD_DATA, "the files have fewer reviews or words than needed");
    TRY(memory_get(&r->y, what->n, sizeof *r->y, "the scores", err));
    TRY(memory_get(&r->clean, what->n, sizeof *r->clean, "the scores", err));
    TRY(memory_get(&r->prediction, r->all->test.counts.n, sizeof *r->prediction, "scores", err));
    TRY(reviews_draw(r, when, seed, err));
    r->base.y = r->y;
    return reviews_corrupt(r, seed, err);
}

roofs_status material_reviews(material **out, const reviews *all, const setting *what, arrival when,
                              int64_t seed, roofs_error *err)
{
    reviewed *r = NULL;
    TRY(memory_get(&r, 1, sizeof *r, "a trial", err));
    r->base = (material){.kind = &reviewed_kind, .what = *what};
    r->all = all;
    roofs_status status = reviews_prepare(r, when, seed, err);
    if (status)
        reviewed_destroy(&r->base);
    else
        *out = &r->base;
    return status;
}
