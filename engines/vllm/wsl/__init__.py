"""vLLM on Windows: installed, and run, in the Linux inside it, which `wsl.exe` leads to."""
