// Contact problems in groups that share no body that moves.
#include "contact/groups.h"
#include "coulomb.h"

// Several heaps next to each other, on a plate that moves as it is driven.
static contact_case *heaps_on_a_plate(int heaps) {
  contact_case *q = contact_case_create();
  carom_random random = carom_random_make(9, 1);
  q->bodies[q->problem.body_count++] = (carom_contact_body){.velocity = {0.3, 0, 0.2}, .spin = {0, 0, 1}};
  for (int h = 0; h < heaps; h++) {
    int first = q->problem.body_count, bodies = 1 + h % 4;
    for (int i = 0; i < bodies; i++) contact_add_body(q, 0.05, true, contact_random_vector(&random), &random);
    for (int i = 0; i < 2 * bodies; i++) {
      int a = first + i % bodies, b = i < bodies ? 0 : i % bodies ? a - 1 : CAROM_CONTACT_WORLD;
      carom_vec3 n = cm_unit(cm_add(cm_vec3(0, 0, 2), contact_random_vector(&random)));
      contact_add_contact(q, a, b, n, cm_scale(-0.05, n), cm_scale(0.04, n), 0.4, 0);
    }
  }
  return q;
}

static const carom_groups_options exact = {
    .tolerance = 1e-10, .acceptable = 1e-9, .max_sweeps = 2000, .max_updates = 1e7, .thorough = true};

TEST(groups_share_no_body_that_moves) {
  contact_case *q = heaps_on_a_plate(9);
  carom_groups *g;
  REQUIRE(carom_groups_create(q->problem.body_count, 1, NULL, &g, NULL) == CAROM_OK);
  REQUIRE(carom_groups_split(g, &q->problem, &q->solution, NULL) == CAROM_OK);
  CHECK(g->count == 9);
  int contacts = 0, moving = 0;
  for (int i = 0; i < g->count; i++) {
    const carom_group *own = &g->groups[i];
    contacts += own->problem.contact_count;
    moving += own->moving;
    CHECK(own->problem.body_count == own->moving + 1);  // the plate
    for (int k = 0; k < own->moving; k++) CHECK(g->of_body[own->body[k]] == i);
    for (int k = 0; k < own->problem.contact_count; k++) {
      const carom_contact_point *c = &own->contacts[k], *whole = &q->contacts[own->contact[k]];
      CHECK(own->body[c->a] == whole->a);
      CHECK(c->b < 0 ? whole->b < 0 : own->body[c->b] == whole->b);
    }
  }
  CHECK(contacts == q->problem.contact_count && moving == q->problem.body_count - 1);
  carom_groups_destroy(g);
  free(q);
}

TEST(groups_in_any_number_of_threads_have_the_same_bits) {
  contact_case *q[3];
  static const int threads[] = {1, 2, 3};
  for (int i = 0; i < 3; i++) {
    carom_groups *g;
    q[i] = heaps_on_a_plate(20);
    REQUIRE(carom_groups_create(q[i]->problem.body_count, threads[i], NULL, &g, NULL) == CAROM_OK);
    REQUIRE(carom_groups_split(g, &q[i]->problem, &q[i]->solution, NULL) == CAROM_OK);
    REQUIRE(carom_groups_solve(g, &exact, NULL) == CAROM_OK);
    for (int k = 0; k < g->count; k++) CHECK_AT_MOST(g->groups[k].residual, 1e-9 * g->groups[k].scale);
    q[i]->velocities[0] = q[i]->bodies[0].velocity, q[i]->spins[0] = q[i]->bodies[0].spin;
    carom_groups_join(g, &q[i]->solution);
    carom_groups_destroy(g);
  }
  check_law(q[0], 1e-7);
  for (int i = 1; i < 3; i++) {
    size_t contacts = (size_t)q[0]->problem.contact_count;
    CHECK(memcmp(q[0]->impulses, q[i]->impulses, contacts * sizeof(carom_vec3)) == 0);
  }
  for (int i = 0; i < 3; i++) free(q[i]);
}

// Groups that are idle keep out of it; impulses that were given are passed on.
TEST(idle_and_given_groups_are_left_alone) {
  contact_case *q = heaps_on_a_plate(3);
  carom_groups *g;
  carom_vec3 push = cm_vec3(0, 0, 0.5);
  REQUIRE(carom_groups_create(q->problem.body_count, 1, NULL, &g, NULL) == CAROM_OK);
  REQUIRE(carom_groups_split(g, &q->problem, &q->solution, NULL) == CAROM_OK);
  g->groups[0].state = CAROM_GROUP_IDLE;
  for (int k = 0; k < g->groups[1].problem.contact_count; k++) g->groups[1].solution.impulses[k] = cm_zero3();
  g->groups[1].solution.impulses[0] = push;
  carom_group_take_up(&g->groups[1]);
  REQUIRE(carom_groups_solve(g, &exact, NULL) == CAROM_OK);
  for (int i = 0; i < q->problem.body_count; i++) q->velocities[i] = q->bodies[i].velocity;
  q->impulses[g->groups[0].contact[0]] = push;
  carom_groups_join(g, &q->solution);
  CHECK(g->groups[0].state == CAROM_GROUP_IDLE && g->groups[1].state == CAROM_GROUP_GIVEN);
  CHECK(g->groups[2].state == CAROM_GROUP_SETTLED && g->groups[2].sweeps > 0);
  CHECK(cm_norm(q->impulses[g->groups[0].contact[0]]) == 0);
  CHECK(cm_norm(cm_sub(q->velocities[g->groups[0].body[0]], q->bodies[g->groups[0].body[0]].velocity)) == 0);
  int hit = q->contacts[g->groups[1].contact[0]].a;
  CHECK_NEAR(q->velocities[hit].z - q->bodies[hit].velocity.z, 0.5 * q->bodies[hit].inverse_mass, 1e-12);
  carom_groups_destroy(g);
  free(q);
}
