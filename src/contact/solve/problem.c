// The door to the solvers of carom/contact.h: options, scratch, and the order of one solve.
#include "contact/solve/problem.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "contact/solve/tao.h"

struct carom_contact_work {
  carom_arena arena;
};

enum { CONVEX = 1u << CAROM_CONTACT_CONVEX, COULOMB = 1u << CAROM_CONTACT_COULOMB };

static const carom_contact_method_entry methods[CAROM_CONTACT_METHOD_COUNT] = {
    [CAROM_CONTACT_PGS] = {"pgs", CONVEX | COULOMB, 10000, carom_contact_pgs},
    [CAROM_CONTACT_APGD] = {"apgd", CONVEX, 10000, carom_contact_apgd},
    [CAROM_CONTACT_SPG] = {"spg", CONVEX, 10000, carom_contact_spg},
    [CAROM_CONTACT_INTERIOR] = {"interior", CONVEX, 100, carom_contact_interior},
    [CAROM_CONTACT_BLMVM] = {"tao-blmvm", CONVEX, 10000, carom_contact_tao},
    [CAROM_CONTACT_TRON] = {"tao-tron", CONVEX, 1000, carom_contact_tao},
    [CAROM_CONTACT_NEWTON] = {"newton", COULOMB, 300, carom_contact_newton},
};

carom_contact_options carom_contact_default_options(void) {
  return (carom_contact_options){
      .method = CAROM_CONTACT_PGS, .cone = CAROM_CONTACT_CIRCULAR, .generators = 3, .tolerance = 1e-6, .threads = 1};
}

static bool known(carom_contact_method method) { return method >= 0 && method < CAROM_CONTACT_METHOD_COUNT; }

const carom_contact_method_entry *carom_front_entry(carom_contact_method method) {
  return known(method) ? &methods[method] : NULL;
}

const char *carom_contact_method_name(carom_contact_method method) {
  return known(method) ? methods[method].name : NULL;
}

bool carom_contact_method_takes(carom_contact_method method, carom_contact_law law) {
  return known(method) && (law == CAROM_CONTACT_CONVEX || law == CAROM_CONTACT_COULOMB) &&
         methods[method].laws & 1u << law;
}

bool carom_contact_method_by_name(const char *name, carom_contact_method *method) {
  for (int i = 0; name && i < CAROM_CONTACT_METHOD_COUNT; i++)
    if (strcmp(name, methods[i].name) == 0) return *method = (carom_contact_method)i, true;
  return false;
}

static bool by_tao(carom_contact_method method) {
  return method == CAROM_CONTACT_BLMVM || method == CAROM_CONTACT_TRON;
}

bool carom_contact_method_available(carom_contact_method method) {
  return known(method) && (!by_tao(method) || carom_contact_tao_present());
}

// ---- memory -----------------------------------------------------------------------------------

carom_status carom_contact_work_create(const carom_allocator *allocator, carom_contact_work **work,
                                       carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  *work = CAROM_NEW(&a, carom_contact_work, 1);
  if (!*work) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the scratch of the contact solver");
  (*work)->arena.allocator = a;
  return CAROM_OK;
}

void carom_contact_work_destroy(carom_contact_work *work) {
  if (work) carom_object_destroy(work);
}

size_t carom_contact_work_bytes(const carom_contact_work *work) { return work->arena.capacity + sizeof *work; }

static void system_of(carom_contact_system *s, const carom_contact_problem *problem,
                      const carom_contact_options *options) {
  *s = (carom_contact_system){.problem = *problem, .options = options ? *options : carom_contact_default_options()};
  if (s->options.max_iterations == 0 && known(s->options.method))
    s->options.max_iterations = methods[s->options.method].default_iterations;
  s->width = s->options.cone == CAROM_CONTACT_CIRCULAR ? 3 : s->options.generators;
  s->n = s->width * problem->contact_count + problem->row_count;
  s->threads = carom_thread_count(s->options.threads);
}

static size_t bytes_needed(const carom_contact_system *s) {
  carom_contact_system measured = *s;
  carom_arena counting = {0};
  carom_contact_system_push(&measured, &counting);
  methods[s->options.method].solve(&measured, &counting, NULL, NULL);
  return counting.used;
}

