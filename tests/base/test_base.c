// The ground floor: status texts, errors, memory, names, the log, random numbers and the clock.
#include "base/arena.h"
#include "base/memory.h"
#include "base/names.h"
#include "carom/base.h"
#include "test.h"

// ---- status and errors -------------------------------------------------------------------------------------

TEST(every_status_has_its_own_text) {
  static const carom_status all[] = {
#define ITEM(name, value, text) name,
      CAROM_STATUS_LIST(ITEM)
#undef ITEM
  };
  int count = (int)(sizeof all / sizeof *all);
  for (int i = 0; i < count; i++) {
    CHECK(strlen(carom_status_text(all[i])) > 3);
    for (int j = 0; j < i; j++) {
      CHECK(all[i] != all[j]);
      CHECK(strcmp(carom_status_text(all[i]), carom_status_text(all[j])) != 0);
    }
  }
  CHECK_TEXT(carom_status_text(CAROM_OK), "success");
  CHECK_TEXT(carom_status_text((carom_status)-1000), "unknown status");
  CHECK_TEXT(carom_status_text((carom_status)1000), "unknown status");
}

TEST(the_version_is_that_of_the_header) {
  char expected[40];
  snprintf(expected, sizeof expected, "%d.%d.%d", CAROM_VERSION_MAJOR, CAROM_VERSION_MINOR, CAROM_VERSION_PATCH);
  CHECK_TEXT(carom_version(), expected);
}

TEST(fail_fills_the_error_and_returns_the_status) {
  carom_error error = {0};
  CHECK(carom_fail(&error, CAROM_ERR_IO, "file '%s', line %d", "a.yaml", 7) == CAROM_ERR_IO);
  CHECK(error.status == CAROM_ERR_IO);
  CHECK_TEXT(error.message, "file 'a.yaml', line 7");
  CHECK(carom_fail(NULL, CAROM_NOT_CONVERGED, "nobody listens %d", 1) == CAROM_NOT_CONVERGED);
}

TEST(a_long_message_is_cut_and_terminated) {
  carom_error error;
  memset(&error, 'x', sizeof error);
  char *text = malloc(5000);
  REQUIRE(text);
  memset(text, 'a', 4999), text[4999] = 0;
  carom_fail(&error, CAROM_ERR_ARGUMENT, "%s", text);
  CHECK(strlen(error.message) == sizeof error.message - 1);
  free(text);
}

// ---- memory ------------------------------------------------------------------------------------------------

TEST(allocate_zeroes_and_refuses_overflow) {
  carom_allocator a = carom_allocator_or_default(NULL);
  unsigned char *block = carom_allocate(&a, 1000, 3);
  REQUIRE(block);
  for (int i = 0; i < 3000; i++) REQUIRE(block[i] == 0);
  carom_release(&a, block);
  void *nothing = carom_allocate(&a, 0, 8);
  CHECK(nothing != NULL);
  carom_release(&a, nothing);
  CHECK(carom_allocate(&a, SIZE_MAX / 2, 3) == NULL);
  CHECK(carom_allocate(&a, SIZE_MAX, SIZE_MAX) == NULL);
  carom_release(&a, NULL);
}

TEST(texts_are_copied_whole_or_in_part) {
  carom_allocator a = carom_allocator_default();
  char *whole = carom_copy_text(&a, "carom"), *part = carom_copy_text_n(&a, "carom", 3),
       *none = carom_copy_text(&a, "");
  CHECK_TEXT(whole, "carom");
  CHECK_TEXT(part, "car");
  CHECK_TEXT(none, "");
  carom_release(&a, whole), carom_release(&a, part), carom_release(&a, none);
}

static void *count_allocate(void *context, size_t size) {
  ++*(int *)context;
  return malloc(size);
}
static void *count_resize(void *context, void *block, size_t size) {
  ++*(int *)context;
  return realloc(block, size);
}
static void count_release(void *context, void *block) {
  --*(int *)context;
  free(block);
}

TEST(grow_doubles_and_keeps_what_is_there) {
  int calls = 0, capacity = 0;
  carom_allocator a = {&calls, count_allocate, count_resize, count_release};
  int *array = NULL;
  for (int i = 0; i < 100000; i++) {
    REQUIRE(carom_grow(&a, (void **)&array, i, &capacity, sizeof *array));
    REQUIRE(capacity > i);
    array[i] = 3 * i;
  }
  for (int i = 0; i < 100000; i++) REQUIRE(array[i] == 3 * i);
  CHECK(calls <= 16);  // log2(1e5 / 8) + 1: doubling, not creeping
  carom_release(&a, array);
}

