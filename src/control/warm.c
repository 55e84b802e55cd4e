// Warm starts: the answer of an earlier plan as first guess. Its motion is laid on the plan's grid, stretch by stretch
// between planned contacts; where the program is of the same make, the solver goes on from where it stood.
#include <string.h>

#include "base/memory.h"
#include "control/plan.h"

// ---- keeping it ----------------------------------------------------------------------------------------------------

void carom_warm_release(carom_plan *plan) {
  carom_warm *w = &plan->warm;
  CAROM_RELEASE_ALL(&plan->allocator, w->times, w->x, w->q, w->tau, w->lambda, w->ends, w->watched, w->added, w->point);
  *w = (carom_warm){0};
}

static bool make_room(carom_plan *plan, int K, int stretches, size_t point, carom_warm *w) {
  size_t nodes = (size_t)K + 1, poses = nodes * (size_t)plan->model->body_count;
  *w = (carom_warm){.K = K, .stretches = stretches};
  return CAROM_NEW_ALL(&plan->allocator, CAROM_ROOM(w->times, nodes), CAROM_ROOM(w->x, poses), CAROM_ROOM(w->q, poses),
                       CAROM_ROOM(w->tau, (size_t)K * (size_t)carom_plan_components(plan) + 1),
                       CAROM_ROOM(w->lambda, nodes * (size_t)carom_plan_multipliers(plan) + 1),
                       CAROM_ROOM(w->ends, stretches + 1), CAROM_ROOM(w->added, nodes),
                       CAROM_ROOM(w->watched, (size_t)K * (size_t)carom_plan_part_pairs(plan) + 1),
                       CAROM_ROOM(w->point, point + 1));
}

static bool is_sound(const carom_plan_motion *m) {
  bool sound = m->nodes >= 2 && m->event_count >= 0;
  for (int k = 1; sound && k < m->nodes; k++) sound = m->times[k] > m->times[k - 1];
  for (int i = 0, last = 0; sound && i < m->event_count; last = m->events[i++])
    sound = m->events[i] > last && m->events[i] < m->nodes - 1;
  return sound;
}

static void copy_poses(const carom_plan *plan, const carom_plan_motion *m, carom_warm *w) {
  size_t n = (size_t)plan->model->body_count;
  for (size_t i = 0; i < (size_t)m->nodes * n; i++) {
    carom_pose pose = plan->model->bodies[i % n].fixed ? cm_pose(plan->start->x[i % n], plan->start->q[i % n])
                                                       : carom_principal_pose(plan->model, (int)(i % n), m->poses[i]);
    w->x[i] = pose.p, w->q[i] = pose.q;
    if (i >= n && cm_qdot(pose.q, w->q[i - n]) < 0) w->q[i] = cm_quat(-pose.q.w, -pose.q.x, -pose.q.y, -pose.q.z);
  }
}

static void copy_point(const carom_plan_point *p, carom_warm *w) {
  size_t n = (size_t)p->variables, m = (size_t)p->constraints;
  w->n = p->variables, w->m = p->constraints, w->print = p->print;
  if (n == 0) return;
  memcpy(w->point, p->x, n * sizeof(double));
  memcpy(w->point + n, p->z_low, n * sizeof(double));
  memcpy(w->point + 2 * n, p->z_high, n * sizeof(double));
  memcpy(w->point + 3 * n, p->y, m * sizeof(double));
}

