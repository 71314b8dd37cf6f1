# Sourced by tests and t_inputs.sh: sentences in three made-up languages, and the score of translations.
languages() # LINES: a table with a column for each; the third has the words backwards, and gaps
{
    awk -v lines="$1" 'BEGIN {
        srand(3)
        print "one\ttwo\tthree"
        for (i = 0; i < lines; i++) {
            a = b = c = ""
            for (n = 1 + int(rand() * 4); n > 0; n--) {
                w = 1 + int(rand() * 9)
                a = a " " substr("abcdefghi", w, 1)
                b = b " " substr("jklmnopqr", w, 1)
                c = " " substr("stuvwxyzA", w, 1) c
            }
            print substr(a, 2) "\t" substr(b, 2) "\t" (i % 5 ? substr(c, 2) : "")
        }
    }'
}
bleu() # PART: of the report in $tmp/out
{
    sed -n "s/^$1 .*BLEU \([0-9]*\)\..*/\1/p" "$tmp/out"
}
