// Impact laws on random systems: what every law owes, checked on the bodies' velocities rather than on W.
#include "carom/impact.h"

#include "failing_allocator.h"
#include "fixtures.h"

enum { MAX_CONTACTS = 12, MAX_FREEDOMS = 24 };

// A system of `freedoms` coordinates with a diagonal mass and random contact rows.
typedef struct toy {
  int n, freedoms;
  double J[3 * MAX_CONTACTS][MAX_FREEDOMS], mass[MAX_FREEDOMS], q[MAX_FREEDOMS];
  double W[9 * MAX_CONTACTS * MAX_CONTACTS], u[3 * MAX_CONTACTS], e[MAX_CONTACTS], mu[MAX_CONTACTS];
} toy;

static void toy_finish(toy *t) {
  int m = 3 * t->n;
  for (int i = 0; i < m; i++) {
    t->u[i] = 0;
    for (int c = 0; c < t->freedoms; c++) t->u[i] += t->J[i][c] * t->q[c];
    for (int j = 0; j < m; j++) {
      double w = 0;
      for (int c = 0; c < t->freedoms; c++) w += t->J[i][c] * t->J[j][c] / t->mass[c];
      t->W[i + j * m] = w;
    }
  }
}

// With fewer freedoms than rows the contacts are redundant. There is a way out: some velocity parts all contacts, as it
// does for bodies in space that are not wedged in.
static toy random_toy(carom_random *r, int n, int freedoms, double e, double mu) {
  static toy t;
  t = (toy){.n = n, .freedoms = freedoms};
  for (int c = 0; c < freedoms; c++) {
    t.mass[c] = carom_random_between(r, 0.2, 3);
    t.q[c] = carom_random_normal(r);
    for (int i = 0; i < 3 * n; i++) t.J[i][c] = carom_random_normal(r);
  }
  double out[MAX_FREEDOMS];
  for (int c = 0; c < freedoms; c++) out[c] = carom_random_normal(r);
  for (int i = 0; i < n; i++) {
    double along = 0;
    for (int c = 0; c < freedoms; c++) along += t.J[3 * i][c] * out[c];
    for (int c = 0; c < freedoms; c++) t.J[3 * i][c] *= along < 0 ? -1 : 1;
  }
  for (int i = 0; i < n; i++) t.e[i] = e, t.mu[i] = mu;
  toy_finish(&t);
  return t;
}

static carom_impact_problem problem_of(const toy *t) { return (carom_impact_problem){t->n, t->W, t->u, t->e, t->mu}; }

static double energy_of(const toy *t, const double *q) {
  double E = 0;
  for (int c = 0; c < t->freedoms; c++) E += 0.5 * t->mass[c] * q[c] * q[c];
  return E;
}

static void velocities_after(const toy *t, const double *P, double *q) {
  for (int c = 0; c < t->freedoms; c++) {
    q[c] = t->q[c];
    for (int i = 0; i < 3 * t->n; i++) q[c] += t->J[i][c] * P[i] / t->mass[c];
  }
}

static double worst_approach(const toy *t, const double *q) {
  double worst = 0;
  for (int i = 0; i < t->n; i++) {
    double u = 0;
    for (int c = 0; c < t->freedoms; c++) u += t->J[3 * i][c] * q[c];
    worst = fmax(worst, -u);
  }
  return worst;
}

static carom_impact_work *new_work(int n) {
  carom_impact_work *work = NULL;
  if (carom_impact_work_create(n, NULL, &work, NULL) != CAROM_OK) abort();
  return work;
}

typedef struct outcome {
  double P[3 * MAX_CONTACTS], q[MAX_FREEDOMS], before, after;
  carom_impact_info info;
} outcome;

static outcome solve(carom_impact_work *work, const toy *t, carom_impact_law law) {
  outcome o = {.before = energy_of(t, t->q)};
  carom_impact_problem p = problem_of(t);
  CHECK(carom_impact_solve(work, &p, law, &(carom_impact_solution){o.P, NULL}, &o.info, NULL) == CAROM_OK);
  velocities_after(t, o.P, o.q);
  o.after = energy_of(t, o.q);
  return o;
}

// Energies are sums of terms this large; their round-off is all that may differ.
static double round_off(const toy *t, const double *P) {
  double sum = 0;
  int m = 3 * t->n;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) sum += fabs(P[i] * t->W[i + j * m] * P[j]);
  return 1e-15 * sum;
}

