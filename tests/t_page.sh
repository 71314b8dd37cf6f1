#!/bin/bash
# A run as one page: what is embedded is what the run file has, of all kinds of runs, with any letters in names; in
# Chromium, where there is one, what is drawn is that, and a person can find, mark, compare, filter, choose a range.
# Prints TAP.
. tests/tap.sh
export PYTHONDONTWRITEBYTECODE=1 WEFT=$weft

need_python h5py
page() # NAME RUN.h5 ...
{
    "$python" -W error analysis/page.py "${@:2}" -o "$tmp/$1.html" >"$tmp/out" 2>"$tmp/log"
}
embeds() # NAME RUN.h5 STATEMENT
{
    page "$1" "$2" && "$python" tests/page.py data "$tmp/$1.html" "$2" >"$tmp/out" 2>"$tmp/log"
    result $? "$3"
}
odd="$tmp/a'\"<b2>&amp;<img src=x>.h5"
cat >"$tmp/command.ini" <<'END'
[run]
task = command
tuner = asha
workers = 3
[command]
run = sh -c 'case $PARAM_rate in 0.0[0-2]*) exit 1;; esac; echo loss=${PARAM_rate}e-$WEFT_DONE'
[parameters]
rate = log 1e-2 .. 1
on = yes | no
shift = -2 .. 2 when on = yes
kind = <b2>x</b2> | </script><script>throw"1"</script> | <img/src=x/onerror=throw"1"> | "&lt;'
[asha]
trials = 24
max_resource = 9
reduction = 3
[space]
configs = 24
END
call tune "$tmp/command.ini" -o "$odd"
result $? "a run with failed trials, an axis that some lack, and names of any letters"
embeds odd "$odd" "is embedded as it is"
! grep -q 'throw"1"' "$tmp/odd.html"
result $? "and its names start no tag"

echo >"$tmp/none.ini"
run() # NAME TASK TUNER [SECTION.KEY=VALUE ...]
{
    call tune "$tmp/none.ini" run.task="$2" run.tuner="$3" -o "$tmp/$1.h5" "${@:4}"
}
call pack synthetic images rows=200 -o "$tmp/rows.h5" &&
    run folds sgd asha run.data="$tmp/rows.h5" sgd.model=linear sgd.folds=3 train.lr="log 0.01 .. 1" asha.trials=6 \
        asha.max_resource=4 asha.reduction=2
embeds folds "$tmp/folds.h5" "epochs are means over folds"
call pack synthetic federated=generated clients=20 -o "$tmp/clients.h5" &&
    run fedex fed sha run.mixing=fedex run.data="$tmp/clients.h5" space.configs=6 sha.max_resource=8 fed.model=linear \
        client.lr="log 0.01 .. 1"
embeds fedex "$tmp/fedex.h5" "mixtures of a federation by rounds"
call pack synthetic documents rows=6000 -o "$tmp/doc.h5" &&
    run shared fmap ws_sha run.data="$tmp/doc.h5" space.configs=16 fmap.feature=ngram ngram.bins=4096 \
        ngram.order="1 .. 3" ngram.alpha="log 1e-3 .. 10"
embeds shared "$tmp/shared.h5" "configurations that share weights take the place of trials"
run goals command random space.configs=20 parameters.x="0.0 .. 1" parameters.y="0.0 .. 1" run.objectives="loss, size" run.limits="size <= 1.5" \
    command.run='awk -v x=$PARAM_x -v y=$PARAM_y "BEGIN { print \"loss=\" x + y * y \" size=\" 2 - x }"'
check "objectives are on a page" page goals "$tmp/goals.h5"
check "and are called so" grep -q '"word":"configuration"' "$tmp/shared.html"
! call tune "$tmp/none.ini" run.task=fed run.tuner=random run.data="$tmp/clients.h5" space.configs=2 random.resource=4 \
    fed.model=linear client.lr="log 0.01 .. 1" run.time_limit=1e-9 -o "$tmp/part.h5" &&
    page part "$tmp/part.h5" && grep -q '"unfinished":"no job is done yet' "$tmp/part.html"
result $? "a run that has only begun is a page"
call tune "$tmp/command.ini" command.run=false run.tuner=random space.configs=2 -o "$tmp/lost.h5"
page lost "$tmp/lost.h5" && grep -q '"none":"none of its 2 jobs' "$tmp/lost.html"
result $? "and one without a winner"
! page none "$tmp/none.h5" && [ "$(wc -l <"$tmp/log")" = 1 ] && [ ! -e "$tmp/none.html" ] &&
    ! page none "$tmp/rows.h5" && grep -q "^$tmp/rows.h5: not a run file of weft$" "$tmp/log"
result $? "what is no run is refused in one line"
cp "$tmp/rows.h5" "$tmp/kept.h5" && ! "$python" analysis/page.py "$tmp/folds.h5" -o "$tmp/kept.h5" 2>"$tmp/log" &&
    cmp -s "$tmp/rows.h5" "$tmp/kept.h5"
