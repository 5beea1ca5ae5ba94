// Calls models through helmdeck with the TypeScript SDKs of OpenAI and Anthropic, which know nothing of it.

import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

const { HELMDECK_URL: url, HELMDECK_TOKEN: token } = process.env;
const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: token });
const anthropic = new Anthropic({ baseURL: url, apiKey: token });
const models = ["openai/gpt-4o-mini", "anthropic/claude-haiku-4-5", "gemini/gemini-3.5-flash"];
const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const hello = [{ role: "user", content: "hello" }];
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

  const response = await openai.responses.create({ model, input: "hello" });
  assert.equal(response.output_text, expected);
  const streamed = openai.responses.stream({ model, input: "hello" });
  assert.equal((await streamed.finalResponse()).output_text, expected);

  const message = await anthropic.messages.create({ model, max_tokens: 100, messages: hello });
  assert.equal(message.content[0].text, expected);
  const stream = anthropic.messages.stream({
    model,
    max_tokens: 100,
    messages: [weather],
    tools: [{ name: "weather", input_schema: schema }],
  });
  const final = await stream.finalMessage();
  assert.equal(final.stop_reason, "tool_use");
  assert.equal(final.content.at(-1).input.city, "Paris");
}

await assert.rejects(openai.chat.completions.create({ model: "nobody/x", messages: hello }), OpenAI.NotFoundError);
await assert.rejects(
  new Anthropic({ baseURL: url, apiKey: "wrong" }).messages.create({ model: models[1], max_tokens: 9, messages: hello }),
  Anthropic.AuthenticationError,
);
const abandoned = await openai.chat.completions.create({
  model: models[0],
  messages: [{ role: "user", content: "a long answer" }],
  stream: true,
});
for await (const _ of abandoned) break;

console.log("TypeScript: openai, @anthropic-ai/sdk: passed");
