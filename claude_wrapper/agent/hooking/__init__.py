"""The events that hooks are told of, and what hooks find around them."""
