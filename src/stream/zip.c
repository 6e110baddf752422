#include "stream/zip.h"

#include "base/memory.h"
#include "stream/codec.h"

#include <string.h>

/* Lengths of the records without their variable fields, and limits. */
enum {
    END_LENGTH = 22,
    LONGEST_COMMENT = 65535,
    LOCATOR_LENGTH = 20,
    END_64_LENGTH = 56,
    ENTRY_LENGTH = 46,
    LOCAL_LENGTH = 30,
    LONGEST_NAME = 64, /* of a member that is read */
    MOST_LIST_BYTES = 1 << 20,
    MOST_MEMBERS = 1000
};

static roofs_status zip_damaged(const zip *z, const char *what, roofs_error *err)
{
    return fail(err, ROOFS_BAD_DATA, "%s is not a complete .npz file: %s", bytes_name(z->whole),
                what);
}

/* A little-endian number of at most 8 bytes; -1 if it is too large. */
static int64_t number_at(const unsigned char *at, int size)
{
    uint64_t value = 0;
    for (int k = size - 1; k >= 0; k--)
        value = value << 8 | at[k];
    return value > INT64_MAX ? -1 : (int64_t)value;
}

static int zip_signature_is(const unsigned char *at, const char *signature)
{
    return memcmp(at, signature, 4) == 0;
}

/* ---- the end of the file ----------------------------------------------- */

typedef struct list_place {
    int64_t offset, size, count;
} list_place;

/* Files above 4 GiB have a second end record before the usual one. */
static roofs_status find_large(const zip *z, int64_t end_at, list_place *list, roofs_error *err)
{
    unsigned char locator[LOCATOR_LENGTH], end[END_64_LENGTH];
    if (end_at < LOCATOR_LENGTH)
        return ROOFS_OK;
    TRY(bytes_read_at(z->whole, end_at - LOCATOR_LENGTH, locator, LOCATOR_LENGTH, err));
    if (!zip_signature_is(locator, "PK\6\7"))
        return ROOFS_OK;
    int64_t at = number_at(locator + 8, 8);
    if (at < 0 || at > end_at - END_64_LENGTH)
        return zip_damaged(z, "its end record points beyond the end of the file", err);
    TRY(bytes_read_at(z->whole, at, end, END_64_LENGTH, err));
    if (!zip_signature_is(end, "PK\6\6"))
        return zip_damaged(z, "its end record is damaged", err);
    *list = (list_place){number_at(end + 48, 8), number_at(end + 40, 8), number_at(end + 32, 8)};
    return ROOFS_OK;
}

/* A comment may follow the end record, so the search starts at the end. */
static roofs_status find_list(const zip *z, const unsigned char *tail, int64_t length, int64_t size,
                              list_place *list, roofs_error *err)
{
    int64_t at = length - END_LENGTH;
    while (at >= 0 && !zip_signature_is(tail + at, "PK\5\6"))
        at--;
    if (at < 0)
        return zip_damaged(z, "its end is missing", err);
    const unsigned char *end = tail + at;
    *list = (list_place){number_at(end + 16, 4), number_at(end + 12, 4), number_at(end + 10, 2)};
    TRY(find_large(z, size - length + at, list, err));
    if (list->offset < 0 || list->size < 0 || list->count < 0 || list->offset > size ||
        list->size > size - list->offset || list->size > MOST_LIST_BYTES)
        return zip_damaged(z, "its list of members is beyond the end of the file", err);
    return ROOFS_OK;
}

static roofs_status locate_list(const zip *z, int64_t size, list_place *list, roofs_error *err)
{
    int64_t length = END_LENGTH + LONGEST_COMMENT;
    unsigned char *tail;
    if (length > size)
        length = size;
    if (length < END_LENGTH)
        return zip_damaged(z, "it is too short", err);
    TRY(memory_reserve(&tail, length, 1, "a .npz file", err));
    roofs_status status = bytes_read_at(z->whole, size - length, tail, length, err);
    if (!status)
        status = find_list(z, tail, length, size, list, err);
    memory_free(tail);
    return status;
}

/* ---- the list of members ----------------------------------------------- */

/* A field of 4 bytes that is all ones is stored as 8 bytes in the extra field, in this order. */
static void zip_widen_fields(bytes_range *m, const unsigned char *extra, int64_t length)
{
    const int64_t all_ones = 0xffffffff;
    int64_t *const fields[] = {&m->size, &m->packed, &m->offset};
    while (length >= 4) {
        int64_t id = number_at(extra, 2), size = number_at(extra + 2, 2), used = 4;
        if (size > length - 4)
            return;
        for (int k = 0; k < 3 && id == 1; k++)
            if (*fields[k] == all_ones && used + 8 <= size + 4) {
                *fields[k] = number_at(extra + used, 8);
                used += 8;
            }
        extra += size + 4;
        length -= size + 4;
    }
}

static int64_t zip_find_bytes(const zip *z, const char *name, int64_t length)
{
    for (int64_t k = 0; k < z->count; k++) {
        const char *other = names_get(&z->names, k);
        if ((int64_t)strlen(other) == length && memcmp(other, name, (size_t)length) == 0)
            return k;
    }
    return -1;
}

