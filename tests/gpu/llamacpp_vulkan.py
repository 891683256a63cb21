"""Check llama.cpp on a card with Vulkan.

After python3 run.py --backend vulkan:

    .venv/bin/python tests/gpu/llamacpp_vulkan.py

The trial of the device, all and some layers, a q8_0 KV cache and drafts give the same text as the
processor; the memory used is the estimate. It takes about a minute, and some minutes on a software
driver, which GGML_VK_VISIBLE_DEVICES=0 shows.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.gpu.llamacpp_card import prove

if __name__ == "__main__":
    sys.exit(prove("Vulkan"))
