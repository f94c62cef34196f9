"""A tool that answers questions about permission in the place of the host."""

import json
from typing import ClassVar

import anyio
import pytest

from claude_wrapper.agent.calls.prompt_tool import PromptTool
from claude_wrapper.agent.calls.toolbox import Toolbox
from claude_wrapper.agent.tools.contract import ToolOutput
from claude_wrapper.wire.permissions import AllowReply, CanUseTool, DenyReply


class Answering:
    """A tool that notes what it is asked and answers with one text."""

    name = "mcp__door__ask"
    description = ""
    input_schema: ClassVar = {"type": "object"}

    def __init__(self, text):
        self.text = text
        self.asked = []

    async def run(self, tool_input, context):
        self.asked.append(tool_input)
        return ToolOutput([{"type": "text", "text": self.text}], None)


def ask(text, **fields):
    tool = Answering(text)
    toolbox = Toolbox([tool])
    question = CanUseTool(tool_name="mcp__x__y", input={"a": 1}, tool_use_id="toolu_1", **fields)
    reply = anyio.run(PromptTool(tool.name, toolbox, None).can_use_tool, question)
    assert tool.asked == [{"tool_name": "mcp__x__y", "input": {"a": 1}, "tool_use_id": "toolu_1"}]
    return reply


ALLOWS = json.dumps({"behavior": "allow", "updatedInput": {"a": 2}})


@pytest.mark.feature("PERM-26")
def test_its_answer_allows_with_another_input_or_denies_with_a_message():
    assert ask(ALLOWS).updated_input == {"a": 2}
    assert ask('{"behavior": "deny", "message": "no"}') == DenyReply(message="no")
    assert isinstance(ask("yes"), DenyReply)


@pytest.mark.feature("PERM-07")
@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"requires_user_interaction": True, "mcp_server": {"name": "x"}}, DenyReply),
        ({"requires_user_interaction": True}, AllowReply),
        ({"mcp_server": {"name": "x"}}, AllowReply),
    ],
)
def test_it_is_no_person_where_a_server_wants_one(fields, kind):
    assert isinstance(ask(ALLOWS, **fields), kind)
