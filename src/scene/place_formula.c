// Formulas in x, y and z: the place of a node in the world at the start, in metres.
#include "scene/solid_reader.h"

static int find_name(void *context, const char *name, size_t length, carom_quantity *value, int *slot) {
  carom_scope scope = carom_reader_scope(context);
  *slot = length == 1 && name[0] >= 'x' && name[0] <= 'z' ? name[0] - 'x' : -1;
  return *slot >= 0 ? 1 : scope.find(scope.context, name, length, value);
}

static void suggest_names(void *context, carom_nearest *nearest) {
  carom_scope scope = carom_reader_scope(context);
  scope.suggest(scope.context, nearest);
}

bool carom_read_place_formula(carom_reader *r, const carom_node *node, const char *label, carom_formula **formula) {
  carom_formula_scope scope = {.context = r, .find = find_name, .suggest = suggest_names};
  carom_expression_error error;
  *formula = NULL;
  if (node->kind != CAROM_NODE_SCALAR || carom_node_is_null(node))
    return carom_refuse(r, node, NULL, "'%s' expects a formula in x, y and z", label);
  if (carom_formula_compile(node->text, node->length, &scope, &r->allocator, formula, &error)) return true;
  if (!error.message[0] && !error.reported) r->pool.failed = true;
  if (error.message[0] && !error.reported)
    carom_report(&r->reporter, carom_value_place(node, error.offset), error.hint, "'%s': %s", label, error.message);
  return false;
}

double carom_place_formula_value(const carom_formula *formula, carom_vec3 at) {
  const double slots[3] = {at.x, at.y, at.z};
  return carom_formula_value(formula, slots);
}
