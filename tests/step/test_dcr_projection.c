// The closest-point projection of `dcr`, against what defines its answer.
#include "contact/projection.h"
#include "strangers.h"

typedef struct parts {
  carom_contacts *contacts;
  carom_gathering *gathering;
  carom_groups *groups;
  carom_projection *projection;
} parts;

static parts make_parts(const world *w) {
  parts p = {0};
  if (carom_contacts_create(w->model, NULL, &p.contacts, NULL) != CAROM_OK ||
      carom_gathering_create(w->model, NULL, &p.gathering, NULL) != CAROM_OK ||
      carom_groups_create(w->model->body_count, 1, NULL, &p.groups, NULL) != CAROM_OK ||
      carom_projection_create(p.contacts, p.gathering, p.groups, &p.projection, NULL) != CAROM_OK ||
      carom_contacts_update(p.contacts, w->state, NULL, NULL) != CAROM_OK)
    abort();
  return p;
}

static void free_parts(parts *p) {
  carom_projection_destroy(p->projection);
  carom_groups_destroy(p->groups);
  carom_gathering_destroy(p->gathering);
  carom_contacts_destroy(p->contacts);
}

// Flat cubes part along the normal, in inverse proportion to their masses, and do not turn.
TEST(flat_cubes_share_the_way_by_mass) {
  carom_builder *b = new_builder();
  add_material(b, "cube", 1000, 1, 0);
  carom_body_def light = body_at(0, 0, 0), heavy = body_at(0.19, 0, 0);
  heavy.density = 3000;
  add_shape(b, light, box_shape(0.2, 0.2, 0.2));
  add_shape(b, heavy, box_shape(0.2, 0.2, 0.2));
  world w = finish_world(b);
  parts p = make_parts(&w);
  carom_projection_info info;
  REQUIRE(carom_projection_run(p.projection, w.state, 1e-13, &info, NULL) == CAROM_OK);
  CHECK_NEAR(info.overlap_before, 0.01, 1e-12);
  CHECK_AT_MOST(info.overlap, 1e-12);
  CHECK_NEAR(w.state->x[0].x, -0.0075, 1e-10);
  CHECK_NEAR(w.state->x[1].x, 0.19 + 0.0025, 1e-10);
  for (int i = 0; i < 2; i++) CHECK_AT_MOST(cm_norm(cm_log(w.state->q[i])), 1e-10);
  free_parts(&p);
  free_world(&w);
}

// A corner below the floor: at the closest point the corner is on the floor, and M times the displacement is along the
// gradient of the gap (the optimality condition of 3.81).
TEST(corner_is_lifted_along_the_gradient) {
  carom_random random = carom_random_make(2, 0);
  for (int k = 0; k < 30; k++) {
    carom_builder *b = new_builder();
    add_material(b, "box", 1000, 1, 0);
    add_floor(b, cm_qidentity());
    carom_body_def def = body_at(0, 0, 1);
    def.pose.q = random_rotation(&random);
    add_shape(b, def, box_shape(0.2, 0.3, 0.4));
    world w = finish_world(b);
    const carom_polytope *P = carom_shape_polytope(w.model->parts[1].shape);
    carom_pose part = cm_compose(cm_pose(w.state->x[1], w.state->q[1]), w.model->parts[1].pose);
    double lowest = INFINITY;
    for (int i = 0; i < P->vertex_count; i++) lowest = fmin(lowest, cm_transform(part, P->vertices[i]).z);
    w.state->x[1].z -= lowest + 0.003;
    parts p = make_parts(&w);
    carom_vec3 x = w.state->x[1];
    carom_quat q = w.state->q[1];
    carom_projection_info info;
    REQUIRE(carom_projection_run(p.projection, w.state, 1e-12, &info, NULL) == CAROM_OK);
    CHECK_NEAR(info.overlap_before, 0.003, 1e-12);
    part = cm_compose(cm_pose(w.state->x[1], w.state->q[1]), w.model->parts[1].pose);
    carom_vec3 corner = cm_vec3(0, 0, INFINITY);
    int touching = 0;
    for (int i = 0; i < P->vertex_count; i++) {
      carom_vec3 v = cm_transform(part, P->vertices[i]);
      if (v.z < corner.z) corner = v;
      touching += v.z < 1e-6;
    }
    CHECK_NEAR(corner.z, 0, 1e-9);
    const carom_body *body = &w.model->bodies[1];
    carom_vec3 d = cm_sub(w.state->x[1], x), r = cm_log(cm_qmul(w.state->q[1], cm_qconj(q)));
    CHECK_NEAR(hypot(d.x, d.y), 0, 1e-12);
    if (touching == 1) {
      carom_vec3 arm = cm_cross(cm_sub(corner, w.state->x[1]), cm_vec3(0, 0, 1));
      carom_vec3 lever = cm_rotate(w.state->q[1], cm_mul_diag(body->inverse_inertia, cm_unrotate(w.state->q[1], arm)));
      carom_vec3 expected = cm_scale(body->mass * d.z, lever);
      CHECK_AT_MOST(cm_norm(cm_sub(r, expected)), 0.03 * cm_norm(r) + 1e-9);  // inertia turns along: second order
    }
    free_parts(&p);
    free_world(&w);
  }
}

// The lower cube is in the floor, and its way out leads into one that was too far off to be one of the near pairs.
TEST(bodies_that_are_pushed_push_others) {
  carom_builder *b = new_builder();
  add_material(b, "cube", 1000, 0, 0);
  add_floor(b, cm_qidentity());
  for (int i = 0; i < 4; i++) add_shape(b, body_at(0, 0, 0.05 + 0.23 * i), box_shape(0.2, 0.2, 0.2));
  world w = finish_world(b);
  parts p = make_parts(&w);
  CHECK(p.contacts->pair_count == 1);
  carom_projection_info info;
  REQUIRE(carom_projection_run(p.projection, w.state, 1e-12, &info, NULL) == CAROM_OK);
  CHECK_AT_MOST(info.overlap, 1e-12);
  CHECK_AT_MOST(deepest_overlap(&w), 1e-12);
  CHECK_NEAR(w.state->x[1].z, 0.1, 1e-9);
  CHECK_NEAR(w.state->x[2].z, 0.3, 1e-9);
  CHECK_NEAR(w.state->x[3].z, 0.51, 1e-12);  // out of their way
  free_parts(&p);
  free_world(&w);
}
