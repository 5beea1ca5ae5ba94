// Calls models through helmdeck with the TypeScript SDKs of OpenAI and Anthropic, which know nothing of it.

import strict from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

/** Assertions that count themselves. */
let checks = 0;
const counting = (act) => (...values) => (checks++, act(...values));
const assert = { equal: counting(strict.equal), ok: counting(strict.ok), rejects: counting(strict.rejects) };

const { HELMDECK_URL: url, HELMDECK_TOKEN: token } = process.env;
const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: token });
const anthropic = new Anthropic({ baseURL: url, apiKey: token });
const models = ["openai/gpt-4o-mini", "anthropic/claude-haiku-4-5", "gemini/gemini-3.5-flash", "openrouter/auto"];
const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const hello = [{ role: "user", content: "hello" }];
const picture =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const decision = {
  type: "object",
  properties: { why: { type: "string" }, answer: { type: "string" } },
  required: ["why", "answer"],
  additionalProperties: false,
};
const decide = [{ role: "user", content: "decide" }];
const weather = { role: "user", content: "the weather?" };

for (const model of models) {
  const expected = `Hello from ${model.split("/")[0]}.`;

  const said = await openai.chat.completions.create({ model, messages: hello });
  assert.equal(said.choices[0].message.content, expected);
  let words = "";
  for await (const chunk of await openai.chat.completions.create({ model, messages: hello, stream: true })) {
    words += chunk.choices[0]?.delta?.content ?? "";
  }
  assert.equal(words, expected);
  const tools = [{ type: "function", function: { name: "weather", parameters: schema } }];
  const called = await openai.chat.completions.create({ model, messages: [weather], tools });
  const call = called.choices[0].message.tool_calls[0];
  const messages = [
    weather,
    called.choices[0].message,
    { role: "tool", tool_call_id: call.id, content: "rain" },
  ];
  const answered = await openai.chat.completions.create({ model, messages, tools });
  assert.equal(answered.choices[0].message.content, "The tool said: rain");
  const calling = await openai.chat.completions.stream({ model, messages: [weather], tools }).finalChatCompletion();
  assert.equal(calling.choices[0].finish_reason, "tool_calls");
  assert.equal(JSON.parse(calling.choices[0].message.tool_calls[0].function.arguments).city, "Paris");

  // Nothing in the words asks for a tool: only the choice does.
  for (const tool_choice of ["required", { type: "function", function: { name: "weather" } }]) {
    const chosen = await openai.chat.completions.create({ model, messages: hello, tools, tool_choice });
    assert.equal(chosen.choices[0].message.tool_calls[0].function.name, "weather");
  }

  const url = `data:image/png;base64,${picture}`;
  const look = [{ type: "text", text: "look" }, { type: "image_url", image_url: { url } }];
  const seen = await openai.chat.completions.create({ model, messages: [{ role: "user", content: look }] });
  assert.ok(seen.choices[0].message.content.startsWith("I see a picture"));
  const json_schema = { name: "decision", schema: decision, strict: true };
  const response_format = { type: "json_schema", json_schema };
  const decided = await openai.chat.completions.parse({ model, messages: decide, response_format });
  assert.equal(JSON.parse(decided.choices[0].message.content).answer, "42");

  const response = await openai.responses.create({ model, input: "hello" });
  assert.equal(response.output_text, expected);
  const streamed = openai.responses.stream({ model, input: "hello" });
  assert.equal((await streamed.finalResponse()).output_text, expected);
  const functions = [{ type: "function", name: "weather", parameters: schema, strict: false }];
  const turn = await openai.responses.create({ model, input: [weather], tools: functions });
  const wanted = turn.output.find((item) => item.type === "function_call");
  assert.equal(JSON.parse(wanted.arguments).city, "Paris");
  const outcome = { type: "function_call_output", call_id: wanted.call_id, output: "rain" };
  const input = [weather, ...turn.output, outcome];
  const after = await openai.responses.create({ model, input, tools: functions });
  assert.equal(after.output_text, "The tool said: rain");
  for (const tool_choice of ["required", { type: "function", name: "weather" }]) {
    const chosen = await openai.responses.create({ model, input: "hello", tools: functions, tool_choice });
    assert.ok(chosen.output.some((item) => item.type === "function_call"));
  }
  const parts = [{ type: "input_text", text: "look" }, { type: "input_image", image_url: url, detail: "auto" }];
  const viewed = await openai.responses.create({ model, input: [{ role: "user", content: parts }] });
  assert.ok(viewed.output_text.startsWith("I see a picture"));
  const format = { type: "json_schema", name: "decision", schema: decision, strict: true };
  const structured = await openai.responses.parse({ model, input: "decide", text: { format } });
  assert.equal(JSON.parse(structured.output_text).answer, "42");

  const message = await anthropic.messages.create({ model, max_tokens: 100, messages: hello });
  assert.equal(message.content[0].text, expected);
  const uses = { model, max_tokens: 100, tools: [{ name: "weather", input_schema: schema }] };
  const stream = anthropic.messages.stream({ ...uses, messages: [weather] });
  const final = await stream.finalMessage();
  assert.equal(final.stop_reason, "tool_use");
  assert.equal(final.content.at(-1).input.city, "Paris");
  const returned = { type: "tool_result", tool_use_id: final.content.at(-1).id, content: "rain" };
  const history = [weather, { role: "assistant", content: final.content }, { role: "user", content: [returned] }];
  const told = await anthropic.messages.create({ ...uses, messages: history });
  assert.equal(told.content[0].text, "The tool said: rain");
  for (const tool_choice of [{ type: "any" }, { type: "tool", name: "weather" }]) {
    const chosen = await anthropic.messages.create({ ...uses, messages: hello, tool_choice });
    assert.equal(chosen.content.at(-1).name, "weather");
  }
  const source = { type: "base64", media_type: "image/png", data: picture };
  const shown = [{ type: "image", source }, { type: "text", text: "look" }];
  const described = await anthropic.messages.create({
    model,
    max_tokens: 100,
    messages: [{ role: "user", content: shown }],
  });
  assert.ok(described.content[0].text.startsWith("I see a picture"));
  const output_config = { format: { type: "json_schema", schema: decision } };
  const asked = { model, max_tokens: 100, messages: decide, output_config };
  assert.equal(JSON.parse((await anthropic.messages.create(asked)).content[0].text).answer, "42");
  console.log(`  Chat, Responses and Messages, ${model}`);
}

