"""weft's own network, on two ranks."""
import os

SETTINGS = """
[run]
data = {packed}
task = fed
tuner = random
test = {test}
[space]
configs = 1
[random]
resource = {rounds}
[fed]
model = {net}
cohort = {cohort}
score_weights = global
select = last
eval_clients = -1
max_valid = 1
[client]
lr = {rate}
momentum = {momentum}
batch = {batch}
"""
MORE = {"fedavg": "", "fedbuff": """
[fed]
aggregation = buffered
[buffer]
concurrency = {concurrency}
max_staleness = {max_staleness}
[device]
speed = lognormal
sigma = {sigma}
sample_seconds = 1
""", "dp": """
[fed]
average = plain
[privacy]
clip = {clip}
noise = {noise}
delta = {delta}
sampling = poisson
"""}


def command(spec):
    ini = os.path.join(spec["tmp"], "weft.ini")
    with open(ini, "w") as f:
        f.write((SETTINGS + ("[mlp]\nhidden = 100\n" if spec["net"] == "mlp" else "") + MORE[spec["part"]]).format(
            **dict(spec, test="yes" if spec["test"] else "no")))
    return ["mpirun", "-n", "2", os.path.abspath(os.environ.get("WEFT", "build/opt/weft")), "tune", ini, "-o",
            os.path.join(spec["tmp"], "run.h5")]


def told(spec):
    """Ranks wait busily, so that both take processor seconds all the time."""
    import h5py
    with h5py.File(os.path.join(spec["tmp"], "run.h5")) as f:
        seconds = f["rounds/wall"][:].tolist()
        more = {"error": 100 * float(f["winner"].attrs["test_error"])} if spec["test"] else {}
        if spec["part"] == "dp":
            more["epsilon"] = float(f.attrs["privacy_epsilon"])
        return dict(seconds=seconds[1:], used=2 * sum(seconds[2:]) / len(seconds[2:]), **more)
