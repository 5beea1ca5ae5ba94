"""Calls models through helmdeck with the Python SDKs of OpenAI and Anthropic, which know nothing of it."""

import json
import os
import time
import urllib.request

import anthropic
import openai
from pydantic import BaseModel

URL, TOKEN = os.environ["HELMDECK_URL"], os.environ["HELMDECK_TOKEN"]
OPENAI = openai.OpenAI(base_url=f"{URL}/v1", api_key=TOKEN)
ANTHROPIC = anthropic.Anthropic(base_url=URL, api_key=TOKEN)
MODELS = ["openai/gpt-4o-mini", "anthropic/claude-haiku-4-5", "gemini/gemini-3.5-flash", "openrouter/auto"]
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
LOCAL = ["llama/smollm2", "llama-responses/smollm2", "llama-messages/smollm2"]
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CHECKS = 0


class Decision(BaseModel):
    why: str
    answer: str


def check(holds, what):
    global CHECKS
    assert holds, what
    CHECKS += 1


def vendor(model):
    return model.split("/")[0]


def chat(model):
    said = OPENAI.chat.completions.create(model=model, messages=[{"role": "user", "content": "hello"}])
    check(said.choices[0].message.content == f"Hello from {vendor(model)}.", said)
    check(said.usage.prompt_tokens == 100 and said.usage.prompt_tokens_details.cached_tokens == 40, said)
    stream = OPENAI.chat.completions.create(
        model=model,
        messages=[{"role": "user", "content": "hello"}],
        stream=True,
        stream_options={"include_usage": True},
    )
    words, usage = "", None
    for chunk in stream:
        words += chunk.choices[0].delta.content or "" if chunk.choices else ""
        usage = chunk.usage or usage
    check(words == f"Hello from {vendor(model)}." and usage.completion_tokens == 20, (words, usage))

    tools = [{"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}]
    messages = [{"role": "user", "content": "the weather?"}]
    said = OPENAI.chat.completions.create(model=model, messages=messages, tools=tools)
    call = said.choices[0].message.tool_calls[0]
    check(said.choices[0].finish_reason == "tool_calls" and call.function.name == "weather", said)
    check(json.loads(call.function.arguments)["city"] == "Paris", call)
    # As the SDK's own documentation does it: the message goes back as it came.
    messages += [said.choices[0].message, {"role": "tool", "tool_call_id": call.id, "content": "rain"}]
    said = OPENAI.chat.completions.create(model=model, messages=messages, tools=tools)
    check(said.choices[0].message.content == "The tool said: rain", said)

    # Nothing in the words asks for a tool: only the choice does.
    hello = [{"role": "user", "content": "hello"}]
    for choice in ["required", {"type": "function", "function": {"name": "weather"}}]:
        said = OPENAI.chat.completions.create(model=model, messages=hello, tools=tools, tool_choice=choice)
        check(said.choices[0].message.tool_calls[0].function.name == "weather", said)

    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}}
    content = [{"type": "text", "text": "look"}, image]
    said = OPENAI.chat.completions.create(model=model, messages=[{"role": "user", "content": content}])
    check(said.choices[0].message.content.startswith("I see a picture"), said)

    said = OPENAI.chat.completions.parse(
        model=model, messages=[{"role": "user", "content": "decide"}], response_format=Decision
    )
    check(said.choices[0].message.parsed == Decision(why="because", answer="42"), said)


