"""Makes a play comparable: cuts it into sections and applies the rules of `rules` to each."""

import re
from collections.abc import Callable
from typing import Any

from interop_kit import rules
from interop_kit.asked import normal_requests
from interop_kit.members import Members
from interop_kit.observation import Observation, Row, RunSeen
from interop_kit.ordinals import numbered
from interop_kit.own import OwnWords
from interop_kit.scenario import HOME, PROJECT, Scenario, mapped
from interop_kit.transcripts import normal_transcripts

Record = dict[str, Any]
"""What is compared: section name to JSON."""

SECTIONS = {"message": "messages", "raise": "messages", "call": "calls", "waited": "calls"}


def normalised(seen: Observation, scenario: Scenario) -> Record:
    """The sections of a play that are compared.

    Messages (with the exception that ends them), callbacks and calls stand apart: in which order a caller meets one
    of the first and one of the others is a race inside every SDK.
    """
    own = OwnWords(scenario)
    place = stand_ins(seen)
    runs = [normal_run(run, Members(own), place) for run in seen.runs]
    record = {name: [run[name] for run in runs] for name in ("messages", "callbacks", "calls", "ends")}
    record["requests"] = normal_requests(mapped(seen.requests, place), own)
    record["web"] = [web_request(row, Members(own)) for row in mapped(seen.web, place)]
    record["files"] = mapped(seen.files, place)
    written = {} if scenario.cut_off else mapped(seen.transcripts, place)
    record["transcripts"] = normal_transcripts(written, Members(own))
    return numbered(record, own)


def stand_ins(seen: Observation) -> Callable[[str], str]:
    """Real folders to stand-ins, also where a folder's name was made of a path; and the text rules."""
    slug = re.sub(r"[^a-zA-Z0-9]", "-", str(seen.project))
    table = {
        str(seen.project): PROJECT,
        str(seen.home): HOME,
        slug: "-project",
        str(seen.project.parent): "/cell",
    }

    def place(text: str) -> str:
        for real, stand_in in table.items():
            text = text.replace(real, stand_in)
        for rule in rules.TEXTS:
            text = rule.pattern.sub(rule.put, text)
        return text

    return place


def normal_run(run: RunSeen, members: Members, place: Callable[[str], str]) -> Record:
    """The sections of one run."""
    parts: Record = {"messages": [], "callbacks": [], "calls": []}
    for event in mapped(run.events, place):
        kind = event["kind"]
        if kind != "stderr" and not members.leaves_out(event[kind]):
            row = {"kind": kind, **members.normal(event[kind])}
            parts[SECTIONS.get(kind, "callbacks")].append(row)
    parts["ends"] = {
        "driver": "stopped" if run.driver_code is None else run.driver_code,
        "agents": [agent_end(row, run.processes) for row in run.processes if "code" not in row],
    }
    return parts


def web_request(row: Row, members: Members) -> Row:
    """One request to the web server; what is told there is told as to a callback."""
    event = row["body"].get("hook_event_name", "") if isinstance(row["body"], dict) else ""
    return {"kind": f"{row['method']} {row['path']}", "event": event, **members.normal(row)}


def agent_end(started: Row, processes: list[Row]) -> Any:
    """The exit code of one agent, or that it outlived its SDK."""
    ended = [row["code"] for row in processes if row["pid"] == started["pid"] and "code" in row]
    return ended[0] if ended else "left over" if started.get("left_over") else "gone"