int carom_plan_set_motion(carom_plan *plan, const carom_plan_motion *m) {
  carom_warm *w = &plan->warm;
  if (!is_sound(m))
    return carom_plan_refuse(plan, CAROM_ERR_ARGUMENT,
                             "a motion to begin from needs two nodes or more, in the order of time, and its contacts "
                             "between them");
  carom_warm_release(plan);
  size_t K = (size_t)m->nodes - 1, c = (size_t)carom_plan_components(plan), l = (size_t)carom_plan_multipliers(plan);
  size_t point = 3 * (size_t)m->point.variables + (size_t)m->point.constraints;
  if (!make_room(plan, (int)K, m->event_count + 1, point, w)) {
    carom_warm_release(plan);
    return carom_plan_refuse(plan, CAROM_ERR_MEMORY, "out of memory for a motion of %d nodes", m->nodes);
  }
  memcpy(w->times, m->times, (K + 1) * sizeof *w->times);
  w->has_forces = m->forces != NULL;
  if (m->forces) memcpy(w->tau, m->forces, K * c * sizeof *w->tau);
  if (m->reactions) memcpy(w->lambda, m->reactions, (K + 1) * l * sizeof *w->lambda);
  w->has_watched = m->watched != NULL;
  if (m->watched) memcpy(w->watched, m->watched, K * (size_t)carom_plan_part_pairs(plan) * sizeof *w->watched);
  if (m->added) memcpy(w->added, m->added, (K + 1) * sizeof *w->added);
  for (int i = 0; i < m->event_count; i++) w->ends[i + 1] = m->events[i];
  w->ends[m->event_count + 1] = (int)K;
  w->margin = m->margin;
  copy_poses(plan, m, w);
  copy_point(&m->point, w);
  return 0;
}

carom_status carom_warm_copy(const carom_plan *from, carom_plan *to, carom_error *error) {
  const carom_warm *w = &from->warm;
  if (w->K == 0) return CAROM_OK;
  carom_warm v;
  size_t K = (size_t)w->K, poses = (K + 1) * (size_t)from->model->body_count, point = 3 * (size_t)w->n + (size_t)w->m;
  if (!make_room(to, w->K, w->stretches, point, &v)) {
    to->warm = v;
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a copy of a plan");
  }
  v.margin = w->margin, v.has_forces = w->has_forces, v.has_watched = w->has_watched, v.n = w->n, v.m = w->m,
  v.print = w->print;
  memcpy(v.times, w->times, (K + 1) * sizeof *v.times);
  memcpy(v.x, w->x, poses * sizeof *v.x);
  memcpy(v.q, w->q, poses * sizeof *v.q);
  memcpy(v.tau, w->tau, K * (size_t)carom_plan_components(from) * sizeof *v.tau);
  memcpy(v.lambda, w->lambda, (K + 1) * (size_t)carom_plan_multipliers(from) * sizeof *v.lambda);
  memcpy(v.ends, w->ends, ((size_t)w->stretches + 1) * sizeof *v.ends);
  memcpy(v.watched, w->watched, K * (size_t)carom_plan_part_pairs(from) * sizeof *v.watched);
  memcpy(v.added, w->added, (K + 1) * sizeof *v.added);
  memcpy(v.point, w->point, point * sizeof *v.point);
  to->warm = v;
  return CAROM_OK;
}

// ---- the grid ------------------------------------------------------------------------------------------------------

// The last node of a stretch, on a grid of K intervals.
static int last_of(const carom_plan *plan, int stretch, int K) {
  int k = 0;
  while (k < K && carom_plan_segment(plan, k) <= stretch) k++;
  return k;
}

static bool as_many_stretches(const carom_plan *plan) { return plan->warm.stretches == carom_plan_segments(plan); }

// The node of the motion that node k of the problem's grid is, or -1 when its grid was another.
static int node_of(const carom_warm *w, int k) {
  for (int i = 0; i <= w->K; i++)
    if (!w->added[i] && k-- == 0) return i;
  return -1;
}

static bool same_grid(const carom_plan *plan) {
  const carom_warm *w = &plan->warm;
  if (!as_many_stretches(plan) || node_of(w, plan->def.intervals) != w->K) return false;
  for (int i = 0; i < w->stretches; i++)
    if (node_of(w, last_of(plan, i, plan->def.intervals)) != w->ends[i + 1]) return false;
  return true;
}

// Which interval of the grid lies where among the motion's; intervals were halved, and halved again.
typedef struct span {
  int from, to;
} span;

static int half_way(const carom_warm *w, span s) {
  double middle = 0.5 * (w->times[s.from] + w->times[s.to]);
  int k = s.from + 1;
  while (k + 1 < s.to && fabs(w->times[k + 1] - middle) < fabs(w->times[k] - middle)) k++;
  return k;
}

