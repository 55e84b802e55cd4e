// The replay page: decoded here independently of the code that packs it.
#include <sys/stat.h>
#include <zlib.h>

#include "export/export.h"
#include "solids_fixture.h"

// ---- a small decoder -----------------------------------------------------------------------------------------------

static int digit(char c) {
  const char *digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
             *at = c ? strchr(digits, c) : NULL;
  return at ? (int)(at - digits) : -1;
}

static unsigned char *decode_base64(const char *text, size_t length, size_t *size) {
  unsigned char *out = malloc(length / 4 * 3 + 3);
  size_t n = 0, pads = 0;
  unsigned bits = 0;
  if (length % 4 != 0) test_fail(__FILE__, __LINE__, "base64 of %zu characters", length);
  for (size_t i = 0; i < length; i++) {
    int d = digit(text[i]);
    pads += text[i] == '=';
    if (d < 0 && text[i] != '=') test_fail(__FILE__, __LINE__, "'%c' is not base64", text[i]);
    bits = bits << 6 | (unsigned)(d < 0 ? 0 : d);
    if (i % 4 == 3) {
      out[n++] = (unsigned char)(bits >> 16);
      out[n++] = (unsigned char)(bits >> 8);
      out[n++] = (unsigned char)bits;
      bits = 0;
    }
  }
  *size = n - pads;
  return out;
}

typedef struct replay {
  char *json;  // of the first element, terminated
  unsigned char *bytes;
  size_t size;
  size_t text_size;
} replay;

static const char *between(const char *text, const char *begin, const char *end, size_t *length) {
  const char *from = strstr(text, begin), *to = from ? strstr(from + strlen(begin), end) : NULL;
  if (!to) {
    test_fail(__FILE__, __LINE__, "no %s", begin);
    exit(1);
  }
  *length = (size_t)(to - from) - strlen(begin);
  return from + strlen(begin);
}

static replay decode(const char *text, size_t raw_size) {
  replay r = {.text_size = strlen(text)};
  size_t length, packed_size;
  const char *json = between(text, "<script id=\"carom-replay\" type=\"application/json\">", "</script>", &length);
  r.json = calloc(length + 1, 1);
  memcpy(r.json, json, length);
  const char *data = between(text, "<script id=\"carom-data\" type=\"text/plain\">", "</script>", &length);
  unsigned char *packed = decode_base64(data, length, &packed_size);
  uLongf size = raw_size + 1000;
  r.bytes = malloc(size);
  CHECK(uncompress(r.bytes, &size, packed, packed_size) == Z_OK);
  r.size = size;
  free(packed);
  return r;
}

static void release(replay *r) {
  free(r->json);
  free(r->bytes);
}

static double read_f64(const unsigned char *p) {
  uint64_t v = 0;
  for (int i = 7; i >= 0; i--) v = v << 8 | p[i];
  double d;
  memcpy(&d, &v, 8);
  return d;
}

static float read_f32(const unsigned char *p) {
  uint32_t v = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
  float f;
  memcpy(&f, &v, 4);
  return f;
}

// The quantised value of a component of a moving body in a frame.
static unsigned value_at(const replay *r, size_t planes, int moving, int frames, int component, int m, int frame) {
  size_t count = 9u * (size_t)moving * (size_t)frames,
         run = ((size_t)component * (size_t)moving + (size_t)m) * (size_t)frames;
  unsigned sum = 0;
  for (int f = 0; f <= frame; f++)
    sum += r->bytes[planes + run + (size_t)f] | (unsigned)r->bytes[planes + count + run + (size_t)f] << 8;
  return sum & 0xFFFF;
}

