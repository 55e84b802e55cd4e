// The units of scene files and the names of dimensions.
#include <stdio.h>
#include <string.h>

#include "base/expression.h"

#define PI 3.14159265358979323846

static const carom_unit units[] = {
    {"m", 1, {1, 0, 0, 0, 0}},          {"km", 1e3, {1, 0, 0, 0, 0}},     {"cm", 1e-2, {1, 0, 0, 0, 0}},
    {"mm", 1e-3, {1, 0, 0, 0, 0}},      {"um", 1e-6, {1, 0, 0, 0, 0}},    {"nm", 1e-9, {1, 0, 0, 0, 0}},
    {"kg", 1, {0, 1, 0, 0, 0}},         {"g", 1e-3, {0, 1, 0, 0, 0}},     {"mg", 1e-6, {0, 1, 0, 0, 0}},
    {"t", 1e3, {0, 1, 0, 0, 0}},        {"s", 1, {0, 0, 1, 0, 0}},        {"ms", 1e-3, {0, 0, 1, 0, 0}},
    {"us", 1e-6, {0, 0, 1, 0, 0}},      {"ns", 1e-9, {0, 0, 1, 0, 0}},    {"min", 60, {0, 0, 1, 0, 0}},
    {"h", 3600, {0, 0, 1, 0, 0}},       {"rad", 1, {0, 0, 0, 1, 0}},      {"mrad", 1e-3, {0, 0, 0, 1, 0}},
    {"deg", PI / 180, {0, 0, 0, 1, 0}}, {"rev", 2 * PI, {0, 0, 0, 1, 0}}, {"rpm", 2 * PI / 60, {0, 0, -1, 1, 0}},
    {"Hz", 1, {0, 0, -1, 0, 0}},        {"N", 1, {1, 1, -2, 0, 0}},       {"mN", 1e-3, {1, 1, -2, 0, 0}},
    {"kN", 1e3, {1, 1, -2, 0, 0}},      {"J", 1, {2, 1, -2, 0, 0}},       {"mJ", 1e-3, {2, 1, -2, 0, 0}},
    {"kJ", 1e3, {2, 1, -2, 0, 0}},      {"W", 1, {2, 1, -3, 0, 0}},       {"Pa", 1, {-1, 1, -2, 0, 0}},
    {"C", 1, {0, 0, 0, 0, 1}},          {"mC", 1e-3, {0, 0, 0, 0, 1}},    {"uC", 1e-6, {0, 0, 0, 0, 1}},
    {"nC", 1e-9, {0, 0, 0, 0, 1}},      {"uN", 1e-6, {1, 1, -2, 0, 0}},   {"nN", 1e-9, {1, 1, -2, 0, 0}},
    {"ug", 1e-9, {0, 1, 0, 0, 0}},      {"kPa", 1e3, {-1, 1, -2, 0, 0}},  {"MPa", 1e6, {-1, 1, -2, 0, 0}},
    {"GPa", 1e9, {-1, 1, -2, 0, 0}},
};

