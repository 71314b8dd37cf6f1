/* All that a program of its own needs to start searches, or to call the parts: the library.
 */
#ifndef LIBWEFT_H
#define LIBWEFT_H

#include "weft/data/data.h"
#include "weft/feature/feature.h"
#include "weft/model/model.h"
#include "weft/net/net.h"
#include "weft/par/par.h"
#include "weft/report/report.h"
#include "weft/run/run.h"
#include "weft/tune/search.h"

#endif
