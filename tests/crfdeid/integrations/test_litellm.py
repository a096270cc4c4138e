"""LiteLLM's guardrail for Presidio, configured as the page on language models says, and pointed at our service."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from service import Server, start

pytest.importorskip("starlette", reason="the extra serve is not installed")
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # It would ask a host for prices.
pytest.importorskip("litellm", reason="litellm is not installed")
import litellm
import yaml
from litellm.caching.caching import DualCache
from litellm.proxy._types import UserAPIKeyAuth
from litellm.proxy.guardrails.guardrail_initializers import initialize_presidio
from litellm.types.guardrails import LitellmParams

pytestmark = pytest.mark.filterwarnings("ignore:Item.*ReadOnly:UserWarning")  # LiteLLM's own
PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "language-models.md"
ADDRESS = "http://127.0.0.1:3000"
SAID = "Note: seen by Dr. Huntington on 03/14/72."
Answer = Callable[[str], str]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    found = start(Path("rules"))
    yield found
    assert found.end() == 0


def guardrails(server: Server) -> tuple[Any, ...]:
    """The guardrail of the page, as LiteLLM's proxy makes it."""
    (block,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert block.count(ADDRESS) == 2
    (entry,) = yaml.safe_load(block.replace(ADDRESS, f"http://127.0.0.1:{server.port}"))["guardrails"]
    return initialize_presidio(LitellmParams(**entry["litellm_params"]), entry)


def complete(callbacks: tuple[Any, ...], messages: list[dict[str, str]], answer: Answer) -> tuple[list[str], str]:
    """Send messages through a guardrail to a scripted model; return what the model reads, and the user's answer."""

    async def run() -> tuple[list[str], str]:
        data: dict[str, Any] = {"model": "gpt-4o", "messages": [dict(one) for one in messages], "metadata": {}}
        user, cache = UserAPIKeyAuth(), DualCache()
        try:
            for callback in callbacks:
                data = await callback.async_pre_call_hook(user, cache, data, "completion") or data
            read = [one["content"] for one in data["messages"]]
            said = answer(read[-1])
            made = await litellm.acompletion(model="gpt-4o", messages=data["messages"], mock_response=said)
            for callback in callbacks:
                made = await callback.async_post_call_success_hook(data, user, made)
        finally:
            for callback in callbacks:
                await callback._close_http_session()
        return read, made.choices[0].message.content

    return asyncio.run(run())


def test_a_conversation_goes_to_the_model_without_phi_and_comes_back_with_it(server: Server) -> None:
    callbacks = guardrails(server)
    messages: list[dict[str, str]] = []
    for asked, wanted in [
        (SAID, r"^Note: seen by Dr\. <PERSON_1> on <DATE_TIME_\d>\.$"),
        ("Did Dr. Okonkwo call on 04/15/72?", r"^Did Dr\. <PERSON_\d> call on <DATE_TIME_\d>\?$"),
    ]:
        messages.append({"role": "user", "content": asked})
        read, answer = complete(callbacks, messages, lambda text: f"{text} Yes.")
        assert re.search(wanted, read[-1]), read
        assert not re.search("Huntington|Okonkwo|/72", "".join(read))
        assert answer == f"{asked} Yes."
        messages.append({"role": "assistant", "content": answer})
    assert "Huntington" not in "".join(server.log)


def test_a_text_is_not_sent_without_the_service() -> None:
    ended = start(Path("rules"))
    callbacks = guardrails(ended)
    assert ended.end() == 0
    with pytest.raises(Exception, match="Presidio"):
        complete(callbacks, [{"role": "user", "content": SAID}], str.upper)
