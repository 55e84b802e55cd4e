// The page of `carom gap --html`: a drawing of the two bodies, their supporting planes and witness points, and the
// figures. One file without scripts.
#include <string.h>

#include "cli/gap.h"

// Drawn twice: first only to find the extent (no file), then for good.
typedef struct picture {
  FILE *out;
  carom_vec3 right, up;
  double low[2], high[2];
  double scale, left, top;
} picture;

static const double page_size = 640, page_margin = 24;

static void point_on_page(const picture *p, carom_vec3 x, double at[2]) {
  at[0] = p->left + p->scale * cm_dot(x, p->right);
  at[1] = p->top - p->scale * cm_dot(x, p->up);
}

static void extend(picture *p, carom_vec3 x) {
  const double at[2] = {cm_dot(x, p->right), cm_dot(x, p->up)};
  for (int i = 0; i < 2; i++) {
    p->low[i] = fmin(p->low[i], at[i]);
    p->high[i] = fmax(p->high[i], at[i]);
  }
}

static void draw_line(picture *p, const char *style, carom_vec3 x, carom_vec3 y) {
  if (!p->out) {
    extend(p, x);
    extend(p, y);
    return;
  }
  double a[2], b[2];
  point_on_page(p, x, a);
  point_on_page(p, y, b);
  fprintf(p->out, "<path class=\"%s\" d=\"M%.2f %.2fL%.2f %.2f\"/>\n", style, a[0], a[1], b[0], b[1]);
}

static void draw_dot(picture *p, const char *style, carom_vec3 x) {
  if (!p->out) return;
  double a[2];
  point_on_page(p, x, a);
  fprintf(p->out, "<circle class=\"%s\" cx=\"%.2f\" cy=\"%.2f\" r=\"4\"/>\n", style, a[0], a[1]);
}

// ---- shapes --------------------------------------------------------------------------------------------------------

// A ball, or one end of a capsule: circles around the three axes.
static void draw_ball(picture *p, const char *style, const carom_placed *b, carom_vec3 center) {
  enum { STEPS = 48 };
  double r = carom_shape_radius(b->shape);
  for (int axis = 0; axis < 3; axis++) {
    carom_vec3 last = cm_zero3();
    for (int i = 0; i <= STEPS; i++) {
      double s = 2 * 3.14159265358979323846 * i / STEPS, x = r * cos(s), y = r * sin(s);
      carom_vec3 ring = axis == 0 ? cm_vec3(0, x, y) : axis == 1 ? cm_vec3(x, 0, y) : cm_vec3(x, y, 0);
      carom_vec3 next = cm_transform(b->pose, cm_add(center, ring));
      if (i > 0) draw_line(p, style, last, next);
      last = next;
    }
  }
}

static void draw_capsule(picture *p, const char *style, const carom_placed *b) {
  double r = carom_shape_radius(b->shape), h = carom_shape_half_length(b->shape);
  draw_ball(p, style, b, cm_vec3(0, 0, h));
  draw_ball(p, style, b, cm_vec3(0, 0, -h));
  for (int i = 0; i < 4; i++) {
    double x = i == 0 ? r : i == 1 ? -r : 0, y = i == 2 ? r : i == 3 ? -r : 0;
    draw_line(p, style, cm_transform(b->pose, cm_vec3(x, y, -h)), cm_transform(b->pose, cm_vec3(x, y, h)));
  }
}

static void draw_grid(picture *p, const char *style, carom_vec3 center, carom_vec3 u, carom_vec3 v, int cells) {
  for (int i = -cells; i <= cells; i++) {
    double s = (double)i / cells;
    carom_vec3 on_u = cm_axpy(center, s, u), on_v = cm_axpy(center, s, v);
    draw_line(p, style, cm_sub(on_u, v), cm_add(on_u, v));
    draw_line(p, style, cm_sub(on_v, u), cm_add(on_v, u));
  }
}

// A patch of the boundary of a half-space below `over`.
static void draw_ground(picture *p, const char *style, const carom_placed *b, carom_vec3 over, double size) {
  carom_vec3 local = cm_untransform(b->pose, over);
  carom_vec3 center = cm_transform(b->pose, cm_vec3(local.x, local.y, 0));
  draw_grid(p, style, center, cm_rotate(b->pose.q, cm_vec3(size, 0, 0)), cm_rotate(b->pose.q, cm_vec3(0, size, 0)), 5);
}

static void draw_body(picture *p, const char *style, const carom_placed *b, carom_vec3 over, double size) {
  const carom_polytope *polytope = carom_shape_polytope(b->shape);
  carom_shape_kind kind = carom_shape_get_kind(b->shape);
  for (int i = 0; polytope && i < polytope->edge_count; i++) {
    const int *v = polytope->edges[i].v;
    draw_line(p, style, cm_transform(b->pose, polytope->vertices[v[0]]),
              cm_transform(b->pose, polytope->vertices[v[1]]));
  }
  if (kind == CAROM_SHAPE_SPHERE) draw_ball(p, style, b, cm_zero3());
  if (kind == CAROM_SHAPE_CAPSULE) draw_capsule(p, style, b);
  if (kind == CAROM_SHAPE_HALFSPACE) draw_ground(p, style, b, over, 1.5 * size);
}

