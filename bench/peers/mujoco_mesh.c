// MuJoCo: its collision function for two meshes (libccd's MPR inside), called directly, so that neither kinematics nor
// broad phase are timed. Gaps are told within a margin only, here 1 cm. Vertices are kept in single precision.
#include <stdio.h>
#include <stdlib.h>

#include "mujoco_world.h"
#include "separation.h"

static const double MARGIN = 0.01;

static size_t write_xml(char *text, size_t size, const pair_set *set) {
  size_t n = (size_t)snprintf(text, size, "<mujoco><size nconmax='100'/><asset>");
  for (int i = 0; i < set->body_count; i++) {
    const carom_polytope *p = carom_shape_polytope(set->bodies[i]);
    n += (size_t)snprintf(text + n, size - n, "<mesh name='m%d' vertex='", i);
    for (int k = 0; k < p->vertex_count; k++)
      n +=
          (size_t)snprintf(text + n, size - n, "%.9g %.9g %.9g ", p->vertices[k].x, p->vertices[k].y, p->vertices[k].z);
    n += (size_t)snprintf(text + n, size - n, "'/>");
  }
  n += (size_t)snprintf(text + n, size - n, "</asset><worldbody>");
  for (int i = 0; i < 2 * set->body_count; i++)  // twice each: a pair may hold one body in two places
    n += (size_t)snprintf(text + n, size - n, "<geom type='mesh' mesh='m%d' contype='0' conaffinity='0'/>", i / 2);
  return n + (size_t)snprintf(text + n, size - n, "</worldbody></mujoco>");
}

static void *create(const pair_set *set) {
  size_t room = 1000 + (size_t)set->body_count * (200 + 60 * (size_t)set->vertex_count);
  char *text = malloc(room), message[MUJOCO_MESSAGE];
  if (!text) return NULL;
  write_xml(text, room, set);
  mujoco_world *w = mujoco_world_open(text, NULL, NULL, message);
  if (!w) fprintf(stderr, "MuJoCo: %s\n", message);
  free(text);
  return w;
}

// MuJoCo moves meshes to their centre and turns them to their principal axes; the geom's own pose undoes that.
static void place(mujoco_world *w, int geom, const carom_pose *X) {
  const mjtNum p[3] = {X->p.x, X->p.y, X->p.z}, q[4] = {X->q.w, X->q.x, X->q.y, X->q.z};
  mjtNum turned[4], *at = w->data->geom_xpos + 3 * geom;
  mju_rotVecQuat(at, w->model->geom_pos + 3 * geom, q);
  mju_addTo3(at, p);
  mju_mulQuat(turned, q, w->model->geom_quat + 4 * geom);
  mju_quat2Mat(w->data->geom_xmat + 9 * geom, turned);
}

static double query(void *world, const pair_case *pair, bool fresh) {
  (void)fresh;
  mujoco_world *w = world;
  mjContact contacts[mjMAXCONPAIR];
  int a = 2 * pair->a, b = 2 * pair->b + 1;
  place(w, a, &pair->pose_a);
  place(w, b, &pair->pose_b);
  int count = mjCOLLISIONFUNC[mjGEOM_MESH][mjGEOM_MESH](w->model, w->data, contacts, a, b, MARGIN);
  return count > 0 ? contacts[0].dist : INFINITY;
}

const separation_engine separation_mujoco = {
    "MuJoCo mesh (MPR)", BENCH_MUJOCO, "single", false, {false, true, true}, false, create, query, mujoco_world_close};
