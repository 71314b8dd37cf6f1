"""FLUTE (a checkout in $FLUTE): a server and two workers over gloo. Its code of an experiment is on_flute_task.py."""
import os
import runpy
import sys

import pair

RANK = pair.fork(3)  # before PyTorch

import yaml  # noqa: E402
from common import BATCH, COHORT, PART, RATE, ROUNDS, SPEC, mark, tell  # noqa: E402

HERE, TMP, FLUTE = os.path.dirname(os.path.abspath(__file__)), SPEC["tmp"] + f"/{RANK}", os.environ["FLUTE"]
os.makedirs(TMP + "/experiments/packed/dataloaders")
for name in ("core", "utils", "extensions", "e2e_trainer.py", "experiments/__init__.py"):
    os.symlink(f"{FLUTE}/{name}", f"{TMP}/{name}")
for name in ("model", "dataloaders/dataset", "dataloaders/dataloader"):
    os.symlink(HERE + "/on_flute_task.py", f"{TMP}/experiments/packed/{name}.py")
os.chdir(TMP)
sys.path.insert(0, TMP)
nothing = {"batch_size": BATCH, "val_data": None, "test_data": None}
privacy = {"enable_local_dp": False}
if PART == "dp":  # eps below 0: clients clip, and the server adds the noise
    privacy = {"enable_local_dp": True, "enable_global_dp": True, "eps": -1.0, "max_grad": SPEC["clip"],
               "global_sigma": SPEC["noise"], "delta": SPEC["delta"]}
config = {
    "model_config": {"model_type": "Packed", "model_folder": "experiments/packed/model.py"},
    "dp_config": privacy, "privacy_metrics_config": {"apply_metrics": False},
    "strategy": "DGA" if PART == "dp" else "FedAvg",
    "server_config": {
        "wantRL": False, "resume_from_checkpoint": False, "do_profiling": False,
        "optimizer_config": {"type": "sgd", "lr": 1.0},
        "annealing_config": {"type": "step_lr", "step_interval": "epoch", "gamma": 1.0, "step_size": 10**6},
        "val_freq": 10**6, "rec_freq": 10**6, "initial_val": False, "initial_rec": False,
        "max_iteration": ROUNDS, "num_clients_per_iteration": COHORT, "data_config": {"val": nothing, "test": nothing},
        "type": "model_optimization", "aggregate_median": "mean", "initial_lr_client": RATE, "lr_decay_factor": 1.0,
        "weight_train_loss": "train_loss", "best_model_criterion": "loss", "fall_back_to_best_model": False,
        "softmax_beta": 1.0, "model_backup_freq": 10**6},
    "client_config": {
        "do_profiling": False, "ignore_subtask": False,
        "data_config": {"train": {"batch_size": BATCH, "list_of_train_data": None, "desired_max_samples": 10**6}},
        "optimizer_config": {"type": "sgd", "lr": RATE, "momentum": SPEC["momentum"]}, "type": "optimization"}}
with open("config.yaml", "w") as f:
    yaml.safe_dump(config, f)
import core.server  # noqa: E402
import extensions.privacy  # noqa: E402

Server, more = core.server.OptimizationServer, {}
after, run, account = Server.fall_back_to_prev_best_status, Server.run, extensions.privacy.update_privacy_accountant


def ends(self):
    after(self)
    mark()


def whole(self):
    run(self)
    tell(self.worker_trainer.model.net, **more)


def accounted(*given, **named):
    more["epsilon"] = account(*given, **named)
    return more["epsilon"]


Server.fall_back_to_prev_best_status, Server.run = ends, whole
extensions.privacy.update_privacy_accountant = accounted
sys.argv = ["e2e_trainer.py", "-config", "config.yaml", "-outputPath", TMP + "/out", "-dataPath", TMP, "-task",
            "packed", "-backend", "gloo"]
runpy.run_path("e2e_trainer.py", run_name="__main__")
