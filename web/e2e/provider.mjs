// A provider of models on this machine, which answers like OpenRouter: a list with prices, a check of keys, and chats.

import { createServer } from "node:http";

const models = [
  ["openrouter/auto", "0.0000005", "0.0000015", 2_000_000, null],
  ["anthropic/claude-haiku-4.5", "0.000001", "0.000005", 200_000, 64_000],
  ["google/gemini-2.5-flash", "0.0000003", "0.0000025", 1_048_576, 65_535],
  ["minimax/minimax-m2.7", "0.0000003", "0.0000012", 204_800, 131_072],
  ["qwen/qwen3-coder:free", "0", "0", 262_144, null],
];

export class Provider {
  /** Keys that it accepts. */
  keys = new Set();
  /** The chats that it was asked for. */
  chats = [];
  /** What it says next to chats with a computer: calls of that tool, or promises of them. */
  calls = [];
  #http;

  static async start() {
    const provider = new Provider();
    provider.#http = createServer((request, response) => void provider.#answer(request, response));
    await new Promise((resolve) => provider.#http.listen(0, "127.0.0.1", resolve));
    provider.url = `http://127.0.0.1:${provider.#http.address().port}/v1`;
    return provider;
  }

  async stop() {
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
  }

  async #answer(request, response) {
    const send = (status, body) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    let text = "";
    for await (const chunk of request) text += chunk;
    const path = new URL(request.url, "http://provider").pathname;
    if (path === "/v1/models") return send(200, { data: models.map(described) });
    const key = request.headers.authorization?.replace("Bearer ", "") ?? "";
    if (!this.keys.has(key)) return send(401, { error: { message: "No cookie auth credentials found", code: 401 } });
    if (path === "/v1/key") return send(200, { data: { label: "sk-or-…", usage: 0 } });
    if (path !== "/v1/chat/completions") return send(404, { error: { message: "no such path" } });
    const chat = JSON.parse(text);
    this.chats.push(chat);
    // A prompt can ask for trouble.
    const prompt = chat.messages.at(-1).content;
    if (prompt === "fail") return send(500, { error: { message: "the model is overloaded" } });
    const call = chat.tools?.some(({ function: { name } }) => name === "computer") ? await this.calls.shift() : undefined;
    if (call !== undefined) return send(200, called(chat.model, call));
    send(200, {
      id: "chat-1",
      object: "chat.completion",
      created: 0,
      model: chat.model,
      choices: [{ index: 0, message: { role: "assistant", content: "Hello." }, finish_reason: "stop" }],
      usage: { prompt_tokens: prompt.length * 100, completion_tokens: 250, total_tokens: prompt.length * 100 + 250 },
    });
  }
}

function described([id, prompt, completion, context_length, max_completion_tokens]) {
  return { id, context_length, pricing: { prompt, completion }, top_provider: { max_completion_tokens } };
}

/** A chat whose answer uses the computer. */
function called(model, { says = "", ...action }) {
  const call = { id: "call-1", type: "function", function: { name: "computer", arguments: JSON.stringify(action) } };
  const message = { role: "assistant", content: says, tool_calls: [call] };
  const usage = { prompt_tokens: 1500, completion_tokens: 40, total_tokens: 1540 };
  const choices = [{ index: 0, message, finish_reason: "tool_calls" }];
  return { id: "chat-2", object: "chat.completion", created: 0, model, choices, usage };
}
