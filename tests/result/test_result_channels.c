// Channels in result files: names, units and values of any kind come back, and files that lie about them are refused.
#include "failing_allocator.h"
#include "result/h5.h"
#include "result_fixture.h"

// ---- random channels -----------------------------------------------------------------------------------------------

typedef struct samples {
  int channel_count, frame_count;
  carom_channel *channels;
  double *values;  // (frame_count x channel_count)
  bool *told;      // (frame_count)
} samples;

// Letters of one to four bytes, what CSV, JSON and HTML take for signs, and dots.
static char *random_text(carom_random *random, int most) {
  static const char *const letters[] = {
      "a", "Z", ".", " ", ",", "\"", "\n", "<", "\xC3\xBC", "\xE2\x82\xAC", "\xF0\x9F\x8E\xB1"};
  int count = (int)carom_random_below(random, (uint32_t)most + 1);
  char *text = calloc((size_t)count * 4 + 1, 1), *at = text;
  for (int i = 0; i < count; i++) {
    const char *letter = letters[carom_random_below(random, sizeof letters / sizeof *letters)];
    memcpy(at, letter, strlen(letter));
    at += strlen(letter);
  }
  return text;
}

static double random_value(carom_random *random) {
  static const double special[] = {NAN, INFINITY, -INFINITY, 0, -0.0, 5e-324, -1.7e308};
  uint32_t kind = carom_random_below(random, 20);
  return kind < 7 ? special[kind] : carom_random_between(random, -1e3, 1e3);
}

static samples make_samples(uint64_t seed, int channels, int frames) {
  carom_random random = carom_random_make(seed, 3);
  samples s = {channels, frames, calloc((size_t)channels, sizeof *s.channels), NULL, NULL};
  s.values = calloc((size_t)channels * (size_t)frames, sizeof(double));
  s.told = calloc((size_t)frames, sizeof(bool));
  for (int i = 0; i < channels; i++)
    s.channels[i] =
        (carom_channel){random_text(&random, i == 1 && channels < 200 ? 3000 : 12), random_text(&random, 4)};
  for (int f = 0; f < frames; f++) {
    s.told[f] = carom_random_below(&random, 8) > 0;
    for (int i = 0; i < channels; i++)
      s.values[(size_t)f * (size_t)channels + (size_t)i] = s.told[f] ? random_value(&random) : NAN;
  }
  return s;
}

static void release_samples(samples *s) {
  for (int i = 0; i < s->channel_count; i++) {
    free((char *)s->channels[i].name);
    free((char *)s->channels[i].unit);
  }
  free(s->channels);
  free(s->values);
  free(s->told);
}

static const double *row_of(const samples *s, int frame) {
  return s->values + (size_t)frame * (size_t)s->channel_count;
}

// Bursts come every seventh frame, between what is told of the next one and the frame itself.
static carom_status write_samples(const char *path, const samples *s, const carom_allocator *allocator,
                                  carom_error *error) {
  fixture f;
  carom_recorder *recorder = NULL;
  carom_recorder_options options = {.overwrite = true, .channels = s->channels, .channel_count = s->channel_count};
  fixture_create(&f);
  carom_status status = carom_recorder_open(path, &f.scene, &options, allocator, &recorder, error);
  for (int i = 0; i < s->frame_count && status == CAROM_OK; i++) {
    fixture_move(&f, i);
    if (s->told[i]) status = carom_recorder_channels(recorder, row_of(s, i), error);
    if (status == CAROM_OK && i % 7 == 3) status = carom_recorder_flush(recorder, error);
    if (status == CAROM_OK) status = carom_recorder_frame(recorder, f.state, NULL, error);
  }
  if (status == CAROM_OK) status = carom_recorder_finish(recorder, NULL, "complete", error);
  carom_recorder_close(recorder);
  fixture_destroy(&f);
  return status;
}

static bool same_bits(const double *a, const double *b, int count) {
  bool same = true;
  for (int i = 0; i < count; i++) same = same && (isnan(a[i]) ? isnan(b[i]) : memcmp(&a[i], &b[i], sizeof *a) == 0);
  return same;
}

static void check_frames(carom_result *result, const samples *s) {
  carom_frame frame;
  REQUIRE(carom_frame_init(result, &frame, NULL) == CAROM_OK);
  for (int f = 0; f < s->frame_count; f++) {
    REQUIRE(carom_result_read_frame(result, f, &frame, NULL) == CAROM_OK);
    CHECK(same_bits(frame.channels, row_of(s, f), s->channel_count));
  }
  carom_frame_release(&frame);
}

static void check_columns(carom_result *result, const samples *s, int first, int count) {
  double *values = calloc((size_t)count * (size_t)s->frame_count, sizeof(double));
  REQUIRE(carom_result_read_channels(result, first, count, values, NULL) == CAROM_OK);
  for (int c = 0; c < count; c++)
    for (int f = 0; f < s->frame_count; f++)
      CHECK(same_bits(&values[(size_t)c * (size_t)s->frame_count + (size_t)f], &row_of(s, f)[first + c], 1));
  free(values);
}

