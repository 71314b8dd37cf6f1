"""Flower's simulation, whose Ray has two processes that train."""
import os

from flwr.app import ArrayRecord, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import ServerApp
from flwr.serverapp.strategy import DifferentialPrivacyServerSideFixedClipping, FedAvg
from flwr.simulation import run_simulation

HERE = os.path.dirname(os.path.abspath(__file__))
os.environ["PYTHONPATH"] = HERE  # of the processes that train
from common import CLIENTS, COHORT, PART, ROUNDS, SPEC, mark, network, tell  # noqa: E402

client_app, server_app = ClientApp(), ServerApp()
end = {}


@client_app.train()
def train_client(message, context):
    import common  # in the process that trains; this function is sent with each message
    import torch
    torch.set_num_threads(1)
    model = common.network()
    model.load_state_dict(message.content["arrays"].to_torch_state_dict())
    count = common.train(model, context.node_config["partition-id"])
    return Message(content=RecordDict({"arrays": ArrayRecord(model.state_dict()),
                                       "metrics": MetricRecord({"num-examples": count})}), reply_to=message)


def accountant():
    from flwr.supercore import privacy_accounting as of
    from flwr.supercore.privacy_accounting.rdp_accountant import RdpAccountant
    return RdpAccountant(of.PrivacyConfig(
        target_delta=SPEC["delta"], population_size=CLIENTS, sampling_method=of.SamplingMethod.NO_AMPLIFICATION,
        neighboring_relation=of.NeighboringRelation.ADD_OR_REMOVE_ONE))


@server_app.main()
def main(grid, context):
    strategy = FedAvg(fraction_train=COHORT / CLIENTS, fraction_evaluate=0.0, min_train_nodes=COHORT,
                      min_available_nodes=CLIENTS)
    if PART == "dp":
        strategy = DifferentialPrivacyServerSideFixedClipping(strategy, SPEC["noise"], SPEC["clip"], COHORT,
                                                              accountant=accountant())
    aggregate = strategy.aggregate_train

    def timed(server_round, replies):
        out = aggregate(server_round, replies)
        mark()
        return out

    strategy.aggregate_train = timed
    result = strategy.start(grid=grid, initial_arrays=ArrayRecord(network().state_dict()), num_rounds=ROUNDS)
    end["arrays"] = result.arrays
    if PART == "dp":
        end["epsilon"] = strategy.privacy_spent().epsilon


run_simulation(server_app=server_app, client_app=client_app, num_supernodes=CLIENTS,
               backend_config={"client_resources": {"num_cpus": 1, "num_gpus": 0.0},
                               "init_args": {"num_cpus": 2, "include_dashboard": False}})
model = network()
model.load_state_dict(end.pop("arrays").to_torch_state_dict())
tell(model, **end)
