// carom gap: how far apart two bodies are, in which direction, and which points say so.
#include "cli/gap.h"

static const char *feature_name(carom_feature feature) {
  static const char *const names[] = {"vertex", "edge", "face", "smooth"};
  return names[feature];
}

static const char *outcome_name(carom_ssh_outcome outcome) {
  static const char *const names[] = {"solved", "reset", "limit"};
  return names[outcome];
}

// ---- text ----------------------------------------------------------------------------------------------------------

static void print_vector(const char *name, carom_vec3 x) {
  cli_print(stdout, "  %-14s %.12g, %.12g, %.12g\n", name, x.x, x.y, x.z);
}

static void print_columns(const carom_ssh_result *r) {
  for (int i = 0; i < r->column_count; i++) {
    char a[16] = "-", b[16] = "-";
    if (r->vertex_a[i] >= 0) snprintf(a, sizeof a, "%d", r->vertex_a[i]);
    if (r->vertex_b[i] >= 0) snprintf(b, sizeof b, "%d", r->vertex_b[i]);
    cli_print(stdout, "  %-14s %.12g   vertex %s of A, vertex %s of B\n", "weight", r->weight[i], a, b);
  }
}

static void print_weights(const char *name, int count, const int *vertex, const double *weight) {
  cli_print(stdout, "  %-14s", name);
  for (int i = 0; i < count; i++) {
    if (vertex[i] >= 0)
      cli_print(stdout, "%s %d: %.6g", i ? "," : "", vertex[i], weight[i]);
    else
      cli_print(stdout, "%s a point: %.6g", i ? "," : "", weight[i]);
  }
  cli_print(stdout, "\n");
}

// The basis above is one of several where faces, edges or corners tie; this is the answer that they share.
static void print_optimum(const carom_ssh_optimum *o) {
  cli_print(stdout, "resolved by least norm: %s on %s%s%s\n", feature_name(o->feature_a), feature_name(o->feature_b),
            o->primal_degenerate ? ", several weights" : "", o->dual_degenerate ? ", several planes" : "");
  print_vector("alpha", o->alpha);
  print_vector("point of A", o->point_a);
  print_vector("point of B", o->point_b);
  print_weights("vertices of A", o->count_a, o->vertex_a, o->weight_a);
  print_weights("vertices of B", o->count_b, o->vertex_b, o->weight_b);
}

static void print_text(const cli_gap_answer *answer) {
  const carom_ssh_result *r = &answer->program;
  const carom_distance_result *d = &answer->distance;
  const char *relation = r->gap > 0 ? "apart" : r->gap < 0 ? "overlapping" : "touching";
  cli_print(stdout, "linear program: %s\n", relation);
  cli_print(stdout, "  %-14s %.15g m along beta\n", "gap", r->gap);
  print_vector("beta", r->beta);
  print_vector("alpha", r->alpha);
  cli_print(stdout, "  %-14s a1 = %.12g, a2 = %.12g\n", "planes", r->a1, r->a2);
  print_vector("normal", r->normal);
  print_vector("point of A", r->point_a);
  print_vector("point of B", r->point_b);
  print_columns(r);
  cli_print(stdout, "  %-14s %s of A, %s of B%s\n", "features", feature_name(r->feature_a), feature_name(r->feature_b),
            r->dual_degenerate ? ", several planes" : "");
  cli_print(stdout, "  %-14s %s after %d pivots, duality gap %.1e of the size\n", "solver", outcome_name(r->outcome),
            r->pivots, r->duality_gap);
  print_optimum(&answer->optimum);
  cli_print(stdout, "Euclidean distance:\n");
  cli_print(stdout, "  %-14s %.15g m\n", d->distance < 0 ? "depth" : "distance",
            d->distance < 0 ? -d->distance : d->distance);
  print_vector("normal", d->normal);
  print_vector("point of A", d->point_a);
  print_vector("point of B", d->point_b);
  cli_print(stdout, "  %-14s %s of A, %s of B\n", "features", feature_name(d->feature_a), feature_name(d->feature_b));
  cli_print(stdout, "  %-14s %d iterations, certified to %.1e of the size\n", "solver", d->iterations, d->duality_gap);
}

// ---- JSON ----------------------------------------------------------------------------------------------------------

static void json_vector(cli_json *json, const char *name, carom_vec3 x) {
  cli_json_open(json, name, '[');
  cli_json_number(json, NULL, x.x);
  cli_json_number(json, NULL, x.y);
  cli_json_number(json, NULL, x.z);
  cli_json_close(json, ']');
}

