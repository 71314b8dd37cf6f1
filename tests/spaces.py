"""Spaces that other Python programs write, for t_spaces.sh: classes with the names and attributes of Optuna 5.0,
scipy 1.17 and ConfigSpace 1.2, which are not needed. With --real those of the programs themselves are compared with
these. Prints nothing, or what is wrong.

usage: spaces.py RUN [--real]"""
import json
import os
import sys

import weft
import weft_search


def made(name, /, **attributes):
    return type(name, (), attributes)()


class Frozen:
    """A frozen distribution of scipy.stats."""

    def __init__(self, of, low, high, args, kwds):
        self.dist, self.ends, self.args, self.kwds = made("gen", name=of), (low, high), args, kwds

    def support(self):
        return self.ends


def frozen(of, low, high, *args, **kwds):
    kind = "rv_discrete_frozen" if of == "randint" else "rv_continuous_frozen"
    return type(kind, (Frozen,), {})(of, low, high, args, kwds)


def real(low, high, log=False, step=None):
    return made("FloatDistribution", low=low, high=high, log=log, step=step)


def whole(low, high, log=False, step=1):
    return made("IntDistribution", low=low, high=high, log=log, step=step)


SPACE = {"i": whole(1, 9, step=4), "n": whole(1, 100, log=True), "m": whole(1, 9), "f": real(0.0, 1.0),
         "g": real(1e-5, 1.0, log=True), "c": made("CategoricalDistribution", choices=(None, "a", 3)),
         "e": made("CategoricalDistribution", choices=("x y",)), "u": frozen("uniform", 1, 3, 1, 2),
         "l": frozen("loguniform", 0.001, 1, 0.001, 1), "k": frozen("reciprocal", 3, 6, a=1, b=2, scale=3),
         "r": frozen("randint", 1, 8, 1, 9)}
TEXT = {"i": "1 .. 9 step 4", "n": "log 1 .. 100", "m": "1 .. 9", "f": "0.0 .. 1.0", "g": "log 1e-05 .. 1.0",
        "c": "None | a | 3", "e": "'x y'", "u": "1.0 .. 3.0", "l": "log 0.001 .. 1.0", "k": "log 3.0 .. 6.0", "r": "1 .. 8"}

TREE = {"hyperparameters": [
            {"type": "uniform_int", "name": "depth", "lower": 1, "upper": 9, "log": False},
            {"type": "constant", "name": "epochs", "value": "5 h"},
            {"type": "categorical", "name": "kind", "choices": ["a", "b", "c d"], "weights": [1, 1, 1]},
            {"type": "uniform_int", "name": "even", "lower": 2, "upper": 9, "log": False, "q": 2},
            {"type": "uniform_float", "name": "lr", "lower": 0.0001, "upper": 1.0, "log": True},
            {"type": "ordinal", "name": "size", "sequence": ["small", "mid", "big"]},
            {"type": "uniform_float", "name": "mom", "lower": 0.0, "upper": 0.9, "log": False},
            {"type": "constant", "name": "only", "value": [1, 2]},
            {"type": "uniform_int", "name": "width", "lower": 16, "upper": 256, "log": True, "q": None}],
        "conditions": [
            {"type": "EQ", "child": "mom", "parent": "kind", "value": "a"},
            {"type": "EQ", "child": "only", "parent": "kind", "value": "c d"},
            {"type": "AND", "child": "width", "conditions": [
                {"type": "IN", "child": "width", "parent": "kind", "values": ["a", "b"]},
                {"type": "EQ", "child": "width", "parent": "epochs", "value": "5 h"},
                {"type": "EQ", "child": "width", "parent": "depth", "value": 3}]}],
        "forbiddens": [
            {"type": "AND", "clauses": [{"type": "EQUALS", "name": "kind", "value": "b"},
                                        {"type": "EQUALS", "name": "epochs", "value": "5 h"},
                                        {"type": "IN", "name": "size", "values": ["mid", "big"]}]},
            {"type": "EQUALS", "name": "depth", "value": 7}]}
