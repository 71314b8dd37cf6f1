# Sourced by tests that need a text of plays.

# A text as Project Gutenberg has it: a first play, which is left out, and one of six roles.
plays()
{
    awk 'BEGIN {
        print "Contents\n\nTHE SONNETS\n\nby William Shakespeare\n\n\n\n\n\n\n"
        print "1599\n\nTHE STAND-IN\n\nby William Shakespeare\n"
        n = split("the rain it raineth every day with hey ho wind and a foolish thing", word)
        for (i = 0; i < 240; i++) {
            printf i % 8 ? "    " : "  ROLE " substr("ABCDEF", i / 8 % 6 + 1, 1) ". "
            for (j = 0; j < 9; j++) printf "%s ", word[(i * i + 5 * j + i % 7 * j) % n + 1]
            print "so."
        }
        print "*** END OF THIS PROJECT GUTENBERG EBOOK ***"
    }'
}
