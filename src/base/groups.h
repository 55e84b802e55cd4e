// Disjoint groups as a forest of parents (Tarjan 1975, with path halving). The root of a group is its smallest member,
// so that groups do not depend on the order in which members were united.
#ifndef CAROM_SRC_BASE_GROUPS_H
#define CAROM_SRC_BASE_GROUPS_H

static inline int carom_group_root(int *parent, int member) {
  while (parent[member] != member) member = parent[member] = parent[parent[member]];
  return member;
}

static inline void carom_group_unite(int *parent, int a, int b) {
  int ra = carom_group_root(parent, a), rb = carom_group_root(parent, b);
  if (ra < rb)
    parent[rb] = ra;
  else
    parent[ra] = rb;
}

#endif
