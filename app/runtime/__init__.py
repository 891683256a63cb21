"""The engines at work: loaded models, leases, the queue, and the installation of vLLM."""