result $? "and no other file is replaced by a page"
# The answer of `weft report --importance` as it is, or none where the program has no such option.
cat >"$tmp/weft" <<'END'
#!/bin/sh
case $* in
*--csv*) printf 'run,axis,with,share,low,high,value,loss,loss_low,loss_high\nx,train.lr,,0.25,0.1,0.5,,,,\nx,train.lr,b,0.125,nan,0.5,,,,\n'
    printf 'x,train.lr,,,,,0.01,0.7,0.6,0.8\nx,train.lr,,,,,1,0.5,0.4,nan\n' ;;
*) printf 'run       x\nmatters   train.lr: of 25 %%\n' ;;
esac
END
chmod +x "$tmp/weft" && WEFT=$tmp/weft page shares "$tmp/folds.h5" &&
    grep -q '"importance":{"verdict":"train.lr: of 25 %","shares":\[{"axis":"train.lr","share":0.25,"low":0.1,"high":0.5},{"axis":"train.lr with b","share":0.125,"low":null,"high":0.5}\],"means":{"train.lr":\[\["0.01",0.7,0.6,0.8\],\["1",0.5,0.4,null\]\]}' "$tmp/shares.html" &&
    WEFT=false page shares-none "$tmp/folds.h5" && grep -q '"importance":null' "$tmp/shares-none.html"
result $? "shares of axes are what the report says, or nothing"

for chromium in chromium chromium-browser google-chrome ''; do command -v "$chromium" >/dev/null && break; done
if [ -z "$chromium" ]; then
    echo "ok $((count += 1)) - pages are drawn # SKIP no Chromium"
    echo "1..$count"
    exit
fi
look() # NAME: as a browser has it after ten virtual seconds; nothing on its console
{
    timeout "$net" "$chromium" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$tmp/profile" \
        --enable-logging=stderr --window-size=1366,768 --virtual-time-budget=10000 --dump-dom "file://$tmp/$1.html" \
        >"$tmp/$1.dom" 2>"$tmp/browser"
    status=$?
    grep CONSOLE "$tmp/browser" >"$tmp/log"
    [ $status = 0 ] && [ ! -s "$tmp/log" ] && grep -q 'id="table"' "$tmp/$1.dom"
}
look odd && "$python" tests/page.py drawn "$tmp/odd.dom" "$odd" >"$tmp/out" 2>"$tmp/log"
result $? "all trials are drawn at their numbers in all pictures"
for name in folds fedex shared part lost shares; do
    look $name || break
