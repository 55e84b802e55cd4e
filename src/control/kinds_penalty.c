#include <string.h>

#include "control/penalty.h"
#include "geometry/shape.h"

// ---- the law -------------------------------------------------------------------------------------------------------

// Size of the force over C, with two derivatives.
static void ramp(double g, double w, double f[3]) {
  if (g >= w)
    f[0] = f[1] = f[2] = 0;
  else if (g <= -w)
    f[0] = -g, f[1] = -1, f[2] = 0;
  else
    f[0] = (w - g) * (w - g) / (4 * w), f[1] = -(w - g) / (2 * w), f[2] = 1 / (2 * w);
}

// ---- the oracle ----------------------------------------------------------------------------------------------------

static bool is_plane(const carom_shape *shape) { return carom_shape_get_kind(shape) == CAROM_SHAPE_HALFSPACE; }

static int plane_side(const carom_penalty_pair *pair) {
  return is_plane(pair->shape[0]) ? 0 : is_plane(pair->shape[1]) ? 1 : -1;
}

static bool ask(const carom_penalty_pair *pair, const carom_pose pose[2], carom_ssh_cache *cache,
                carom_placed placed[2], carom_ssh_result *r) {
  carom_ssh_options o = carom_ssh_default_options();
  int plane = plane_side(pair);
  for (int i = 0; i < 2; i++) placed[i] = (carom_placed){pair->shape[i], cm_compose(pose[i], pair->offset[i])};
  if (plane >= 0) {
    carom_vec3 up = cm_rotate(placed[plane].pose.q, cm_vec3(0, 0, 1));
    o.given_beta = true, o.beta = plane == 1 ? up : cm_neg(up);
  }
  return carom_ssh(&placed[0], &placed[1], &o, cache, r) == CAROM_OK;
}

bool carom_penalty_force(const carom_penalty_pair *pair, carom_pose a, carom_pose b, double *gap, carom_vec3 *force,
                         carom_vec3 torque[2]) {
  carom_pose pose[2] = {a, b};
  carom_placed placed[2];
  carom_ssh_result r;
  carom_gap_gradient g;
  double f[3];
  if (!ask(pair, pose, NULL, placed, &r)) return false;
  *gap = r.gap;
  ramp(r.gap, pair->width, f);
  // beta turns with a half-space: the gap is the height, which changes with beta in no other way than with the plane.
  if (f[0] == 0 || carom_ssh_gradient(&placed[0], &placed[1], &r, plane_side(pair) < 0, &g) != CAROM_OK) return false;
  const carom_gap_gradient_body *side[2] = {&g.a, &g.b};
  double size = pair->stiffness * f[0];
  *force = cm_scale(size, g.a.linear);
  for (int i = 0; i < 2; i++) {
    carom_vec3 arm = cm_sub(placed[i].pose.p, pose[i].p);
    torque[i] = cm_scale(size, cm_add(side[i]->angular, cm_cross(arm, side[i]->linear)));
  }
  return true;
}

// ---- the element ---------------------------------------------------------------------------------------------------

// The basis of the program at a configuration, which the derivatives hold fixed; all in the frames of the bodies.
enum { VARIABLES = 15, ROWS = 12 };
typedef struct basis {
  double h, C, w;
  double plane;    // side of the half-space, or -1
  double a[3][3];  // vertices of a; of a pair with a half-space the one that is deepest, of its own body
  double b[3][3];  // vertices of b; or the plane's normal, and a point of it
  double center[2][3];
} basis;

typedef struct wrench {
  carom_hyper3 force, torque;
} wrench;

static carom_hyper3 at(const carom_hyper3 x, carom_hyper4 q, const double *local) {
  return ch_add3(x, ch_rotate(q, ch_constant3(local)));
}

static carom_hyper push_of(const basis *c, carom_hyper g) {
  double f[3];
  ramp(g.v, c->w, f);
  return ch_scale(c->C, ch_apply(g, f[0], f[1], f[2]));
}

static void add_push(wrench *on, carom_hyper3 x, carom_hyper3 point, carom_hyper3 force) {
  on->force = ch_add3(on->force, force);
  on->torque = ch_add3(on->torque, ch_cross(ch_sub3(point, x), force));
}

// g = n . (v - o): the force along n acts at the vertex, and back at the same point.
static void above_plane(const basis *c, const carom_hyper3 x[2], const carom_hyper4 q[2], wrench on[2]) {
  int plane = (int)c->plane, other = 1 - plane;
  carom_hyper3 n = ch_rotate(q[plane], ch_constant3(c->b[0])), o = at(x[plane], q[plane], c->b[1]);
  carom_hyper3 v = at(x[other], q[other], c->a[0]);
  carom_hyper3 f = ch_scale3(push_of(c, ch_dot(n, ch_sub3(v, o))), n);
  add_push(&on[other], x[other], v, f);
  add_push(&on[plane], x[plane], v, ch_times3(-1, f));
}

