#include "base/section.h"

#include "base/memory.h"

#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* Like PNG: the first byte is not text, and a text-mode copy changes the line end. */
static const char MAGIC[8] = "\211roofs\r\n";

typedef struct head {
    char magic[sizeof MAGIC];
    uint32_t version;
    uint32_t zero;
} head;

typedef struct section {
    char name[SECTION_NAME];
    int64_t length;
    uint64_t digest;
} section;

enum { FIRST_READ = 1 << 20 };

static uint64_t section_digest(const section *s, const void *bytes, uint32_t version)
{
    uint64_t name = XXH3_64bits_withSeed(s->name, sizeof s->name + sizeof s->length, version);
    return XXH3_64bits_withSeed(bytes, (size_t)s->length, name);
}

/* ---- writing ----------------------------------------------------------- */

static roofs_status section_put(const section_sink *to, const void *bytes, int64_t size,
                                roofs_error *err)
{
    if (size == 0 || to->write(to->user, bytes, (size_t)size) == 0)
        return ROOFS_OK;
    return fail(err, ROOFS_IO, "the checkpoint cannot be written");
}

roofs_status section_write_head(const section_sink *to, roofs_error *err)
{
    head h = {.version = ARCHIVE_VERSION};
    memcpy(h.magic, MAGIC, sizeof MAGIC);
    return section_put(to, &h, sizeof h, err);
}

roofs_status section_write(const section_sink *to, const char *name, const archive *a,
                           roofs_error *err)
{
    section s = {.length = a->size};
    memcpy(s.name, name, strlen(name));
    s.digest = section_digest(&s, a->bytes, to->version ? to->version : ARCHIVE_VERSION);
    TRY(section_put(to, &s, sizeof s, err));
    return section_put(to, a->bytes, a->size, err);
}

/* ---- reading ----------------------------------------------------------- */

static roofs_status section_get(const section_source *from, void *bytes, int64_t size,
                                roofs_error *err)
{
    for (int64_t got = 0; got < size;) {
        int64_t count = from->read(from->user, (char *)bytes + got, (size_t)(size - got));
        if (count < 0)
            return fail(err, ROOFS_IO, "the checkpoint cannot be read");
        if (count == 0 || count > size - got)
            return fail(err, ROOFS_BAD_DATA, "the checkpoint is cut off: it ends too early");
        got += count;
    }
    return ROOFS_OK;
}

roofs_status section_read_head(section_source *from, roofs_error *err)
{
    head h;
    TRY(section_get(from, &h, sizeof h, err));
    if (!section_recognises(h.magic, sizeof h.magic))
        return fail(err, ROOFS_BAD_DATA, "this is not a checkpoint of roofs");
    if (h.version < 1 || h.version > ARCHIVE_VERSION || h.zero != 0)
        return fail(err, ROOFS_BAD_DATA,
                    "the checkpoint has version %u; this library (%s) reads versions 1 to %d",
                    (unsigned)h.version, ROOFS_VERSION, ARCHIVE_VERSION);
    from->version = h.version;
    return ROOFS_OK;
}

/* Doubles the buffer as bytes arrive. */
static roofs_status section_get_payload(const section_source *from, int64_t length, archive *a,
                                        roofs_error *err)
{
    a->size = 0;
    while (a->size < length) {
        int64_t left = length - a->size;
        int64_t more = a->size > FIRST_READ ? a->size : FIRST_READ;
        more = more < left ? more : left;
        TRY(memory_grow(&a->bytes, &a->capacity, a->size + more, 1, "a checkpoint", err));
        TRY(section_get(from, a->bytes + a->size, more, err));
        a->size += more;
    }
    return ROOFS_OK;
}

roofs_status section_next(const section_source *from, char name[SECTION_NAME + 1], archive *a,
                          roofs_error *err)
{
    section s;
    TRY(section_get(from, &s, sizeof s, err));
    if (s.length < 0)
        return fail(err, ROOFS_BAD_DATA, "the checkpoint is damaged: a length is negative");
    TRY(section_get_payload(from, s.length, a, err));
    if (section_digest(&s, a->bytes, from->version) != s.digest)
        return fail(err, ROOFS_BAD_DATA, "the checkpoint is damaged: its checksum does not match");
    memcpy(name, s.name, SECTION_NAME);
    name[SECTION_NAME] = '\0';
    archive_begin_loading(a, err);
    a->version = (int)from->version;
    return ROOFS_OK;
}

roofs_status section_read(const section_source *from, const char *name, archive *a,
                          roofs_error *err)
{
    char found[SECTION_NAME + 1];
    TRY(section_next(from, found, a, err));
    if (strcmp(found, name) == 0)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA, "the checkpoint is damaged: its section '%s' is missing",
                name);
}

int section_recognises(const void *bytes, size_t size)
{
    return size >= sizeof MAGIC && memcmp(bytes, MAGIC, sizeof MAGIC) == 0;
}
