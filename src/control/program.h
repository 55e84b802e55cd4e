// A nonlinear program made of small elements. An element knows a few variables and adds to a few rows (constraints, or
// the cost), so that derivatives are taken element by element and cost per iteration is linear in the elements.
//
// A kind of element writes its residual once, in hyperdual numbers; first and second derivatives follow to rounding.
// Hot kinds may bring their own derivatives. Which entries can be other than zero is found out at set-up.
#ifndef CAROM_SRC_CONTROL_PROGRAM_H
#define CAROM_SRC_CONTROL_PROGRAM_H

#include "control/hyper.h"
#include "solve/nlp.h"

enum {
  CAROM_ROW_COST = -1,  // adds to the objective
  CAROM_ROW_NONE = -2,  // is dropped (a fixed body's balance)
  CAROM_ELEMENT_VARIABLES = 40,
  CAROM_ELEMENT_ROWS = 24,
};

// What a constraint is about, for messages.
typedef enum carom_row_kind {
  CAROM_ROW_MOTION,
  CAROM_ROW_UNIT,
  CAROM_ROW_TURN,
  CAROM_ROW_JOINT,
  CAROM_ROW_CONDITION,
  CAROM_ROW_CONTACT,
  CAROM_ROW_AVOIDANCE,
  CAROM_ROW_TIME,
  CAROM_ROW_EVENT,
  CAROM_ROW_PERIOD,
  CAROM_ROW_RANGE,
  CAROM_ROW_FOOT,
  CAROM_ROW_CLEARANCE,
  CAROM_ROW_WORK,
} carom_row_kind;

// What is apart at a joint.
enum { CAROM_JOINT_ROW_PLACE, CAROM_JOINT_ROW_AXIS, CAROM_JOINT_ROW_SPEED, CAROM_JOINT_ROW_SPIN };

typedef struct carom_row_label {
  carom_row_kind kind;
  int node, a, b;  // bodies, or the number of the joint (and what of it), condition, contact; -1: none
} carom_row_label;

typedef void (*carom_residual)(const double *c, const carom_hyper *z, carom_hyper *r);  // c: constants of the element

// Where to put values: r (rows), J (rows x variables, row after row) and H (variables x variables, lower triangle),
// that of the sum of w r; each may be null.
typedef struct carom_derivatives {
  double *r, *J, *H;
} carom_derivatives;

typedef struct carom_element_kind {
  const char *name;
  carom_residual residual;
  // Instead of it or to be faster. False where undefined. `object` belongs to the element.
  bool (*evaluate)(const double *c, void *object, const double *z, const double *w, const carom_derivatives *out);
} carom_element_kind;

typedef struct carom_element {
  const carom_element_kind *kind;
  int variable_start, variable_count;  // into indices
  int row_start, row_count;            // into indices
  int constant_start;                  // into constants
  int jacobian_start, jacobian_count;  // into places: local entries row * variable_count + column
  int hessian_start, hessian_count;    // into places
  void *object;
} carom_element;

typedef struct carom_program {
  carom_allocator allocator;
  bool out_of_memory;
  int n, n_capacity, m, m_capacity;
  double *x, *x_low, *x_high, *x_scale;  // (n)
  double *g_low, *g_high, *g_scale;      // (m)
  carom_row_label *labels;               // (m)
  carom_element *elements;
  int element_count, element_capacity;
  int *indices;
  int index_count, index_capacity;
  double *constants;
  int constant_count, constant_capacity;
  // after carom_program_seal
  short *places;
  int place_count;
  int jacobian_count, hessian_count;
  int *jacobian_row, *jacobian_column, *hessian_row, *hessian_column;
  int *hessian_slot;  // of each element's entries, element after element: entries of one place are one
  double f_scale;
} carom_program;

void carom_program_create(carom_program *program, const carom_allocator *allocator);
void carom_program_destroy(carom_program *program);

// The first of `count` new variables or rows. When out of memory, 0, and the flag is set.
int carom_program_variables(carom_program *program, int count, double low, double high, double scale);
int carom_program_rows(carom_program *program, int count, double low, double high, double scale, carom_row_label label);
// An element without variables, rows and constants; they are added to the newest element one call after another:
// variables and rows first.
void carom_program_element(carom_program *program, const carom_element_kind *kind, void *object);
void carom_element_variables(carom_program *program, int first, int count);
void carom_element_rows(carom_program *program, int first, int count);
void carom_element_constants(carom_program *program, const double *c, int count);
void carom_element_constant3(carom_program *program, carom_vec3 c);

// The same in one call, where all of it is known:
//     carom_program_add(P, &carom_kind_arm, CAROM_OF({r, 3}, {q, 4}), CAROM_INTO({row, 3}),
//     CAROM_WITH(CAROM_XYZ(rho)));
typedef struct carom_range {
  int first, count;
} carom_range;
typedef struct carom_values {
  const double *values;
  int count;
} carom_values;
#define CAROM_OF(...) ((const carom_range[]){__VA_ARGS__, {0, 0}})  // variables
#define CAROM_INTO(...) CAROM_OF(__VA_ARGS__)                       // rows
#define CAROM_WITH(...) \
  ((carom_values){(const double[]){__VA_ARGS__}, (int)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double))})
#define CAROM_PLAIN ((carom_values){0})  // no constants
#define CAROM_XYZ(v) (v).x, (v).y, (v).z
#define CAROM_WXYZ(q) (q).w, (q).x, (q).y, (q).z
void carom_program_add(carom_program *program, const carom_element_kind *kind, const carom_range *variables,
                       const carom_range *rows, carom_values constants);
void carom_program_fix(carom_program *program, int variable, double value);

// Finds the patterns. After it, no more elements.
carom_status carom_program_seal(carom_program *program, carom_error *error);
// The view for the solver; borrows everything. `iterate` may be set by the caller.
carom_nlp carom_program_nlp(carom_program *program);

bool carom_program_cost(const carom_program *program, const double *x, double *f);
bool carom_program_constraints(const carom_program *program, const double *x, double *g);
// Largest violation, relative to the rows' scales and absolute, and the row (n + i for the bounds of variable i) where
// it is; -1 when there is none.
double carom_program_violation(const carom_program *program, const double *x, const double *g, int *row,
                               double *absolute);

// A residual of n variables and m rows with its constants.
typedef struct carom_form {
  carom_residual residual;
  int n, m;
  const double *c;
} carom_form;
void carom_residual_evaluate(const carom_form *form, const double *z, const double *w, const carom_derivatives *out);
// One element by itself: gathers from x.
bool carom_element_evaluate(const carom_program *program, const carom_element *e, const double *x, const double *w,
                            const carom_derivatives *out);

#endif
