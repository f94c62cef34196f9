"""What the model is asked with, what that costs, and questions beside the conversation."""
