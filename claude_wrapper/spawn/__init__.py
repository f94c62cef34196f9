"""Starting an agent: which executable, with which arguments, and as which process."""