await assert.rejects(openai.chat.completions.create({ model: "nobody/x", messages: hello }), OpenAI.NotFoundError);
await assert.rejects(
  new Anthropic({ baseURL: url, apiKey: "wrong" }).messages.create({ model: models[1], max_tokens: 9, messages: hello }),
  Anthropic.AuthenticationError,
);
await assert.rejects(openai.chat.completions.create({ model: "groq/x", messages: hello }), /models add-key groq/);
const misplaced = [weather, { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1" }] }];
await assert.rejects(
  anthropic.messages.create({ model: models[1], max_tokens: 9, messages: misplaced }),
  (error) => error instanceof Anthropic.BadRequestError && error.message.includes("tool_use_id"),
);
console.log("  errors");

/** Expects that the vendor refuses a history in its own words. */
const refuses = (history, words, more = {}) =>
  assert.rejects(
    anthropic.messages.create({ model: models[1], max_tokens: 99, messages: history, ...more }),
    (error) => error instanceof Anthropic.BadRequestError && error.message.includes(words),
  );
const use = { type: "tool_use", id: "toolu_1", name: "weather", input: {} };
const result = { type: "tool_result", tool_use_id: "toolu_1", content: "rain" };
const late = [{ type: "text", text: "first this" }, result];
await refuses([weather, { role: "assistant", content: [use] }, { role: "user", content: late }], "immediately after");
const inSet = { role: "assistant", content: [{ ...use, name: "left_click", toolset_name: "computer" }] };
const toolset = { tools: [{ type: "computer_toolset_20260801" }] };
await refuses([weather, inSet, { role: "user", content: [result] }], "toolset_name", toolset);
const named = { role: "user", content: [{ ...result, toolset_name: "computer" }] };
const accepted = { model: models[1], max_tokens: 99, messages: [weather, inSet, named], ...toolset };
assert.equal((await anthropic.messages.create(accepted)).content[0].text, "The tool said: rain");
const large = { type: "base64", media_type: "image/png", data: picture + "A".repeat(6 << 20) };
await refuses([{ role: "user", content: [{ type: "image", source: large }] }], "5 MB");
const left = { id: "call_1", type: "function", function: { name: "weather", arguments: "{}" } };
const without = [weather, { role: "assistant", tool_calls: [left] }, { role: "user", content: "well?" }];
await assert.rejects(
  openai.chat.completions.create({ model: models[0], messages: without }),
  (error) => error instanceof OpenAI.BadRequestError && error.message.includes("tool_call"),
);
const computer = { type: "computer_call", id: "cu_1", call_id: "c", status: "completed", pending_safety_checks: [] };
const unanswered = [{ ...computer, action: { type: "screenshot" } }];
await assert.rejects(
  openai.responses.create({ model: "openai/gpt-5.4", input: unanswered }),
  (error) => error instanceof OpenAI.BadRequestError && error.message.includes("No tool output found"),
);
console.log("  rules of vendors");

const ids = [];
for await (const { id } of openai.models.list()) ids.push(id);
assert.ok(models.every((model) => ids.includes(model)));
assert.equal((await openai.models.retrieve(models[0])).owned_by, "openai");
const same = [];
for await (const { id } of anthropic.models.list()) same.push(id);
assert.ok(same.includes(models[1]));
const embedding = { model: "gemini/gemini-embedding-001", input: ["a", "b"], encoding_format: "float" };
const [, second] = (await openai.embeddings.create(embedding)).data;
assert.equal(second.embedding.join(), "0.25,0.75");
assert.equal((await anthropic.messages.countTokens({ model: models[1], messages: hello })).input_tokens, 17);
console.log("  lists, embeddings, token counts");

/** How many calls were recorded as failed or cancelled. */
const failures = async () => {
  const headers = { authorization: `Bearer ${token}` };
  const usage = await (await fetch(`${url}/api/v1/models/usage`, { headers })).json();
  return usage.rows.reduce((sum, row) => sum + row.errors, 0);
};
const before = await failures();
const long = [{ role: "user", content: "a long answer" }];
const abandoned = await openai.chat.completions.create({ model: models[0], messages: long, stream: true });
for await (const _ of abandoned) break;
const stopped = anthropic.messages.stream({ model: models[1], max_tokens: 99, messages: long });
stopped.on("text", () => stopped.abort());
await assert.rejects(stopped.finalMessage(), Anthropic.APIUserAbortError);
const soon = () => ({ signal: AbortSignal.timeout(500) });
const stalls = "openai/gpt-stalls";
await assert.rejects(openai.chat.completions.create({ model: stalls, messages: hello }, soon()), OpenAI.APIUserAbortError);
const deadline = Date.now() + 10_000;
while ((await failures()) < before + 3) {
  assert.ok(Date.now() < deadline, "the calls were not cancelled");
  await new Promise((wake) => setTimeout(wake, 50));
}
console.log("  cancellation");

if (process.env.LOCAL_MODEL) {
  for (const model of ["llama/smollm2", "llama-responses/smollm2", "llama-messages/smollm2"]) {
    const said = await openai.chat.completions.create({ model, messages: hello, max_tokens: 16 });
    assert.ok(said.choices[0].message.content);
    assert.ok((await openai.responses.create({ model, input: "hello", max_output_tokens: 16 })).output_text);
    const stream = anthropic.messages.stream({ model, max_tokens: 16, messages: hello });
    assert.ok((await stream.finalMessage()).content[0].text);
    console.log(`  Chat, Responses and Messages, ${model}`);
  }
}
console.log(`TypeScript: openai, @anthropic-ai/sdk: ${checks} checks passed`);
