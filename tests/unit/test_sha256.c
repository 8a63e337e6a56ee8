/*
 * SHA-256 both ways: the library's, which uses the processor's instructions
 * where it has them, and the plain C, compiled here once more without them.
 * The vectors are those of NIST (FIPS 180-4 examples).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/sha256_x86.h"

static bool no_x86(void)
{
	return false;
}

#define tn_sha256_has_x86 no_x86
#define tn_sha256_init plain_init
#define tn_sha256_add plain_add
#define tn_sha256_end plain_end
#define tn_sha256_hex plain_hex
#include "base/sha256.c"
#undef tn_sha256_init
#undef tn_sha256_add
#undef tn_sha256_end
#undef tn_sha256_hex

void tn_sha256_init(struct tn_sha256 *sha);
void tn_sha256_add(struct tn_sha256 *sha, const void *data, size_t size);
void tn_sha256_end(struct tn_sha256 *sha, unsigned char digest[32]);
void tn_sha256_hex(const unsigned char digest[32], char out[65]);

static void check(const void *data, size_t size, const char *expected)
{
	unsigned char digest[32];
	struct tn_sha256 sha;
	char hex[65];

	tn_sha256_init(&sha);
	tn_sha256_add(&sha, data, size);
	tn_sha256_end(&sha, digest);
	tn_sha256_hex(digest, hex);
	assert_string_equal(hex, expected);
	plain_init(&sha);
	plain_add(&sha, data, size);
	plain_end(&sha, digest);
	plain_hex(digest, hex);
	assert_string_equal(hex, expected);
}

static void test_vectors(void **state)
{
	(void)state;
	check("", 0, "e3b0c44298fc1c149afbf4c8996fb924"
	      "27ae41e4649b934ca495991b7852b855");
	check("abc", 3, "ba7816bf8f01cfea414140de5dae2223"
	      "b00361a396177a9cb410ff61f20015ad");
	check("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
	      "248d6a61d20638b8e5c026930c3e6039"
	      "a33ce45964ff2167f6ecedd419db06c1");
}

/* Cut anywhere, the same sum, both ways. */
static void test_cuts(void **state)
{
	unsigned char text[1000], digest[32], whole[32];
	struct tn_sha256 sha;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(text); i++)
		text[i] = (unsigned char)(i * i);
	plain_init(&sha);
	plain_add(&sha, text, sizeof(text));
	plain_end(&sha, whole);
	for (i = 0; i <= sizeof(text); i++) {
		tn_sha256_init(&sha);
		tn_sha256_add(&sha, text, i);
		tn_sha256_add(&sha, text + i, sizeof(text) - i);
		tn_sha256_end(&sha, digest);
		assert_memory_equal(digest, whole, sizeof(whole));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_vectors),
					    cmocka_unit_test(test_cuts) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
