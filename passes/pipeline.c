/*
 * The pipeline, top to bottom:
 *
 *   text -> infer     types everywhere
 *           inline    calls and composites are gone         FLAT CORE
 *           unroll    short loops are gone
 *           fold      constants and sizes are computed
 *           simplify  the rules of rules.tn, until none applies
 *           canonical one order of operands                 CANONICAL
 *           cse       nothing twice
 *           siblings  contractions of one value with several weights are one
 *           precompute  what weights alone tell becomes a weight
 *           dce       nothing unread
 *           sink      transposes meet their inverses
 *           fuse      what one kernel computes: @fused     FUSED
 *           layout    the order in which values lie
 *           lower     kernels and launches                  KERNELS
 *           schedule  loops bound to the target
 *           plan      places in memory                      PLACED -> back end
 */
#include "passes/pass.h"

const char *tn_pipeline_default(bool optimise)
{
	if (!optimise)
		return "infer,inline,lower,schedule,plan";
	return "infer,inline,unroll,fold,simplify,canonical,cse,"
		"siblings,precompute,dce,sink,fuse,layout,lower,schedule,plan";
}
