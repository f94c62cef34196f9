"""From a command line, settings files and the environment to the settings of a run."""
