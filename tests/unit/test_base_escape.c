/* Text that is safe to print. */
#include "base/escape.h"
#include "base/status.h"
#include "test_base_help.h"

#include <string.h>

static void assert_escaped(const char *text, const char *wanted)
{
    char out[200], again[200];
    escape_text(text, out, sizeof out);
    assert_string_equal(out, wanted);
    escape_text(out, again, sizeof again);
    assert_string_equal(again, out);
}

static void test_unsafe_characters_are_escaped(void **state)
{
    (void)state;
    assert_escaped("plain, \"quoted\" and \\ back", "plain, \"quoted\" and \\ back");
    assert_escaped("a\nb\rc\td", "a\\nb\\rc\\td");
    assert_escaped("\x1b[31m\x07\x7f", "\\x1b[31m\\x07\\x7f");
    assert_escaped("\xc2\x9b"
                   "31m\xc2\x85",
                   "\\u009b31m\\u0085");
    assert_escaped("\xe2\x80\xae"
                   "x\xe2\x81\xa6\xd8\x9c",
                   "\\u202ex\\u2066\\u061c");
    assert_escaped("\xf3\xa0\x81\x81", "\\U000e0041");
    assert_escaped("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
    assert_escaped("\xff\xc3(\xed\xa0\x80\xe2\x82", "\\xff\\xc3(\\xed\\xa0\\x80\\xe2\\x82");
    assert_escaped("\xc0\x80\xf4\x90\x80\x80\xe0\x80\x80",
                   "\\xc0\\x80\\xf4\\x90\\x80\\x80\\xe0\\x80\\x80");
}

/* All characters: no byte below 32, no DEL, and no C1 control remains. */
static void test_no_control_remains(void **state)
{
    (void)state;
    for (int first = 1; first < 256; first++)
        for (int second = 0; second < 256; second++) {
            char text[3] = {(char)first, (char)second, 0}, out[40];
            escape_text(text, out, sizeof out);
            for (const char *at = out, *end = out + strlen(out); at < end;) {
                const int32_t code = utf8_next(&at, end);
                assert_true(code >= 32 && !(code >= 0x7f && code <= 0x9f));
            }
        }
}

static void test_escaped_text_fits(void **state)
{
    char out[16];
    (void)state;
    for (size_t size = 1; size <= sizeof out; size++) {
        memset(out, 'x', sizeof out);
        escape_text("ab\x1b"
                    "cd\xe2\x80\xae\xc3\xa4",
                    out, size);
        assert_true(strlen(out) < size);
        assert_int_equal(strncmp(out, "ab\\x1bcd\\u202e", strlen(out)), 0);
        assert_true(strlen(out) <= 2 || strlen(out) >= 6); /* an escape is whole or absent */
    }
}

static void test_json_stays_the_same_text(void **state)
{
    const char text[] = "{\"\xc2\x9b\":\n\"\xf3\xa0\x81\x81\xc3\xa4\"}", *at = text;
    char out[100] = "";
    (void)state;
    while (at < text + strlen(text)) {
        char next[2 * ESCAPE_MOST + 1];
        next[escape_next_json(&at, text + strlen(text), next)] = '\0';
        strcat(out, next);
    }
    assert_string_equal(out, "{\"\\u009b\":\n\"\\udb40\\udc41\xc3\xa4\"}");
}

static void test_errors_are_escaped(void **state)
{
    roofs_error err;
    (void)state;
    assert_int_equal((fail)(&err, ROOFS_BAD_DATA, "%s is bad", "a\x1b[2J\nb"), ROOFS_BAD_DATA);
    assert_string_equal(err.text, "a\\x1b[2J\\nb is bad");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unsafe_characters_are_escaped),
        cmocka_unit_test(test_no_control_remains),
        cmocka_unit_test(test_escaped_text_fits),
        cmocka_unit_test(test_json_stays_the_same_text),
        cmocka_unit_test(test_errors_are_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