// ---- the page ------------------------------------------------------------------------------------------------------

// From above, out of that of eight directions that looks almost along the planes.
static void choose_view(picture *p, carom_vec3 normal) {
  carom_vec3 best = cm_zero3();
  double least = INFINITY;
  for (int i = 0; i < 8; i++) {
    double s = (i + 0.4) * 3.14159265358979323846 / 4;
    carom_vec3 view = cm_unit(cm_vec3(cos(s), sin(s), 0.45));
    double slant = fabs(fabs(cm_dot(view, normal)) - 0.25);
    if (slant >= least) continue;
    least = slant;
    best = view;
  }
  p->right = cm_unit(cm_cross(cm_vec3(0, 0, 1), best));
  p->up = cm_cross(best, p->right);
}

static void draw_all(picture *p, const carom_placed *a, const carom_placed *b, const cli_gap_answer *answer) {
  const carom_ssh_result *r = &answer->program;
  double ra = carom_shape_bounding_radius(a->shape), rb = carom_shape_bounding_radius(b->shape);
  double size = fmax(isfinite(ra) ? ra : 0, isfinite(rb) ? rb : 0);
  carom_vec3 u, v;
  draw_body(p, "a", a, r->point_b, size);
  draw_body(p, "b", b, r->point_a, size);
  cm_frame(r->normal, &u, &v);
  draw_grid(p, "plane", r->point_a, cm_scale(0.6 * size, u), cm_scale(0.6 * size, v), 2);
  draw_grid(p, "plane", r->point_b, cm_scale(0.6 * size, u), cm_scale(0.6 * size, v), 2);
  draw_line(p, "gap", r->point_a, r->point_b);
  draw_line(p, "distance", answer->distance.point_a, answer->distance.point_b);
  draw_dot(p, "da", r->point_a);
  draw_dot(p, "db", r->point_b);
}

static void fit(picture *p) {
  double width = p->high[0] - p->low[0], height = p->high[1] - p->low[1], span = fmax(width, height);
  p->scale = span > 0 ? (page_size - 2 * page_margin) / span : 1;
  p->left = page_size / 2 - p->scale * (p->low[0] + p->high[0]) / 2;
  p->top = page_size / 2 + p->scale * (p->low[1] + p->high[1]) / 2;
}

static void put_row(FILE *out, const char *name, carom_vec3 x) {
  fprintf(out, "<tr><td>%s</td><td>%.9g, %.9g, %.9g</td></tr>\n", name, x.x, x.y, x.z);
}

static void put_figures(FILE *out, const cli_gap_answer *answer) {
  const carom_ssh_result *r = &answer->program;
  fprintf(out, "<table>\n<tr><td>gap along beta</td><td>%.12g m</td></tr>\n", r->gap);
  fprintf(out, "<tr><td>distance</td><td>%.12g m</td></tr>\n", answer->distance.distance);
  put_row(out, "beta", r->beta);
  put_row(out, "normal, from B to A", r->normal);
  put_row(out, "witness point of A", r->point_a);
  put_row(out, "witness point of B", r->point_b);
  fprintf(out, "</table>\n");
}

static const char page_head[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">" CLI_GENERATOR
    "<title>carom gap</title>\n<style>\n"
    "body{font:15px/1.5 system-ui,sans-serif;margin:24px;color:#222;background:#fff}\n"
    "td{padding:0 24px 0 0;font-variant-numeric:tabular-nums}svg{max-width:100%;height:auto}\n"
    "path{fill:none;stroke-width:1.2;stroke-linecap:round}.a{stroke:#1668c9}.b{stroke:#c0392b}\n"
    ".plane{stroke:#999;stroke-width:.7}.gap{stroke:#1a8f4c;stroke-width:2.2}\n"
    ".distance{stroke:#1a8f4c;stroke-width:1.4;stroke-dasharray:3 4}.da{fill:#1668c9}.db{fill:#c0392b}\n"
    "</style></head><body>\n<h1>Gap of two bodies</h1>\n"
    "<p>A is blue, B red, the supporting planes grey; the green line joins the witness points along beta, the dashed "
    "one those of the shortest distance.</p>\n";

int cli_gap_page(const char *path, const carom_placed *a, const carom_placed *b, const cli_gap_answer *answer) {
  picture p = {.low = {INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY}};
  choose_view(&p, answer->program.normal);
  draw_all(&p, a, b, answer);
  fit(&p);
  cli_page page;
  if (!cli_page_begin(&page)) return EXIT_FAILED;
  p.out = page.out;
  fputs(page_head, p.out);
  fprintf(p.out, "<svg width=\"%g\" height=\"%g\" viewBox=\"0 0 %g %g\" role=\"img\">\n", page_size, page_size,
          page_size, page_size);
  draw_all(&p, a, b, answer);
  fputs("</svg>\n", p.out);
  put_figures(p.out, answer);
  fputs("</body></html>\n", p.out);
  return cli_page_end(&page, path);
}
