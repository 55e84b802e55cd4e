// Flow of images whose motion is known, its certificate, the forms of its program, and what can go wrong.
#include "failing_allocator.h"
#include "flow_images.h"

static carom_flow_info estimate(const pair *p, const carom_flow_options *o, carom_flow_field *field) {
  carom_flow_info info = {0};
  carom_error error = {0};
  carom_status status = carom_flow_estimate(&(carom_flow_pair){&p->A, &p->B}, o, NULL, field, &info, &error);
  if (status != CAROM_OK) test_fail(__FILE__, __LINE__, "%s", error.message);
  return info;
}

static double error_of(const pair *p, const carom_flow_options *o) {
  carom_flow_field field;
  carom_flow_info info = estimate(p, o, &field);
  if (o->norm == CAROM_FLOW_L1) {
    CHECK(info.l1.outcome == CAROM_L1_SOLVED);
    CHECK_AT_MOST(info.l1.gap, 1e-8);
    CHECK_AT_MOST(info.l1.iterations, 39);
  }
  double error = end_point_error(&field, &p->truth);
  carom_flow_field_release(&field);
  return error;
}

// ---- motions that are exact -----------------------------------------------------------------------------------------

// B(x, y) = A(x - u, y - v) of a polynomial of degree 2: mean slopes are exact there, at borders too, so that the least
// sum is 0, at (u, v) everywhere.
static pair parabolas(int width, int height, double u, double v) {
  pair p = pair_make(width, height, shifted, 1);
  for (int y = 0, i = 0; y < height; y++)
    for (int x = 0; x < width; x++, i++) {
      double X = (double)x / width, Y = (double)y / height, U = u / width, V = v / height;
      p.A.grey[i] = 0.3 + 0.2 * X - 0.1 * Y + 0.3 * X * X - 0.25 * X * Y + 0.4 * Y * Y;
      X -= U, Y -= V;
      p.B.grey[i] = 0.3 + 0.2 * X - 0.1 * Y + 0.3 * X * X - 0.25 * X * Y + 0.4 * Y * Y;
      p.truth.u[i] = u, p.truth.v[i] = v;
    }
  return p;
}

TEST(a_shift_of_parabolas_is_exact) {
  const struct {
    int width, height;
    double u, v;
  } cases[] = {{3, 3, 0.1, 0.2}, {24, 17, 0.7, -0.3}, {20, 20, -2.5, 1.25}, {9, 30, 0, 0.5}, {33, 5, 1, 1}};
  for (int k = 0; k < 5; k++)
    for (int stencils = 0; stencils < 4; stencils++) {
      pair p = parabolas(cases[k].width, cases[k].height, cases[k].u, cases[k].v);
      carom_flow_options o = one_program();
      carom_flow_field field;
      o.derivative = (carom_flow_stencil)(stencils & 1), o.smoothness = (carom_flow_stencil)(stencils >> 1);
      carom_flow_info info = estimate(&p, &o, &field);
      CHECK_AT_MOST(info.energy1, 1e-10);
      for (int i = 0; i < field.width * field.height; i++) {
        CHECK_NEAR(field.u[i], cases[k].u, 1e-6);
        CHECK_NEAR(field.v[i], cases[k].v, 1e-6);
      }
      carom_flow_field_release(&field);
      pair_release(&p);
    }
}

