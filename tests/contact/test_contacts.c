// The contact set of a model: candidate pairs against brute force, contact points against what one can see.
#include "contact/pairs.h"
#include "failing_allocator.h"
#include "fixtures.h"

static int add_floor(carom_builder *b) { return put_shape(b, fixed_body(cm_zero3(), cm_qidentity()), floor_shape()); }

static carom_contacts *contacts_of(const world *w) {
  carom_contacts *set = NULL;
  carom_error error = {0};
  if (carom_contacts_create(w->model, NULL, &set, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s", error.message);
  return set;
}

static int find(carom_contacts *set, const carom_state *s, double reach, carom_contact_detail detail,
                const carom_contact **contacts) {
  int count = -1;
  carom_status status = carom_contacts_update(set, s, NULL, NULL);
  if (status == CAROM_OK)
    status = carom_contacts_find(set, s, &(carom_contact_query){detail, reach, 1e-6}, contacts, &count, NULL);
  CHECK(status == CAROM_OK);
  return count;
}

TEST(a_cube_on_the_floor_has_four_corners_and_one_middle) {
  carom_builder *b = new_builder();
  add_floor(b);
  put_box(b, cm_vec3(1, 1, 1), cm_pose(cm_vec3(3, 4, 0.5 - 1e-9), cm_axis_angle(cm_vec3(0, 0, 1), 0.3)), false);
  world w = finish_world(b);
  carom_contacts *set = contacts_of(&w);
  const carom_contact *c;
  REQUIRE(find(set, w.state, 0, CAROM_CONTACT_NEAREST, &c) == 1);
  CHECK(c[0].body_a == 1 && c[0].body_b == 0);
  CHECK_NEAR(c[0].gap, -1e-9, 1e-15);
  CHECK_AT_MOST(cm_norm(cm_sub(c[0].normal, cm_vec3(0, 0, 1))), 1e-12);
  CHECK_AT_MOST(cm_norm(cm_sub(c[0].point_b, cm_vec3(3, 4, 0))), 1e-9);
  REQUIRE(find(set, w.state, 0, CAROM_CONTACT_POLYGON, &c) == 4);
  for (int i = 0; i < 4; i++) {
    CHECK_NEAR(hypot(c[i].point_a.x - 3, c[i].point_a.y - 4), sqrt(0.5), 1e-9);
    CHECK_NEAR(c[i].gap, -1e-9, 1e-14);
    CHECK_AT_MOST(cm_norm(cm_sub(cm_sub(c[i].point_a, c[i].point_b), cm_scale(c[i].gap, c[i].normal))), 1e-14);
  }
  carom_contacts_destroy(set);
  free_world(&w);
}

// Random boxes, moved about: the contacts found are those that every pair asked by itself gives.
TEST(contacts_equal_brute_force) {
  enum { N = 40 };
  carom_random r = carom_random_make(11, 0);
  carom_builder *b = new_builder();
  add_floor(b);
  for (int i = 0; i < N; i++)
    put_box(b, cm_vec3(0.5, 0.7, 0.9), cm_pose(random_vector(&r, 1.5), random_rotation(&r)), i % 7 == 0);
  world w = finish_world(b);
  carom_contacts *set = contacts_of(&w);
  for (int round = 0; round < 20; round++) {
    const carom_contact *c;
    int count = find(set, w.state, 0, CAROM_CONTACT_NEAREST, &c), k = 0;
    for (int i = 0; i <= N; i++) {
      for (int j = i + 1; j <= N; j++) {
        carom_placed a = carom_contacts_place(set, i, w.state);
        carom_placed o = carom_contacts_place(set, j, w.state);
        carom_distance_result d;
        if (w.model->bodies[i].fixed && w.model->bodies[j].fixed) continue;
        REQUIRE(carom_distance(&a, &o, NULL, &d) == CAROM_OK);
        if (d.distance > 0) continue;
        REQUIRE(k < count);
        bool swapped = w.model->bodies[i].fixed;
        CHECK(c[k].body_a == (swapped ? j : i) && c[k].body_b == (swapped ? i : j));
        CHECK_NEAR(c[k].gap, d.distance, 1e-12);
        k++;
      }
    }
    CHECK(k == count && count > 10);
    for (int i = 1; i <= N; i++)
      if (!w.model->bodies[i].fixed) w.state->x[i] = cm_add(w.state->x[i], random_vector(&r, 0.1));
  }
  carom_contacts_destroy(set);
  free_world(&w);
}

TEST(reach_widens_and_apart_separates) {
  carom_builder *b = new_builder();
  for (int i = 0; i < 3; i++) put_box(b, cm_vec3(1, 1, 1), cm_pose(cm_vec3(2 * i, 0, 0), cm_qidentity()), false);
  carom_builder_set_apart(b, 1, 2);
  world w = finish_world(b);
  carom_contacts *set = contacts_of(&w);
  const double reach[3] = {0.6, 0.6, 0.6};
  REQUIRE(carom_contacts_update(set, w.state, NULL, NULL) == CAROM_OK);
  CHECK(set->pair_count == 0);
  REQUIRE(carom_contacts_update(set, w.state, reach, NULL) == CAROM_OK);
  REQUIRE(set->pair_count == 1);
  CHECK(set->pairs[0].body_a == 0 && set->pairs[0].body_b == 1);
  carom_contacts_destroy(set);
  free_world(&w);
}

TEST(surfaces_are_geometric_means_unless_told) {
  carom_builder *b = new_builder();
  carom_material_def m = carom_material_default();
  m.name = "ice", m.restitution = 0.25, m.friction = 0.04;
  carom_builder_add_material(b, &m);
  m.name = "rubber", m.restitution = 1, m.friction = 1;
  carom_builder_add_material(b, &m);
  for (int i = 0; i < 2; i++) {
    carom_body_def def = inert_body(1, cm_vec3(1, 1, 1));
    def.material = i;
    carom_builder_add_body(b, &def);
  }
  carom_builder_set_surface(b, 1, 1, 0.9, 0.8);
  world w = finish_world(b);
  carom_contact_surface mixed = carom_model_surface(w.model, 0, 1), own = carom_model_surface(w.model, 1, 1);
  CHECK_NEAR(mixed.restitution, 0.5, 1e-15);
  CHECK_NEAR(mixed.friction, 0.2, 1e-15);
  CHECK(own.restitution == 0.9 && own.friction == 0.8);
  free_world(&w);
}

TEST(planar_contacts_lie_in_the_plane) {
  carom_builder *b = new_builder();
  carom_builder_set_planar(b, true);
  put_box(b, cm_vec3(1, 1, 0.2), cm_pose_identity(), false);
  put_box(b, cm_vec3(1, 1, 0.2), cm_pose(cm_vec3(0.9, 0.25, 0), cm_qidentity()), false);
  put_box(b, cm_vec3(1, 1, 0.2), cm_pose(cm_vec3(-0.5, 0, 0), cm_qidentity()), false);  // deeper than it is high
  world w = finish_world(b);
  carom_contacts *set = contacts_of(&w);
  const carom_contact *c;
  int count = find(set, w.state, 0, CAROM_CONTACT_POLYGON, &c);
  REQUIRE(count >= 3);
  for (int i = 0; i < count; i++) {
    CHECK(c[i].point_a.z == 0 && c[i].point_b.z == 0);
    CHECK_AT_MOST(fabs(c[i].normal.z), 1e-12);
  }
  int between = 0;
  for (int i = 0; i < count; i++)
    if (c[i].body_a == 0 && c[i].body_b == 1) {
      CHECK_NEAR(c[i].gap, -0.1, 1e-12);
      CHECK(fabs(c[i].point_a.y + 0.25) < 1e-9 || fabs(c[i].point_a.y - 0.5) < 1e-9);
      between++;
    }
  CHECK(between == 2);
  carom_contacts_destroy(set);
  free_world(&w);
}

TEST(a_failing_allocator_leaves_nothing_behind) {
  carom_builder *b = new_builder();
  for (int i = 0; i < 6; i++) put_box(b, cm_vec3(1, 1, 1), cm_pose(cm_vec3(0.1 * i, 0, 0), cm_qidentity()), false);
  carom_builder_set_apart(b, 0, 1);
  world w = finish_world(b);
  carom_status status = CAROM_ERR_MEMORY;
  for (int allowed = 0; allowed < 200 && status != CAROM_OK; allowed++) {
    failing_allocator counter = {.allowed = allowed};
    carom_allocator allocator = failing_allocator_of(&counter);
    carom_contacts *set = NULL;
    const carom_contact *c;
    int count;
    status = carom_contacts_create(w.model, &allocator, &set, NULL);
    if (status == CAROM_OK) status = carom_contacts_update(set, w.state, NULL, NULL);
    if (status == CAROM_OK)
      status =
          carom_contacts_find(set, w.state, &(carom_contact_query){CAROM_CONTACT_POLYGON, 0, 1e-6}, &c, &count, NULL);
    CHECK(status == CAROM_OK || status == CAROM_ERR_MEMORY);
    carom_contacts_destroy(set);
    CHECK(counter.live == 0);
  }
  CHECK(status == CAROM_OK);
  free_world(&w);
}
