#include "base/formula_code.h"

#include <string.h>

static bool insert(carom_formula_code *code, int at, carom_formula_step step) {
  if (code->count == CAROM_FORMULA_STEPS) return false;
  memmove(&code->steps[at + 1], &code->steps[at], (size_t)(code->count - at) * sizeof step);
  code->steps[at] = step;
  code->count++;
  return true;
}

// From the last one back, so that the marks of those before stay right.
static bool settle(carom_formula_code *code, const carom_operand *operands, int count) {
  for (int i = count - 1; i >= 0; i--) {
    if (operands[i].quantity->live) continue;
    const carom_formula_step number = {.op = CAROM_OP_NUMBER, .number = operands[i].quantity->value};
    if (!insert(code, operands[i].mark, number)) return false;
  }
  return true;
}

bool carom_code_apply(carom_formula_code *code, const carom_operand *operands, int count, carom_formula_step step) {
  return settle(code, operands, count) && insert(code, code->count, step);
}

bool carom_code_cut(carom_formula_code *code, carom_operand operand, carom_formula **formula) {
  int mark = operand.mark;
  *formula = NULL;
  if (!settle(code, &operand, 1)) return false;
  bool fits = carom_formula_create(&code->steps[mark], code->count - mark, code->allocator, formula);
  code->count = mark;
  return fits;
}