// Waves sin(k x) that move by d: five points see their slope K / k times as steep, and the mean of both slopes is
// cos(k d / 2) times the one half-way, so that the flow is 2 tan(k d / 2) / K in every pixel but those near the border,
// which have other stencils. They are few, and the 1-norm passes them over.
TEST(waves_move_as_their_stencil_sees_them) {
  enum { W = 48, H = 40 };
  const double k = 0.4, d[2] = {0.5, -0.8};
  pair p = pair_make(W, H, shifted, 1);
  double K = (8 * sin(k) - sin(2 * k)) / 6, seen[2] = {2 * tan(k * d[0] / 2) / K, 2 * tan(k * d[1] / 2) / K};
  for (int y = 0, i = 0; y < H; y++)
    for (int x = 0; x < W; x++, i++) {
      p.A.grey[i] = 0.5 + 0.2 * sin(k * x) + 0.2 * sin(k * y + 1);
      p.B.grey[i] = 0.5 + 0.2 * sin(k * (x - d[0])) + 0.2 * sin(k * (y - d[1]) + 1);
    }
  carom_flow_options o = one_program();
  carom_flow_field field;
  o.lambda = 0.3;
  carom_flow_info info = estimate(&p, &o, &field);
  CHECK(info.l1.outcome == CAROM_L1_SOLVED);
  for (int i = 0; i < W * H; i++) {
    CHECK_NEAR(field.u[i], seen[0], 1e-6);
    CHECK_NEAR(field.v[i], seen[1], 1e-6);
  }
  carom_flow_field_release(&field);
  pair_release(&p);
}

TEST(nothing_that_moves_is_at_rest) {
  pair p = pair_make(20, 20, shifted, 3);
  memcpy(p.B.grey, p.A.grey, 400 * sizeof(double));
  carom_flow_field field;
  carom_flow_options o = carom_flow_default_options();
  carom_flow_info info = estimate(&p, &o, &field);
  CHECK(info.l1.outcome == CAROM_L1_SOLVED && info.energy1 == 0);
  CHECK(carom_flow_field_longest(&field) == 0);
  carom_flow_field_release(&field);
  pair_release(&p);
}

// ---- motions that are not -------------------------------------------------------------------------------------------

TEST(textures_are_followed) {
  const motion moves[] = {shifted, turned, square_moved};
  const double most[] = {0.05, 0.05, 0.05};
  for (int k = 0; k < 3; k++)
    for (int stencil = 0; stencil < 2; stencil++) {
      pair p = pair_make(48, 40, moves[k], 11);
      carom_flow_options o = one_program();
      o.lambda = 0.05, o.derivative = (carom_flow_stencil)stencil;
      CHECK_AT_MOST(error_of(&p, &o), stencil == CAROM_FLOW_FIVE_POINT ? most[k] : 4 * most[k]);
      pair_release(&p);
    }
}

// Jumps stay jumps, which least squares blur.
TEST(a_moved_square_keeps_its_edge) {
  pair p = pair_make(48, 48, square_moved, 5);
  carom_flow_options o = one_program();
  o.lambda = 0.05;
  double l1 = error_of(&p, &o);
  o.norm = CAROM_FLOW_L2;
  double best = INFINITY;
  for (o.lambda = 1e-4; o.lambda < 1; o.lambda *= 3) best = fmin(best, error_of(&p, &o));
  CHECK_AT_MOST(l1, 0.5 * best);
  pair_release(&p);
}

// A tenth of the pixels of both images is black or white. Least squares get the lambda that is best for them, and the
// same slopes.
TEST(salt_and_pepper_hardly_counts) {
  const motion moves[] = {shifted, turned, square_moved};
  for (int k = 0; k < 3; k++)
    for (uint64_t seed = 1; seed < 4; seed++) {
      pair p = pair_make(48, 48, moves[k], 20 + seed);
      add_salt_and_pepper(&p.A, 0.1, seed), add_salt_and_pepper(&p.B, 0.1, 100 + seed);
      carom_flow_options o = one_program();
      o.lambda = 0.05;
      double l1 = error_of(&p, &o), best = INFINITY;
      o.norm = CAROM_FLOW_L2;
      for (o.lambda = 1e-3; o.lambda < 20; o.lambda *= 3) best = fmin(best, error_of(&p, &o));
      CHECK_AT_MOST(l1, 0.5 * best);
      pair_release(&p);
    }
}

TEST(far_motions_are_followed_down_the_pyramid) {
  pair p = pair_make(64, 64, far_shifted, 8);
  carom_flow_options o = carom_flow_default_options();
  carom_flow_field field;
  o.warps = 3;
  carom_flow_info info = estimate(&p, &o, &field);
  CHECK(info.levels == 3 && info.programs == 9 && info.l1.outcome == CAROM_L1_SOLVED);
  CHECK_AT_MOST(info.l1.gap, 1e-8);
  CHECK_AT_MOST(end_point_error(&field, &p.truth), 0.1);
  carom_flow_field_release(&field);
  o.levels = o.warps = 1;
  CHECK(error_of(&p, &o) > 1);  // which one program alone does not
  pair_release(&p);
}