OF_TREE = {"depth": "1 .. 9", "epochs": "'5 h'", "kind": "a | b | c d", "even": "2 .. 8 step 2", "lr": "log 0.0001 .. 1.0",
           "size": "small | mid | big", "mom": "0.0 .. 0.9 when kind = a", "only": "<[1, 2]> when kind = c d",
           "width": "log 16 .. 256 when kind = a | b and depth = 3"}
NEVER = "parameters.kind = b and parameters.size = mid | big or parameters.depth = 7"


def tree(**changes):
    return made("ConfigurationSpace", to_serialized_dict=lambda self: TREE | changes)


def fits(v):
    assert v["i"] in (1, 5, 9) and type(v["i"]) is int and type(v["u"]) is float and 1 <= v["u"] <= 3, v
    assert v["c"] in (None, "a", 3) and v["e"] == "x y" and type(v["r"]) is int and 1 <= v["r"] <= 8, v
    assert type(v["f"]) is float and 3 <= v["k"] <= 6, v
    return v["f"]


def grows(v):
    assert ("mom" in v) == (v["kind"] == "a") and ("width" in v) == (v["kind"] in ("a", "b") and v["depth"] == 3), v
    assert v.get("only", [1, 2]) == [1, 2] and ("only" in v) == (v["kind"] == "c d") and v["epochs"] == "5 h", v
    assert not (v["kind"] == "b" and v["size"] in ("mid", "big")) and v["depth"] != 7, v
    return v["lr"]


def stopped(run, space, measure):
    """A search that raises after 20 trials, and then goes on by the same call."""
    left, seen = [20], []

    def loss(t):
        left[0] -= 1
        if left[0] == 0:
            raise KeyError("stop")
        seen.append(t.values)
        return measure(t.values)

    for _ in range(2):
        try:
            best = weft.minimize(loss, space, sampler="tpe", trials=40, output=run)
        except KeyError:
            pass
    assert left[0] == -21 and len(seen) == 40, left
    return best


def refused(space, text):
    try:
        weft.minimize(lambda t: 0, space, trials=2)
    except weft.Error as e:
        assert text in str(e) and "\n" not in str(e), e
        return
    sys.exit(f"{space}: was not refused, expected {text}")


def mistakes(run):
    for space, text in ((real(0, 1, step=0.1), "a: a step of 0.1"), (whole(1, 9, True, 2), "a: a step of 2"),
                        (frozen("norm", -1, 1, 0, 1), "a: scipy.stats.norm: expected uniform"),
                        (frozen("loguniform", 2, 3, 1, 2, loc=1), "a: scipy.stats.loguniform with loc"),
                        (frozen("loguniform", 2, 3, 1, 2, 1), "a: scipy.stats.loguniform with loc"),
                        (made("DiscreteUniformDistribution"), "a: DiscreteUniformDistribution: expected Float"),
                        (made("NormalFloatHyperparameter"), "a: NormalFloatHyperparameter: expected"),
                        ("[1, 2]", "a: '[1, 2]': in Python choices are a list"),
                        ("loguniform(1, 2)", "a: 'loguniform(1, 2)': in Python"), ("0.1, 1", "a: '0.1, 1': in Python")):
        refused({"a": space}, "parameters." + text)
    some = TREE["hyperparameters"]
    refused(tree(hyperparameters=[{"type": "normal_float", "name": "z"}]), "parameters.z: a hyperparameter of type normal_float")
    refused(tree(hyperparameters=[some[2] | {"weights": [1, 2, 3]}]), "parameters.kind: choices with weights")
    refused(tree(hyperparameters=[some[4] | {"q": 0.5}]), "parameters.lr: a step of 0.5")
    refused(tree(conditions=[{"type": "GT", "child": "lr", "parent": "depth", "value": 3}]), "parameters.lr: a condition: of type GT")
    refused(tree(conditions=[{"type": "EQ", "child": "lr", "parent": "kind", "value": "q"}]), "parameters.kind: a condition has the value 'q'")
    refused(tree(forbiddens=[{"type": "LESS", "left": "a", "right": "b"}]), "a forbidden clause: of type LESS")
    refused(tree(forbiddens=[{"type": "IN", "name": "depth", "values": list(range(1, 10))}]), "forbids 100 % of the space")
    refused(made("ConfigurationSpace"), "older than ConfigSpace 1.0")
    refused([1], "parameters: [1]: expected a dict of ranges")
    refused(run + "-none.json", "-none.json: ")
    with open(run + "-bad.json", "w") as f:
        json.dump({"a": 1}, f)
    refused(run + "-bad.json", "expected the JSON of a ConfigurationSpace")
    try:
        weft.minimize(lambda t: 0, tree(), settings={"space.forbid": "parameters.depth = 1"})
        sys.exit("two kinds of forbidden clauses were not refused")
    except weft.Error as e:
        assert "space.forbid: the ConfigurationSpace has" in str(e), e