static roofs_status check_member(const zip *z, const bytes_range *m, int method, int encrypted,
                                 int64_t size, roofs_error *err)
{
    if (encrypted || (method != 0 && method != 8))
        return zip_damaged(z, "a member is encrypted or has an unknown compression", err);
    if (m->offset < 0 || m->packed < 0 || m->size < 0 || m->offset > size ||
        m->packed > size - m->offset)
        return zip_damaged(z, "a member is beyond the end of the file", err);
    if (m->deflated ? m->size / CODEC_DEFLATE_RATIO > m->packed : m->size != m->packed)
        return zip_damaged(z, "a member has an impossible size", err);
    return ROOFS_OK;
}

static roofs_status add_member(zip *z, const unsigned char *entry, int64_t name_length,
                               int64_t extra_length, int64_t size, roofs_error *err)
{
    bytes_range m = {.crc = (uint32_t)number_at(entry + 16, 4),
                     .packed = number_at(entry + 20, 4),
                     .size = number_at(entry + 24, 4),
                     .offset = number_at(entry + 42, 4),
                     .deflated = number_at(entry + 10, 2) == 8};
    zip_widen_fields(&m, entry + ENTRY_LENGTH + name_length, extra_length);
    TRY(check_member(z, &m, (int)number_at(entry + 10, 2), entry[8] & 1, size, err));
    TRY(memory_grow(&z->members, &z->capacity, z->count + 1, sizeof *z->members, "a .npz file",
                    err));
    if (zip_find_bytes(z, (const char *)entry + ENTRY_LENGTH, name_length) >= 0)
        return zip_damaged(z, "two members have the same name", err);
    z->members[z->count++] = m;
    return names_add(&z->names, (const char *)entry + ENTRY_LENGTH, name_length, err);
}

static roofs_status read_list(zip *z, const list_place *list, const unsigned char *at, int64_t size,
                              roofs_error *err)
{
    int64_t left = list->size;
    if (list->count > MOST_MEMBERS)
        return zip_damaged(z, "it has too many members", err);
    for (int64_t k = 0; k < list->count; k++) {
        if (left < ENTRY_LENGTH || !zip_signature_is(at, "PK\1\2"))
            return zip_damaged(z, "its list of members is damaged", err);
        int64_t name = number_at(at + 28, 2), extra = number_at(at + 30, 2);
        int64_t length = ENTRY_LENGTH + name + extra + number_at(at + 32, 2);
        if (length > left)
            return zip_damaged(z, "its list of members is damaged", err);
        TRY(add_member(z, at, name, extra, size, err));
        at += length;
        left -= length;
    }
    if (left > 0)
        return zip_damaged(z, "its list of members has another length than its end record", err);
    return ROOFS_OK;
}

static roofs_status open_list(zip *z, roofs_error *err)
{
    int64_t size;
    list_place list = {0};
    unsigned char *bytes_of_list;
    TRY(bytes_make_seekable(z->whole, &size, err));
    TRY(locate_list(z, size, &list, err));
    TRY(memory_reserve(&bytes_of_list, list.size, 1, "a .npz file", err));
    roofs_status status = bytes_read_at(z->whole, list.offset, bytes_of_list, list.size, err);
    if (!status)
        status = read_list(z, &list, bytes_of_list, size, err);
    memory_free(bytes_of_list);
    return status;
}

roofs_status zip_open(zip *z, bytes *whole, roofs_error *err)
{
    *z = (zip){.whole = whole};
    roofs_status status = open_list(z, err);
    if (status)
        zip_close(z);
    return status;
}

void zip_close(zip *z)
{
    names_free(&z->names);
    memory_free(z->members);
    *z = (zip){0};
}

int64_t zip_find(const zip *z, const char *name)
{
    return zip_find_bytes(z, name, (int64_t)strlen(name));
}

/* Refuses a member whose own header has another name than the list. */
static roofs_status zip_check_name(const zip *z, int64_t offset, int64_t length, const char *name,
                                   roofs_error *err)
{
    char own[LONGEST_NAME];
    int same = length == (int64_t)strlen(name) && length <= LONGEST_NAME;
    if (same) {
        TRY(bytes_read_at(z->whole, offset, own, length, err));
        same = memcmp(own, name, (size_t)length) == 0;
    }
    return same ? ROOFS_OK
                : zip_damaged(z, "a member has another name than in the list of members", err);
}

/* The extra field of the local header may have another length than in the list. */
roofs_status zip_open_member(const zip *z, int64_t member, bytes **out, roofs_error *err)
{
    unsigned char local[LOCAL_LENGTH];
    bytes_range range = z->members[member];
    TRY(bytes_read_at(z->whole, range.offset, local, LOCAL_LENGTH, err));
    if (!zip_signature_is(local, "PK\3\4"))
        return zip_damaged(z, "a member does not begin at its offset in the list", err);
    const int64_t name_length = number_at(local + 26, 2);
    range.name = names_get(&z->names, member);
    TRY(zip_check_name(z, range.offset + LOCAL_LENGTH, name_length, range.name, err));
    range.offset += LOCAL_LENGTH + name_length + number_at(local + 28, 2);
    return bytes_open_range(out, z->whole, &range, err);
}
