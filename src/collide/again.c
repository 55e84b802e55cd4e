#define DISTANCE_AGAIN carom_distance_again_plain
#define SSH_AGAIN carom_ssh_again_plain
#include "collide/again_distance.h"
#include "collide/again_ssh.h"