static void json_columns(cli_json *json, int count, const int *a, const int *b, const double *weight) {
  cli_json_open(json, "columns", '[');
  for (int i = 0; i < count; i++) {
    cli_json_open(json, NULL, '{');
    CLI_MEMBERS(json, CLI_I("vertex_a", a[i]), CLI_I("vertex_b", b[i]), CLI_N("weight", weight[i]));
    cli_json_close(json, '}');
  }
  cli_json_close(json, ']');
}

static void json_program(cli_json *json, const carom_ssh_result *r) {
  cli_json_open(json, "program", '{');
  cli_json_text(json, "outcome", outcome_name(r->outcome));
  cli_json_number(json, "gap", r->gap);
  json_vector(json, "beta", r->beta);
  json_vector(json, "alpha", r->alpha);
  cli_json_number(json, "a1", r->a1);
  cli_json_number(json, "a2", r->a2);
  json_vector(json, "normal", r->normal);
  json_vector(json, "point_a", r->point_a);
  json_vector(json, "point_b", r->point_b);
  json_columns(json, r->column_count, r->vertex_a, r->vertex_b, r->weight);
  CLI_MEMBERS(json, CLI_T("feature_a", feature_name(r->feature_a)), CLI_T("feature_b", feature_name(r->feature_b)),
              CLI_B("dual_degenerate", r->dual_degenerate), CLI_I("pivots", r->pivots),
              CLI_N("duality_gap", r->duality_gap));
  cli_json_close(json, '}');
}

static void json_weights(cli_json *json, const char *name, int count, const int *vertex, const double *weight) {
  cli_json_open(json, name, '[');
  for (int i = 0; i < count; i++) {
    cli_json_open(json, NULL, '{');
    CLI_MEMBERS(json, CLI_I("vertex", vertex[i]), CLI_N("weight", weight[i]));
    cli_json_close(json, '}');
  }
  cli_json_close(json, ']');
}

static void json_optimum(cli_json *json, const carom_ssh_optimum *o) {
  cli_json_open(json, "resolved", '{');
  json_vector(json, "alpha", o->alpha);
  cli_json_number(json, "a1", o->a1);
  cli_json_number(json, "a2", o->a2);
  json_vector(json, "point_a", o->point_a);
  json_vector(json, "point_b", o->point_b);
  json_weights(json, "vertices_a", o->count_a, o->vertex_a, o->weight_a);
  json_weights(json, "vertices_b", o->count_b, o->vertex_b, o->weight_b);
  CLI_MEMBERS(json, CLI_T("feature_a", feature_name(o->feature_a)), CLI_T("feature_b", feature_name(o->feature_b)),
              CLI_B("primal_degenerate", o->primal_degenerate), CLI_B("dual_degenerate", o->dual_degenerate));
  cli_json_close(json, '}');
}

static void json_distance(cli_json *json, const carom_distance_result *d) {
  cli_json_open(json, "euclidean", '{');
  cli_json_number(json, "distance", d->distance);
  json_vector(json, "normal", d->normal);
  json_vector(json, "point_a", d->point_a);
  json_vector(json, "point_b", d->point_b);
  json_columns(json, d->column_count, d->vertex_a, d->vertex_b, d->weight);
  CLI_MEMBERS(json, CLI_T("feature_a", feature_name(d->feature_a)), CLI_T("feature_b", feature_name(d->feature_b)),
              CLI_I("iterations", d->iterations), CLI_N("duality_gap", d->duality_gap));
  cli_json_close(json, '}');
}

static void print_json(const cli_gap_answer *answer) {
  cli_json json = cli_json_begin(stdout);
  json_program(&json, &answer->program);
  json_optimum(&json, &answer->optimum);
  json_distance(&json, &answer->distance);
  cli_json_end(&json);
}

// ---- the verb ------------------------------------------------------------------------------------------------------

typedef struct request {
  const char *shapes[2], *pose_a, *pose_b, *beta, *page, *pairs;
  bool json, force;
} request;

static bool read_beta(const char *text, carom_ssh_options *options) {
  double v[3];
  const char *end;
  if (!text) return true;
  options->given_beta = cli_read_numbers(text, 3, v, &end) && !*end;
  if (options->given_beta) options->beta = cm_vec3(v[0], v[1], v[2]);
  if (options->given_beta && cm_norm(options->beta) > 0) return true;
  return cli_error("gap: --beta: expected three numbers x,y,z, not all zero, got '%s'", text);
}

