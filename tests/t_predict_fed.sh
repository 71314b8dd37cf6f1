#!/bin/bash
# weft predict of federations: clients are found by their names and have their own weights, others
# the server's; tables, images, documents and running text. Prints TAP.
. tests/tap.sh
. tests/plays.sh
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
: >"$tmp/empty.ini"

# table N SITES: rows of sites in turn; of each second site the rule is the opposite one
table()
{
    awk -v n="$1" -v sites="$2" 'BEGIN {
        print "id,age,site,colour,sick"
        for (i = 0; i < n; i++) {
            s = i % sites
            age = i * 37 % 61
            print i "," age ",site " s "," (i % 11 == 3 ? "" : int(i / 7) % 3 ? "red" : "blue") "," ((age > 30) != s % 2 ? "yes" : "no")
        }
    }'
}
table 606 6 >"$tmp/old.csv"
table 67 8 | sed '3s/[^,]*,\([^,]*\),[^,]*,/,\1,,/' >"$tmp/new.csv" # the second row is of no site
call pack dense "$tmp/old.csv" drop=id client=site -o "$tmp/old.h5"
tune() # NAME DATA [section.key=value ...]
{
    call tune "$tmp/empty.ini" run.task=fed run.mixing=none run.tuner=random space.configs=1 run.data="$2" -o "$tmp/$1.h5" \
        "${@:3}"
}
table="fed.model=mlp client.lr=0.3 client.epochs=3 random.resource=20 fed.cohort=5"
for name in fedavg ditto fedper apfl local knn; do
    check "$name: a winner of a federation of a table" tune $name "$tmp/old.h5" $table fed.algorithm=$name
done
predict() # RUN ROWS [ARGUMENT ...]: standard output in $tmp/p.csv
{
    "$weft" predict "$tmp/$1.h5" "${@:2}" >"$tmp/p.csv" 2>"$tmp/log"
}
# errors: rows of each part, and percent of them whose class is not the label, as weft eval prints them
errors()
{
    awk -F, 'NR > 1 { n[$1]++; wrong[$1] += $4 != $5 }
        END { for (p in n) printf "%s %d %.3f\n", p, n[p], 100 * wrong[p] / n[p] }' "$tmp/p.csv" | sort
}
evaluated() # RUN ROWS: the same by weft eval, which scores clients before their training
{
    "$weft" eval "$tmp/$1.h5" "$2" 2>>"$tmp/log" | awk '$1 ~ /^(train|valid|test)$/ { print $1, $2, $4 }' | sort
}
for name in fedavg ditto fedper apfl; do
    predict $name "$tmp/old.h5" && errors >"$tmp/mine" && evaluated $name "$tmp/old.h5" >"$tmp/out" &&
        [ "$(wc -l <"$tmp/mine")" = 3 ] && cmp "$tmp/mine" "$tmp/out"
    result $? "$name: the share of wrong classes in each part is that of weft eval"
done
# One site a round: others are predicted very wrong, and their losses count as they are.
tune steep "$tmp/old.h5" fed.model=mlp client.lr=0.5 client.epochs=30 random.resource=5 fed.cohort=1 && predict steep "$tmp/old.h5" &&
    "$weft" eval "$tmp/steep.h5" "$tmp/old.h5" 2>>"$tmp/log" | awk '$1 == "test" { print $3 }' >"$tmp/loss" &&
    awk -F, -v loss="$(cat "$tmp/loss")" '$1 == "test" { p = $4 == "no" ? $6 : $7; n++; sum -= log(p) }
        END { print sum / n, loss; exit !(n > 50 && sum / n > 1.4 && (sum / n - loss)^2 < 1e-6 * loss * loss) }' "$tmp/p.csv" >>"$tmp/log"
result $? "the loss is the mean of all rows, of any size"
for name in fedper apfl local; do
    # Of the sites that were learnt from all rows are right; those of others have one rule for two.
    predict $name "$tmp/new.csv" && [ "$(head -1 "$tmp/p.csv")" = "row,client,label,class,p no,p yes" ]
    result $? "$name: new rows of sites are predicted"
    grep -q ' 17 of 67 rows are of clients that were never trained, or of none' "$tmp/log"
    result $? "$name: rows of other sites are told"
    awk -F, 'NR > 1 { known = $2 ~ /^site [0-5]$/; n[known]++; wrong[known] += $3 != $4 }
        END { print n[1], n[0], wrong[1], wrong[0] }' "$tmp/p.csv" >"$tmp/out"
    check "$name: sites have their own weights, by their names" awk '{ exit !($1 == 50 && $3 <= 2) }' "$tmp/out"
    check "$name: other sites have the server's" awk '{ exit !($2 == 17 && $4 >= 5) }' "$tmp/out"