// Five-point differences of the flow hardly see every other pixel: what two points make 0, they leave.
TEST(two_points_see_a_checkerboard) {
  pair p = pair_make(16, 16, shifted, 2);
  carom_flow_options o = one_program();
  for (int stencil = 0; stencil < 2; stencil++) {
    carom_flow_program *program = NULL;
    o.smoothness = (carom_flow_stencil)stencil;
    REQUIRE(carom_flow_program_create(&(carom_flow_pair){&p.A, &p.B}, NULL, &o, NULL, &program, NULL) == CAROM_OK);
    carom_l1_problem problem = carom_flow_program_problem(program);
    double roughness = 0;
    for (int i = 256; i < problem.m; i++) {
      double r = 0;
      for (int e = problem.row_start[i]; e < problem.row_start[i + 1]; e++) {
        int pixel = problem.column[e] / 2;
        r += problem.value[e] * ((pixel % 16 + pixel / 16) % 2 ? 1 : -1);
      }
      roughness += fabs(r);
    }
    if (stencil == CAROM_FLOW_TWO_POINT)
      CHECK_NEAR(roughness, 0.1 * 2 * (4 * 15 * 16), 1e-9);
    else
      CHECK_NEAR(roughness, 0.1 * 2 * (4 * 2 * 16), 1e-9);  // one-sided differences at both ends of each line
    carom_flow_program_destroy(program);
  }
  pair_release(&p);
}

// ---- values ---------------------------------------------------------------------------------------------------------

// E1 and E2 of the field, by sums over pixels.
static void check_energies(const pair *p, const carom_flow_options *o) {
  carom_flow_field f;
  carom_flow_info info = estimate(p, o, &f);
  double one[2] = {0, 0}, two[2] = {0, 0};
  int W = f.width, H = f.height;
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) {
      int i = y * W + x;
      for (int down = 0; down < 2; down++) {
        if (down ? y == H - 1 : x == W - 1) continue;
        int j = i + (down ? W : 1);
        one[1] += fabs(f.u[j] - f.u[i]) + fabs(f.v[j] - f.v[i]);
        two[1] += pow(f.u[j] - f.u[i], 2) + pow(f.v[j] - f.v[i], 2);
      }
      if (x == 0 || y == 0 || x == W - 1 || y == H - 1) continue;
      const double *a = p->A.grey + i, *b = p->B.grey + i;
      double r =
          0.25 * (a[1] - a[-1] + b[1] - b[-1]) * f.u[i] + 0.25 * (a[W] - a[-W] + b[W] - b[-W]) * f.v[i] + *b - *a;
      one[0] += fabs(r), two[0] += r * r;
    }
  CHECK(info.energy1 >= one[0] + o->lambda * one[1] && info.energy1 < 1.6 * (one[0] + o->lambda * one[1]));
  CHECK(info.energy2 >= two[0] + o->lambda * two[1] && info.energy2 < 1.6 * (two[0] + o->lambda * two[1]));
  if (o->norm == CAROM_FLOW_L1) CHECK_NEAR(info.energy1, info.l1.primal, 1e-9);
  carom_flow_field_release(&f);
}

// Each norm has the smaller of its own sum.
TEST(each_norm_is_best_at_its_own) {
  pair p = pair_make(30, 30, turned, 4);
  double one[2], two[2];
  for (int norm = 0; norm < 2; norm++) {
    carom_flow_options o = one_program();
    carom_flow_field field;
    o.norm = (carom_flow_norm)norm, o.derivative = CAROM_FLOW_TWO_POINT;
    check_energies(&p, &o);
    carom_flow_info info = estimate(&p, &o, &field);
    one[norm] = info.energy1, two[norm] = info.energy2;
    carom_flow_field_release(&field);
  }
  CHECK(one[CAROM_FLOW_L1] < one[CAROM_FLOW_L2] && two[CAROM_FLOW_L2] < two[CAROM_FLOW_L1]);
  pair_release(&p);
}