def text_of(space):
    return weft_search.Space(space).text


def real_ones(run):
    """The classes of the programs give the same texts as those above."""
    import ConfigSpace as C
    import optuna.distributions as o
    import scipy.stats as s
    same = {"i": o.IntDistribution(1, 9, step=4), "n": o.IntDistribution(1, 100, log=True), "m": o.IntDistribution(1, 9),
            "f": o.FloatDistribution(0, 1), "g": o.FloatDistribution(1e-5, 1, log=True),
            "c": o.CategoricalDistribution([None, "a", 3]), "e": o.CategoricalDistribution(["x y"]), "u": s.uniform(1, 2),
            "l": s.loguniform(0.001, 1), "k": s.reciprocal(a=1, b=2, scale=3), "r": s.randint(1, 9)}
    assert text_of(same) == TEXT, text_of(same)
    by = {h.name: h for h in (C.UniformIntegerHyperparameter("depth", 1, 9), C.Constant("epochs", "5 h"),
                              C.CategoricalHyperparameter("kind", ["a", "b", "c d"]),
                              C.UniformFloatHyperparameter("lr", 1e-4, 1, log=True),
                              C.OrdinalHyperparameter("size", ["small", "mid", "big"]),
                              C.UniformFloatHyperparameter("mom", 0, 0.9),
                              C.UniformIntegerHyperparameter("width", 16, 256, log=True))}
    space = C.ConfigurationSpace(space=by)
    space.add(C.EqualsCondition(by["mom"], by["kind"], "a"),
              C.AndConjunction(C.InCondition(by["width"], by["kind"], ["a", "b"]),
                               C.EqualsCondition(by["width"], by["depth"], 3)))
    space.add(C.ForbiddenAndConjunction(C.ForbiddenEqualsClause(by["kind"], "b"),
                                        C.ForbiddenInClause(by["size"], ["mid", "big"])),
              C.ForbiddenEqualsClause(by["depth"], 7))
    of_tree = {name: text for name, text in OF_TREE.items() if name not in ("only", "even")}
    space.to_json(run + "-real.json")
    for one in (space, run + "-real.json"):
        assert text_of(one) == of_tree and weft_search.Space(one).forbid == NEVER, text_of(one)
    for one, name in ((s.norm(), "norm"), (s.loguniform(1, 2, loc=1), "loc"), (s.loguniform(1, 2, 1), "loc"),
                      (o.FloatDistribution(0, 1, step=0.1), "step"), (by["lr"], "UniformFloat")):
        refused({"a": one}, name)


def main(run):
    assert text_of(SPACE) == TEXT, text_of(SPACE)
    with open(run + "-tree.json", "w") as f:
        json.dump(TREE, f)
    for space in (tree(), run + "-tree.json"):
        assert text_of(space) == OF_TREE and weft_search.Space(space).forbid == NEVER, text_of(space)
    stopped(run + "-optuna.h5", SPACE, fits)
    stopped(run + "-tree.h5", tree(), grows)
    assert weft.minimize(lambda t: grows(t.values), run + "-tree.json", sampler="tpe", trials=40,
                         output=run + "-json.h5").loss < 0.01
    with weft.Search({"parameters": os.path.join(run + "-tree.json")}) as s:
        grows(s.ask().values)
    mistakes(run)


if __name__ == "__main__":
    (real_ones if "--real" in sys.argv else main)(sys.argv[1])
