"""Makes the processes of torch.distributed over gloo, before PyTorch starts threads."""
import os
import socket


def fork(size):
    """Rank of 0 to size - 1; what torchrun would set is set."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    rank = next((r for r in range(1, size) if os.fork() == 0), 0)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), WORLD_SIZE=str(size), RANK=str(rank),
                      LOCAL_WORLD_SIZE=str(size), LOCAL_RANK=str(rank), TORCHELASTIC_RUN_ID="pair")
    return rank