TEST(all_forms_of_the_program_have_one_value) {
  const int sizes[][2] = {{2, 2}, {3, 5}, {6, 6}, {2, 18}};
  for (int k = 0; k < 4; k++)
    for (int stencil = 0; stencil < 2; stencil++) {
      pair p = pair_make(sizes[k][0], sizes[k][1], square_moved, 30 + (uint64_t)k);
      carom_flow_options o = one_program();
      carom_flow_forms forms;
      carom_error error = {0};
      o.smoothness = (carom_flow_stencil)stencil, o.lambda = 0.02;
      carom_status status = carom_flow_solve_forms(&(carom_flow_pair){&p.A, &p.B}, &o, NULL, &forms, &error);
      if (status != CAROM_OK) test_fail(__FILE__, __LINE__, "%s", error.message);
      CHECK(forms.structured > 0);
      CHECK_NEAR(forms.constrained, forms.structured, 1e-8);
      CHECK_NEAR(forms.bounded, forms.structured, 1e-8);
      CHECK_NEAR(forms.eliminated, forms.structured, 1e-8);
      pair_release(&p);
    }
}

TEST(threads_change_no_bit) {
  pair p = pair_make(36, 30, turned, 6);
  carom_flow_field fields[2];
  for (int k = 0; k < 2; k++) {
    carom_flow_options o = one_program();
    o.threads = 1 + k, o.smoothness = CAROM_FLOW_FIVE_POINT;
    estimate(&p, &o, &fields[k]);
  }
  CHECK(memcmp(fields[0].u, fields[1].u, 1080 * sizeof(double)) == 0);
  CHECK(memcmp(fields[0].v, fields[1].v, 1080 * sizeof(double)) == 0);
  carom_flow_field_release(&fields[0]), carom_flow_field_release(&fields[1]);
  pair_release(&p);
}

// No smoothness, and images without slopes: A has lost its rank.
TEST(images_without_slopes_do_no_harm) {
  pair p = pair_make(12, 10, shifted, 6);
  carom_flow_options o = one_program();
  carom_flow_field field;
  o.lambda = 0;
  carom_flow_info info = estimate(&p, &o, &field);
  CHECK_AT_MOST(info.energy1, 1e-10);
  carom_flow_field_release(&field);
  for (int i = 0; i < 120; i++) p.A.grey[i] = 0.25, p.B.grey[i] = 0.75;
  for (int k = 0; k < 2; k++) {
    o.lambda = 0.1 * k;
    info = estimate(&p, &o, &field);
    CHECK_NEAR(info.energy1, 60, 1e-9);
    CHECK_AT_MOST(carom_flow_field_longest(&field), 1e-9);
    carom_flow_field_release(&field);
  }
  pair_release(&p);
}

// ---- iterations
// ------------------------------------------------------------------------------------------------------

TEST(iterations_stay_below_forty_long) {
  const int sizes[] = {16, 64, 128};
  for (int k = 0; k < 3; k++)
    for (int noise = 0; noise < 2; noise++) {
      pair p = pair_make(sizes[k], sizes[k], square_moved, 40);
      carom_flow_options o = one_program();
      if (noise) add_salt_and_pepper(&p.A, 0.1, 1), add_salt_and_pepper(&p.B, 0.1, 2);
      error_of(&p, &o);  // looks at gap and iterations
      pair_release(&p);
    }
}

// ---- mistakes -------------------------------------------------------------------------------------------------------

static void check_refused(const pair *p, const carom_flow_options *o, carom_status status, const char *message) {
  carom_flow_field field;
  carom_flow_info info;
  carom_error error = {0};
  CHECK(carom_flow_estimate(&(carom_flow_pair){&p->A, &p->B}, o, NULL, &field, &info, &error) == status);
  CHECK_TEXT(error.message, message);
  CHECK(!field.u && !field.v && field.width == 0);
}