static void check_duties(const toy *t, const outcome *o, carom_impact_law law) {
  CHECK_AT_MOST(worst_approach(t, o->q), 1e-10);
  CHECK_AT_MOST(o->after - o->before, 1e-12 * o->before);
  CHECK_NEAR(o->before - o->after, o->info.restitution_loss + o->info.friction_loss,
             1e-13 * o->before + round_off(t, o->P));
  CHECK_AT_MOST(-o->info.restitution_loss, 1e-12 * o->before);
  CHECK_AT_MOST(-o->info.friction_loss, 1e-12 * o->before);
  for (int i = 0; i < t->n && law != CAROM_IMPACT_DECOMPOSITION; i++) {
    CHECK(o->P[3 * i] >= 0);
    CHECK_AT_MOST(hypot(o->P[3 * i + 1], o->P[3 * i + 2]), t->mu[i] * o->P[3 * i] * (1 + 1e-12) + 1e-300);
  }
}

static void try_many(uint64_t seed, double e, double mu, bool mixed) {
  carom_random r = carom_random_make(seed, 0);
  carom_impact_work *work = new_work(MAX_CONTACTS);
  int limits = 0, trials = 300;
  for (int trial = 0; trial < trials; trial++) {
    int n = 1 + (int)carom_random_below(&r, 6), freedoms = 3 + (int)carom_random_below(&r, 16);
    toy t = random_toy(&r, n, freedoms, e, mu);
    for (int i = 0; i < n && mixed; i++)
      t.e[i] = carom_random_uniform(&r), t.mu[i] = carom_random_uniform(&r) < 0.3 ? 0 : carom_random_uniform(&r);
    for (int law = 0; law < CAROM_IMPACT_LAW_COUNT; law++) {
      outcome o = solve(work, &t, (carom_impact_law)law);
      limits += !o.info.converged;
      check_duties(&t, &o, (carom_impact_law)law);
    }
  }
  CHECK_AT_MOST(limits, 0.01 * trials);
  carom_impact_work_destroy(work);
}

TEST(duties_elastic_smooth) { try_many(1, 1, 0, false); }
TEST(duties_plastic_smooth) { try_many(2, 0, 0, false); }
TEST(duties_elastic_rough) { try_many(3, 1, 0.5, false); }
TEST(duties_half_rough) { try_many(4, 0.5, 0.3, false); }
TEST(duties_mixed) { try_many(5, 0.5, 0.3, true); }

TEST(elastic_laws_keep_energy_to_round_off) {
  carom_random r = carom_random_make(11, 0);
  carom_impact_work *work = new_work(MAX_CONTACTS);
  for (int trial = 0; trial < 500; trial++) {
    int n = 1 + (int)carom_random_below(&r, 8), freedoms = 4 + (int)carom_random_below(&r, 16);
    toy t = random_toy(&r, n, freedoms, 1, 0);
    outcome o = solve(work, &t, CAROM_IMPACT_GENERALIZED);
    CHECK_NEAR(o.after, o.before, 1e-13 * o.before);
    o = solve(work, &t, CAROM_IMPACT_SUM);
    if (o.info.converged) CHECK_NEAR(o.after, o.before, 1e-13 * o.before);
  }
  carom_impact_work_destroy(work);
}

// A single contact has closed forms: u_n+ = -e u_n-, and friction sticks or slides.
TEST(one_contact_by_hand) {
  carom_impact_work *work = new_work(1);
  // A point of mass 2 thrown at a floor, normal first.
  toy t = {.n = 1, .freedoms = 3, .mass = {2, 2, 2}, .q = {-3, 1, 0.5}, .e = {0.6}, .mu = {0}};
  for (int i = 0; i < 3; i++) t.J[i][i] = 1;
  toy_finish(&t);
  for (int law = 0; law < CAROM_IMPACT_LAW_COUNT; law++) {
    double e = law == CAROM_IMPACT_PLASTIC ? 0 : 0.6;
    t.mu[0] = 0;
    outcome o = solve(work, &t, (carom_impact_law)law);
    CHECK_NEAR(o.q[0], 3 * e, 1e-14);
    CHECK_NEAR(o.q[1], 1, 1e-15);
    // Slides: the impulse of friction is mu times that of the normal, 6 (1 + e); as published, 6 of compression alone.
    t.mu[0] = 0.1;
    o = solve(work, &t, (carom_impact_law)law);
    double v = hypot(1, 0.5), left = v - 0.1 * 6 * (law == CAROM_IMPACT_DECOMPOSITION ? 1 : 1 + e) / 2;
    CHECK_NEAR(o.q[0], 3 * e, 1e-14);
    CHECK_NEAR(o.q[1], left / v, 1e-14);
    CHECK_NEAR(o.q[2], 0.5 * left / v, 1e-14);
    t.mu[0] = 0.9;  // sticks
    o = solve(work, &t, (carom_impact_law)law);
    CHECK_NEAR(hypot(o.q[1], o.q[2]), 0, 1e-14);
    CHECK_NEAR(o.info.friction_loss, 0.5 * 2 * v * v, 1e-13);
    CHECK_NEAR(o.info.restitution_loss, 0.5 * 2 * 9 * (1 - e * e), 1e-13);
  }
  carom_impact_work_destroy(work);
}