// One round of halves; *count of them.
static carom_status halve(carom_plan *plan, span *spans, bool *marked, int *count, carom_error *error) {
  int K = plan->path.K;
  *count = 0;
  for (int k = 0; k < K; k++) *count += marked[k] = spans[k].to - spans[k].from > 1;
  for (int k = K - 1, j = K + *count; k >= 0; k--) {
    span s = spans[k];
    int middle = half_way(&plan->warm, s);
    if (marked[k]) spans[--j] = (span){middle, s.to};
    spans[--j] = (span){s.from, marked[k] ? middle : s.to};
  }
  return *count ? carom_path_split(plan, marked, error) : CAROM_OK;
}

static carom_status take_grid(carom_plan *plan, carom_error *error) {
  const carom_warm *w = &plan->warm;
  span *spans = CAROM_NEW(&plan->allocator, span, w->K);
  bool *marked = CAROM_NEW(&plan->allocator, bool, w->K);
  carom_status status =
      spans && marked ? CAROM_OK : carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a motion to begin from");
  for (int k = 0; status == CAROM_OK && k < plan->path.K; k++) spans[k] = (span){node_of(w, k), node_of(w, k + 1)};
  for (int count = 1; status == CAROM_OK && count > 0;) status = halve(plan, spans, marked, &count, error);
  CAROM_RELEASE_ALL(&plan->allocator, spans, marked);
  return status;
}

// ---- the steps -----------------------------------------------------------------------------------------------------

static double stretch_of_grid(const carom_plan *plan, int stretch) {
  double sum = 0;
  for (int k = 0; k < plan->path.K; k++) sum += carom_plan_segment(plan, k) == stretch ? plan->path.h[k] : 0;
  return sum;
}

// How much longer the plan is to take than the motion did.
static double slower(const carom_plan *plan) {
  const carom_plan_def *d = &plan->def;
  double T = plan->warm.times[plan->warm.K] - plan->warm.times[0], goal = d->intervals * d->step;
  if (d->free_time) goal = fmin(fmax(T, d->shortest), d->longest > 0 ? d->longest : INFINITY);
  return goal / T;
}

static void scale_steps(carom_plan *plan) {
  const carom_warm *w = &plan->warm;
  const carom_plan_def *d = &plan->def;
  double scale = slower(plan);
  if (carom_plan_segments(plan) == 1 && !d->free_time) return;
  for (int s = 0; s < carom_plan_segments(plan); s++) {
    bool kept = as_many_stretches(plan);
    double spent = kept ? w->times[w->ends[s + 1]] - w->times[w->ends[s]] : w->times[w->K] - w->times[0];
    double own = kept ? stretch_of_grid(plan, s) : d->intervals * d->step;
    plan->path.sigma[s] = fmin(fmax(scale * spent / own, d->scale_low), d->scale_high);
  }
}

// ---- looking up the motion ----------------------------------------------------------------------------------------

// A stretch of the motion, and where in it we are.
typedef struct place {
  int first, last;  // nodes
  int k;            // interval
  double t;         // s, from the interval's beginning; exactly 0 or its length at a node
} place;

static place find(const carom_warm *w, int stretch, double share) {
  place p = {.first = stretch < 0 ? 0 : w->ends[stretch], .last = stretch < 0 ? w->K : w->ends[stretch + 1]};
  double begin = w->times[p.first], time = begin + share * (w->times[p.last] - begin);
  p.k = p.first;
  while (p.k + 1 < p.last && w->times[p.k + 1] <= time) p.k++;
  double step = w->times[p.k + 1] - w->times[p.k];
  p.t = fmin(fmax(time - w->times[p.k], 0), step);
  if (p.t < 1e-9 * step) p.t = 0;
  if (step - p.t < 1e-9 * step) p.t = step;
  return p;
}

// Values at the nodes of a stretch, `stride` apart.
typedef struct series {
  const double *times, *values;
  size_t stride;
  int first, last;
} series;