TEST(mistakes_are_told) {
  carom_flow_options good = carom_flow_default_options(), o = good;
  pair p = pair_make(8, 6, shifted, 1), q = pair_make(6, 8, shifted, 1), one = pair_make(1, 1, shifted, 1);
  pair mixed = {p.A, q.A, p.truth}, line = pair_make(9, 1, shifted, 1);
  check_refused(&mixed, &good, CAROM_ERR_ARGUMENT, "the images differ in size: 8 x 6 and 6 x 8 pixels");
  check_refused(&one, &good, CAROM_ERR_ARGUMENT, "images of 1 x 1 pixels have no slopes; flow needs 2 x 2 or more");
  check_refused(&line, &good, CAROM_ERR_ARGUMENT, "images of 9 x 1 pixels have no slopes; flow needs 2 x 2 or more");
  o.lambda = -0.1;
  check_refused(&p, &o, CAROM_ERR_ARGUMENT, "lambda is -0.1; it must be a number >= 0");
  o.lambda = INFINITY;
  check_refused(&p, &o, CAROM_ERR_ARGUMENT, "lambda is inf; it must be a number >= 0");
  o = good, o.median = 4;
  check_refused(&p, &o, CAROM_ERR_ARGUMENT, "the side of medians is 4; it must be odd, 1 to 15");
  o = good, o.warps = 0;
  check_refused(&p, &o, CAROM_ERR_ARGUMENT, "levels 0 must be 0 to 20, warps 0 must be 1 to 1000");
  o = good, o.impulses = -1;
  check_refused(&p, &o, CAROM_ERR_ARGUMENT, "impulses is -1; it must be >= 0");
  double kept = p.A.grey[13];
  p.A.grey[13] = NAN;
  check_refused(&p, &good, CAROM_ERR_NUMBER, "pixel 5 of row 1 of the first image is not finite");
  p.A.grey[13] = kept, p.B.grey[47] = INFINITY;
  check_refused(&p, &good, CAROM_ERR_NUMBER, "pixel 7 of row 5 of the second image is not finite");
  carom_flow_forms forms;
  carom_error error = {0};
  CHECK(carom_flow_solve_forms(&(carom_flow_pair){&p.A, &p.A}, NULL, NULL, &forms, &error) == CAROM_ERR_LIMIT);
  CHECK_TEXT(error.message, "images of 8 x 6 pixels are too large for dense programs (at most 36 pixels)");
  pair_release(&p), pair_release(&q), pair_release(&one), pair_release(&line);
}

static bool stop_late(void *context, double done, double total) {
  *(double *)context = total;
  return done < 1.5;
}

TEST(an_interrupted_flow_leaves_nothing) {
  pair p = pair_make(40, 40, shifted, 1);
  carom_flow_options o = carom_flow_default_options();
  double total = 0;
  o.progress = (carom_progress){&total, stop_late};
  check_refused(&p, &o, CAROM_INTERRUPTED, "the flow was interrupted");
  CHECK(total == 4);
  pair_release(&p);
}

TEST(every_refused_request_is_told) {
  pair p = pair_make(40, 36, shifted, 1);
  carom_flow_options o = carom_flow_default_options();
  o.threads = 1, o.max_iterations = 1, o.warps = 1;
  int refused = 0;
  for (int allowed = 0;; allowed++) {
    failing_allocator failing = {.allowed = allowed};
    carom_allocator allocator = failing_allocator_of(&failing);
    carom_flow_field field;
    carom_error error = {0};
    carom_status status = carom_flow_estimate(&(carom_flow_pair){&p.A, &p.B}, &o, &allocator, &field, NULL, &error);
    carom_flow_field_release(&field);
    CHECK(failing.live == 0);
    if (status == CAROM_OK) break;
    CHECK(status == CAROM_ERR_MEMORY && error.message[0]);
    refused++;
    REQUIRE(allowed < 500);
  }
  CHECK(refused > 50);
  pair_release(&p);
}