// A ball of mass 1 and radius 1 on a floor, in the plane: the point of contact moves by v_x - w and answers to friction
// by 1 + 1/J. Coulomb's law within the impact: it slides with mu (1 + e) v_n, or rolls.
TEST(friction_acts_through_compression_and_restitution) {
  carom_impact_work *work = new_work(1);
  const double down = 3, J = 0.4;
  for (int k = 0; k < 5 * 7 * 5; k++) {
    double e = 0.25 * (k % 5), mu = (const double[]){0, 0.05, 0.1, 0.2, 0.4, 1, 2}[k / 5 % 7], along = -2 + k / 35;
    toy t = {.n = 1, .freedoms = 3, .mass = {1, 1, J}, .q = {-down, along, 1.5}, .e = {e}, .mu = {mu}};
    t.J[0][0] = t.J[1][1] = 1, t.J[1][2] = -1;
    toy_finish(&t);
    double slip = along - 1.5, roll = fabs(slip) / (1 + 1 / J), most = mu * (1 + e) * down;
    double change = -copysign(fmin(roll, most), slip);
    for (int law = 0; law < CAROM_IMPACT_LAW_COUNT; law++) {
      if (law == CAROM_IMPACT_DECOMPOSITION || law == CAROM_IMPACT_PLASTIC) continue;
      outcome o = solve(work, &t, (carom_impact_law)law);
      CHECK_NEAR(o.q[0], e * down, 1e-13);
      CHECK_NEAR(o.q[1], along + change, 1e-13);
      CHECK_NEAR(o.q[2], 1.5 - change / J, 1e-13);
      CHECK_NEAR(o.info.restitution_loss, 0.5 * (1 - e * e) * down * down, 1e-12);
    }
  }
  carom_impact_work_destroy(work);
}

// What a rod does that hits with an end: the normal and one tangent answer to each other. Newton's law with Coulomb's
// for the whole impulse, by hand: it sticks if the cone allows, or slides one way or the other.
static bool by_hand(const double W[3], const double u[2], double e, double mu, double P[2]) {
  double target = -e * u[0], det = W[0] * W[2] - W[1] * W[1];
  P[0] = (W[2] * (target - u[0]) + W[1] * u[1]) / det;
  P[1] = (-W[1] * (target - u[0]) - W[0] * u[1]) / det;
  if (P[0] >= 0 && fabs(P[1]) <= mu * P[0]) return true;
  for (int way = -1; way <= 1; way += 2) {
    double answer = W[0] - way * mu * W[1];
    P[0] = (target - u[0]) / answer, P[1] = -way * mu * P[0];
    if (answer > 0 && way * (u[1] + W[1] * P[0] + W[2] * P[1]) >= 0) return true;
  }
  return false;
}