def responses(model):
    said = OPENAI.responses.create(model=model, input="hello", instructions="be kind")
    check(said.output_text == f"Hello from {vendor(model)}." and said.usage.input_tokens == 100, said)
    with OPENAI.responses.stream(model=model, input="hello") as stream:
        words = "".join(it.delta for it in stream if it.type == "response.output_text.delta")
        final = stream.get_final_response()
    check(words == final.output_text == f"Hello from {vendor(model)}.", (words, final))
    tools = [{"type": "function", "name": "weather", "parameters": SCHEMA, "strict": False}]
    history = [{"role": "user", "content": "the weather?"}]
    said = OPENAI.responses.create(model=model, input=history, tools=tools)
    call = next(item for item in said.output if item.type == "function_call")
    check(json.loads(call.arguments)["city"] == "Paris", said)
    history += [item.model_dump(exclude_none=True) for item in said.output]
    history += [{"type": "function_call_output", "call_id": call.call_id, "output": "rain"}]
    said = OPENAI.responses.create(model=model, input=history, tools=tools)
    check(said.output_text == "The tool said: rain", said)
    for choice in ["required", {"type": "function", "name": "weather"}]:
        said = OPENAI.responses.create(model=model, input="hello", tools=tools, tool_choice=choice)
        check(any(item.type == "function_call" for item in said.output), said)
    image = {"type": "input_image", "image_url": f"data:image/png;base64,{PICTURE}", "detail": "auto"}
    content = [{"type": "input_text", "text": "look"}, image]
    said = OPENAI.responses.create(model=model, input=[{"role": "user", "content": content}])
    check(said.output_text.startswith("I see a picture"), said)
    said = OPENAI.responses.parse(model=model, input="decide", text_format=Decision)
    check(said.output_parsed.answer == "42", said)


def messages(model):
    said = ANTHROPIC.messages.create(
        model=model, max_tokens=100, messages=[{"role": "user", "content": "hello"}]
    )
    check(said.content[0].text == f"Hello from {vendor(model)}." and said.stop_reason == "end_turn", said)
    check(said.usage.input_tokens == 60 and said.usage.cache_read_input_tokens == 40, said)
    with ANTHROPIC.messages.stream(
        model=model, max_tokens=100, messages=[{"role": "user", "content": "hello"}]
    ) as stream:
        words = "".join(stream.text_stream)
        final = stream.get_final_message()
    check(words == final.content[0].text == f"Hello from {vendor(model)}.", (words, final))
    check(final.usage.output_tokens == 20, final)
    tools = [{"name": "weather", "input_schema": SCHEMA}]
    history = [{"role": "user", "content": "the weather?"}]
    with ANTHROPIC.messages.stream(model=model, max_tokens=100, messages=history, tools=tools) as stream:
        said = stream.get_final_message()
    call = next(block for block in said.content if block.type == "tool_use")
    check(said.stop_reason == "tool_use" and call.input["city"] == "Paris", said)
    result = {"type": "tool_result", "tool_use_id": call.id, "content": "rain"}
    history += [{"role": "assistant", "content": said.content}, {"role": "user", "content": [result]}]
    said = ANTHROPIC.messages.create(model=model, max_tokens=100, messages=history, tools=tools)
    check(said.content[0].text == "The tool said: rain", said)
    hello = [{"role": "user", "content": "hello"}]
    for choice in [{"type": "any"}, {"type": "tool", "name": "weather"}]:
        said = ANTHROPIC.messages.create(
            model=model, max_tokens=100, messages=hello, tools=tools, tool_choice=choice
        )
        check(said.stop_reason == "tool_use" and said.content[-1].name == "weather", said)
    source = {"type": "base64", "media_type": "image/png", "data": PICTURE}
    content = [{"type": "image", "source": source}, {"type": "text", "text": "look"}]
    said = ANTHROPIC.messages.create(
        model=model, max_tokens=100, messages=[{"role": "user", "content": content}]
    )
    check(said.content[0].text.startswith("I see a picture"), said)
    format = {"type": "json_schema", "schema": Decision.model_json_schema()}
    said = ANTHROPIC.messages.create(
        model=model,
        max_tokens=100,
        messages=[{"role": "user", "content": "decide"}],
        output_config={"format": format},
    )
    check(json.loads(said.content[0].text)["answer"] == "42", said)


def refused(kind, ask):
    try:
        ask()
    except kind as error:
        check(True, error)
        return error
    raise AssertionError(f"expected {kind}")


