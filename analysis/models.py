"""What exported winners compute, for predict.py: random Fourier features of numbers (dense), exact kernels, bags of n-grams
(tokenizers split, remove, kim; words of up to 240 bytes, hashed by XXH3 of xxHash's specification), networks."""
import math
import re
import statistics
import struct
import unicodedata
from collections import Counter

import numpy as np

f4, f8 = np.float32, np.float64
MATRIX, OFFSET, HASH = 4, 5, 6  # purposes of random numbers, include/weft/base/random.h
TAIL = 1
CONVS = {"leaf": [(5, 2, 32, 2), (5, 2, 64, 2), 2048], "femnist": [(3, 0, 32, 1), (3, 0, 64, 2), 1024], "cifar":
         [(3, 1, 32, 2), (3, 1, 64, 2), (3, 1, 64, 2), 64]}  # places, zeros around, channels, pooling; the hidden layer


def refuse(o, **done):
    """Ends the program where an option SECTION__KEY has none of the values that are done here."""
    for name, values in done.items():
        key = name.replace("__", ".")
        if o[key] not in values.split():
            raise SystemExit(f"{key} = {o[key]} is not done here; `weft predict` does it")


def random(seed, purpose, n, *counter):
    """Philox at (counter[0] + i, counter[1] ...), i < n: [n][4] words."""
    first = sum(c << 64 * i for i, c in enumerate(counter)) - 1
    return np.random.Philox(key=seed | purpose << 64, counter=first % 2**256).random_raw(4 * n).reshape(n, 4)


def unit(word):
    return (word >> np.uint64(11)) * 2.0**-53


def fma(a, b, c):
    return (a.astype(f8) * b + c).astype(f4)


