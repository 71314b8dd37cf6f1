#!/bin/sh
# A program for inputs/command.ini, as short as can be: it fits a curve to 40 points by steps of
# gradient descent with momentum. What any program that weft tunes has to do is marked by
# (1) to (4); in Python these are os.environ["PARAM_rate"], os.environ["WEFT_DIR"] and print.
state=$WEFT_DIR/state   # (1) what is to be gone on from is kept in $WEFT_DIR, and nowhere else

# (2) parameters come as $PARAM_name, or all in one as JSON in $WEFT_PARAMETERS
# (3) $WEFT_RESOURCE more is to be trained: here in steps; $WEFT_DONE were done before
awk -v rate="$PARAM_rate" -v momentum="$PARAM_momentum" -v decay="$PARAM_decay" \
    -v degree="$PARAM_degree" -v steps="$WEFT_RESOURCE" -v seed="$WEFT_SEED" -v state="$state" '
function term(x, k,   t) { t = 1; while (k-- > 0) t *= x; return t }
function value(x,   k, y) { y = 0; for (k = 0; k <= degree; k++) y += w[k] * term(x, k); return y }
BEGIN {
    for (i = 0; i < 40; i++) {                     # every other point is for validation
        x[i] = i / 20 - 1
        y[i] = 2 * x[i] * x[i] * x[i] - x[i] + ((i * 7919) % 11 - 5) / 50
    }
    if ((getline line < state) > 0) {              # as it was left
        split(line, kept, " ")
        for (k = 0; k <= degree; k++) { w[k] = kept[2 * k + 1]; v[k] = kept[2 * k + 2] }
    } else for (k = 0; k <= degree; k++)           # or afresh; trials have seeds of their own
        w[k] = ((seed + 31 * k) % 101 - 50) / 100
    for (s = 0; s < steps; s++) {
        for (k = 0; k <= degree; k++) g[k] = decay * w[k]
        for (i = 0; i < 40; i += 2) {
            e = value(x[i]) - y[i]
            for (k = 0; k <= degree; k++) g[k] += e * term(x[i], k) / 20
        }
        for (k = 0; k <= degree; k++) { v[k] = momentum * v[k] - rate * g[k]; w[k] += v[k] }
    }
    line = ""
    for (k = 0; k <= degree; k++) line = line sprintf("%.17g %.17g ", w[k], v[k])
    print line > state
    for (i = 0; i < 40; i++) {
        e = value(x[i]) - y[i]
        loss[i % 2] += e * e / 20
    }
    # (4) the loss on validation data is printed; other numbers are kept, too
    printf "train_loss=%.12g loss=%.12g\n", loss[0], loss[1]
}'