// A quarter more than asked for, so that a flow whose contacts come and go seldom makes it grow.
static carom_status make_room(carom_contact_work *work, size_t bytes, bool exactly, carom_error *error) {
  if (work->arena.memory && bytes <= work->arena.capacity) return CAROM_OK;
  carom_arena larger;
  size_t capacity = exactly || !work->arena.memory ? bytes : bytes + bytes / 4;
  if (carom_arena_create(&larger, capacity, &work->arena.allocator, NULL))
    return carom_fail(error, CAROM_ERR_MEMORY,
                      "out of memory: the contact solver needs %zu bytes; fewer bodies or contacts would need less",
                      capacity);
  carom_arena_destroy(&work->arena);
  work->arena = larger;
  return CAROM_OK;
}

carom_status carom_contact_work_reserve(carom_contact_work *work, int bodies, int contacts, int rows,
                                        const carom_contact_options *options, carom_error *error) {
  carom_contact_problem sizes = {.body_count = bodies, .contact_count = contacts, .row_count = rows};
  carom_status status = carom_contact_check(&sizes, options, NULL, error);
  if (status) return status;
  carom_contact_system s;
  system_of(&s, &sizes, options);
  return make_room(work, bytes_needed(&s), true, error);
}

// ---- one solve --------------------------------------------------------------------------------

static carom_status open_system(carom_contact_work *work, const carom_contact_problem *problem,
                                const carom_contact_options *options, const carom_contact_solution *solution,
                                carom_contact_system *s, carom_error *error) {
  carom_status status = carom_contact_check(problem, options, solution, error);
  if (status) return status;
  system_of(s, problem, options);
  if ((status = make_room(work, bytes_needed(s), false, error))) return status;
  carom_arena_pop(&work->arena, 0);
  carom_contact_system_push(s, &work->arena);
  carom_contact_system_prepare(s);
  return CAROM_OK;
}

// Recomputes w from the problem, so that no error that a method has gathered is hidden.
static void conclude(carom_contact_system *s, carom_contact_solution *solution, carom_contact_info *info) {
  if (!s->fresh) carom_contact_refresh(s, info);
  if (carom_contact_good_enough(s, info))
    info->outcome = CAROM_CONTACT_SOLVED;
  else if (info->outcome == CAROM_CONTACT_SOLVED)
    info->outcome = CAROM_CONTACT_STALLED;
  carom_contact_store(s, solution);
}

carom_status carom_contact_solve(carom_contact_work *work, const carom_contact_problem *problem,
                                 const carom_contact_options *options, carom_contact_solution *solution,
                                 carom_contact_info *info, carom_error *error) {
  double start = carom_clock();
  carom_contact_system s;
  carom_status status = open_system(work, problem, options, solution, &s, error);
  if (status) return status;
  carom_contact_info figures = {.velocity_scale = s.scale};
  bool nothing = !(s.scale > 0);  // zero impulses are the answer, whatever the guess
  carom_contact_load(&s, s.options.warm_start && !nothing ? solution : NULL);
  double ready = carom_clock();
  if (!nothing) status = methods[s.options.method].solve(&s, &work->arena, &figures, error);
  if (status) return status;
  conclude(&s, solution, &figures);
  figures.setup_seconds += ready - start;
  figures.solve_seconds = carom_clock() - start - figures.setup_seconds;
  if (info) *info = figures;
  return CAROM_OK;
}

carom_status carom_contact_evaluate(carom_contact_work *work, const carom_contact_problem *problem,
                                    const carom_contact_options *options, carom_contact_solution *solution,
                                    carom_contact_info *info, carom_error *error) {
  carom_contact_options o = options ? *options : carom_contact_default_options();
  o.method = CAROM_CONTACT_PGS;  // takes every law
  o.warm_start = true;           // the impulses are read, so they are checked
  carom_contact_system s;
  carom_status status = open_system(work, problem, &o, solution, &s, error);
  if (status) return status;
  carom_contact_info figures = {.outcome = CAROM_CONTACT_LIMIT, .velocity_scale = s.scale};
  carom_contact_load(&s, solution);
  conclude(&s, solution, &figures);
  if (info) *info = figures;
  return CAROM_OK;
}
