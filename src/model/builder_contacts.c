// Who may touch whom, and how.
#include <math.h>

#include "model/builder.h"

void carom_builder_set_planar(carom_builder *builder, bool planar) {
  if (carom_builder_sound(builder)) builder->model->view.planar = planar;
}

void carom_builder_ignore_contacts(carom_builder *builder, bool ignore) {
  if (carom_builder_sound(builder)) builder->model->view.ignores_contacts = ignore;
}

// Nothing in the plane could hold a body that weight or its place take out of it.
static carom_status check_plane(const carom_builder *builder, const carom_state *start, carom_error *error) {
  carom_vec3 g = builder->model->view.gravity;
  if (fabs(g.z) > 1e-12 * cm_norm(g))
    return carom_fail(
        error, CAROM_ERR_ARGUMENT,
        "the gravity (%g, %g, %g) of a planar scene points out of the plane z = 0: write [0, -9.81, 0] or "
        "the like",
        g.x, g.y, g.z);
  for (int i = 0; i < start->body_count; i++) {
    const carom_body *body = &builder->model->bodies[i];
    if (!body->fixed && fabs(start->x[i].z) > 1e-9 * (cm_norm(start->x[i]) + body->bounding_radius))
      return carom_fail(error, CAROM_ERR_ARGUMENT, "body '%s' of a planar scene is %.3g m off the plane z = 0",
                        body->name, fabs(start->x[i].z));
  }
  return CAROM_OK;
}

carom_status carom_builder_lay_flat(carom_builder *builder, const carom_state *start, carom_error *error) {
  if (!builder->model->view.planar) return CAROM_OK;
  for (int i = 0; i < start->body_count; i++) {
    carom_vec3 v = builder->velocities[i], w = builder->angular_velocities[i];
    const carom_body *body = &builder->model->bodies[i];
    if (!body->fixed && (v.z != 0 || w.x != 0 || w.y != 0))
      return carom_fail(
          error, CAROM_ERR_ARGUMENT,
          "body '%s' of a planar scene moves or turns out of the plane z = 0: its velocity must lie in the "
          "plane and its angular velocity along z",
          body->name);
    builder->model->bodies[i].upright = start->q[i];
  }
  return check_plane(builder, start, error);
}

void carom_builder_set_apart(carom_builder *builder, int body_a, int body_b) {
  if (!carom_builder_sound(builder)) return;
  carom_model *m = &builder->model->view;
  if (!carom_builder_knows_body(builder, body_a, false, "apart") ||
      !carom_builder_knows_body(builder, body_b, false, "apart"))
    return;
  if (!CAROM_BUILDER_GROW(builder, builder->model->aparts, m->apart_count, builder->apart_capacity)) {
    carom_builder_out_of_memory(builder);
    return;
  }
  builder->model->aparts[m->apart_count++] = (carom_apart){{body_a, body_b}};
}

static carom_status check_surface(const carom_builder *builder, int a, int b, double e, double mu, carom_error *error) {
  int count = builder->model->view.material_count;
  if (a < 0 || b < 0 || a >= count || b >= count)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "surface: material indices %d and %d, but there are %d materials", a,
                      b, count);
  const char *name_a = builder->model->materials[a].name, *name_b = builder->model->materials[b].name;
  if (!(e >= 0 && e <= 1))
    return carom_fail(error, CAROM_ERR_NUMBER, "surface of '%s' and '%s': the restitution is %g, expected 0 to 1",
                      name_a, name_b, e);
  if (!(mu >= 0) || isinf(mu))
    return carom_fail(error, CAROM_ERR_NUMBER, "surface of '%s' and '%s': the friction is %g, expected 0 or more",
                      name_a, name_b, mu);
  return CAROM_OK;
}

void carom_builder_set_surface(carom_builder *builder, int material_a, int material_b, double restitution,
                               double friction) {
  if (!carom_builder_sound(builder)) return;
  carom_model *m = &builder->model->view;
  if (check_surface(builder, material_a, material_b, restitution, friction, &builder->error) != CAROM_OK) return;
  if (!CAROM_BUILDER_GROW(builder, builder->model->surfaces, m->surface_count, builder->surface_capacity)) {
    carom_builder_out_of_memory(builder);
    return;
  }
  builder->model->surfaces[m->surface_count++] =
      (carom_surface_pair){{material_a, material_b}, {restitution, friction}};
}

carom_contact_surface carom_model_surface(const carom_model *model, int body_a, int body_b) {
  return carom_materials_surface(model, carom_model_material(model, body_a), carom_model_material(model, body_b));
}

carom_contact_surface carom_materials_surface(const carom_model *model, int a, int b) {
  for (int i = model->surface_count - 1; i >= 0; i--) {  // what was said last holds
    const int *m = model->surfaces[i].material;
    if ((m[0] == a && m[1] == b) || (m[0] == b && m[1] == a)) return model->surfaces[i].surface;
  }
  const carom_material *p = &model->materials[a], *q = &model->materials[b];
  return (carom_contact_surface){sqrt(p->restitution * q->restitution), sqrt(p->friction * q->friction)};
}
