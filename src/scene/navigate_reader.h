// The inside of the reader of navigation scenes. It borrows the scene reader's machinery, as that of pushes does.
#ifndef CAROM_SRC_SCENE_NAVIGATE_READER_H
#define CAROM_SRC_SCENE_NAVIGATE_READER_H

#include "base/memory.h"
#include "carom/navigate_file.h"
#include "scene/pool.h"
#include "scene/reader.h"

enum { CAROM_NAVIGATE_KEYS = 24 };

struct carom_navigate_tables {
  carom_pool pool;
  carom_navigate_vehicle *vehicles;
  carom_navigate_obstacle *obstacles;
  carom_navigate_rail *rails;
  int vehicle_capacity, obstacle_capacity, rail_capacity;
};

// What clouds keep off: of starts, and of goals.
typedef struct carom_navigate_spheres {
  carom_cloud_sphere *list;
  int count, capacity;
} carom_navigate_spheres;

typedef struct carom_navigate_reader {
  carom_reader r;
  carom_navigate_file *file;
  carom_pool *pool;             // of the tables
  const carom_node **vehicles;  // (vehicle_count) where they stand
  const carom_node **obstacles;
  int vehicle_nodes, obstacle_nodes;  // capacities
  carom_navigate_spheres starts, goals;
  carom_names rail_names;
} carom_navigate_reader;

// navigate_parts.c
void carom_navigate_read_rails(carom_navigate_reader *p, const carom_node *list);
void carom_navigate_read_obstacles(carom_navigate_reader *p, const carom_node *list);
void carom_navigate_read_walls(carom_navigate_reader *p, const carom_node *list);
void carom_navigate_read_vehicles(carom_navigate_reader *p, const carom_node *list);

#endif