def errors():
    hello = [{"role": "user", "content": "hello"}]
    ask = lambda model, **more: lambda: OPENAI.chat.completions.create(model=model, messages=hello, **more)
    error = refused(openai.BadRequestError, ask("gpt-4o"))
    check("names no provider" in error.message and error.param == "model", error)
    error = refused(openai.NotFoundError, ask("nobody/x"))
    check(error.code == "model_not_found", error)
    refused(openai.NotFoundError, ask("openai/missing"))
    error = refused(openai.InternalServerError, ask("groq/x"))
    check("helmdeck models add-key groq" in error.message, error)
    wrong = openai.OpenAI(base_url=f"{URL}/v1", api_key="sk-wrong")
    refused(openai.AuthenticationError, lambda: wrong.models.list())
    wrong = anthropic.Anthropic(base_url=URL, api_key="sk-ant-wrong")
    ask = lambda client, **more: lambda: client.messages.create(max_tokens=9, messages=hello, **more)
    refused(anthropic.AuthenticationError, ask(wrong, model="anthropic/claude-haiku-4-5"))
    refused(anthropic.NotFoundError, ask(ANTHROPIC, model="anthropic/missing"))
    error = refused(anthropic.BadRequestError, ask(ANTHROPIC, model="openai/gpt-4o-mini", container="x"))
    check("container" in str(error), error)
    by_bearer = anthropic.Anthropic(base_url=URL, auth_token=TOKEN)
    check(by_bearer.messages.create(model=MODELS[1], max_tokens=9, messages=hello).content, "by bearer")


def vendor_rules():
    """What a vendor refuses reaches its SDK as the vendor's own error."""
    ask = lambda history, **more: lambda: ANTHROPIC.messages.create(
        model=MODELS[1], max_tokens=99, messages=history, **more
    )
    weather = {"role": "user", "content": "the weather?"}
    call = {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "rain"}
    called = {"role": "assistant", "content": [call]}
    late = {"role": "user", "content": [{"type": "text", "text": "first this"}, result]}
    error = refused(anthropic.BadRequestError, ask([weather, called, late]))
    check("immediately after" in error.message, error)
    error = refused(anthropic.BadRequestError, ask([weather, {"role": "user", "content": [result]}]))
    check("unexpected `tool_use_id`" in error.message, error)
    # A result without the name of its toolset.
    called = {"role": "assistant", "content": [dict(call, name="left_click", toolset_name="computer")]}
    toolset = [{"type": "computer_toolset_20260801"}]
    answered = {"role": "user", "content": [result]}
    error = refused(anthropic.BadRequestError, ask([weather, called, answered], tools=toolset))
    check("toolset_name" in error.message, error)
    answered = {"role": "user", "content": [dict(result, toolset_name="computer")]}
    said = ask([weather, called, answered], tools=toolset)()
    check(said.content[0].text == "The tool said: rain", said)
    large = {"type": "base64", "media_type": "image/png", "data": PICTURE + "A" * (6 << 20)}
    error = refused(
        anthropic.BadRequestError, ask([{"role": "user", "content": [{"type": "image", "source": large}]}])
    )
    check("5 MB" in error.message, error)
    call = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    history = [weather, {"role": "assistant", "tool_calls": [call]}, {"role": "user", "content": "well?"}]
    error = refused(
        openai.BadRequestError,
        lambda: OPENAI.chat.completions.create(model=MODELS[0], messages=history),
    )
    check("tool_call" in error.message, error)


def listings():
    ids = [model.id for model in OPENAI.models.list()]
    check(all(model in ids for model in MODELS), ids)
    check(OPENAI.models.retrieve("openai/gpt-4o-mini").owned_by == "openai", "retrieve")
    check("anthropic/claude-haiku-4-5" in [model.id for model in ANTHROPIC.models.list()], "list")
    data = OPENAI.embeddings.create(model="gemini/gemini-embedding-001", input=["a", "b"], encoding_format="float")
    check(data.data[1].embedding == [0.25, 0.75], data)
    count = ANTHROPIC.messages.count_tokens(model=MODELS[1], messages=[{"role": "user", "content": "x"}])
    check(count.input_tokens == 17, count)


