"""Check llama.cpp on one NVIDIA card.

After python3 run.py --backend cuda:

    .venv/bin/python tests/gpu/llamacpp_cuda.py

The trial of the device, all and some layers, a q8_0 KV cache and drafts give the same text as the
processor; the memory used is the estimate. It takes about a minute.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.gpu.llamacpp_card import prove

if __name__ == "__main__":
    sys.exit(prove("CUDA"))