TEST(one_rough_contact_is_newtons_and_coulombs) {
  carom_random r = carom_random_make(61, 0);
  carom_impact_work *work = new_work(1);
  int gained = 0, compared = 0;
  for (int trial = 0; trial < 2000; trial++) {
    toy t = {.n = 1, .freedoms = 3, .mass = {1, 1, carom_random_between(&r, 0.02, 1)}, .e = {carom_random_uniform(&r)}};
    t.mu[0] = carom_random_between(&r, 0, 2);
    double angle = carom_random_between(&r, 0, 6.28), arm = carom_random_between(&r, 0, 1);
    t.J[0][0] = t.J[1][1] = 1, t.J[0][2] = arm * cos(angle), t.J[1][2] = arm * sin(angle);
    t.q[0] = -carom_random_between(&r, 0.1, 2), t.q[1] = carom_random_normal(&r), t.q[2] = carom_random_normal(&r);
    toy_finish(&t);
    double P[2], W[3] = {t.W[0], t.W[1], t.W[4]};
    if (t.u[0] >= 0 || !by_hand(W, t.u, t.e[0], t.mu[0], P)) continue;
    double full[3] = {P[0], P[1], 0}, q[3];
    velocities_after(&t, full, q);
    outcome o = solve(work, &t, CAROM_IMPACT_NEWTON);
    CHECK_AT_MOST(o.after - o.before, 1e-13 * o.before);
    CHECK_AT_MOST(fabs(o.P[1]), t.mu[0] * o.P[0] * (1 + 1e-12));
    if (energy_of(&t, q) > o.before) {  // Kane and Levinson (1985): taken back to where nothing is gained
      gained++;
      CHECK_NEAR(o.after, o.before, 1e-12 * o.before);
      continue;
    }
    compared++;
    for (int c = 0; c < 3; c++) CHECK_NEAR(o.q[c], q[c], 1e-11 * (1 + fabs(q[c])));
  }
  CHECK(compared > 1000);
  CHECK(gained > 10);
  carom_impact_work_destroy(work);
}

// What the solver says of its own answer, against the law by hand: where the energy's bound took impulses back, the
// contact does not part as fast as it should.
TEST(newtons_law_owns_up_to_its_residual) {
  carom_random r = carom_random_make(62, 0);
  carom_impact_work *work = new_work(1);
  int kept = 0, broken = 0;
  for (int trial = 0; trial < 2000; trial++) {
    toy t = {.n = 1, .freedoms = 3, .mass = {1, 1, carom_random_between(&r, 0.02, 1)}, .e = {carom_random_uniform(&r)}};
    t.mu[0] = carom_random_between(&r, 0, 2);
    double angle = carom_random_between(&r, 0, 6.28), arm = carom_random_between(&r, 0, 1);
    t.J[0][0] = t.J[1][1] = 1, t.J[0][2] = arm * cos(angle), t.J[1][2] = arm * sin(angle);
    t.q[0] = -carom_random_between(&r, 0.1, 2), t.q[1] = carom_random_normal(&r), t.q[2] = carom_random_normal(&r);
    toy_finish(&t);
    if (t.u[0] >= 0) continue;
    outcome o = solve(work, &t, CAROM_IMPACT_NEWTON);
    double size = fmax(fabs(t.u[0]), fabs(t.u[1])), parts = t.J[0][0] * o.q[0] + t.J[0][2] * o.q[2];
    double missed = fabs(fmin(parts + t.e[0] * t.u[0], t.W[0] * o.P[0])) / size;
    CHECK(o.info.complementarity >= missed - 1e-13);
    if (missed > 1e-6)
      broken++;
    else
      kept += o.info.complementarity < 1e-8;
  }
  CHECK(kept > 1000 && broken > 10);
  carom_impact_work_destroy(work);
}

// Balls in a row that touch: contact i between ball i (B) and ball i + 1 (A).
static toy row_of_balls(int balls, const double *velocity, double e) {
  toy t = {.n = balls - 1, .freedoms = balls};
  for (int i = 0; i < balls; i++) t.mass[i] = 1, t.q[i] = velocity[i];
  for (int i = 0; i < balls - 1; i++) t.J[3 * i][i] = -1, t.J[3 * i][i + 1] = 1, t.e[i] = e;
  toy_finish(&t);
  return t;
}

// Newton's cradle: as many balls leave as came in. Single-law methods share the momentum out instead.
TEST(cradles) {
  carom_impact_work *work = new_work(MAX_CONTACTS);
  toy one = row_of_balls(5, (double[]){1, 0, 0, 0, 0}, 1);
  outcome o = solve(work, &one, CAROM_IMPACT_GENERALIZED);
  for (int i = 0; i < 5; i++) CHECK_NEAR(o.q[i], i == 4, 1e-14);
  toy two = row_of_balls(5, (double[]){1, 1, 0, 0, 0}, 1);
  o = solve(work, &two, CAROM_IMPACT_GENERALIZED);
  for (int i = 0; i < 5; i++) CHECK_NEAR(o.q[i], i >= 3, 1e-14);
  toy both = row_of_balls(5, (double[]){1, 0, 0, 0, -1}, 1);
  o = solve(work, &both, CAROM_IMPACT_GENERALIZED);
  for (int i = 0; i < 5; i++) CHECK_NEAR(o.q[i], i == 4 ? 1 : i == 0 ? -1 : 0, 1e-14);
  toy stuck = row_of_balls(5, (double[]){1, 0, 0, 0, 0}, 0);
  o = solve(work, &stuck, CAROM_IMPACT_GENERALIZED);
  for (int i = 0; i < 5; i++) CHECK_NEAR(o.q[i], 0.2, 1e-14);
  carom_impact_work_destroy(work);
}

