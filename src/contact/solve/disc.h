// The tangential impulse of maximal dissipation: the least 1/2 t'A t + c't with |t| <= radius, where c is the velocity
// that the contact would slip at without t.
#ifndef CAROM_SRC_CONTACT_SOLVE_DISC_H
#define CAROM_SRC_CONTACT_SOLVE_DISC_H

#include <stdbool.h>

// A symmetric, positive semidefinite: {xx, xy, yy}.
void carom_disc_minimum(const double A[3], const double c[2], double radius, double t[2]);

// The same in two steps, where one A serves many times. Its axes: A = a[0] at (C, S), a[1] at (-S, C), with
// a[0] >= a[1] > 0 (an a[1] of round-off is raised to it); false for A = 0.
bool carom_disc_axes(const double A[3], double a[2], double axis[2]);
void carom_disc_minimum_in_axes(const double a[2], const double c[2], double radius, double t[2]);

#endif
