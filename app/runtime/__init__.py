"""The engines: loaded models, leases, the queue, and the installation of vLLM."""