// Names and SI units of the dimensions that fields have. Torque and energy share exponents; fields ask for torques.
static const struct {
  carom_dimension dimension;
  const char *name, *unit;
} dimensions[] = {
    {{0, 0, 0, 0, 0}, "a plain number", ""},
    {{1, 0, 0, 0, 0}, "a length", "m"},
    {{2, 0, 0, 0, 0}, "an area", "m^2"},
    {{3, 0, 0, 0, 0}, "a volume", "m^3"},
    {{0, 1, 0, 0, 0}, "a mass", "kg"},
    {{0, 0, 1, 0, 0}, "a time", "s"},
    {{0, 0, -1, 0, 0}, "a frequency", "1/s"},
    {{0, 0, 0, 1, 0}, "an angle", "rad"},
    {{1, 0, -1, 0, 0}, "a velocity", "m/s"},
    {{0, 0, -1, 1, 0}, "an angular velocity", "rad/s"},
    {{1, 0, -2, 0, 0}, "an acceleration", "m/s^2"},
    {{-3, 1, 0, 0, 0}, "a density", "kg/m^3"},
    {{2, 1, 0, 0, 0}, "a moment of inertia", "kg m^2"},
    {{1, 1, -2, 0, 0}, "a force", "N"},
    {{2, 1, -2, 0, 0}, "a torque or energy", "N m"},
    {{2, 1, -3, 0, 0}, "a power", "W"},
    {{-1, 1, -2, 0, 0}, "a pressure", "Pa"},
    {{0, 1, -2, 0, 0}, "a stiffness", "N/m"},
    {{0, 1, -1, 0, 0}, "a damping", "N s/m"},
    {{2, 1, -2, -1, 0}, "a torsional stiffness", "N m/rad"},
    {{2, 1, -1, -1, 0}, "a torsional damping", "N m s/rad"},
    {{0, 0, 0, 0, 1}, "a charge", "C"},
    {{3, 1, -2, 0, -2}, "a constant of Coulomb's law", "N m^2/C^2"},
};

const carom_unit *carom_unit_at(int index) {
  return index >= 0 && index < (int)(sizeof units / sizeof units[0]) ? &units[index] : NULL;
}

const carom_unit *carom_unit_find(const char *name, size_t length) {
  const carom_unit *unit;
  for (int i = 0; (unit = carom_unit_at(i)); i++)
    if (strlen(unit->name) == length && memcmp(unit->name, name, length) == 0) return unit;
  return NULL;
}

bool carom_dimension_equal(carom_dimension a, carom_dimension b) {
  return a.m == b.m && a.kg == b.kg && a.s == b.s && a.rad == b.rad && a.c == b.c;
}

static bool add_exponent(signed char *a, signed char b, int power) {
  int sum = *a + b * power;
  if (sum < -24 || sum > 24) return false;
  *a = (signed char)sum;
  return true;
}

bool carom_dimension_multiply(carom_dimension *a, carom_dimension b, int power) {
  if (power < -24 || power > 24) return false;
  return add_exponent(&a->m, b.m, power) && add_exponent(&a->kg, b.kg, power) && add_exponent(&a->s, b.s, power) &&
         add_exponent(&a->rad, b.rad, power) && add_exponent(&a->c, b.c, power);
}

static int find_dimension(carom_dimension d) {
  for (int i = 0; i < (int)(sizeof dimensions / sizeof dimensions[0]); i++)
    if (carom_dimension_equal(dimensions[i].dimension, d)) return i;
  return -1;
}

static void append_power(char *text, size_t size, const char *unit, int power) {
  size_t n = strlen(text);
  if (power == 0 || n + 1 >= size) return;
  if (power == 1)
    snprintf(text + n, size - n, "%s%s", n ? " " : "", unit);
  else
    snprintf(text + n, size - n, "%s%s^%d", n ? " " : "", unit, power);
}

const char *carom_dimension_unit(carom_dimension d, char *text, size_t size) {
  int known = find_dimension(d);
  if (known >= 0) return dimensions[known].unit;
  text[0] = '\0';
  append_power(text, size, "kg", d.kg);
  append_power(text, size, "m", d.m);
  append_power(text, size, "s", d.s);
  append_power(text, size, "rad", d.rad);
  append_power(text, size, "C", d.c);
  return text;
}

const char *carom_dimension_name(carom_dimension d, char *text, size_t size) {
  int known = find_dimension(d);
  if (known >= 0) return dimensions[known].name;
  char unit[60];
  snprintf(text, size, "a quantity in %s", carom_dimension_unit(d, unit, sizeof unit));
  return text;
}

bool carom_quantity_fits(const carom_quantity *quantity, carom_dimension wanted) {
  if (quantity->plain) return true;
  carom_dimension have = quantity->dimension;
  if (have.rad == 0) have.rad = wanted.rad;
  return carom_dimension_equal(have, wanted);
}