static carom_status ask(const carom_placed *a, const carom_placed *b, const carom_ssh_options *options,
                        cli_gap_answer *answer) {
  carom_status status = carom_ssh(a, b, options, NULL, &answer->program);
  if (status == CAROM_OK) status = carom_ssh_resolve(a, b, &answer->program, 0, &answer->optimum);
  return status == CAROM_OK ? carom_distance(a, b, NULL, &answer->distance) : status;
}

static int answer_request(const request *q, const carom_placed *a, const carom_placed *b,
                          const carom_ssh_options *options) {
  cli_gap_answer answer;
  carom_status status = ask(a, b, options, &answer);
  if (status == CAROM_ERR_GEOMETRY) {
    cli_error("gap: both shapes are half-spaces; at least one must be bounded");
    return EXIT_MISTAKE;
  }
  if (status != CAROM_OK) {
    cli_error("gap: %s", carom_status_text(status));
    return status == CAROM_ERR_NUMBER ? EXIT_MISTAKE : EXIT_FAILED;
  }
  if (q->page) {
    int code = cli_gap_page(q->page, a, b, &answer);
    if (code != EXIT_GOOD) return code;
  }
  if (q->json)
    print_json(&answer);
  else
    print_text(&answer);
  if (q->page && !q->json) cli_print(stdout, "page: %s\n", q->page);
  return EXIT_GOOD;
}

// The page may not go where the shape came from.
static int read_body(const request *q, int which, carom_placed *body) {
  carom_scene *scene = NULL;
  const char *words = q->shapes[which];
  int code = cli_gap_body(which ? "B" : "A", words, which ? q->pose_b : q->pose_a, body, &scene);
  if (code == EXIT_GOOD)
    code = cli_check_files(&(cli_files){
        .verb = "gap", .force = q->force, .inputs = {words}, .scene = scene, .outputs = {{.path = q->page}}});
  carom_scene_destroy(scene);
  return code;
}

static int run_request(const request *q) {
  carom_ssh_options options = carom_ssh_default_options();
  if (!read_beta(q->beta, &options)) return EXIT_MISTAKE;
  carom_placed a = {0}, b = {0};
  int code = read_body(q, 0, &a);
  if (code == EXIT_GOOD) code = read_body(q, 1, &b);
  if (code == EXIT_GOOD) code = answer_request(q, &a, &b, &options);
  carom_shape_release(a.shape);
  carom_shape_release(b.shape);
  return code;
}

static const char about[] =
    "Separation of two convex bodies: the gap of the linear program along beta with its planes, witness points and\n"
    "weights; what all optimal answers share, with weights of least norm; and the Euclidean distance or depth. A and B "
    "are mesh files (.obj, .stl) or shapes as in scenes:\n"
    "\"box: [1, 1, 1]\", \"sphere: 0.5\", \"prism: {sides: 6, radius: 1, height: 2}\", \"halfspace:\".";

int cli_gap(int argc, char **argv) {
  request q = {0};
  const cli_option options[] = {
      {CLI_TEXT, 'a', "pose-a", "POSE", "x,y,z or x,y,z,qw,qx,qy,qz or x,y,z/ax,ay,az,DEGREES", &q.pose_a},
      {CLI_TEXT, 'b', "pose-b", "POSE", "the same for B", &q.pose_b},
      {CLI_TEXT, 0, "beta", "X,Y,Z", "measure along this direction (default: from centre to centre)", &q.beta},
      {CLI_TEXT, 0, "html", "FILE", "draw bodies, planes and witness points on a page", &q.page},
      {CLI_TEXT, 0, "pairs", "FILE", "times and errors over a file of pairs with known distances", &q.pairs},
      {CLI_FLAG, 'f', "force", NULL, "overwrite a file that carom did not make", &q.force},
      {CLI_FLAG, 0, "json", NULL, "report as one line of JSON", &q.json},
      {CLI_END, 0, NULL, NULL, NULL, NULL},
  };
  const cli_syntax syntax = {"gap", "A B [OPTIONS] | --pairs FILE", about, options, q.shapes, 0, 2};
  int code;
  if (!cli_parse(&syntax, argc, argv, &code)) return code;
  bool placed = q.pose_a || q.pose_b || q.beta || q.page;
  if (q.pairs && !q.shapes[0] && !placed) return cli_gap_pairs(q.pairs, q.json);
  if (!q.pairs && q.shapes[1]) return run_request(&q);
  if (q.pairs && !q.shapes[0]) {
    cli_error("gap: --pairs asks about many pairs; poses, --beta and --html go with two shapes");
    return EXIT_MISTAKE;
  }
  cli_error("gap: give two shapes, or --pairs FILE; see 'carom gap --help'");
  return EXIT_MISTAKE;
}
