"""Recurrent networks: encoder, core with memory, heads. A core is two pure methods with one set of parameters, `step` and `unroll`."""