def entries(seed, laplacian, d, wide):
    """The random matrix [wide][d]: quantiles of 15 random bits with a sign; of Cauchy's law the last are exact."""
    below = (np.arange(32768) + 0.5) / 32768
    normal = statistics.NormalDist().inv_cdf
    table = np.tan(np.pi / 2 * below) if laplacian else np.array([normal(0.5 + half / 2) for half in below])
    bits = np.hstack([random(seed, MATRIX, wide, 0, b).view("<u2") for b in range((d + 15) // 16)])[:, :d]
    level = (bits & 32767).astype(int)
    size = table[level]
    for i in range(d if laplacian else 0):
        above = (32768 - level[:, i] - unit(random(seed, MATRIX, wide, 0, i, TAIL)[:, 0])) / 32768
        size[:, i] = np.where(level[:, i] < 32512, size[:, i], 1 / np.tan(np.pi / 2 * above))
    return np.where(bits >> 15, -size, size).astype(f4)


def rff(w, o, stat, x):
    """Features of rows x, to the bit: they are rounded to bytes."""
    how, seed = o["rff.preprocess"], int(o["run.seed"])
    laplacian, gamma = o["rff.kernel"] == "laplacian", float(o["rff.gamma"])
    if not laplacian:
        refuse(o, rff__projection="dense")
    d, wide = x.shape[1], int(o["rff.features"])
    mean, deviation, least, most = stat.reshape(4, d)
    half = (most.astype(f8) - least) / 2
    reach = np.maximum(abs(least), abs(most))
    far = np.where((reach >= 1024) & (reach >= 256 * half), least + half, 0)
    shift, width = {"standard": (mean, deviation), "minmax": (least, most - least), "none": (far, 0)}.get(how, (0, 0))
    seen = (x - f4(shift)) * (1 / np.where(width > 0, width, 1)).astype(f4)
    turns = np.full((len(x), 1), (gamma if laplacian else math.sqrt(2 * gamma)) / (2 * math.pi))
    if how == "l2":
        length = np.sqrt((x.astype(f8) ** 2).sum(1, keepdims=True))
        turns /= np.where(length > 0, length, 1)
    p = entries(seed, laplacian, d, wide)
    y = np.zeros((len(x), wide), f4)
    for k in range(d):
        y = fma(seen[:, k : k + 1], p[:, k], y)
    offset = unit(random(seed, OFFSET, wide, 0)[:, 0]).astype(f4)
    high = turns.astype(f4)
    r = fma(y, high, -np.rint(y * high)) + fma(y, (turns - high).astype(f4), offset)
    z = f4(0.25) - abs(r - np.rint(r))
    q = np.full_like(z, -9016.16603)
    for term in (10330.2776, -5249.81708, 797.961834):
        q = fma(q, z * z, f4(term))
    return np.rint(q * z) * (math.sqrt(2 / wide) / 127)


def landmarks(stat, x):
    """Rows x, scaled, and the landmarks."""
    d, m = x.shape[1], int(stat[0])
    shift, scale, z = stat[1 : 1 + d], stat[1 + d : 1 + 2 * d], stat[1 + 2 * d : 1 + (2 + m) * d].reshape(m, d)
    return ((x.astype(f4) - shift) * scale).astype(f8), z.astype(f8)


def beyond(w, o, rows):
    """What is to be told of rows outside the range of the training rows, where features go on growing; else nothing."""
    if o.get("fmap.feature") != "nystrom" or o["nystrom.linear"] != "yes":
        return ""
    x, z = landmarks(states(w)[0], rows)
    least, most = z.min(0), z.max(0)
    past = np.maximum(least - x, x - most) / np.where(most > least, most - least, np.inf)
    outside, far = (past > 0.1).any(1).sum(), np.where(past > 0.1, past, 0).max(0)
    return outside and (f"{outside} of {len(x)} rows lie outside the range of the training rows, the farthest by {far.max():.3g} times its "
                        f"width, in column {w['column'].asstr()[far.argmax()]}: there the linear part goes on as a line (nystrom.linear)")


def kernel(o, stat, x):
    """The kernel between rows x and the landmarks."""
    d, gamma = x.shape[1], float(o["nystrom.gamma"])
    x, z = landmarks(stat, x)
    product = x @ z.T
    if o["nystrom.kernel"] == "laplacian":
        apart = sum(abs(x[:, k : k + 1] - z[:, k]) for k in range(d))
    else:
        apart = (x**2).sum(1)[:, None] + (z**2).sum(1) - 2 * product
    return np.exp(-gamma * np.maximum(apart, 0)) + (product / d if o["nystrom.linear"] == "yes" else 0)


def weights_of(w, o, s, documents):
    """The weight of each column from its counts s[columns][classes] in training."""
    alpha, of, total = float(o["ngram.alpha"]), s.sum(0), s.sum(1)
    if o["ngram.weights"] == "sif":
        return alpha * of.sum() / (alpha * of.sum() + total)
    if o["ngram.weights"] == "tfidf":
        return np.log((1 + documents) / (1 + total)) + 1
    if o["ngram.weights"] != "nb":
        return np.ones(len(s))
    mass = alpha * (total > 0).sum()
    r = np.log((alpha + s) / (alpha + total[:, None] - s) * ((mass + of.sum() - of) / (mass + of)))
    r = r[:, 1] if s.shape[1] == 2 else r[np.arange(len(s)), np.abs(r).argmax(1)]
    return np.where(total > 0, r, 0)


def ngram(w, o, stat, texts):
    """Rows of columns and values, one for each text."""
    refuse(o, ngram__stop="false", ngram__tokenizer="split remove kim")
    bins, classes = int(o["ngram.bins"]), len(w["class"])
    columns, stat = bins, stat.astype(f8)
    weight = weights_of(w, o, stat[: columns * classes].reshape(columns, classes), stat[bins * classes])
    grams = o["ngram.grams"] if o["ngram.grams"] != "auto" else "1-" + o["ngram.order"]
    least, most = map(int, grams.split("-"))
    one = w.attrs["id"] if o["ngram.hash"] == "per_map" else 2**64 - 1
    seed = int(random(int(o["run.seed"]), HASH, 1, int(one))[0, 0])
    column_of = None
    if o["ngram.columns"] == "vocabulary":
        keys = [sum(int(part) << 16 * i for i, part in enumerate(key)) for key in stat[bins * classes + 1 :].reshape(-1, 4)]
        column_of = {key: j for j, key in enumerate(keys[1 : 1 + keys[0]])}
    lower, known = o["ngram.lower"] == "true", {}
    for text in texts:
        hashes = []
        for word in words(o["ngram.tokenizer"], text):
            if word not in known:
                known[word] = xxh3((word.lower() if lower else word).encode())
            hashes.append(known[word])
        count = Counter()
        for t in range(len(hashes)):
            g = seed
            for u in range(t, min(t + most, len(hashes))):
                g = mixed(g ^ hashes[u])
                if u - t + 1 >= least:
                    count[(g >> 32) * columns >> 32 if column_of is None else column_of.get(g)] += 1
        count.pop(None, None)
        at, n = np.array(list(count), int), np.array(list(count.values()), f8)
        if o["ngram.binary"] == "true" or o["ngram.weights"] == "binary":
            n[:] = 1
        value = n * weight[at]
        norm = {"l2": np.sqrt((value**2).sum()), "average": n.sum()}.get(o["ngram.normalize"], 0)
        yield at, value / norm if norm > 0 else value


SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")
WORD = (1 << 64) - 1


def states(w):
    """Statistics and weights, of each fold."""
    return w["state/folds"][:] if "folds" in w["state"] else [np.concatenate([w["state"][n][:].ravel() for n in w["tensors"].asstr()])]


def maps(w, o, rows):
    """Scores of rows or texts by a linear model of features; with folds their mean over the maps of all."""
    classes, numbers = len(w["class"]), "target" in w
    if o["fmap.feature"] == "ngram":
        wide = bins = int(o["ngram.bins"])
        nstat = bins * classes + 1 + (o["ngram.columns"] == "vocabulary") * 4 * (1 + bins)
    elif o["fmap.feature"] == "nystrom":
        wide, nstat = int(o["nystrom.landmarks"]), 1 + (2 + int(o["nystrom.landmarks"])) * rows.shape[1]
    else:
        wide, nstat = int(o["rff.features"]), 4 * rows.shape[1]
    total = 0
    folds = states(w)
    for state in folds:
        stat, last = state[:nstat], (len(state) - nstat) // (wide + 1)
        weights, b = state[nstat:-last].astype(f8).reshape(last, wide), state[-last:].astype(f8)
        if o["fmap.feature"] == "ngram":
            s = np.array([weights[:, at] @ x for at, x in ngram(w, o, stat, rows)]) + b
        elif o["fmap.feature"] == "nystrom":
            s = kernel(o, stat, rows) @ weights[:, : int(stat[0])].T + b
        else:
            s = rff(w, o, stat, rows) @ weights.T + b
        s = np.hstack([-s, s]) if last < classes and not numbers else s
        if o["fmap.model"] == "logistic":
            with np.errstate(over="ignore"):  # far rows: 1 / (1 + inf) is 0
                s = 1 / (1 + np.exp(-s))
            s /= s.sum(1, keepdims=True)
        total = total + s / len(folds)
    return total


def mixed(h):
    h = (h ^ h >> 32) * 0x9E3779B97F4A7C15 & WORD
    return (h ^ h >> 29) * 0xBF58476D1CE4E5B9 & WORD


def at(data, place):
    return struct.unpack_from("<Q", data, place)[0]


def end(h, first, by, second, last=None):
    h = (h ^ h >> first) * by & WORD
    return h ^ h >> second if last is None else (h ^ h >> second) * last & WORD


def fold(a, b):
    return (a * b & WORD) ^ a * b >> 64


def xxh3(word):
    n = len(word)
    if n < 4:
        h = word[0] << 16 | word[n // 2] << 24 | word[-1] | n << 8
        h = end(h ^ (at(SECRET, 0) ^ at(SECRET, 0) >> 32) & 0xffffffff, 33, 0xC2B2AE3D27D4EB4F, 29, 0x165667B19E3779F9)
        return h ^ h >> 32
    if n < 9:
        low, high = struct.unpack("<I", word[:4])[0], struct.unpack("<I", word[-4:])[0]
        h = (high + (low << 32)) ^ at(SECRET, 8) ^ at(SECRET, 16)
        h ^= (h << 49 | h >> 15) & WORD ^ (h << 24 | h >> 40) & WORD
        h = h * 0x9FB21C651E98DF25 & WORD
        return end(h ^ (h >> 35) + n, 64, 0x9FB21C651E98DF25, 28)
    if n < 17:
        low, high = at(word, 0) ^ at(SECRET, 24) ^ at(SECRET, 32), at(word, n - 8) ^ at(SECRET, 40) ^ at(SECRET, 48)
        return end(n + int.from_bytes(low.to_bytes(8, "little"), "big") + high + fold(low, high) & WORD, 37, 0x165667919E3779F9, 32)
    mix = lambda i, s: fold(at(word, i) ^ at(SECRET, s), at(word, i + 8) ^ at(SECRET, s + 8))
    h = n * 0x9E3779B185EBCA87
    if n < 129:
        h += sum(mix(16 * i, 32 * i) + mix(n - 16 * (i + 1), 32 * i + 16) for i in range((n + 31) // 32))
        return end(h & WORD, 37, 0x165667919E3779F9, 32)
    if n > 240:
        raise SystemExit("a word of more than 240 bytes; weft predict takes it")
    h = end(h + sum(mix(16 * i, 16 * i) for i in range(8)) & WORD, 37, 0x165667919E3779F9, 32)
    h += sum(mix(16 * i, 16 * i - 125) for i in range(8, n // 16)) + mix(n - 16, 119)
    return end(h & WORD, 37, 0x165667919E3779F9, 32)


def words(tokenizer, text):
    """The words of a text, in order."""
    if tokenizer == "kim":
        text = re.sub(r"[^A-Za-z0-9(),!?'`]", " ", text)
        return re.sub(r"('s|'ve|n't|'re|'d|'ll)", r" \1", re.sub(r"([(),!?])", r" \1 ", text)).lower().split()
    if tokenizer == "split":
        kind = lambda c: unicodedata.category(c)[0] in "MPS"
        return re.findall(r"\S+", "".join(c if not i or kind(c) == kind(text[i - 1]) else " " + c for i, c in enumerate(text)))
    if tokenizer == "remove":
        text = "".join(c for c in text if unicodedata.category(c)[0] not in "MPS")
        return text.split()
    raise SystemExit(f"tokenizer {tokenizer} is not done here; weft predict does it")


def network(w, o, x):
    """Outputs: means of the probabilities, or numbers, over the networks of the folds."""
    net, flat = o[o["run.task"] + ".model"], [w["state"][name][:] for name in w["tensors"].asstr() if name != "server.state"]
    refuse(o | {"net": net, "arch": o.get("cnn.arch", "cifar")}, net="linear mlp cnn", arch=" ".join(CONVS))
    layers = CONVS[o["cnn.arch"]] if net == "cnn" else [int(n) for n in o["mlp.hidden"].split(",")] if net == "mlp" else []
    folds = flat[0] if len(flat) == 1 and flat[0].ndim == 2 else [np.concatenate([tensor.ravel() for tensor in flat])]
    return sum(forward(w, weights, [*layers, len(w["class"])], x.astype(float)) for weights in folds) / len(folds)


def forward(w, weights, layers, h):
    for i, layer in enumerate(layers):
        k, pad, out, pool = layer if isinstance(layer, tuple) else (1, 0, layer, 1)
        if isinstance(layer, tuple) and i == 0:
            h = h.reshape(-1, *(w.attrs[side] for side in ("channels", "height", "width"))).transpose(0, 2, 3, 1)
        h = np.pad(h, [(0, 0), (pad, pad), (pad, pad), (0, 0)]) if isinstance(layer, tuple) else h.reshape(len(h), 1, 1, -1)
        m, high, wide = k * k * h.shape[3] * out, h.shape[1] - k + 1, h.shape[2] - k + 1
        kernel, bias, weights = weights[:m].reshape(out, k, k, -1), weights[m:m + out], weights[m + out:]
        h = sum(h[:, r:r + high, q:q + wide] @ kernel[:, q, r].T for r in range(k) for q in range(k)) + bias
        h = np.maximum(h, 0) if i < len(layers) - 1 else h[:, 0, 0]
        if pool == 2:
            h = h[:, :high // 2 * 2, :wide // 2 * 2].reshape(len(h), high // 2, 2, wide // 2, 2, out).max((2, 4))
    e = np.exp(h - h.max(1, keepdims=True))
    return h if "target" in w else e / e.sum(1, keepdims=True)
