"""Work that goes on beside the conversation, as hosts and models are told of it."""