static double at(const series *s, int k) { return s->values[(size_t)k * s->stride]; }
static double chord(const series *s, int k) { return (at(s, k + 1) - at(s, k)) / (s->times[k + 1] - s->times[k]); }

// By the parabola through three nodes; a stretch's ends have neighbours on one side only.
static double slope(const series *s, int k) {
  if (s->last - s->first == 1) return chord(s, s->first);
  int middle = k == s->first ? k + 1 : k == s->last ? k - 1 : k;
  double a = chord(s, middle - 1), b = chord(s, middle);
  double h = s->times[middle] - s->times[middle - 1], g = s->times[middle + 1] - s->times[middle];
  double curve = (b - a) / (h + g), center = (a * g + b * h) / (h + g);
  return center + 2 * curve * (s->times[k] - s->times[middle]);
}

// Hermite's cubic: its second differences have no kinks that inverse dynamics would make forces of.
static double interpolate(const series *s, const place *p) {
  double h = s->times[p->k + 1] - s->times[p->k], u = p->t / h;
  if (p->t == 0) return at(s, p->k);
  if (p->t == h) return at(s, p->k + 1);
  double a = at(s, p->k), b = at(s, p->k + 1), da = h * slope(s, p->k), db = h * slope(s, p->k + 1);
  return a + u * (da + u * (3 * (b - a) - 2 * da - db + u * (2 * (a - b) + da + db)));
}

static void lay_node(carom_plan *plan, int k, const place *p) {
  const carom_warm *w = &plan->warm;
  size_t n = (size_t)plan->model->body_count;
  for (size_t i = 0; i < n; i++) {
    double z[7];
    series s = {.times = w->times, .stride = 3 * n, .first = p->first, .last = p->last};
    for (size_t c = 0; c < 3; c++) s.values = &w->x[i].x + c, z[c] = interpolate(&s, p);
    s.stride = 4 * n;
    for (size_t c = 0; c < 4; c++) s.values = &w->q[i].w + c, z[3 + c] = interpolate(&s, p);
    plan->path.x[(size_t)k * n + i] = cm_vec3(z[0], z[1], z[2]);
    plan->path.q[(size_t)k * n + i] = cm_qunit(cm_quat(z[3], z[4], z[5], z[6]));
  }
}

// Impulses in the joints are forces times half of both steps beside the node.
static double weight_of(const double *times, int k, int K) {
  return 0.5 * (times[k < K ? k + 1 : K] - times[k > 0 ? k - 1 : 0]);
}

static void lay_reactions(carom_plan *plan, int k, const place *p, double weight) {
  const carom_warm *w = &plan->warm;
  size_t m = (size_t)carom_plan_multipliers(plan);
  double u = p->t / (w->times[p->k + 1] - w->times[p->k]);
  double a = weight_of(w->times, p->k, w->K), b = weight_of(w->times, p->k + 1, w->K);
  const double *before = w->lambda + (size_t)p->k * m, *after = before + m;
  for (size_t i = 0; i < m; i++)
    plan->path.lambda[(size_t)k * m + i] = weight * ((1 - u) * before[i] / a + u * after[i] / b);
}

// Forces belong to the middles of intervals, and are linear in between.
static void lay_forces(carom_plan *plan, int k, const place *p) {
  const carom_warm *w = &plan->warm;
  size_t c = (size_t)carom_plan_components(plan);
  double step = w->times[p->k + 1] - w->times[p->k], off = p->t - 0.5 * step;
  int other = off < 0 ? p->k - 1 : p->k + 1;
  bool alone = fabs(off) < 1e-9 * step || other < p->first || other >= p->last;
  double u = alone ? 0 : fabs(off) / (0.5 * (step + w->times[other + 1] - w->times[other]));
  const double *here = w->tau + (size_t)p->k * c, *there = alone ? here : w->tau + (size_t)other * c;
  for (size_t i = 0; i < c; i++) plan->path.tau[(size_t)k * c + i] = (1 - u) * here[i] + u * there[i];
}

// ---- all of it -----------------------------------------------------------------------------------------------------