static void check_samples(const char *path, const samples *s) {
  carom_result *result = fixture_open(path);
  REQUIRE(result && result->channel_count == s->channel_count && result->frame_count == s->frame_count);
  for (int i = 0; i < s->channel_count; i++) {
    CHECK_TEXT(result->channels[i].name, s->channels[i].name);
    CHECK_TEXT(result->channels[i].unit, s->channels[i].unit);
  }
  check_frames(result, s);
  check_columns(result, s, 0, s->channel_count);
  check_columns(result, s, s->channel_count / 2, 1);
  carom_result_close(result);
}

TEST(random_channels_come_back) {
  const char *path = fixture_path("channels.h5");
  for (int round = 0; round < 12 && test_failures == 0; round++) {
    samples s = make_samples((uint64_t)round, 1 + round * round, 5 + 3 * round);
    REQUIRE(write_samples(path, &s, NULL, NULL) == CAROM_OK);
    check_samples(path, &s);
    release_samples(&s);
  }
  unlink(path);
}

// More than a chunk is wide, and so many that columns are read in several goes.
TEST(many_channels_come_back) {
  const char *path = fixture_path("many.h5");
  samples s = make_samples(99, 40000, 9);
  REQUIRE(write_samples(path, &s, NULL, NULL) == CAROM_OK);
  check_samples(path, &s);
  release_samples(&s);
  unlink(path);
}

TEST(channels_are_found_by_name) {
  const char *path = fixture_path("names.h5");
  fixture_write(path, 3);
  carom_result *result = fixture_open(path);
  unlink(path);
  REQUIRE(result && result->channel_count == FIXTURE_CHANNELS);
  for (int i = 0; i < FIXTURE_CHANNELS; i++) CHECK(carom_result_find_channel(result, fixture_channels[i].name) == i);
  CHECK(carom_result_find_channel(result, "hinge") == -1 && carom_result_find_channel(result, NULL) == -1);
  double values[3];
  carom_error error;
  CHECK(carom_result_read_channels(result, 1, 1, values, &error) == CAROM_OK && values[0] == fixture_channel(0, 1));
  CHECK(carom_result_read_channels(result, 0, 0, NULL, &error) == CAROM_OK);
  CHECK(carom_result_read_channels(result, -1, 1, values, &error) == CAROM_ERR_ARGUMENT);
  CHECK(carom_result_read_channels(result, FIXTURE_CHANNELS, 1, values, &error) == CAROM_ERR_ARGUMENT);
  CHECK(carom_result_read_channels(result, 1, INT32_MAX, values, &error) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(error.message, "has 4 channels");
  carom_result_close(result);
}

// Told without a place: passed over. Without values at all, or fewer names than said: an error.
TEST(recorders_without_channels) {
  const char *path = fixture_path("none.h5");
  fixture f;
  carom_error error;
  carom_recorder *recorder = NULL;
  const double value = 1;
  fixture_create(&f);
  carom_recorder_options options = {.overwrite = true, .channel_count = 2};
  CHECK(carom_recorder_open(path, &f.scene, &options, NULL, &recorder, &error) == CAROM_ERR_ARGUMENT && !recorder);
  options.channel_count = 0;
  REQUIRE(carom_recorder_open(path, &f.scene, &options, NULL, &recorder, &error) == CAROM_OK);
  CHECK(carom_recorder_channels(recorder, &value, &error) == CAROM_OK);
  CHECK(carom_recorder_frame(recorder, f.state, NULL, &error) == CAROM_OK);
  CHECK(carom_recorder_finish(recorder, NULL, "complete", &error) == CAROM_OK);
  CHECK(carom_recorder_channels(recorder, &value, &error) == CAROM_ERR_ARGUMENT);
  carom_recorder_close(recorder);
  fixture_destroy(&f);
  carom_result *result = fixture_open(path);
  carom_frame frame;
  REQUIRE(result && carom_frame_init(result, &frame, NULL) == CAROM_OK);
  CHECK(result->channel_count == 0 && !frame.channels && carom_result_read_frame(result, 0, &frame, NULL) == CAROM_OK);
  carom_frame_release(&frame);
  carom_result_close(result);
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  CHECK(H5Lexists(file, "/channels", H5P_DEFAULT) == 0);
  H5Fclose(file);
  unlink(path);
}

// ---- files that lie ------------------------------------------------------------------------------------------------

// Puts an empty dataset of this shape in the place of another.
static void replace(const char *path, const char *dataset, hid_t type, int rank, const hsize_t *size) {
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), storage = H5Pcreate(H5P_DATASET_CREATE);
  hid_t space = H5Screate_simple(rank, size, NULL);
  const hsize_t chunk[2] = {size[0] < 1000 ? size[0] : 1000, 1};
  H5Pset_chunk(storage, rank, chunk);
  H5Ldelete(file, dataset, H5P_DEFAULT);
  if (type >= 0) H5Dclose(H5Dcreate2(file, dataset, type, space, H5P_DEFAULT, storage, H5P_DEFAULT));
  H5Sclose(space);
  H5Pclose(storage);
  H5Fclose(file);
}