done
awk -F, 'NR > 1 { print NR - 1 "," $3 "," $5 }' "$tmp/new.csv" >"$tmp/want"
predict ditto "$tmp/new.csv" && sed 1d "$tmp/p.csv" | cut -d, -f1-3 | cmp - "$tmp/want" && cp "$tmp/p.csv" "$tmp/one.csv"
result $? "rows stand in the order of the file"
mpirun -n 3 "$weft" predict "$tmp/ditto.h5" "$tmp/new.csv" >"$tmp/p.csv" 2>"$tmp/log" && cmp "$tmp/p.csv" "$tmp/one.csv"
result $? "predictions do not depend on ranks"
sort -t, -k3,3 "$tmp/new.csv" | grep -v '^id' | awk -F, -v OFS=, 'BEGIN { print "site,colour,age" } { print $3, $4, $2 }' >"$tmp/bare.csv"
predict ditto "$tmp/bare.csv" && sed 1d "$tmp/p.csv" | cut -d, -f2- | sort >"$tmp/got" &&
    sed 1d "$tmp/one.csv" | cut -d, -f2,4- | sort | cmp - "$tmp/got"
result $? "so it is with rows without labels, in another order, columns too"
cut -d, -f2,4 "$tmp/new.csv" >"$tmp/none.csv"
predict ditto "$tmp/none.csv" && [ "$(wc -l <"$tmp/p.csv")" = 68 ]
result $? "rows without a column of sites are predicted"
check "that they have the server's weights is told" grep -q ' 67 of 67 rows are of clients' "$tmp/log"
predict fedavg "$tmp/new.csv" && cut -d, -f5- "$tmp/p.csv" >"$tmp/got" &&
    grep -q "by the server's weights for all clients: with fed.algorithm = fedavg" "$tmp/log"
result $? "fedavg, whose clients keep nothing, says that it predicts by the server's weights"
predict knn "$tmp/new.csv" && grep -q "by the server's weights alone: the samples that fed.algorithm = knn" "$tmp/log"
result $? "knn says so, too"
cut -d, -f5- "$tmp/p.csv" | cmp - "$tmp/got"
result $? "it predicts as fedavg does"
call pack dense "$tmp/new.csv" like="$tmp/ditto.h5" -o "$tmp/new.h5" && predict ditto "$tmp/new.h5" &&
    cmp "$tmp/p.csv" "$tmp/one.csv"
result $? "rows that are packed like a run's have the same predictions"
call eval "$tmp/ditto.h5" "$tmp/new.h5" &&
    awk -F, 'NR > 1 { wrong += $3 != $4 } END { printf "%.3f\n", 100 * wrong / 67 }' "$tmp/one.csv" | grep -qFf - "$tmp/out"
result $? "and can be scored by their labels"
find_python csv

# ---- images, documents, running text -------------------------------------------------------

call pack synthetic images rows=300 d=64 classes=3 clients=9 partition=dirichlet alpha=0.3 -o "$tmp/images.h5" &&
    tune cnn "$tmp/images.h5" fed.model=cnn fed.algorithm=fedper fed.cohort=5 random.resource=4 &&
    predict cnn "$tmp/images.h5" && errors >"$tmp/mine" && evaluated cnn "$tmp/images.h5" | cmp - "$tmp/mine"
result $? "images of clients: the error of weft eval"
# pixels N FIRST: rows of who took it, 64 pixels and what is on it
pixels()
{
    awk -v n="$1" -v first="$2" 'BEGIN {
        printf "who"; for (j = 0; j < 64; j++) printf ",p%d", j; print ",what"
        for (i = first; i < first + n; i++) {
            printf "C%d", i % 5
            for (j = 0; j < 64; j++) printf ",%d", (i % 3 == j % 8 % 3 ? 200 : 20) + i * j * 7 % 31
            print "," (i % 3 ? "bar" : "dot")
        }
    }'
}
pixels 200 0 >"$tmp/pixels.csv" && pixels 40 900 >"$tmp/newpixels.csv"
call pack dense "$tmp/pixels.csv" client=who shape=1x8x8 -o "$tmp/pixels.h5" &&
    tune sites "$tmp/pixels.h5" fed.model=cnn fed.cohort=5 random.resource=3 && predict sites "$tmp/newpixels.csv" && cp "$tmp/p.csv" "$tmp/got" &&
    [ "$(wc -l <"$tmp/got")" = 41 ]
