/* wildcards.c: which receives from any source may stay so. */
#include "plan.h"

void plan_wildcards(Plan *plan)
{
    plan->wildcards = g_hash_table_new(site_hash, site_equal);
}
