"""What pmend does not have on this machine's architecture yet, from tests/missing-ARCH.txt."""
import os
import platform

HERE = os.path.dirname(os.path.abspath(__file__))
ARCH = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]


def missing():
    """Reasons, by group or GROUP/TEST. An architecture without a list has everything."""
    path = os.path.join(HERE, f"missing-{ARCH}.txt")
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as f:
        lines = [line.strip() for line in f if line.strip() and not line.startswith("#")]
    return dict(line.split(": ", 1) for line in lines)
