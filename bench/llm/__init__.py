"""What a call to a language model costs us, the model itself aside."""
