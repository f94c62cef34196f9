"""Settings of the sandbox that the agent runs shell commands in."""

# Annotations are evaluated here: a TypedDict does not see what is marked NotRequired in strings.

from typing import TypedDict

__all__ = ["SandboxIgnoreViolations", "SandboxNetworkConfig", "SandboxSettings"]

SandboxIgnoreViolations = dict[str, list[str]]
"""For each command pattern, the violations that are not reported."""


class SandboxNetworkConfig(TypedDict, total=False):
    """What sandboxed commands may reach."""

    allowedDomains: list[str]
    deniedDomains: list[str]
    allowManagedDomainsOnly: bool
    allowUnixSockets: list[str]
    allowAllUnixSockets: bool
    allowLocalBinding: bool
    allowMachLookup: list[str]
    httpProxyPort: int
    socksProxyPort: int


class SandboxSettings(TypedDict, total=False):
    """How shell commands are confined. Which files they may touch follows from permission rules."""

    enabled: bool
    autoAllowBashIfSandboxed: bool
    excludedCommands: list[str]
    allowUnsandboxedCommands: bool
    network: SandboxNetworkConfig
    ignoreViolations: SandboxIgnoreViolations
    enableWeakerNestedSandbox: bool