// The plane through w_i = a_i - b_i with normal N meets the line g beta at g = N.w_1 / N.beta, in the weights lambda:
//     dg = sum_i lambda_i N.dw_i / N.beta  -  g N.dbeta / N.beta,    beta = d/|d|, d from the centre of b to that of a.
static void between_polytopes(const basis *c, const carom_hyper3 x[2], const carom_hyper4 q[2], wrench on[2]) {
  carom_hyper3 a[3], b[3], w[3], center[2];
  for (int i = 0; i < 3; i++)
    a[i] = at(x[0], q[0], c->a[i]), b[i] = at(x[1], q[1], c->b[i]), w[i] = ch_sub3(a[i], b[i]);
  for (int i = 0; i < 2; i++) center[i] = at(x[i], q[i], c->center[i]);
  carom_hyper3 d = ch_sub3(center[0], center[1]), N = ch_cross(ch_sub3(w[1], w[0]), ch_sub3(w[2], w[0]));
  carom_hyper far = ch_inverse(ch_sqrt(ch_dot(d, d)));
  carom_hyper3 beta = ch_scale3(far, d);
  carom_hyper3 alpha = ch_scale3(ch_inverse(ch_dot(N, beta)), N);
  carom_hyper g = ch_dot(alpha, w[0]), f = push_of(c, g), size = ch_inverse(ch_dot(N, N));
  carom_hyper3 P = ch_scale3(g, beta), force = ch_scale3(f, alpha);
  for (int i = 0; i < 3; i++) {
    carom_hyper3 u = ch_sub3(w[(i + 1) % 3], P), v = ch_sub3(w[(i + 2) % 3], P);
    carom_hyper3 share = ch_scale3(ch_mul(size, ch_dot(N, ch_cross(u, v))), force);
    add_push(&on[0], x[0], a[i], share);
    add_push(&on[1], x[1], b[i], ch_times3(-1, share));
  }
  carom_hyper pull = ch_scale(-1, ch_mul(ch_mul(f, g), far));
  carom_hyper3 aside = ch_scale3(pull, ch_sub3(alpha, beta));
  add_push(&on[0], x[0], center[0], aside);
  add_push(&on[1], x[1], center[1], ch_times3(-1, aside));
}

static void penalty(const double *constants, const carom_hyper *z, carom_hyper *r) {
  basis c;
  memcpy(&c, constants, sizeof c);
  carom_hyper3 x[2] = {ch_pack3(z), ch_pack3(z + 7)}, none = ch_vector(cm_zero3());
  carom_hyper4 q[2] = {ch_pack4(z + 3), ch_pack4(z + 10)};
  wrench on[2] = {{none, none}, {none, none}};
  if (c.plane >= 0)
    above_plane(&c, x, q, on);
  else
    between_polytopes(&c, x, q, on);
  carom_hyper dt = ch_scale(c.h, z[14]);
  for (int i = 0; i < 2; i++) {
    ch_unpack3(ch_scale3(dt, on[i].force), r + 6 * i);
    ch_unpack3(ch_scale3(dt, on[i].torque), r + 6 * i + 3);
  }
}

static void put(carom_vec3 v, double out[3]) { out[0] = v.x, out[1] = v.y, out[2] = v.z; }

static void plane_basis(const carom_penalty_pair *pair, const carom_placed placed[2], const carom_ssh_result *r,
                        basis *c) {
  int plane = plane_side(pair), other = 1 - plane;
  carom_vec3 deepest = other == 0 ? r->column_a[0] : r->column_b[0];
  put(cm_transform(pair->offset[other], cm_transform(cm_pose_inverse(placed[other].pose), deepest)), c->a[0]);
  put(cm_rotate(pair->offset[plane].q, cm_vec3(0, 0, 1)), c->b[0]);
  put(pair->offset[plane].p, c->b[1]);
}

// The cache has all three columns, also those without weight.
static bool polytope_basis(const carom_penalty_pair *pair, const carom_ssh_cache *cache, basis *c) {
  const carom_polytope *p[2] = {carom_shape_polytope(pair->shape[0]), carom_shape_polytope(pair->shape[1])};
  if (cache->count < 3 || !p[0] || !p[1]) return false;
  for (int i = 0; i < 3; i++) {
    if (cache->a[i] < 0 || cache->b[i] < 0) return false;
    put(cm_transform(pair->offset[0], p[0]->vertices[cache->a[i]]), c->a[i]);
    put(cm_transform(pair->offset[1], p[1]->vertices[cache->b[i]]), c->b[i]);
  }
  for (int i = 0; i < 2; i++) put(cm_transform(pair->offset[i], pair->shape[i]->center), c->center[i]);
  return true;
}

static carom_pose pose_of(const double *z) {
  return cm_pose(cm_vec3(z[0], z[1], z[2]), cm_qunit(cm_quat(z[3], z[4], z[5], z[6])));
}

// Nothing happens beyond w; quaternions that are not quite unit yet stretch bodies a little, hence the reserve.
static bool evaluate(const double *constants, void *object, const double *z, const double *weights,
                     const carom_derivatives *out) {
  carom_penalty_pair *pair = object;
  carom_pose pose[2] = {pose_of(z), pose_of(z + 7)};
  carom_placed placed[2];
  carom_ssh_result result;
  if (!ask(pair, pose, &pair->cache, placed, &result)) return false;
  basis c = {.h = constants[0], .C = pair->stiffness, .w = pair->width, .plane = plane_side(pair)};
  bool near = result.gap < 20 * pair->width;
  if (near && c.plane >= 0)
    plane_basis(pair, placed, &result, &c);
  else if (near)
    near = polytope_basis(pair, &pair->cache, &c);
  if (near) {
    double values[sizeof c / sizeof(double)];
    memcpy(values, &c, sizeof c);
    carom_residual_evaluate(&(carom_form){penalty, VARIABLES, ROWS, values}, z, weights, out);
    return true;
  }
  if (out->r) memset(out->r, 0, ROWS * sizeof(double));
  if (out->J) memset(out->J, 0, ROWS * VARIABLES * sizeof(double));
  if (out->H) memset(out->H, 0, VARIABLES * VARIABLES * sizeof(double));
  return true;
}
const carom_element_kind carom_kind_penalty = {.name = "contact potential", .evaluate = evaluate};