typedef struct greed {
  size_t largest;
} greed;
static void *greedy_allocate(void *context, size_t size) {
  greed *g = context;
  if (size > g->largest) g->largest = size;
  return malloc(size);
}
static void *greedy_resize(void *context, void *block, size_t size) {
  greed *g = context;
  if (size > g->largest) g->largest = size;
  return realloc(block, size);
}
static void greedy_release(void *context, void *block) {
  (void)context;
  free(block);
}

static void check_refused(const char *path, const char *dataset, const char *problem) {
  greed g = {0};
  carom_allocator allocator = {&g, greedy_allocate, greedy_resize, greedy_release};
  carom_error error = {CAROM_OK, ""};
  carom_result *result = NULL;
  CHECK(carom_result_open(path, &allocator, &result, &error) == CAROM_ERR_FORMAT);
  CHECK_CONTAINS(error.message, dataset);
  CHECK_CONTAINS(error.message, problem);
  CHECK_AT_MOST((double)g.largest, 1 << 20);
  carom_result_close(result);
}

TEST(channels_that_are_not_stored_are_refused) {
  const char *path = fixture_path("lies.h5");
  hid_t text = carom_h5_text_type(20), huge = carom_h5_text_type((size_t)1 << 28);
  const struct {
    const char *dataset, *problem;
    hid_t type;
    int rank;
    hsize_t size[2];
  } lies[] = {
      {"/channels/name", "declares more than the file holds", text, 1, {1 << 30, 0}},
      {"/channels/name", "declares more than the file holds", huge, 1, {FIXTURE_CHANNELS, 0}},
      {"/channels/unit", "declares more than the file holds", huge, 1, {FIXTURE_CHANNELS, 0}},
      {"/channels/unit", "unexpected shape", text, 1, {FIXTURE_CHANNELS + 1, 0}},
      {"/channels/unit", "does not hold texts", H5T_IEEE_F64LE, 1, {FIXTURE_CHANNELS, 0}},
      {"/channels/value", "declares more than the file holds", H5T_IEEE_F64LE, 2, {1 << 30, FIXTURE_CHANNELS}},
      {"/channels/value", "unexpected shape", H5T_IEEE_F64LE, 2, {5, FIXTURE_CHANNELS + 1}},
      {"/channels/value", "unexpected shape", H5T_IEEE_F64LE, 1, {5, 0}},
      {"/channels/value", "is missing", -1, 1, {5, 0}},
      {"/channels/name", "is missing", -1, 1, {5, 0}},
  };
  for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
    fixture_write(path, 5);
    replace(path, lies[i].dataset, lies[i].type, lies[i].rank, lies[i].size);
    check_refused(path, lies[i].dataset, lies[i].problem);
  }
  H5Tclose(text);
  H5Tclose(huge);
  unlink(path);
}

// Files from before there were channels.
TEST(files_without_channels_still_open) {
  const char *path = fixture_path("older.h5");
  fixture_write(path, 4);
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  CHECK(H5Ldelete(file, "/channels", H5P_DEFAULT) >= 0);
  H5Fclose(file);
  carom_result *result = fixture_open(path);
  carom_frame frame;
  REQUIRE(result && carom_frame_init(result, &frame, NULL) == CAROM_OK);
  CHECK(result->channel_count == 0 && !result->channels && result->frame_count == 4);
  CHECK(fixture_frame_is_right(result, 3, &frame));
  carom_frame_release(&frame);
  carom_result_close(result);
  unlink(path);
}

TEST(channels_without_memory) {
  const char *path = fixture_path("channels-memory.h5");
  samples s = make_samples(5, 20, 4);
  for (int reading = 0; reading < 2; reading++) {
    carom_status status = CAROM_ERR_MEMORY;
    for (int n = 0; status == CAROM_ERR_MEMORY && n < 2000; n++) {
      failing_allocator f = {.allowed = n};
      carom_allocator a = failing_allocator_of(&f);
      carom_error error = {CAROM_OK, ""};
      carom_result *result = NULL;
      double values[20 * 4];
      status = reading ? carom_result_open(path, &a, &result, &error) : write_samples(path, &s, &a, &error);
      if (result) status = carom_result_read_channels(result, 0, 20, values, &error);
      carom_result_close(result);
      CHECK(f.live == 0);
      CHECK(status == CAROM_OK || *error.message);
    }
    CHECK(status == CAROM_OK);
  }
  release_samples(&s);
  unlink(path);
}