static void *refuse_allocate(void *context, size_t size) {
  (void)context, (void)size;
  return NULL;
}
static void *refuse_resize(void *context, void *block, size_t size) {
  (void)context, (void)block, (void)size;
  return NULL;
}

TEST(a_failed_growth_leaves_the_array_alone) {
  int calls = 0, capacity = 0;
  carom_allocator a = {&calls, count_allocate, count_resize, count_release};
  double *array = NULL;
  REQUIRE(carom_grow(&a, (void **)&array, 0, &capacity, sizeof *array));
  array[0] = 42;
  int before = capacity;
  double *kept = array;
  carom_allocator refusing = {NULL, refuse_allocate, refuse_resize, count_release};
  CHECK(!carom_grow(&refusing, (void **)&array, before, &capacity, sizeof *array));
  CHECK(array == kept && capacity == before && array[0] == 42);
  int huge = INT32_MAX / 2 + 1;
  CHECK(!carom_grow(&a, (void **)&array, huge, &huge, sizeof *array));
  int many = 1 << 29;
  CHECK(!carom_grow(&a, (void **)&array, many, &many, (size_t)1 << 40));
  CHECK(array == kept);
  carom_release(&a, array);
}

// ---- the arena ---------------------------------------------------------------------------------------------

TEST(arena_blocks_are_aligned_and_apart) {
  carom_arena arena;
  size_t sizes[] = {1, 63, 64, 65, 0, 200, 8}, total = 0;
  for (int i = 0; i < 7; i++) total += carom_arena_cost(sizes[i]);
  REQUIRE(carom_arena_create(&arena, total, NULL, NULL) == CAROM_OK);
  unsigned char *blocks[7];
  for (int i = 0; i < 7; i++) {
    blocks[i] = carom_arena_push(&arena, sizes[i]);
    REQUIRE(blocks[i]);
    CHECK((uintptr_t)blocks[i] % 64 == 0);
    memset(blocks[i], i + 1, sizes[i]);
  }
  for (int i = 0; i < 7; i++)
    for (size_t k = 0; k < sizes[i]; k++) REQUIRE(blocks[i][k] == i + 1);
  CHECK(carom_arena_push(&arena, 1) == NULL);  // costs add up exactly: nothing is left
  CHECK(carom_arena_push(&arena, 0) != NULL);
  carom_arena_destroy(&arena);
}

TEST(arena_marks_give_memory_back) {
  carom_arena arena;
  REQUIRE(carom_arena_create(&arena, 1024, NULL, NULL) == CAROM_OK);
  void *outer = carom_arena_push(&arena, 128);
  carom_arena_mark mark = carom_arena_get_mark(&arena);
  void *first = carom_arena_push(&arena, 512);
  CHECK(arena.high_water == 640);
  carom_arena_pop(&arena, mark);
  void *second = carom_arena_push(&arena, 64);
  CHECK(second == first && second != outer);
  CHECK(arena.high_water == 640);
  CHECK(CAROM_PUSH(&arena, double, 104) != NULL);
  CHECK(arena.high_water == 1024);
  CHECK(carom_arena_push(&arena, 1) == NULL);
  CHECK(carom_arena_push(&arena, SIZE_MAX) == NULL);  // must not wrap to a small request
  CHECK(carom_arena_push(&arena, SIZE_MAX - 70) == NULL);
  carom_arena_destroy(&arena);
  CHECK(arena.memory == NULL);
}

TEST(arena_says_when_memory_is_short) {
  carom_arena arena;
  carom_error error = {0};
  carom_allocator refusing = {NULL, refuse_allocate, refuse_resize, count_release};
  CHECK(carom_arena_create(&arena, 100, &refusing, &error) == CAROM_ERR_MEMORY);
  CHECK_CONTAINS(error.message, "out of memory");
}

// ---- names -------------------------------------------------------------------------------------------------

// The reference values of the FNV-1a home page (Fowler, Noll, Vo).
TEST(hash_is_fnv_1a) {
  CHECK(carom_hash_bytes(CAROM_HASH_START, "", 0) == 0xcbf29ce484222325u);
  CHECK(carom_hash_bytes(CAROM_HASH_START, "a", 1) == 0xaf63dc4c8601ec8cu);
  CHECK(carom_hash_bytes(CAROM_HASH_START, "foobar", 6) == 0x85944171f73967e8u);
  uint64_t half = carom_hash_bytes(CAROM_HASH_START, "foo", 3);
  CHECK(carom_hash_bytes(half, "bar", 3) == 0x85944171f73967e8u);
}

