"""Standard input and output: bytes in, frames out."""