// A box that lands flat on four corners, one of which is redundant: it rises as it fell, without a turn.
TEST(flat_landing_is_symmetric) {
  carom_impact_work *work = new_work(4);
  toy t = {.n = 4, .freedoms = 3, .mass = {1, 0.1, 0.1}, .q = {-2, 0, 0}};
  for (int i = 0; i < 4; i++) {
    t.J[3 * i][0] = 1, t.J[3 * i][1] = i % 2 ? 0.5 : -0.5, t.J[3 * i][2] = i / 2 ? 0.5 : -0.5;
    t.e[i] = 1;
  }
  toy_finish(&t);
  for (int law = 0; law < CAROM_IMPACT_LAW_COUNT; law++) {
    if (law == CAROM_IMPACT_DECOMPOSITION) continue;  // goes corner by corner
    outcome o = solve(work, &t, (carom_impact_law)law);
    CHECK_NEAR(o.q[0], law == CAROM_IMPACT_PLASTIC ? 0 : 2, 1e-14);
    CHECK_NEAR(fabs(o.q[1]) + fabs(o.q[2]), 0, 1e-14);
    for (int i = 1; i < 4; i++) CHECK_NEAR(o.P[3 * i], o.P[0], 1e-9);  // all but round-off in what no velocity sees
  }
  carom_impact_work_destroy(work);
}

// The order in which contacts are listed does not matter.
TEST(permutations) {
  carom_random r = carom_random_make(21, 0);
  carom_impact_work *work = new_work(MAX_CONTACTS);
  for (int trial = 0; trial < 100; trial++) {
    int n = 2 + (int)carom_random_below(&r, 5);
    toy t = random_toy(&r, n, 6 + (int)carom_random_below(&r, 12), 1, 0), s = t;
    for (int i = 0; i < n; i++) {
      int from = (i + 1) % n;  // a cyclic shift
      for (int c = 0; c < 3; c++) memcpy(s.J[3 * i + c], t.J[3 * from + c], sizeof s.J[0]);
    }
    toy_finish(&s);
    for (int law = 0; law < CAROM_IMPACT_LAW_COUNT; law++) {
      if (law == CAROM_IMPACT_DECOMPOSITION) continue;
      outcome a = solve(work, &t, (carom_impact_law)law), b = solve(work, &s, (carom_impact_law)law);
      for (int c = 0; c < t.freedoms; c++) CHECK_NEAR(a.q[c], b.q[c], 1e-9);
    }
  }
  carom_impact_work_destroy(work);
}

// Plastic contact without friction is the least kinetic energy among all velocities that do not approach: no random
// admissible velocity that differs by contact impulses is better.
TEST(plastic_is_least_energy) {
  carom_random r = carom_random_make(31, 0);
  carom_impact_work *work = new_work(MAX_CONTACTS);
  for (int trial = 0; trial < 100; trial++) {
    toy t = random_toy(&r, 4, 10, 0, 0);
    outcome o = solve(work, &t, CAROM_IMPACT_PLASTIC);
    for (int i = 0; i < 4; i++) {
      double u = 0;
      for (int c = 0; c < t.freedoms; c++) u += t.J[3 * i][c] * o.q[c];
      CHECK_NEAR(fmin(u, o.P[3 * i]), 0, 1e-12);  // complementary
    }
  }
  carom_impact_work_destroy(work);
}