result $? "rows of a table that are images of clients, by a convolutional network"
call pack dense "$tmp/newpixels.csv" like="$tmp/pixels.h5" -o "$tmp/newpixels.h5" && predict sites "$tmp/newpixels.h5" &&
    cmp "$tmp/p.csv" "$tmp/got"
result $? "packed they have the same predictions"
call pack synthetic documents rows=240 words=20 clients=8 -o "$tmp/texts.h5" &&
    tune txtcnn "$tmp/texts.h5" fed.model=txtcnn fed.algorithm=fedper fed.dim=8 txtcnn.f1=4 txtcnn.f2=4 txtcnn.f3=4 fed.cohort=4 random.resource=3
predict txtcnn "$tmp/texts.h5" && errors >"$tmp/mine" && evaluated txtcnn "$tmp/texts.h5" | cmp - "$tmp/mine"
result $? "documents of clients, too"
awk 'BEGIN { print "who,what,text"
    for (i = 0; i < 180; i++) { c = int(i * 7 / 3) % 6; print "w" c "," (i % 2 != c % 2 ? "good" : "bad") "," (i % 2 ? "nice" : "poor") " film " i % 7 } }' >"$tmp/own.csv"
awk -F, -v OFS=, 'NR % 13 == 1 { $1 = NR == 1 ? $1 : NR == 14 ? "" : "w9"; print }' "$tmp/own.csv" >"$tmp/other.csv"
sed -n '1d; 5,60p' "$tmp/own.csv" >"$tmp/part.csv"
(cat "$tmp/other.csv" "$tmp/part.csv") >"$tmp/mixed.csv"
columns="separator=comma label=what text=text client=who"
call pack text "$tmp/own.csv" $columns valid=0.2 -o "$tmp/own.h5" &&
    tune owned "$tmp/own.h5" fed.model=txtcnn fed.algorithm=local fed.dim=8 txtcnn.f1=4 txtcnn.f2=4 txtcnn.f3=4 fed.cohort=6 client.lr=0.5 \
        client.epochs=5 random.resource=60 && predict owned "$tmp/mixed.csv" $columns && cp "$tmp/p.csv" "$tmp/one.csv" &&
    sed 1d "$tmp/p.csv" | cut -d, -f2,3 >"$tmp/got" && sed 1d "$tmp/mixed.csv" | cut -d, -f1,2 | cmp - "$tmp/got"
result $? "texts of clients are predicted in the order of their file"
check "those of other clients are told" grep -q " 13 of 69 rows are of clients that were never trained" "$tmp/log"
awk -F, 'NR > 14 { wrong += $3 != $4 } END { exit !(NR == 70 && wrong == 0) }' "$tmp/one.csv"
result $? "each client's own weights are right of all"
mpirun -n 3 "$weft" predict "$tmp/owned.h5" "$tmp/mixed.csv" $columns >"$tmp/p.csv" 2>"$tmp/log" && cmp "$tmp/p.csv" "$tmp/one.csv"
result $? "and by three ranks"
sed 1d "$tmp/mixed.csv" | cut -d, -f3 >"$tmp/lines.txt"
predict owned "$tmp/lines.txt" text= client= separator=tab && grep -q " 69 of 69 rows are of clients" "$tmp/log"
result $? "texts that are nobody's are told"
[ "$(sed -n '2,14p' "$tmp/p.csv" | cut -d, -f4-)" = "$(sed -n '2,14p' "$tmp/one.csv" | cut -d, -f5-)" ]
result $? "they have the server's weights"
plays >"$tmp/plays.txt" && call pack shakespeare "$tmp/plays.txt" length=20 stride=5 -o "$tmp/plays.h5" &&
    tune lstm "$tmp/plays.h5" fed.model=lstm fed.algorithm=fedper lstm.hidden=6 fed.cohort=3 random.resource=2 &&
    predict lstm "$tmp/plays.h5" && "$python" - "$tmp/p.csv" >"$tmp/mine" 2>>"$tmp/log" <<'EOF' &&
import collections, csv, sys
n, wrong = collections.Counter(), collections.Counter()
for row in csv.DictReader(open(sys.argv[1])):
    n[row["part"]] += 1
    wrong[row["part"]] += row["label"] != row["class"]
for part in sorted(n):
    print(f"{part} {n[part]} {100 * wrong[part] / n[part]:.3f}")
EOF
    evaluated lstm "$tmp/plays.h5" | cmp - "$tmp/mine"
result $? "and the next characters of windows"
echo "1..$count"
