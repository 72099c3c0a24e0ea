"""The agent with a real language model, small enough for one core: `python -m tests.llm_real.run`."""