static char *elements_of(const char *path) {
  carom_result *result = fixture_open(path);
  carom_text_buffer text = carom_text_buffer_make(NULL);
  carom_error error = {CAROM_OK, ""};
  if (carom_replay_elements(result, NULL, &text, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s", error.message);
  carom_text_buffer_add_n(&text, "", 1);
  carom_result_close(result);
  return text.data;
}

// ---- what is in it -------------------------------------------------------------------------------------------------

enum { FRAMES = 150, MOVING = FIXTURE_BODIES - 1 };

static size_t box_at(void) { return 8u * FRAMES * (1 + CAROM_AUDIT_COLUMNS); }
static size_t planes_at(void) { return box_at() + 32u * MOVING; }
static size_t channels_at(void) { return planes_at() + 18u * MOVING * FRAMES; }
static size_t raw_size(void) { return channels_at() + FIXTURE_CHANNELS * (16u + 2u * FRAMES); }

static void check_pose(const replay *r, int m, int frame) {
  float box[8];
  for (int k = 0; k < 8; k++) box[k] = read_f32(r->bytes + box_at() + 4 * ((size_t)m * 8 + (size_t)k));
  double v[9];
  for (int c = 0; c < 9; c++) v[c] = value_at(r, planes_at(), MOVING, FRAMES, c, m, frame);
  carom_pose pose = fixture_pose(frame, m + 1);
  const double p[3] = {pose.p.x, pose.p.y, pose.p.z};
  for (int k = 0; k < 3; k++) {
    CHECK((double)box[k] <= p[k] && p[k] <= (double)box[3 + k]);
    CHECK_NEAR(box[k] + v[k] / 65535 * (box[3 + k] - box[k]), p[k], (box[3 + k] - box[k]) * 0.51 / 65535 + 1e-12);
  }
  carom_quat q =
      cm_quat((v[3] - 32768) / 32767, (v[4] - 32768) / 32767, (v[5] - 32768) / 32767, (v[6] - 32768) / 32767);
  CHECK_NEAR(cm_qdot(q, q), 1, 1e-4);
  CHECK_AT_MOST(fixture_angle(cm_qunit(q), pose.q), 1e-4);
  double speed = cm_norm(fixture_velocity(frame, m + 1)), spin = cm_norm(fixture_spin(frame, m + 1));
  CHECK_NEAR(v[7] / 65535 * box[6], speed, box[6] / 65535);
  CHECK_NEAR(v[8] / 65535 * box[7], spin, box[7] / 65535);
}

TEST(streams_decode_to_the_motion) {
  const char *path = fixture_path("replay.h5");
  fixture_write(path, FRAMES);
  char *text = elements_of(path);
  unlink(path);
  replay r = decode(text, raw_size());
  REQUIRE(r.size == raw_size());
  for (int f = 0; f < FRAMES; f++) {
    CHECK(read_f64(r.bytes + 8 * f) == fixture_time(f));
    for (int c = 0; c < CAROM_AUDIT_COLUMNS; c++)
      CHECK(read_f64(r.bytes + 8 * ((c + 1) * FRAMES + f)) == fixture_audit(f, c));
  }
  for (int m = 0; m < MOVING; m++)
    for (int f = 0; f < FRAMES; f++) check_pose(&r, m, f);
  release(&r);
  free(text);
}

// Quaternions turn by 4 rad/s over 1.5 s here, so their signs flip unless made continuous.
TEST(quaternions_do_not_jump) {
  const char *path = fixture_path("smooth.h5");
  fixture_write(path, FRAMES);
  char *text = elements_of(path);
  unlink(path);
  replay r = decode(text, raw_size());
  for (int m = 0; m < MOVING; m++) {
    for (int f = 1; f < FRAMES; f++) {
      double dot = 0;
      for (int c = 3; c < 7; c++)
        dot += ((double)value_at(&r, planes_at(), MOVING, FRAMES, c, m, f) - 32768) / 32767 *
               (((double)value_at(&r, planes_at(), MOVING, FRAMES, c, m, f - 1) - 32768) / 32767);
      CHECK(dot > 0.99);
    }
  }
  release(&r);
  free(text);
}

// ---- channels ------------------------------------------------------------------------------------------------------

// The value of a point; NaN for a gap.
static double channel_at(const replay *r, size_t start, int points, int channel, int point) {
  const unsigned char *range = r->bytes + start + 16u * (size_t)channel;
  size_t count = (size_t)FIXTURE_CHANNELS * (size_t)points, run = (size_t)channel * (size_t)points;
  const unsigned char *planes = r->bytes + start + 16u * FIXTURE_CHANNELS;
  unsigned level = 0;
  for (int k = 0; k <= point; k++) level += planes[run + (size_t)k] | (unsigned)planes[count + run + (size_t)k] << 8;
  double lo = read_f64(range), hi = read_f64(range + 8);
  return (level & 0xFFFF) == 65535 ? NAN : lo + (level & 0xFFFF) / 65534.0 * (hi - lo);
}

TEST(channels_decode_to_what_was_sensed) {
  const char *path = fixture_path("sensed.h5");
  fixture_write(path, FRAMES);
  char *text = elements_of(path);
  unlink(path);
  replay r = decode(text, raw_size());
  REQUIRE(r.size == raw_size());
  CHECK_CONTAINS(r.json,
                 "\"channels\":{\"points\":150,\"total\":4,\"list\":[{\"name\":\"hinge.angle\",\"unit\":\"rad\"}");
  for (int c = 0; c < FIXTURE_CHANNELS; c++) {
    for (int f = 0; f < FRAMES; f++) {
      double expected = fixture_channel(f, c), found = channel_at(&r, channels_at(), FRAMES, c, f);
      CHECK(isfinite(expected) ? fabs(found - expected) < 4.0 / 65534 : isnan(found));
    }
  }
  release(&r);
  free(text);
}

// A force that is there in one frame of thousands is still in the page, where it was.
TEST(thinned_channels_keep_their_extremes) {
  enum { MANY = 9001, POINTS = 4000, BLOW = 4567 };
  const char *path = fixture_path("blow.h5");
  fixture f;
  carom_recorder *recorder = NULL;
  carom_recorder_options options = fixture_options();
  fixture_create(&f);
  REQUIRE(carom_recorder_open(path, &f.scene, &options, NULL, &recorder, NULL) == CAROM_OK);
  for (int i = 0; i < MANY; i++) {
    const double values[FIXTURE_CHANNELS] = {i, i == BLOW ? 50 : 0.5 * (i % 2), i == BLOW ? -50 : NAN, 7};
    fixture_move(&f, i);
    CHECK(carom_recorder_channels(recorder, values, NULL) == CAROM_OK);
    CHECK(carom_recorder_frame(recorder, f.state, NULL, NULL) == CAROM_OK);
  }
  CHECK(carom_recorder_finish(recorder, NULL, "complete", NULL) == CAROM_OK);
  carom_recorder_close(recorder);
  fixture_destroy(&f);
  char *text = elements_of(path);
  unlink(path);
  size_t start = 8u * MANY * (1 + CAROM_AUDIT_COLUMNS) + 32u * MOVING + 18u * MOVING * MANY;
  replay r = decode(text, start + FIXTURE_CHANNELS * (16u + 2u * POINTS));
  REQUIRE(r.size == start + FIXTURE_CHANNELS * (16u + 2u * POINTS));
  int place = (int)((int64_t)BLOW * POINTS / MANY), blows = 0;
  for (int k = 0; k < POINTS; k++) {
    double v = channel_at(&r, start, POINTS, 1, k);
    blows += v > 1;
    CHECK(v <= 1 || (v == 50 && k / 2 == place / 2));
    double t = channel_at(&r, start, POINTS, 0, k), frame = (double)k * MANY / POINTS;
    CHECK_NEAR(t, frame, 2.0 * MANY / POINTS);
    CHECK(channel_at(&r, start, POINTS, 3, k) == 7);
    CHECK(isnan(channel_at(&r, start, POINTS, 2, k)) == (k / 2 != place / 2));
  }
  CHECK(blows == 1);
  release(&r);
  free(text);
}

TEST(head_is_safe_and_complete) {
  const char *path = fixture_path("head.h5");
  fixture_write(path, FRAMES);
  char *text = elements_of(path);
  unlink(path);
  replay r = decode(text, raw_size());
  CHECK(!strchr(r.json, '<'));  // so neither </script> nor <!--
  CHECK_CONTAINS(r.json, "\"title\":\"Fünf Körper \\u2028\\u003c/script\\u003e\"");
  CHECK_CONTAINS(r.json, "\"description\":\"tests \\u0022quoted\\u0022, more\"");
  CHECK_CONTAINS(r.json, "\"name\":\"hammer\\u000a\xE2\x9A\x92\"");
  CHECK_CONTAINS(r.json, "{\"format\":\"carom-replay\",\"version\":1");
  CHECK_CONTAINS(r.json, "\"frames\":150");
  CHECK_CONTAINS(r.json, "\"integrator\":\"variational\",\"step\":0.001");
  CHECK_CONTAINS(r.json, "{\"kind\":\"halfspace\"}");
  CHECK_CONTAINS(r.json, "{\"kind\":\"sphere\",\"radius\":0.25}");
  CHECK_CONTAINS(r.json, "{\"kind\":\"capsule\",\"half_length\":0.3,\"radius\":0.1}");
  CHECK_CONTAINS(r.json, "\"color\":\"#ee6677\"");
  CHECK_CONTAINS(r.json, "\"name\":\"ground\",\"color\":\"#888888\",\"mass\":null,\"fixed\":true");
  CHECK_CONTAINS(r.json, "\"pose\":{\"position\":[0,0,0],\"rotation\":[1,0,0,0]}");
  CHECK_CONTAINS(r.json, "\"camera\":{\"position\":[4,-3,2],\"target\":[0,0,0.5]}");
  CHECK_CONTAINS(r.json, "{\"key\":\"kinetic\",\"label\":\"Kinetic energy\",\"unit\":\"J\",\"group\":\"Energy\"}");
  CHECK_CONTAINS(r.json,
                 "{\"name\":\"Momentum\",\"value\":0.002,\"bound\":1e-09,\"unit\":\"\",\"pass\":false,\"note\":\"\","
                 "\"where\":\"'ball' at t = 1 s\"}],\"outcome\":\"FAIL\"");
  release(&r);
  free(text);
}

// A thinned or unfinished record says so on the page.
TEST(description_tells_what_is_missing) {
  const char *path = fixture_path("note.h5");
  fixture f;
  carom_recorder *recorder = NULL;
  fixture_create(&f);
  REQUIRE(carom_recorder_open(path, &f.scene, &(carom_recorder_options){.overwrite = true}, NULL, &recorder, NULL) ==
          CAROM_OK);
  CHECK(fixture_record(&f, recorder, 0, NULL) == CAROM_OK);
  CHECK(carom_recorder_finish(recorder, NULL, "interrupted", NULL) == CAROM_OK);
  carom_recorder_close(recorder);
  fixture_destroy(&f);
  char *text = elements_of(path);
  unlink(path);
  CHECK_CONTAINS(text, "quoted\\u0022, more The run did not come to its planned end.\",");
  free(text);
}

TEST(no_frames) {
  const char *path = fixture_path("none.h5");
  fixture_write(path, 0);
  char *text = elements_of(path);
  unlink(path);
  replay r = decode(text, 1000);
  CHECK(r.size == 32u * MOVING + 16u * FIXTURE_CHANNELS);
  CHECK_CONTAINS(r.json, "\"frames\":0");
  release(&r);
  free(text);
}

// ---- the page ------------------------------------------------------------------------------------------------------

static bool stop_halfway(void *context, double done, double total) {
  ++*(int *)context;
  return done < 0.4 * total;
}

TEST(page_is_written_whole_or_not_at_all) {
  static const char page[] = "<html><body><!--CAROM-REPLAY--><p>after</p></body></html>";
  const char *path = fixture_path("page.h5"), *html = fixture_path("page.html");
  fixture_write(path, FRAMES);
  carom_result *result = fixture_open(path);
  unlink(path);
  REQUIRE(result);
  carom_error error;
  int calls = 0;
  carom_progress progress = {&calls, stop_halfway};
  CHECK(carom_replay_page(result, html, page, strlen(page), &progress, &error) == CAROM_INTERRUPTED);
  CHECK(calls > 10 && access(html, F_OK) != 0);
  CHECK(carom_replay_page(result, html, page, 20, NULL, &error) == CAROM_ERR_FORMAT);
  CHECK_CONTAINS(error.message, "marker");
  CHECK(carom_replay_page(result, html, page, strlen(page), NULL, &error) == CAROM_OK);
  FILE *file = fopen(html, "rb");
  REQUIRE(file);
  static char text[1 << 20];
  size_t size = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[size] = 0;
  CHECK(strncmp(text, "<html><body><script id=\"carom-replay\"", 37) == 0);
  CHECK_CONTAINS(text, "</script><p>after</p></body></html>");
  carom_status status = carom_export_replay(result, html, NULL, &error);
  CHECK(status == CAROM_OK || (status == CAROM_ERR_UNSUPPORTED && strstr(error.message, "Node.js")));
  unlink(html);
  carom_result_close(result);
}

TEST(frames_are_thinned_evenly) {
  carom_result result = {.frame_count = 1001};
  carom_selection s = carom_select_frames(&result, 10, 2000);
  CHECK(s.count == 200 && carom_selected_frame(&s, 0) == 0 && carom_selected_frame(&s, 199) == 1000);
  for (int i = 1; i < s.count; i++) {
    int gap = carom_selected_frame(&s, i) - carom_selected_frame(&s, i - 1);
    CHECK(gap == 5 || gap == 6);
  }
  s = carom_select_frames(&result, 10, 1e6);
  CHECK(s.count == 1001 && carom_selected_frame(&s, 500) == 500);
  s = carom_select_frames(&result, 1000000, 10);
  CHECK(s.count == 2 && carom_selected_frame(&s, 1) == 1000);
  result.frame_count = 1;
  CHECK(carom_select_frames(&result, 1000000, 10).count == 1);
}

// ---- size ----------------------------------------------------------------------------------------------------------

// 500 boxes that fall, bounce and tumble: smooth flight with sudden changes, as impacts give.
static void record_tumbling(const char *path, int bodies, int frames) {
  carom_builder *builder = NULL;
  const carom_shape *box = NULL;
  carom_random random = carom_random_make(7, 7);
  carom_builder_create(NULL, &builder, NULL);
  carom_shape_create_box(cm_vec3(0.1, 0.2, 0.3), NULL, &box, NULL);
  for (int b = 0; b < bodies; b++) {
    carom_body_def def = carom_body_default();
    carom_part part = fixture_part(box, cm_zero3(), cm_qidentity());
    def.parts = &part;
    def.part_count = 1;
    carom_builder_add_body(builder, &def);
  }
  carom_model *model = NULL;
  carom_state *state = NULL;
  carom_builder_finish(builder, &model, &state, NULL);
  carom_builder_destroy(builder);
  carom_shape_release(box);
  carom_scene scene = fixture_scene(model, state);
  carom_recorder *recorder = NULL;
  carom_recorder_open(path, &scene, &(carom_recorder_options){.overwrite = true}, NULL, &recorder, NULL);
  carom_vec3 *p = calloc((size_t)bodies, sizeof *p), *v = calloc((size_t)bodies, sizeof *v),
             *w = calloc((size_t)bodies, sizeof *w);
  carom_quat *q = calloc((size_t)bodies, sizeof *q);
  for (int b = 0; b < bodies; b++) {
    p[b] = cm_vec3(carom_random_between(&random, -3, 3), carom_random_between(&random, -3, 3),
                   carom_random_between(&random, 1, 5));
    w[b] = cm_vec3(carom_random_normal(&random), carom_random_normal(&random), carom_random_normal(&random));
    q[b] = cm_exp(w[b]);
  }
  const double h = 1.0 / 60;
  for (int f = 0; f < frames; f++) {
    for (int b = 0; b < bodies; b++) {
      p[b] = cm_axpy(p[b], h, v[b]);
      v[b].z -= 9.81 * h;
      q[b] = cm_qmul(cm_exp(cm_scale(h, w[b])), q[b]);
      if (p[b].z < 0.15 && v[b].z < 0) {
        v[b] = cm_vec3(0.8 * v[b].x + 0.3 * carom_random_normal(&random),
                       0.8 * v[b].y + 0.3 * carom_random_normal(&random), -0.6 * v[b].z);
        w[b] =
            cm_axpy(cm_scale(0.7, w[b]), fabs(v[b].z),
                    cm_vec3(carom_random_normal(&random), carom_random_normal(&random), carom_random_normal(&random)));
      }
      carom_state_set_pose(model, state, b, cm_pose(p[b], q[b]));
      carom_state_set_velocity(model, state, b, v[b], w[b]);
    }
    carom_audit_sample sample = fixture_sample(f);
    state->time = h * f;
    carom_recorder_frame(recorder, state, &sample, NULL);
  }
  carom_recorder_finish(recorder, NULL, "complete", NULL);
  carom_recorder_close(recorder);
  free(p);
  free(v);
  free(w);
  free(q);
  carom_state_destroy(state);
  carom_model_destroy(model);
}

TEST(five_hundred_tumbling_bodies_are_small) {
  const char *path = fixture_path("large.h5");
  record_tumbling(path, 500, 300);
  struct stat info;
  REQUIRE(stat(path, &info) == 0);
  char *text = elements_of(path);
  size_t size = strlen(text);
  printf("500 bodies x 300 frames: %.2f MB in the page, %.2f MB as HDF5\n", (double)size / 1e6,
         (double)info.st_size / 1e6);
  CHECK_AT_MOST((double)size, 2.3e6);  // with the 0.7 MB of the viewer: 3 MB
  free(text);
  unlink(path);
}

// ---- solids --------------------------------------------------------------------------------------------------------

// Where the parts of the data of a page of solids begin.
typedef struct soft_layout {
  int moving, nodes, columns;
  size_t boxes, planes, skins, levels, shades, size;
} soft_layout;

static soft_layout soft_layout_of(int bodies, int nodes) {
  soft_layout l = {
      .moving = bodies + FIXTURE_SOLIDS, .nodes = nodes, .columns = CAROM_AUDIT_COLUMNS + 3 * FIXTURE_SOLIDS};
  size_t count = (size_t)nodes * FRAMES;
  l.boxes = 8u * FRAMES * (size_t)(1 + l.columns);
  l.planes = l.boxes + 32u * (size_t)l.moving;
  l.skins = l.planes + 18u * (size_t)l.moving * FRAMES;
  l.levels = l.skins + 28u * FIXTURE_SOLIDS;
  l.shades = l.levels + 6 * count;
  l.size = l.shades + count;
  return l;
}

// A level after its slopes were added up.
static double level_at(const replay *r, const soft_layout *l, int c, int n, int frame) {
  size_t run = ((size_t)c * (size_t)l->nodes + (size_t)n) * FRAMES, count = 3 * (size_t)l->nodes * FRAMES;
  unsigned value = 0, slope = 0;
  for (size_t f = 0; f <= (size_t)frame; f++) {
    unsigned left = r->bytes[l->levels + run + f] | (unsigned)r->bytes[l->levels + count + run + f] << 8;
    slope = f == 0 ? 0 : slope + left;
    value = f == 0 ? left : value + slope;
  }
  return value & 0xFFFF;
}

static double shade_at(const replay *r, const soft_layout *l, int n, int frame) {
  unsigned value = 0;
  for (size_t f = 0; f <= (size_t)frame; f++) value += r->bytes[l->shades + (size_t)n * FRAMES + f];
  return value & 0xFF;
}

// Centre of mass and mean stress around a node, by plain loops.
static carom_vec3 soft_center(const carom_model *m, const carom_solid *solid, int frame) {
  carom_vec3 sum = cm_zero3();
  for (int i = solid->node_start; i < solid->node_start + solid->node_count; i++)
    sum = cm_axpy(sum, m->node_masses[i] / solid->mass, soft_node(m, frame, i));
  return sum;
}

static double soft_stress(const carom_result *result, const carom_frame *frame, int node) {
  double sum = 0;
  int count = 0;
  for (int t = 0; t < result->tet_count; t++)
    for (int c = 0; c < 4; c++)
      if (result->tets[t][c] == node) sum += (double)frame->stresses[t], count++;
  return sum / count;
}

static void check_skin(const replay *r, const soft_layout *l, carom_result *result, const fixture *f, int frame_index) {
  carom_frame frame;
  REQUIRE(carom_frame_init(result, &frame, NULL) == CAROM_OK);
  REQUIRE(carom_result_read_frame(result, frame_index, &frame, NULL) == CAROM_OK);
  for (int s = 0, n = 0; s < FIXTURE_SOLIDS; s++) {
    const carom_solid *solid = &f->model->solids[s];
    carom_vec3 center = soft_center(f->model, solid, frame_index);
    double box[7];
    for (size_t k = 0; k < 7; k++) box[k] = (double)read_f32(r->bytes + l->skins + 28u * (size_t)s + 4 * k);
    for (int i = 0; i < solid->skin->node_count; i++, n++) {
      int node = solid->node_start + solid->skin->nodes[i];
      carom_vec3 x = cm_sub(soft_node(f->model, frame_index, node), center);
      const double known[3] = {x.x, x.y, x.z};
      for (int c = 0; c < 3; c++)
        CHECK_NEAR(box[c] + level_at(r, l, c, n, frame_index) / 65535 * (box[3 + c] - box[c]), known[c],
                   0.51 / 65535 * (box[3 + c] - box[c]) + 1e-12);
      CHECK_NEAR(shade_at(r, l, n, frame_index) / 255 * box[6], soft_stress(result, &frame, node), 0.51 / 255 * box[6]);
    }
  }
  carom_frame_release(&frame);
}

static void check_centers(const replay *r, const soft_layout *l, const fixture *f, int frame) {
  for (int s = 0; s < FIXTURE_SOLIDS; s++) {
    int m = l->moving - FIXTURE_SOLIDS + s;
    carom_vec3 center = soft_center(f->model, &f->model->solids[s], frame);
    const double known[3] = {center.x, center.y, center.z};
    for (int c = 0; c < 3; c++) {
      const unsigned char *box = r->bytes + l->boxes + 32u * (size_t)m + 4u * (size_t)c;
      double lo = (double)read_f32(box), hi = (double)read_f32(box + 12);
      CHECK_NEAR(lo + value_at(r, l->planes, l->moving, FRAMES, c, m, frame) / 65535.0 * (hi - lo), known[c],
                 0.51 / 65535 * (hi - lo) + 1e-12);
    }
  }
}

static void check_plots(const replay *r, carom_result *result) {
  for (int s = 0; s < FIXTURE_SOLIDS; s++)
    for (int f = 0; f < FRAMES; f++) {
      size_t column = CAROM_AUDIT_COLUMNS + 1 + (size_t)s, at = (size_t)f * FIXTURE_SOLIDS + (size_t)s;
      CHECK(read_f64(r->bytes + 8 * (column * FRAMES + (size_t)f)) == result->elastic_energies[at]);
      CHECK(read_f64(r->bytes + 8 * ((column + FIXTURE_SOLIDS) * FRAMES + (size_t)f)) == result->least_J[at]);
    }
}

TEST(skins_decode_to_the_nodes) {
  const char *path = fixture_path("skins.h5");
  for (int kind = 0; kind < 2; kind++) {
    soft_options options = {.without_bodies = kind == 1, .shells = 2};
    fixture f;
    soft_create_with(&f, &options);
    soft_write_with(path, FRAMES, &options);
    char *text = elements_of(path);
    carom_result *result = fixture_open(path);
    unlink(path);
    int nodes = f.model->solids[0].skin->node_count + f.model->solids[1].skin->node_count;
    soft_layout l = soft_layout_of(kind == 1 ? 0 : MOVING, nodes);
    replay r = decode(text, l.size);
    REQUIRE(result && r.size == l.size);
    for (int frame = 0; frame < FRAMES; frame += 37) {
      check_centers(&r, &l, &f, frame);
      check_skin(&r, &l, result, &f, frame);
    }
    check_plots(&r, result);
    CHECK_CONTAINS(r.json, "\"name\":\"soft ball\",\"color\":\"#66ccee\"");
    CHECK_CONTAINS(r.json, kind == 1 ? "\"solids\":[{\"body\":0," : "\"solids\":[{\"body\":5,");
    CHECK_CONTAINS(r.json, kind == 1 ? "\"body\":[0,1,1,0,0,1," : "\"body\":[5,0,6,5,5,0,");
    release(&r);
    carom_result_close(result);
    free(text);
    fixture_destroy(&f);
  }
}

// A plate all of whose nodes are at its surface. It rests, or waves go through it that have no pattern from frame to
// frame.
typedef struct plate {
  int cells[2], frames;
  bool waves;
} plate;

static void wave(const carom_model *model, carom_state *state, double t) {
  for (int i = 0; i < state->node_count; i++) {
    carom_vec3 x = model->rest[i], u = cm_zero3();
    for (int k = 1; k <= 12; k++) {
      double phase = 3 * k * x.x + (17 - 2 * k) * x.y + 5.3 * k * t + k * k;
      u = cm_axpy(u, 0.002 * sin(phase), cm_vec3(0.2 * cos(k), 0.2 * sin(k), 1));
    }
    state->nodes[i] = cm_add(x, u);
    state->node_velocities[i] = cm_scale(10, u);
  }
}

static void write_plate(const char *path, const plate *p) {
  carom_builder *builder = NULL;
  carom_recorder *recorder = NULL;
  fixture f;
  carom_tets mesh = {0};
  carom_tets_box box = carom_tets_box_default();
  box.size = cm_vec3(0.6, 0.4, 0.02);
  box.cells[0] = p->cells[0], box.cells[1] = p->cells[1], box.cells[2] = 1;
  carom_builder_create(NULL, &builder, NULL);
  REQUIRE(carom_tets_init_box(&box, NULL, &mesh, NULL) == CAROM_OK);
  soft_add(builder, "plate", &mesh, cm_zero3(), 0x228833);
  REQUIRE(carom_builder_finish(builder, &f.model, &f.state, NULL) == CAROM_OK);
  carom_builder_destroy(builder);
  carom_tets_release(&mesh);
  f.scene = fixture_scene(f.model, f.state);
  REQUIRE(carom_recorder_open(path, &f.scene, NULL, NULL, &recorder, NULL) == CAROM_OK);
  for (int i = 0; i < p->frames; i++) {
    f.state->time = fixture_time(i);
    if (p->waves) wave(f.model, f.state, f.state->time);
    CHECK(carom_recorder_frame(recorder, f.state, NULL, NULL) == CAROM_OK);
  }
  CHECK(carom_recorder_finish(recorder, NULL, "complete", NULL) == CAROM_OK);
  carom_recorder_close(recorder);
  fixture_destroy(&f);
}

TEST(pages_of_solids_are_thinned_when_they_are_too_large) {
  enum { MANY = 640, NODES = 61 * 41 * 2 };
  const char *path = fixture_path("thin.h5");
  write_plate(path, &(plate){{60, 40}, MANY, false});
  char *text = elements_of(path);
  unlink(path);
  int shown = 0, all = 0;
  const char *told = strstr(text, "This page shows ");
  REQUIRE(told && sscanf(told, "This page shows %d of %d recorded frames", &shown, &all) == 2);
  CHECK(all == MANY && shown == 3000000 / NODES);
  free(text);
}

TEST(a_page_of_5000_triangles_in_200_frames_stays_below_5_MB) {
  enum { TEMPLATE = 800000 };  // bytes; tests/browser sees to it that it is less
  const char *path = fixture_path("weight.h5");
  write_plate(path, &(plate){{50, 24}, 200, true});
  carom_result *result = fixture_open(path);
  REQUIRE(result && result->triangle_count >= 5000 && result->frame_count == 200);
  carom_result_close(result);
  char *text = elements_of(path);
  unlink(path);
  size_t size = strlen(text);
  printf("5096 triangles x 200 frames: %.2f MB beside the template\n", (double)size / 1e6);
  CHECK(size + TEMPLATE < 5000000);
  free(text);
}

// A run that was killed before its first burst.
TEST(pages_of_solids_without_frames) {
  const char *path = fixture_path("none.h5");
  for (int frames = 0; frames < 2; frames++) {
    soft_write(path, frames);
    char *text = elements_of(path);
    unlink(path);
    replay r = decode(text, 100000);
    size_t nodes = 0, columns = CAROM_AUDIT_COLUMNS + 3 * FIXTURE_SOLIDS, moving = MOVING + FIXTURE_SOLIDS,
           f = (size_t)frames;
    for (const char *at = r.json; (at = strstr(at, "\"nodes\":")); at++) nodes += strtoul(at + 8, NULL, 10);
    CHECK(nodes > 20);
    CHECK(r.size == f * (8 * (1 + columns) + 18 * moving + 7 * nodes) + 32 * moving + 28 * FIXTURE_SOLIDS);
    release(&r);
    free(text);
  }
}