// The times of the plan's nodes, and where each one's stretch begins and ends.
typedef struct schedule {
  double *times;  // (K + 1)
  bool kept;      // the motion has as many stretches
} schedule;

static void wind(const carom_plan *plan, schedule *c) {
  c->kept = as_many_stretches(plan);
  c->times[0] = 0;
  for (int k = 0; k < plan->path.K; k++) c->times[k + 1] = c->times[k] + carom_plan_step(plan, k);
}

static void lay_stretch(carom_plan *plan, const schedule *c, int stretch, int first, int last) {
  const double *t = c->times;
  int K = plan->path.K;
  double begin = t[first], whole = t[last] - begin;
  for (int k = first; k <= last; k++) {
    if (k == last && last < K) break;  // the next one's
    place p = find(&plan->warm, stretch, (t[k] - begin) / whole);
    lay_node(plan, k, &p);
    lay_reactions(plan, k, &p, weight_of(t, k, K));
    if (k == last) break;
    p = find(&plan->warm, stretch, (0.5 * (t[k] + t[k + 1]) - begin) / whole);
    lay_forces(plan, k, &p);
  }
}

carom_status carom_warm_lay(carom_plan *plan, bool *watched, carom_error *error) {
  if (plan->warm.K == 0)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "a plan is to begin from an earlier motion, but none was set");
  bool same = same_grid(plan);
  carom_status status = same ? take_grid(plan, error) : CAROM_OK;
  *watched = same && plan->warm.has_watched;
  if (status != CAROM_OK) return status;
  if (*watched)
    memcpy(plan->path.watched, plan->warm.watched,
           (size_t)plan->path.K * (size_t)carom_plan_part_pairs(plan) * sizeof *plan->path.watched);
  scale_steps(plan);
  plan->extra_margin = plan->warm.margin;
  int K = plan->path.K;
  schedule c = {.times = CAROM_NEW(&plan->allocator, double, K + 1)};
  if (!c.times) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a motion to begin from");
  wind(plan, &c);
  int stretches = c.kept ? plan->warm.stretches : 1;
  for (int i = 0, first = 0, last; i < stretches; i++, first = last) {
    last = i + 1 < stretches ? last_of(plan, i, K) : K;
    lay_stretch(plan, &c, c.kept ? i : -1, first, last);
  }
  carom_release(&plan->allocator, c.times);
  return CAROM_OK;
}

// ---- where the solver stood ----------------------------------------------------------------------------------------

// FNV-1a over what the rows are about. 52 bits, which a double holds exactly.
uint64_t carom_program_print(const carom_program *program) {
  uint64_t hash = 14695981039346656037u;
  for (int i = -1; i < program->m; i++) {
    const carom_row_label *l = i < 0 ? NULL : &program->labels[i];
    int words[5] = {l ? (int)l->kind : program->n, l ? l->node : program->m, l ? l->a : program->element_count,
                    l ? l->b : 0, l ? program->g_low[i] == program->g_high[i] : 0};
    for (int j = 0; j < 5; j++) hash = (hash ^ (uint64_t)(uint32_t)words[j]) * 1099511628211u;
  }
  return hash >> 12;
}

bool carom_warm_point(carom_plan *plan, double *duals) {
  const carom_warm *w = &plan->warm;
  carom_program *P = &plan->program;
  if (w->n == 0 || w->n != P->n || w->m != P->m || w->print != carom_program_print(P)) return false;
  size_t n = (size_t)w->n, m = (size_t)w->m;
  for (size_t i = 0; i < n; i++) P->x[i] = fmin(fmax(w->point[i], P->x_low[i]), P->x_high[i]);
  memcpy(duals, w->point + n, (2 * n + m) * sizeof *duals);
  return true;
}

carom_plan_point carom_plan_last_point(const carom_plan *plan) {
  const carom_program *P = &plan->program;
  if (!plan->duals || plan->history_count == 0) return (carom_plan_point){0};
  size_t n = (size_t)P->n;
  return (carom_plan_point){
      P->n, P->m, carom_program_print(P), P->x, plan->duals, plan->duals + n, plan->duals + 2 * n};
}