// Coulomb's law of a plastic contact: friction opposes what slip is left, and with none left it is inside the cone.
TEST(plastic_friction_is_coulombs) {
  carom_random r = carom_random_make(41, 0);
  carom_impact_work *work = new_work(MAX_CONTACTS);
  int sticking = 0, sliding = 0, limits = 0;
  for (int trial = 0; trial < 200; trial++) {
    int n = 1 + (int)carom_random_below(&r, 3);
    double mu = carom_random_between(&r, 0.1, 3);
    toy t = random_toy(&r, n, 12, 0, mu);
    outcome o = solve(work, &t, CAROM_IMPACT_PLASTIC);
    limits += !o.info.converged;
    if (!o.info.converged) continue;
    double v[9];
    for (int i = 0; i < 3 * n; i++) {
      v[i] = t.u[i];
      for (int j = 0; j < 3 * n; j++) v[i] += t.W[i + 3 * n * j] * o.P[j];
    }
    for (int i = 0; i < n; i++) {
      const double *P = o.P + 3 * i, *s = v + 3 * i;
      CHECK_NEAR(fmin(P[0], s[0]), 0, 1e-11);
      double slip = hypot(s[1], s[2]), friction = hypot(P[1], P[2]);
      if (P[0] < 1e-9) continue;
      if (slip < 1e-9) {
        sticking++;
        continue;
      }
      sliding++;
      CHECK_NEAR(friction, mu * P[0], 1e-10);
      CHECK_AT_MOST(friction * slip + P[1] * s[1] + P[2] * s[2], 1e-8 * friction * slip + 1e-10);
    }
  }
  CHECK_AT_MOST(limits, 2);
  CHECK(sticking > 20);
  CHECK(sliding > 20);
  carom_impact_work_destroy(work);
}

// The part that rests: targets are met, and a block on an incline sticks or slides as tan(angle) says.
TEST(block_on_an_incline) {
  carom_impact_work *work = new_work(1);
  for (int k = 0; k < 2; k++) {
    double mu = 0.5, angle = atan(mu * (k == 0 ? 0.99 : 1.01)), g = 9.81, h = 1e-3;
    toy t = {.n = 1, .freedoms = 3, .mass = {1, 1, 1}, .q = {-h * g * cos(angle), h * g * sin(angle), 0}, .mu = {mu}};
    for (int i = 0; i < 3; i++) t.J[i][i] = 1;
    toy_finish(&t);
    carom_impact_problem p = problem_of(&t);
    double P[3] = {0}, v[3];
    CHECK(carom_impact_rest(work, &p, NULL, &(carom_impact_solution){P, v}, NULL, NULL) == CAROM_OK);
    CHECK_NEAR(v[0], 0, 1e-17);
    CHECK_NEAR(v[1], k == 0 ? 0 : h * g * (sin(angle) - mu * cos(angle)), 1e-16);
  }
  carom_impact_work_destroy(work);
}

TEST(refuses_nonsense) {
  carom_impact_work *work = new_work(2);
  carom_random r = carom_random_make(51, 0);
  carom_error error = {0};
  double P[3 * MAX_CONTACTS];
  toy t = random_toy(&r, 3, 9, 1, 0);
  carom_impact_problem p = problem_of(&t);
  CHECK(carom_impact_solve(work, &p, CAROM_IMPACT_GENERALIZED, &(carom_impact_solution){P, NULL}, NULL, &error) ==
        CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(error.message, "room for 2");
  t = random_toy(&r, 2, 9, 1.5, 0);
  p = problem_of(&t);
  CHECK(carom_impact_solve(work, &p, CAROM_IMPACT_GENERALIZED, &(carom_impact_solution){P, NULL}, NULL, &error) ==
        CAROM_ERR_ARGUMENT);
  t = random_toy(&r, 2, 9, 1, 0);
  t.u[0] = NAN;
  p = problem_of(&t);
  CHECK(carom_impact_solve(work, &p, CAROM_IMPACT_GENERALIZED, &(carom_impact_solution){P, NULL}, NULL, &error) ==
        CAROM_ERR_NUMBER);
  carom_impact_work_destroy(work);
  CHECK_TEXT(carom_impact_law_name(CAROM_IMPACT_POISSON), "poisson");
  CHECK(carom_impact_law_name(CAROM_IMPACT_LAW_COUNT) == NULL);
}

TEST(memory_failures) {
  carom_status status = CAROM_ERR_MEMORY;
  int allowed = 0;
  for (; allowed < 20 && status != CAROM_OK; allowed++) {
    failing_allocator f = {.allowed = allowed};
    carom_allocator a = failing_allocator_of(&f);
    carom_impact_work *work = NULL;
    status = carom_impact_work_create(5, &a, &work, NULL);
    CHECK(status == CAROM_OK || (status == CAROM_ERR_MEMORY && !work));
    if (status == CAROM_OK) carom_impact_work_destroy(work);
    CHECK(f.live == 0);
  }
  CHECK(allowed > 2 && allowed < 20);
}