def failures():
    """How many calls were recorded as failed or cancelled."""
    request = urllib.request.Request(f"{URL}/api/v1/models/usage")
    request.add_header("Authorization", f"Bearer {TOKEN}")
    with urllib.request.urlopen(request) as answer:
        return sum(row["errors"] for row in json.load(answer)["rows"])


def cancellation():
    before = failures()
    stream = OPENAI.chat.completions.create(
        model=MODELS[0], messages=[{"role": "user", "content": "a long answer"}], stream=True
    )
    next(iter(stream))
    stream.close()
    with ANTHROPIC.messages.stream(
        model=MODELS[1], max_tokens=99, messages=[{"role": "user", "content": "a long answer"}]
    ) as stream:
        next(iter(stream.text_stream))
    hurried = OPENAI.with_options(timeout=0.5, max_retries=0)
    hello = [{"role": "user", "content": "hello"}]
    refused(
        openai.APITimeoutError,
        lambda: hurried.chat.completions.create(model="openai/gpt-stalls", messages=hello),
    )
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if failures() >= before + 3:
            return check(True, before)
        time.sleep(0.05)
    raise AssertionError(f"the calls were not cancelled: {failures()} after {before}")


def local_model(model):
    """A real model: what it says is not checked, but that it says it in every API."""
    hello = [{"role": "user", "content": "Say hello in one short sentence."}]
    said = OPENAI.chat.completions.create(model=model, messages=hello, max_tokens=16)
    check(said.choices[0].message.content and said.usage.completion_tokens > 0, said)
    stream = OPENAI.chat.completions.create(model=model, messages=hello, max_tokens=16, stream=True)
    check(sum(bool(it.choices and it.choices[0].delta.content) for it in stream) > 1, model)
    said = OPENAI.responses.create(model=model, input="Say hello.", max_output_tokens=16)
    check(said.output_text, said)
    with OPENAI.responses.stream(model=model, input="Say hello.", max_output_tokens=16) as stream:
        # The limit of tokens ends the answer as incomplete, for which the SDK has no final response.
        ends = [it.response for it in stream if it.type in ("response.completed", "response.incomplete")]
        check(len(ends) == 1 and ends[0].output_text, model)
    said = ANTHROPIC.messages.create(model=model, max_tokens=16, messages=hello)
    check(said.content[0].text and said.usage.output_tokens > 0, said)
    with ANTHROPIC.messages.stream(model=model, max_tokens=16, messages=hello) as stream:
        check(stream.get_final_message().content[0].text, model)


def local_schema():
    said = OPENAI.chat.completions.parse(
        model="llama/smollm2",
        messages=[{"role": "user", "content": "Why is the sky blue? Answer briefly."}],
        response_format=Decision,
        max_tokens=200,
    )
    check(said.choices[0].message.content.startswith("{"), said)


def counted(name, act, *of):
    before, began = CHECKS, time.monotonic()
    act(*of)
    print(f"  {name}: {CHECKS - before} checks, {time.monotonic() - began:.1f} s", flush=True)


print(f"Python: openai {openai.__version__}, anthropic {anthropic.__version__}", flush=True)
for model in MODELS:
    counted(f"Chat, {model}", chat, model)
    counted(f"Responses, {model}", responses, model)
    counted(f"Messages, {model}", messages, model)
counted("errors", errors)
counted("rules of vendors", vendor_rules)
counted("lists, embeddings, token counts", listings)
counted("cancellation", cancellation)
if os.environ.get("LOCAL_MODEL"):
    for model in LOCAL:
        counted(f"Chat, Responses and Messages, {model}", local_model, model)
    counted("structured output, llama/smollm2", local_schema)
print(f"Python: {CHECKS} checks passed")
