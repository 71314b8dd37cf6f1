"""pfl-research: its simulated backend over torch.distributed, two processes."""
import os

os.environ["PFL_PYTORCH_DEVICE"] = "cpu"
import pair

RANK = pair.fork(2)  # before PyTorch

import numpy as np  # noqa: E402
import torch  # noqa: E402
from common import BATCH, CLIENTS, COHORT, PART, RATE, ROUNDS, SPEC, mark, network, samples, tell  # noqa: E402
from pfl.aggregate.simulate import SimulatedBackend  # noqa: E402
from pfl.algorithm.base import NNAlgorithmParams  # noqa: E402
from pfl.algorithm.federated_averaging import FederatedAveraging  # noqa: E402
from pfl.callback.base import TrainingProcessCallback  # noqa: E402
from pfl.data.dataset import Dataset  # noqa: E402
from pfl.data.federated_dataset import FederatedDataset  # noqa: E402
from pfl.hyperparam import NNEvalHyperParams, NNTrainHyperParams  # noqa: E402
from pfl.metrics import Metrics, Weighted  # noqa: E402
from pfl.model.pytorch import PyTorchModel  # noqa: E402
from pfl.privacy.gaussian_mechanism import GaussianMechanism  # noqa: E402
from pfl.privacy.privacy_accountant import RDPPrivacyAccountant  # noqa: E402
from pfl.privacy.privacy_mechanism import CentrallyAppliedPrivacyMechanism  # noqa: E402


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = network()

    def forward(self, x):
        return self.net(x)

    def loss(self, x, y, eval=False):
        return torch.nn.functional.cross_entropy(self(x), y)

    def metrics(self, x, y, eval=False):
        return {"samples": Weighted(0.0, len(y))}


class Ends(TrainingProcessCallback):
    def after_central_iteration(self, aggregate_metrics, model, *, central_iteration):
        if central_iteration >= 1:
            mark()
        return False, Metrics()


def client(c):
    x, y = samples(int(c))
    at = torch.randperm(len(y))  # its batches are in the order of the data
    return Dataset((x[at], y[at]), user_id=str(c))


draw = np.random.RandomState(1)  # alike in both processes
cohorts = (c for _ in range(ROUNDS + 1) for c in draw.choice(CLIENTS, COHORT, replace=False))
data = FederatedDataset(client, lambda: next(cohorts))
post, more = [], {}
if PART == "dp":
    accountant = RDPPrivacyAccountant(num_compositions=ROUNDS, sampling_probability=COHORT / CLIENTS,
                                      mechanism="gaussian", delta=SPEC["delta"], noise_parameter=SPEC["noise"])
    post = [CentrallyAppliedPrivacyMechanism(GaussianMechanism.from_privacy_accountant(accountant, SPEC["clip"]))]
    more["epsilon"] = accountant.epsilon
net = Net()
model = PyTorchModel(net, lambda p, lr: torch.optim.SGD(p, lr=lr, momentum=SPEC["momentum"]),
                     torch.optim.SGD(net.parameters(), lr=1.0))
algorithm = FederatedAveraging()
algorithm._current_central_iteration = 1  # its first iteration would evaluate
algorithm.run(NNAlgorithmParams(central_num_iterations=ROUNDS + 1, evaluation_frequency=10**9, train_cohort_size=COHORT,
                                val_cohort_size=0),
              SimulatedBackend(data, data, postprocessors=post), model,
              NNTrainHyperParams(local_num_epochs=1, local_learning_rate=RATE, local_batch_size=BATCH),
              NNEvalHyperParams(local_batch_size=None), callbacks=[Ends()], send_metrics_to_platform=False)
if RANK == 0:
    tell(net, **more)
