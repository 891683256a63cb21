"""vLLM on Windows, installed and run inside WSL2 through `wsl.exe`."""
