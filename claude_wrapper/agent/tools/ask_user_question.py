"""The AskUserQuestion tool: the model leaves choices to the user, whose answers come with the permission."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from .contract import InputRejected, ToolContext, ToolOutput

__all__ = ["AskUserQuestion"]

_DESCRIPTION = """Ask the user to choose, when what they want cannot be found out otherwise and it matters.

One to four questions at once, each with two to four options that exclude each other unless multiSelect is set. \
The user can always answer in their own words, so an option "other" is not needed. Put the option that you advise \
first and say so in its label. Do not ask for leave to go on, and not what the project itself can tell you."""
_MOST_QUESTIONS = 4
_FEWEST_OPTIONS = 2
_MOST_OPTIONS = 4
_QUESTION: dict[str, Any] = {
    "type": "object",
    "properties": {
        "question": {"type": "string", "description": "The whole question, ending in a question mark"},
        "header": {"type": "string", "description": "The same in a word or two, of 12 characters at most"},
        "options": {
            "type": "array",
            "minItems": _FEWEST_OPTIONS,
            "maxItems": _MOST_OPTIONS,
            "items": {
                "type": "object",
                "properties": {
                    "label": {"type": "string", "description": "What the user picks, in a few words"},
                    "description": {"type": "string", "description": "What picking it means"},
                    "preview": {"type": "string", "description": "What it would look like, such as code"},
                },
                "required": ["label", "description"],
            },
        },
        "multiSelect": {"type": "boolean", "default": False, "description": "Several options may be picked"},
    },
    "required": ["question", "header", "options"],
}


class AskUserQuestion:
    """Hands the user's answers to the model."""

    name: ClassVar[str] = "AskUserQuestion"
    description: ClassVar[str] = _DESCRIPTION
    input_schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {
            "questions": {"type": "array", "minItems": 1, "maxItems": _MOST_QUESTIONS, "items": _QUESTION},
        },
        "required": ["questions"],
        "additionalProperties": True,
    }

    def is_read_only(self, tool_input: dict[str, Any]) -> bool:
        return False

    def prepare(self, tool_input: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        questions = [{"multiSelect": False, **each} for each in tool_input["questions"]]
        ordered = [_in_order(each) for each in questions]
        return {**_without_answers(tool_input), "questions": ordered}

    def for_permission(self, tool_input: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        return dict(tool_input)

    def with_answer(self, tool_input: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
        """The questions with what the user said to them; raises InputRejected."""
        answers = answer.get("answers")
        if answers is not None and not isinstance(answers, dict):
            raise InputRejected("`answers` has to be an object of questions and their answers")
        for question, given in (answers or {}).items():
            if not (isinstance(given, str) or _is_list_of_texts(given)):
                raise InputRejected(f"the answer to {question!r} has to be a text or a list of texts")
        kept = {
            key: answer[key] for key in ("answers", "response", "annotations") if answer.get(key) is not None
        }
        questions = answer.get("questions")
        shown = questions if _are_questions(questions) else tool_input["questions"]
        return {**tool_input, "questions": shown, **kept}

    async def check(self, tool_input: dict[str, Any], context: ToolContext) -> None:
        questions = tool_input["questions"]
        if not 1 <= len(questions) <= _MOST_QUESTIONS:
            raise InputRejected(f"InputValidationError: ask 1 to {_MOST_QUESTIONS} questions at once")
        if not all(_FEWEST_OPTIONS <= len(each["options"]) <= _MOST_OPTIONS for each in questions):
            raise InputRejected(
                f"InputValidationError: a question needs {_FEWEST_OPTIONS} to {_MOST_OPTIONS} options. With a single "
                "one there is nothing to decide: say what you are going to do, and do it."
            )
        texts = [each["question"] for each in questions]
        labels = [[option["label"] for option in each["options"]] for each in questions]
        if any(len(set(each)) < len(each) for each in (texts, *labels)):
            raise InputRejected(
                "InputValidationError: no question may stand twice, and no label twice in one question"
            )

    async def run(self, tool_input: dict[str, Any], context: ToolContext) -> ToolOutput:
        questions = tool_input["questions"]
        given = tool_input.get("answers") or {}
        asked = {each["question"]: each for each in questions}
        answers = {text: _joined(given[text]) for text in asked if given.get(text)}
        structured: dict[str, Any] = {"questions": questions, "answers": answers}
        response = tool_input.get("response")
        if isinstance(response, str) and response:
            return ToolOutput(f"The user responded: {response}", {**structured, "response": response})
        if tool_input.get("annotations") is not None:
            structured["annotations"] = tool_input["annotations"]
        if not answers:
            return ToolOutput("The user did not answer the questions.", structured)
        told = ", ".join(f'"{text}"="{answer}"' for text, answer in answers.items())
        if all(_is_choice(asked[text], given[text]) for text in answers):
            return ToolOutput(f"Your questions have been answered: {told}. Go on accordingly.", structured)
        return ToolOutput(
            f"The user answered: {told}. These are their own words: do what they say, also if that is to stop or "
            "to do something else.",
            structured,
        )


def _without_answers(tool_input: Mapping[str, Any]) -> dict[str, Any]:
    """The model does not answer its own questions."""
    return {
        key: value for key, value in tool_input.items() if key not in {"answers", "response", "annotations"}
    }


def _in_order(question: dict[str, Any]) -> dict[str, Any]:
    """A question as the model wrote it; a default comes last."""
    rest = {key: value for key, value in question.items() if key != "multiSelect"}
    return {**rest, "multiSelect": question["multiSelect"]}


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _are_questions(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(each, dict)
        and isinstance(each.get("question"), str)
        and isinstance(each.get("options"), list)
        for each in value
    )


def _joined(answer: str | list[str]) -> str:
    return answer if isinstance(answer, str) else ",".join(answer)


def _is_choice(question: dict[str, Any], answer: str | list[str]) -> bool:
    """Whether an answer consists of labels of the question."""
    labels = {option.get("label") for option in question["options"] if isinstance(option, dict)}
    if isinstance(answer, str) and answer in labels:
        return True
    if question.get("multiSelect") is not True:
        return False
    picked = answer.split(",") if isinstance(answer, str) else answer
    return all(each.strip() in labels for each in picked)
