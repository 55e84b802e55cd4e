// The code of a formula while it is compiled. Operands that are constant are put on the stack late, where their code
// would have begun: nothing in the code points anywhere, so that steps may be inserted.
#ifndef CAROM_SRC_BASE_FORMULA_CODE_H
#define CAROM_SRC_BASE_FORMULA_CODE_H

#include "base/expression.h"

typedef struct carom_formula_code {
  const carom_formula_scope *names;
  const carom_allocator *allocator;
  int count;
  bool no_memory;
  carom_formula_step steps[CAROM_FORMULA_STEPS];
} carom_formula_code;

// An operand, and where its code begins.
typedef struct carom_operand {
  const carom_quantity *quantity;
  int mark;
} carom_operand;

// Puts all operands on the stack, then the step that takes them. False when the formula grows too long.
bool carom_code_apply(carom_formula_code *code, const carom_operand *operands, int count, carom_formula_step step);
// Makes a formula of all steps from `mark` on, whose one result is the operand, and takes them away. False: too deep,
// or too long. *formula is null when there is no memory.
bool carom_code_cut(carom_formula_code *code, carom_operand operand, carom_formula **formula);

#endif
