"""What the model is given beside the conversation."""
