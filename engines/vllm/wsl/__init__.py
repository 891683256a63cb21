"""vLLM on Windows: installed and run in the Linux inside it, through `wsl.exe`."""
