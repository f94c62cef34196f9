"""What the model was asked, made comparable: prompts, replies and results, and what else of the scenario it was told."""

from interop_kit import rules
from interop_kit.observation import Row
from interop_kit.own import OwnWords
from interop_kit.sent import surroundings


def normal_requests(requests: list[Row], own: OwnWords) -> list[Row]:
    """Each request; one that is repeated at once counts once, since retries show as messages.

    Of a conversation that goes on only the new messages are kept, so that one difference is told once.
    """
    kept: list[Row] = []
    for request in requests:
        row = Asked(own).normal(request)
        if not kept or any(kept[-1][key] != row[key] for key in ("model", "messages")):
            kept.append(row)
    return [continued(row, kept[:index]) for index, row in enumerate(kept)]


def continued(row: Row, earlier: list[Row]) -> Row:
    """`row` without the messages that the newest earlier request of the same conversation has sent already."""
    messages = row["messages"]
    known = max(
        (len(e["messages"]) for e in earlier if messages[: len(e["messages"])] == e["messages"]), default=0
    )
    return {**row, "known": known, "messages": messages[known:]}


class Asked:
    """One request. Where an agent puts its own notes, and what it passes on in them, is its own matter.

    So of texts that are no prompt only the scenario's sentences count (`told`), wherever they stand: in the system
    prompt, in an aside, in a block of their own.
    """

    def __init__(self, own: OwnWords) -> None:
        self._own = own
        self._told: set[str] = set()
        self._tools: dict[str, str] = {}

    def normal(self, request: Row) -> Row:
        body: Row = request["body"]
        system = body.get("system") or []
        self._tell(system if isinstance(system, str) else "\n".join(block["text"] for block in system))
        messages = [message for message in map(self._message, body["messages"]) if message["content"]]
        offered = {tool["name"] for tool in body.get("tools", [])}
        return {
            "model": body["model"],
            "stream": body.get("stream", False),
            "thinking": body.get("thinking"),
            "output": body.get("output_config"),
            "tools": sorted(name for name in offered & rules.TOOLS_OF_BOTH if self._own.names(name)),
            "told": sorted(self._told),
            "messages": messages,
            **surroundings(request),
        }

    def _tell(self, text: str) -> None:
        self._told.update(self._own.sentences_in(text))

    def _message(self, message: Row) -> Row:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if message["role"] == "assistant":
            self._tools.update(
                {block["id"]: block["name"] for block in blocks if block["type"] == "tool_use"}
            )
            return {"role": "assistant", "content": [bare(block) for block in blocks]}
        results = [self._result(block) for block in blocks if block["type"] == "tool_result"]
        order = list(self._tools)
        results.sort(
            key=lambda block: order.index(block["tool_use_id"]) if block["tool_use_id"] in order else 0
        )
        others = [self._other(block) for block in blocks if block["type"] != "tool_result"]
        if results or message["role"] == "system":
            for block in others:
                self._tell(block.get("text", ""))
            return {"role": "user", "content": results}
        return {"role": "user", "content": [block for block in others if self._is_prompt(block)]}

    def _other(self, block: Row) -> Row:
        return (
            bare(block) if block["type"] != "text" else {"type": "text", "text": self._plain(block["text"])}
        )

    def _is_prompt(self, block: Row) -> bool:
        """Whether this is what somebody asked; if not, it may still pass on a sentence."""
        if block["type"] != "text":
            return True
        self._tell(block["text"])
        return bool(block["text"]) and self._own.says(block["text"])

    def _plain(self, text: str) -> str:
        """`text` without asides and without blank space at its end, which means nothing to a model."""
        for aside in rules.ASIDE.findall(text):
            self._tell(aside)
        return rules.ASIDE.sub("", text).strip()

    def _result(self, block: Row) -> Row:
        content = block.get("content") or ""
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        failed, tool = bool(block.get("is_error")), self._tools.get(block["tool_use_id"], "")
        normal = []
        for part in map(self._other, parts):
            if part["type"] == "text":
                part["text"] = self._own.reported(part["text"], tool, failed=failed)
            if part.get("text") != "":
                normal.append(part)
        return {**bare(block), "content": normal}


def bare(block: Row) -> Row:
    """A block without its mark for the cache."""
    return {key: value for key, value in block.items() if key != "cache_control"}