// Slots that are looked at before the name is found, or a free slot.
static int looks(const carom_names *names, const char *name) {
  int mask = names->capacity - 1, slot = (int)(carom_hash_bytes(CAROM_HASH_START, name, strlen(name)) & (uint64_t)mask);
  int count = 1;
  for (; names->name[slot] && strcmp(names->name[slot], name) != 0; count++) slot = (slot + 1) & mask;
  return count;
}

TEST(names_finds_each_of_1e5) {
  enum { COUNT = 100000 };
  char(*text)[20] = malloc(COUNT * sizeof *text);
  REQUIRE(text);
  carom_names names;
  carom_names_create(&names, NULL);
  CHECK(carom_names_find(&names, "early") == -1);
  for (int i = 0; i < COUNT; i++) {
    snprintf(text[i], sizeof text[i], "body%d", i);
    REQUIRE(carom_names_add(&names, text[i], i));
  }
  CHECK(names.count == COUNT);
  double hits = 0, misses = 0;
  for (int i = 0; i < COUNT; i++) {
    char other[20];
    snprintf(other, sizeof other, "body%d", i);  // equal text at another address
    REQUIRE(carom_names_find(&names, other) == i);
    hits += looks(&names, other);
    snprintf(other, sizeof other, "grain%d", i);
    REQUIRE(carom_names_find(&names, other) == -1);
    misses += looks(&names, other);
  }
  // Linear probing in a table filled to a = 0.38: (1 + 1 / (1 - a)) / 2 = 1.31 looks for a name that is there, and
  // (1 + 1 / (1 - a)^2) / 2 = 1.81 for one that is not (Knuth 1998, 6.4).
  CHECK_AT_MOST(hits / COUNT, 1.4);
  CHECK_AT_MOST(misses / COUNT, 1.9);
  REQUIRE(carom_names_add(&names, "body17", 5));
  CHECK(carom_names_find(&names, "body17") == 17);  // the first index stays
  CHECK(names.count == COUNT);
  carom_names_destroy(&names);
  CHECK(carom_names_find(&names, "body17") == -1);
  free(text);
}

TEST(names_survive_a_failed_enlargement) {
  carom_names names;
  carom_names_create(&names, NULL);
  const char *text[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
  for (int i = 0; i < 8; i++) REQUIRE(carom_names_add(&names, text[i], i));
  carom_allocator own = names.allocator;
  names.allocator = (carom_allocator){NULL, refuse_allocate, refuse_resize, own.release};
  CHECK(!carom_names_add(&names, text[8], 8));
  for (int i = 0; i < 8; i++) CHECK(carom_names_find(&names, text[i]) == i);
  CHECK(carom_names_find(&names, "i") == -1);
  names.allocator = own;
  CHECK(carom_names_add(&names, text[8], 8) && carom_names_find(&names, "i") == 8);
  carom_names_destroy(&names);
}

// ---- log and clock -----------------------------------------------------------------------------------------

typedef struct last_message {
  carom_log_level level;
  int count;
  char text[2000];
} last_message;

static void keep_message(void *context, carom_log_level level, const char *message) {
  last_message *last = context;
  last->level = level;
  last->count++;
  snprintf(last->text, sizeof last->text, "%s", message);
}

TEST(the_log_formats_and_may_be_absent) {
  last_message last = {0};
  carom_log log = {&last, keep_message};
  carom_log_write(&log, CAROM_LOG_WARNING, "step %d of %s: %.2f", 3, "run", 0.5);
  CHECK_TEXT(last.text, "step 3 of run: 0.50");
  CHECK(last.level == CAROM_LOG_WARNING && last.count == 1);
  carom_log_write(&log, CAROM_LOG_DEBUG, "%1500d", 7);  // longer than a message may be
  CHECK(last.count == 2 && strlen(last.text) == 999);
  carom_log silent = {0};
  carom_log_write(&silent, CAROM_LOG_INFO, "dropped");
  carom_log_write(NULL, CAROM_LOG_INFO, "dropped");
}

TEST(the_clock_runs_forward) {
  double before = carom_clock();
  for (int i = 0; i < 1000; i++) {
    double now = carom_clock();
    REQUIRE(now >= before);
    before = now;
  }
}

// ---- random numbers ----------------------------------------------------------------------------------------

// Known answers of Random123's philox4x32-10 (file kat_vectors). Our block is (index/2, stream) as counter and the seed
// as key, so that index 2 n and 2 n + 1 give the two halves of block n.
static void check_block(uint64_t seed, uint64_t stream, uint64_t n, const uint32_t expected[4]) {
  carom_random r = {seed, stream, 2 * n};
  uint64_t low = carom_random_bits(&r), high = carom_random_bits(&r);
  CHECK((uint32_t)low == expected[0] && (uint32_t)(low >> 32) == expected[1]);
  CHECK((uint32_t)high == expected[2] && (uint32_t)(high >> 32) == expected[3]);
}

// Philox once more, from the paper's figure: 32-bit words, one round per line of the loop.
static void philox_reference(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
  uint32_t c[4] = {counter[0], counter[1], counter[2], counter[3]}, k[2] = {key[0], key[1]};
  for (int round = 0; round < 10; round++) {
    uint64_t a = 0xD2511F53ull * c[0], b = 0xCD9E8D57ull * c[2];
    uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ k[0], (uint32_t)b, (uint32_t)(a >> 32) ^ c[3] ^ k[1], (uint32_t)a};
    memcpy(c, next, sizeof c);
    k[0] += 0x9E3779B9u, k[1] += 0xBB67AE85u;
  }
  memcpy(out, c, sizeof c);
}

