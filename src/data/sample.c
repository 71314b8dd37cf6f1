/* Names of parts and forms. */
#include "weft/sample.h"

const char *const weft_part_name[WEFT_NPART] = {"train", "valid", "test"};
const char *const weft_form_name[WEFT_NFORM] = {"bytes", "reals", "tokens", "chars",
                                                "sentences"};
