"""What FLUTE asks of an experiment: model, data set, loader."""
import numpy as np
import torch
from common import CLIENTS, COUNT, FIRST, LABELS, ROWS, network
from core.dataloader import BaseDataLoader
from core.dataset import BaseDataset
from core.model import BaseModel


class Packed(BaseModel):
    def __init__(self, config):
        super().__init__()
        self.net = network()

    def loss(self, batch):
        return torch.nn.functional.cross_entropy(self.net(batch["x"]), batch["y"])

    def inference(self, batch):
        z = self.net(batch["x"])
        return {"output": z, "acc": (z.argmax(1) == batch["y"]).float().mean().item(), "batch_size": len(z)}


class Dataset(BaseDataset):
    """All clients, or those of a structure that was made of them."""

    def __init__(self, data, test_only=False, user_idx=-1, **more):
        at = {f"{c:04d}": slice(FIRST[c], FIRST[c] + COUNT[c, 0]) for c in range(CLIENTS)}
        data = data or {"users": list(at), "num_samples": COUNT[:, 0].tolist(),
                        "user_data": {k: ROWS[s] for k, s in at.items()},
                        "user_data_label": {k: LABELS[s] for k, s in at.items()}}
        self.user_list, self.num_samples = data["users"], data["num_samples"]
        self.user_data, self.user_data_label = data["user_data"], data["user_data_label"]
        if not test_only and user_idx >= 0:
            user = self.user_list[user_idx]
            self.x = torch.from_numpy(np.array(self.user_data[user])).float().reshape(-1, 3, 32, 32) / 255
            self.y = torch.from_numpy(np.array(self.user_data_label[user]))

    def load_data(self, **more):
        pass

    def __getitem__(self, i):
        return self.x[i], self.y[i]

    def __len__(self):
        return len(self.y)


def batch_of(rows):
    x, y = zip(*rows)
    return {"x": torch.stack(x), "y": torch.stack(y)}


class DataLoader(BaseDataLoader):
    def __init__(self, mode, data, user_idx, args, **more):
        super().__init__(Dataset(data, mode != "train", user_idx), batch_size=args["batch_size"],
                         shuffle=mode == "train", collate_fn=batch_of)