TEST(philox_gives_the_known_answers) {
  static const uint32_t zeros[4] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  check_block(0, 0, 0, zeros);
  // The other published vectors have counters beyond index 2^63, which our 63-bit block numbers cannot reach. So they
  // judge the reference above, and the reference judges the generator.
  static const uint32_t ones[4] = {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd};
  static const uint32_t pi[4] = {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1};
  uint32_t out[4];
  const uint32_t all = 0xffffffffu;
  philox_reference((uint32_t[4]){all, all, all, all}, (uint32_t[2]){all, all}, out);
  CHECK(memcmp(out, ones, sizeof out) == 0);
  philox_reference((uint32_t[4]){0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, (uint32_t[2]){0xa4093822, 0x299f31d0},
                   out);
  CHECK(memcmp(out, pi, sizeof out) == 0);
  uint64_t seeds[] = {1, 0x299f31d0a4093822u, UINT64_MAX}, streams[] = {0, 0x0370734413198a2eu, UINT64_MAX};
  uint64_t blocks[] = {0, 1, 0x05a308d3243f6a88u, UINT64_MAX >> 1};
  for (int s = 0; s < 3; s++)
    for (int t = 0; t < 3; t++)
      for (int n = 0; n < 4; n++) {
        uint32_t counter[4] = {(uint32_t)blocks[n], (uint32_t)(blocks[n] >> 32), (uint32_t)streams[t],
                               (uint32_t)(streams[t] >> 32)};
        philox_reference(counter, (uint32_t[2]){(uint32_t)seeds[s], (uint32_t)(seeds[s] >> 32)}, out);
        check_block(seeds[s], streams[t], blocks[n], out);
      }
}

TEST(the_nth_number_depends_on_its_index_alone) {
  carom_random r = carom_random_make(9, 4);
  uint64_t drawn[100];
  for (int i = 0; i < 100; i++) drawn[i] = carom_random_bits(&r);
  CHECK(r.index == 100);
  for (int i = 99; i >= 0; i--) {
    carom_random jump = {9, 4, (uint64_t)i};
    REQUIRE(carom_random_bits(&jump) == drawn[i]);
  }
}

// Five standard errors: a fair generator fails once in two million seeds, and ours is fixed.
TEST(uniform_and_normal_have_their_moments) {
  enum { COUNT = 1000000 };
  carom_random r = carom_random_make(2024, 1);
  double m1 = 0, m2 = 0, m4 = 0, least = 1, most = 0, u1 = 0, u2 = 0;
  for (int i = 0; i < COUNT; i++) {
    double u = carom_random_uniform(&r), x = carom_random_normal(&r);
    least = fmin(least, u), most = fmax(most, u);
    u1 += u, u2 += u * u;
    m1 += x, m2 += x * x, m4 += x * x * x * x;
  }
  CHECK(least >= 0 && least < 1e-5 && most < 1 && most > 1 - 1e-5);
  CHECK_NEAR(u1 / COUNT, 0.5, 5 * sqrt(1.0 / 12 / COUNT));
  CHECK_NEAR(u2 / COUNT, 1.0 / 3, 5 * sqrt(4.0 / 45 / COUNT));
  CHECK_NEAR(m1 / COUNT, 0, 5 * sqrt(1.0 / COUNT));
  CHECK_NEAR(m2 / COUNT, 1, 5 * sqrt(2.0 / COUNT));
  CHECK_NEAR(m4 / COUNT, 3, 5 * sqrt(96.0 / COUNT));
  double low = 1e9, high = -1e9;
  for (int i = 0; i < 10000; i++) {
    double v = carom_random_between(&r, -3, 5);
    low = fmin(low, v), high = fmax(high, v);
  }
  CHECK(low >= -3 && low < -2.98 && high < 5 && high > 4.98);
}

static double correlation(carom_random a, carom_random b, int count) {
  double ab = 0;
  for (int i = 0; i < count; i++) ab += (carom_random_uniform(&a) - 0.5) * (carom_random_uniform(&b) - 0.5);
  return 12 * ab / count;  // 1 when equal, 1/sqrt(count) when independent
}

TEST(streams_and_seeds_are_independent) {
  enum { COUNT = 100000 };
  double bound = 5 / sqrt(COUNT);
  for (uint64_t k = 1; k <= 8; k++) {
    CHECK_AT_MOST(fabs(correlation(carom_random_make(1, 0), carom_random_make(1, k), COUNT)), bound);
    CHECK_AT_MOST(fabs(correlation(carom_random_make(0, 7), carom_random_make(k, 7), COUNT)), bound);
    carom_random later = {1, 0, k};  // the same stream, shifted
    CHECK_AT_MOST(fabs(correlation(carom_random_make(1, 0), later, COUNT)), bound);
  }
  CHECK_NEAR(correlation(carom_random_make(1, 3), carom_random_make(1, 3), COUNT), 1, 0.02);
}

TEST(below_is_fair) {
  carom_random r = carom_random_make(77, 0);
  enum { COUNT = 210000 };
  int seen[7] = {0};
  for (int i = 0; i < COUNT; i++) seen[carom_random_below(&r, 7)]++;
  double chi2 = 0;
  for (int i = 0; i < 7; i++) chi2 += (seen[i] - COUNT / 7.0) * (seen[i] - COUNT / 7.0) / (COUNT / 7.0);
  CHECK_AT_MOST(chi2, 30);  // six degrees of freedom: exceeded once in 25 000
  // For n = 3 2^30 a bare remainder would hit the lowest quarter of 2^32 twice: a third of n, half of all draws.
  int low = 0;
  uint32_t n = 3u << 30;
  for (int i = 0; i < 30000; i++) {
    uint32_t draw = carom_random_below(&r, n);
    REQUIRE(draw < n);
    low += draw < n / 3;
  }
  CHECK_NEAR(low / 30000.0, 1.0 / 3, 5 * sqrt(2.0 / 9 / 30000));
  CHECK(carom_random_below(&r, 1) == 0);
  CHECK(carom_random_below(&r, 0) == 0);
}

TEST(what_steers_a_terminal_is_escaped) {
  char text[200];
  CHECK(carom_escape("plain \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80", NULL, text, sizeof text) == strlen(text));
  CHECK_TEXT(text, "plain \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80");
  carom_escape("\x1b[31m\n\x7f\xC2\x9B\xE2\x80\xAE\xE2\x81\xA6\xE2\x80\x8F", NULL, text, sizeof text);
  CHECK_TEXT(text, "\\u001b[31m\\u000a\\u007f\\u009b\\u202e\\u2066\\u200f");
  carom_escape("\x9b\xff\xC3", NULL, text, sizeof text);  // not UTF-8
  CHECK_TEXT(text, "\\ufffd\\ufffd\\ufffd");
  carom_escape("\"a\\b\"", "\"\\", text, sizeof text);
  CHECK_TEXT(text, "\\u0022a\\u005cb\\u0022");
  CHECK(carom_escape("ab\x1b"
                     "c",
                     NULL, text, 5) == 9);  // never half a piece, and nothing after one that was left out
  CHECK_TEXT(text, "ab");
  CHECK(carom_escape("abc", NULL, NULL, 0) == 3);
}
