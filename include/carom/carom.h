/// carom/carom.h: all of Carom. Mechanics with impacts: bodies that collide, stick, slide, latch and
/// assemble, with an audit of every run. SI units; world frame right-handed with z up.
#ifndef CAROM_H
#define CAROM_H

#include "carom/base.h"
#include "carom/collide.h"
#include "carom/contact.h"
#include "carom/control.h"
#include "carom/design.h"
#include "carom/elastic.h"
#include "carom/export.h"
#include "carom/gait.h"
#include "carom/geometry.h"
#include "carom/impact.h"
#include "carom/lcp.h"
#include "carom/lcp_file.h"
#include "carom/loop.h"
#include "carom/mechanics.h"
#include "carom/model.h"
#include "carom/plan.h"
#include "carom/port.h"
#include "carom/push.h"
#include "carom/push_file.h"
#include "carom/push_fit.h"
#include "carom/push_plan.h"
#include "carom/result.h"
#include "carom/root.h"
#include "carom/saa.h"
#include "carom/saa_file.h"
#include "carom/scene.h"
#include "carom/step.h"
#include "carom/surrogate.h"
#include "carom/sweep.h"
#include "carom/tets.h"
#include "carom/track.h"
#include "carom/vec.h"

#endif