done
result $? "other kinds of runs are drawn without an error"
[ "$(grep -o 'class="mean" d="M[^"]*"' "$tmp/shares.dom" | grep -o L | wc -l)" = 1 ] && [ "$(grep -o 'class="bar" d="M[0-9.]* [0-9.]*H[0-9.]*" stroke="#7a9cc0"' "$tmp/shares.dom" | wc -l)" = 2 ]
result $? "importances, and the mean loss by value"
look goals && rings=$(grep -o 'class="front"[^>]*' "$tmp/goals.dom" | grep -o M | wc -l) && [ "$rings" -gt 1 ] &&
    "$python" -c 'import h5py, re, sys
f = h5py.File(sys.argv[1])
page = open(sys.argv[2]).read()
front, excess = f["objectives/front"][:], f["objectives/excess"][:]
rows = re.search(r"\"front\":{\"names\":\[\"size\"\],\"rows\":\[([0-9,]*)\]", page)[1]
sys.exit(not (front.sum() == int(sys.argv[3]) and rows == ",".join(map(str, sorted(f["events/trial"][:][front > 0]))) and (excess > 0).any()))' \
        "$tmp/goals.h5" "$tmp/goals.html" "$rings" >"$tmp/out" 2>"$tmp/log"
result $? "each trial of the front has a ring"
marks=$(grep -o 'class="cell" d="[^"]*"' "$tmp/fedex.dom" | grep -o M | wc -l)
[ "$marks" = "$("$python" -c 'import h5py, sys; f = h5py.File(sys.argv[1]); p = f["mix/p"][:]; t = f["rounds/trial"][:]
print((p[t == f["winner"].attrs["trial"]] > 0).sum())' "$tmp/fedex.h5")" ]
result $? "a mixture has a cell for each round and configuration that is in play"
acts() # NAME SCRIPT WANTED STATEMENT: what it leaves in data-told
{
    "$python" tests/page.py act "$tmp/$1.html" "$tmp/acts.html" "const told = (...x) => { document.body.dataset.told = x.join(';'); }; $2" &&
        look acts && "$python" tests/page.py told "$tmp/acts.dom" told >"$tmp/out" && [ "$(cat "$tmp/out")" = "$3" ]
    result $? "$4"
}
click='const at = (p, i, type) => { const box = p.svg.getBoundingClientRect(), zoom = box.width / p.svg.viewBox.baseVal.width;
    p.svg.dispatchEvent(new MouseEvent(type, { clientX: box.left + p.px[i] * zoom, clientY: box.top + p.py[i] * zoom })); };
    const of = name => plots.find(p => p.svg.getAttribute("aria-label") === name);
    const key = (element, name) => element.onkeydown(new KeyboardEvent("keydown", { key: name }));'
acts odd "$click const rows = [run.winner.row, 11]; at(of('parameters.rate'), of('parameters.rate').pr.indexOf(rows[0]), 'click');
    \$('find').value = 11; key(\$('find'), 'Enter');
    told(state.picks.join() === rows.join(), document.querySelectorAll('.compare thead th').length, document.querySelectorAll('#table tr.picked').length,
        plots.every(p => rows.every((row, k) => {
            const line = [...p.top.querySelectorAll('path')].find(x => x.getAttribute('stroke') === PICKS[k][0])?.getAttribute('d') || '';
            return (line.match(/[ML]/g) || []).length === p.pr.filter(r => r === row).length && (p.kind === 'points' || !line.includes('a')) &&
                (p.kind === 'bars' || !line || [...p.top.querySelectorAll('text')].some(t => t.textContent.replace('\u2605', '') == row)); })));" "true;2;2;true" "a click and a number mark trials everywhere, side by side"
failed=$("$python" -c 'import h5py, sys, math; f = h5py.File(sys.argv[1])["events"]
last = dict(zip(f["trial"][:].tolist(), f["loss"][:].tolist()))
print(sum(not math.isfinite(v) for v in last.values()), sum(v < 0.1 for v in last.values()))' "$odd")
bold=$("$python" -c 'import h5py, sys; f = h5py.File(sys.argv[1])["configs"]
print(",".join(str(i) for i in range(3) if b"kind=<b2>" in f["text"][i]))' "$odd")
acts odd "\$('words').value = 'state=failed'; \$('words').oninput(); setTimeout(() => { const first = shown.length;
    \$('words').value = 'loss<0.1'; \$('words').oninput(); setTimeout(() => { const text = \$('count').textContent;
    \$('words').value = 'nosuch=1'; \$('words').oninput(); setTimeout(() => told(first + ' ' + shown.length, text, \$('count').textContent, shown.length,
    ['trial=5', 'trial<=5 trial>2 trial!=4', 'kind!=\"&lt;\' trial<3 <b2>'].map(words => run.id.filter((_, i) => parse(words)(i)).join())), 500); }, 500); }, 500);" \
    "${failed% *} 24;${failed#* } of 24 shown;there is no column nosuch;24;5,3,5,$bold" "a filter by words and numbers; what it does not know is said"
acts odd "$click const p = of('parallel coordinates'), box = p.svg.getBoundingClientRect(), zoom = box.width / p.svg.viewBox.baseVal.width;
    const go = (type, y) => p.svg['on' + type](new MouseEvent(type, { clientX: box.left + p.x0 * zoom, clientY: box.top + y * zoom }));
    go('pointerdown', p.y1); go('pointermove', p.y1 + 50); go('pointerup', (p.y0 + p.y1) / 2);
    const rate = run.axes[0].value, half = shown.length; const right = rate.every((v, i) => shown.includes(i) === v >= 0.1);
    document.querySelector('.chip button').click(); told(half > 0 && half < 24, right, shown.length);" "true;true;24" "a range is dragged on a parallel axis, and taken back"
half=$("$python" -c 'import h5py, sys, math; f = h5py.File(sys.argv[1])["events"]
last = [v for v in dict(zip(f["trial"][:].tolist(), f["loss"][:].tolist())).values() if math.isfinite(v)]
print(math.ceil(len(last) / 2), sorted(last)[math.ceil(len(last) / 2) - 1])' "$odd")
acts odd "const of = () => [...document.querySelectorAll('.plain')].find(b => b.textContent === '50 %'); of().click();
    const some = shown.length, worst = Math.max(...shown.map(i => run.columns.loss[i])); of().click(); told(some + ' ' + worst, shown.length);" \
    "$half;24" "the better half alone, of which scales are made"
acts odd "const head = [...document.querySelectorAll('#table th button')].find(b => b.textContent === 'rate'); head.click();
    const first = () => document.querySelector('#table tbody td').textContent.replace('\u2605 ', ''), up = first();
    [...document.querySelectorAll('#table th button')].find(b => b.textContent.startsWith('rate')).click();
    const order = run.id.slice().sort((a, b) => run.axes[0].value[a] - run.axes[0].value[b]); told(up == order[0], first() == order[23]);" "true;true" "the table is sorted by its headings, up and down"
page many "$odd" "$tmp/folds.h5" "$tmp/shared.h5"
acts many "document.querySelectorAll('.runs tbody tr')[2].click(); told(run.word, document.querySelectorAll('.runs .stairs').length, \$('title').textContent);" \
    "configuration;3;shared" "of several runs one is chosen"
call tune inputs/flow.ini run.tuner=random random.resource=3 space.configs=10000 -o "$tmp/big.h5" &&
    page big "$tmp/big.h5" && [ "$(wc -c <"$tmp/big.html")" -lt 15000000 ] && look big &&
    "$python" tests/page.py drawn "$tmp/big.dom" "$tmp/big.h5" >"$tmp/out" 2>"$tmp/log" && grep -q '^drawn 10000$' "$tmp/out"
result $? "10,000 trials are drawn, in less than 15 MB"
echo "1..$count"
