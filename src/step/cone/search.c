// Which bodies may meet within the step, and where: balls by a grid of cells.
#include <math.h>

#include "base/memory.h"
#include "base/threads.h"
#include "step/cone/cone.h"

static int up_axis(carom_vec3 g) {
  double x = fabs(g.x), y = fabs(g.y), z = fabs(g.z);
  return x > y && x > z ? 0 : y > z ? 1 : 2;
}

static void fill_balls(carom_cone *cone, const carom_state *state) {
  carom_grain_grid *grid = &cone->search.grid;
  CAROM_PARALLEL_FOR(
      cone->threads, schedule(static), for (int i = 0; i < grid->count; i++) {
        int body = cone->bodies.mover[i];
        grid->balls[i] = (carom_grain){state->x[body], cone->bodies.radius[body], cone->search.reach[body]};
      });
}

static void touch_walls(const carom_cone *cone, const carom_state *state, int place, carom_near_list *list) {
  const carom_grain_grid *grid = &cone->search.grid;
  int body = cone->bodies.mover[grid->order[place]];
  carom_cone_touch_fixed(cone, state, body, &grid->grains[place], list);
  carom_cone_touch_boundaries(cone, state, body, &grid->grains[place], list);
}

// Both arms lead to one point, half way, so that angular momentum is kept to the last bit.
static void pair_near(const carom_cone *cone, int place, int other, carom_near *near) {
  const carom_grain_grid *grid = &cone->search.grid;
  const carom_grain *a = &grid->grains[place], *b = &grid->grains[other];
  carom_vec3 d = cm_sub(a->x, b->x);
  double length = cm_norm(d);
  near->a = cone->bodies.mover[grid->order[place]];
  near->b = cone->bodies.mover[grid->order[other]];
  near->key = near->b;
  near->mirrored = true;
  near->gap = length - a->radius - b->radius;
  near->normal = length > 0 ? cm_scale(1 / length, d) : cm_vec3(0, 0, 1);
  carom_near_set_surface(
      near, cone->search.alike ? cone->search.surface : carom_model_surface(cone->model, near->a, near->b));
  near->arm_a = cm_scale(-(a->radius + 0.5 * near->gap), near->normal);
  near->arm_b = cm_scale(b->radius + 0.5 * near->gap, near->normal);
}

// Counts what is near each ball, and says where it begins; returns how many there are in all.
static int count_near(carom_cone *cone, const carom_state *state, int *starts) {
  carom_cone_search *s = &cone->search;
  bool walls = cone->walls.part_count > 0 || cone->model->boundary_count > 0;
  int total = 0;
  CAROM_PARALLEL_FOR(
      cone->threads, schedule(static), for (int i = 0; i < s->grid.count; i++) {
        carom_near_list counted = {0};
        if (walls) touch_walls(cone, state, i, &counted);
        s->wall_count[i] = counted.count;
        cone->bodies.rank[cone->bodies.mover[s->grid.order[i]]] = i;
      });
  for (int i = 0; i < s->grid.count; i++) {
    starts[i] = total;
    total += s->wall_count[i] + s->grid.partner_count[i];
  }
  return total;
}

static void fill_near(carom_cone *cone, const carom_state *state, const int *starts) {
  carom_cone_search *s = &cone->search;
  carom_grain_grid *grid = &s->grid;
  CAROM_PARALLEL_FOR(
      cone->threads, schedule(static), for (int i = 0; i < grid->count; i++) {
        carom_near_list list = {.near = s->near + starts[i], .room = s->wall_count[i]};
        const int *partners = grid->partners + (size_t)i * (size_t)grid->slots;
        if (list.room > 0) touch_walls(cone, state, i, &list);
        for (int k = 0; k < grid->partner_count[i]; k++) pair_near(cone, i, partners[k], &list.near[list.room + k]);
      });
}

static carom_status search_balls(carom_cone *cone, const carom_state *state, carom_error *error) {
  carom_cone_search *s = &cone->search;
  fill_balls(cone, state);
  carom_grain_grid_sort(&s->grid, up_axis(cone->model->gravity), cone->threads);
  carom_status status = carom_grain_grid_pair(&s->grid, cone->threads, error);
  if (status != CAROM_OK) return status;
  int *starts = s->grid.order_scratch;
  s->near_count = count_near(cone, state, starts);
  if (!carom_reserve(&cone->allocator, (void **)&s->near, &s->near_capacity, s->near_count, sizeof *s->near))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d contacts", s->near_count);
  fill_near(cone, state, starts);
  return CAROM_OK;
}

carom_status carom_cone_search_near(carom_cone *cone, const carom_state *state, carom_error *error) {
  carom_cone_place_walls(cone, state);
  return cone->bodies.balls ? search_balls(cone, state, error) : carom_cone_search_parts(cone, state, error);
}
