"""Spaces as other Python programs write them, told by the names of their classes, so that none of these programs is
needed: Optuna's distributions, frozen distributions of scipy.stats as scikit-learn takes them, ConfigSpace's
ConfigurationSpace and the JSON that it writes. What weft has no range for is refused."""
import json
import os

from weft_link import Error


def of_numpy(value):
    """A scalar as a number, an array as a list."""
    return value.tolist() if hasattr(value, "tolist") and hasattr(value, "ndim") else value


def numbers(kind, low, high, log=False, step=None):
    """A range of kind float or int, in the form of weft.minimize: a tuple, or a text where it has steps."""
    low, high = kind(of_numpy(low)), kind(of_numpy(high))
    if step and (kind is float or step != 1):
        if kind is float or log:
            raise Error(f"a step of {step} is for ranges of whole numbers without log; give the values as a list")
        return f"{low} .. {low + (high - low) // step * step} step {step}"
    return (low, high, "log") if log else (low, high)


def native(value):
    """The range of a distribution of another program, in the form of weft.minimize; any other value as it is."""
    name = type(value).__name__
    if name in ("FloatDistribution", "IntDistribution") and hasattr(value, "low"):
        return numbers(float if name[0] == "F" else int, value.low, value.high, value.log, value.step)
    if name == "CategoricalDistribution" and hasattr(value, "choices"):
        return list(value.choices)
    if name in ("rv_frozen", "rv_continuous_frozen", "rv_discrete_frozen"):
        of, (low, high) = value.dist.name, value.support()
        shapes = {"uniform": 0, "loguniform": 2, "reciprocal": 2, "randint": 2}
        if of not in shapes:
            raise Error(f"scipy.stats.{of}: expected uniform, loguniform or randint; others have no range")
        log = shapes[of] == 2 and of != "randint"
        if log and value.kwds.get("loc", (*value.args[2:], 0)[0]):
            raise Error(f"scipy.stats.{of} with loc: expected one that begins at its lower end, without loc")
        return numbers(int if of == "randint" else float, low, high, log)
    if name.endswith("Distribution") or name.endswith("Hyperparameter"):
        raise Error(f"{name}: expected FloatDistribution, IntDistribution, CategoricalDistribution, a frozen distribution "
                    "of scipy.stats, or a ConfigurationSpace in place of the dict")
    return value


# ---- ConfigSpace -----------------------------------------------------------------------------

def configspace(space):
    """What ConfigSpace writes as JSON, of a ConfigurationSpace or of a file NAME.json; None: it is neither."""
    if type(space).__name__ == "ConfigurationSpace":
        if not hasattr(space, "to_serialized_dict"):
            raise Error("this ConfigurationSpace is older than ConfigSpace 1.0: give the JSON file that it writes")
        return space.to_serialized_dict()
    if isinstance(space, (str, os.PathLike)) and os.fspath(space).endswith(".json"):
        try:
            with open(space, encoding="utf-8") as f:
                told = json.load(f)
        except (OSError, ValueError) as e:
            raise Error(f"{os.fspath(space)}: {e}") from None
        if isinstance(told, dict) and "hyperparameters" in told:
            return told
        raise Error(f"{os.fspath(space)}: expected the JSON of a ConfigurationSpace, with \"hyperparameters\"")
    return None


def hyperparameter(one):
    kind = one["type"]
    if kind in ("uniform_float", "uniform_int"):
        return numbers(float if kind == "uniform_float" else int, one["lower"], one["upper"], one.get("log"), one.get("q"))
    if kind == "categorical":
        if len(set(one.get("weights") or ())) > 1:
            raise Error("choices with weights: weft draws all alike; leave the weights out")
        return list(one["choices"])
    if kind in ("ordinal", "constant"):
        return list(one["sequence"]) if kind == "ordinal" else [one["value"]]
    raise Error(f"a hyperparameter of type {kind}: expected uniform_float, uniform_int, categorical, ordinal or constant")


def conditions(told, word):
    """[(name, values)] of a condition or forbidden clause that holds if all do; word: its key of a name."""
    kind = told["type"]
    if kind == "AND":
        return [one for part in told.get("conditions", told.get("clauses")) for one in conditions(part, word)]
    if kind in ("EQ", "EQUALS"):
        return [(told[word], [told["value"]])]
    if kind == "IN":
        return [(told[word], list(told["values"]))]
    raise Error(f"of type {kind}: expected that a value equals, or is in a list, and several of these by \"and\"")


def labelled(name, make, *arguments):
    """What make gives; what is wrong is told with its name."""
    try:
        return make(*arguments)
    except Error as e:
        raise Error(f"{name}: {e}") from None


def read(told):
    """({name: range}, {name: [(name, values)]} of those with conditions, [[(name, values)]] that are forbidden)."""
    ranges = {one["name"]: labelled(f"parameters.{one['name']}", hyperparameter, one) for one in told["hyperparameters"]}
    when = {}
    for one in told.get("conditions", ()):
        child = one["child"]
        when.setdefault(child, []).extend(labelled(f"parameters.{child}: a condition", conditions, one, "parent"))
    clauses = [labelled("a forbidden clause", conditions, one, "name") for one in told.get("forbiddens", ())]
    return ranges, when, clauses
