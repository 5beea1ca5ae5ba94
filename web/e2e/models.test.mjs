// A person adds the key of a provider, tests it, sees what was called with it, sets a budget and removes the key.
// HELMDECK_SHOTS names a directory for the pictures.

import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before } from "node:test";
import { Agent } from "./agent.mjs";
import { openBrowser, Person } from "./browser.mjs";
import { Provider } from "./provider.mjs";
import { Server } from "./server.mjs";
import { story } from "./story.mjs";
import { until } from "./until.mjs";

const shots = process.env.HELMDECK_SHOTS;
const screens = { phone: { width: 390, height: 844 }, desk: { width: 1440, height: 900 } };
const key = "sk-or-0123456789abcdefSECRET";
const step = story();
let server, browser, person, provider, agent;

before(async () => {
  provider = await Provider.start();
  provider.keys.add(key);
  server = await Server.start({ HELMDECK_OPENROUTER_BASE_URL: provider.url });
  agent = await Agent.of(server, "report-agent", "models:use");
  browser = await openBrowser();
  person = await Person.arrive(browser, server);
  if (shots) await mkdir(shots, { recursive: true });
});
after(async () => {
  await browser?.close();
  await server?.stop();
  await provider?.stop();
});

/** An agent calls a model, and gets the status of the answer. */
const call = async (prompt, model, who = agent) => {
  const answer = await fetch(`${server.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${who.token}`, "content-type": "application/json" },
    body: JSON.stringify({ ...(model ? { model } : {}), messages: [{ role: "user", content: prompt }] }),
  });
  await answer.text();
  return answer.status;
};
const row = (name) => person.page.getByRole("row", { name });

step("without a key, the page tells how to add one", async () => {
  const { page } = person;
  await person.logIn("/models");
  await page.getByText("No model can be called yet").waitFor();
  await page.getByText("helmdeck models add-key openrouter", { exact: true }).waitFor();
  await row(/Ollama/).getByText(/Not found|Ready/).waitFor();
  assert.equal(await page.getByRole("heading", { name: "Models to call" }).count(), 0);
});

step("a key that is refused is told in plain words, and another one is tried", async () => {
  const { page } = person;
  await page.locator(".nothing").getByRole("button", { name: "Add key" }).click();
  const dialog = page.getByRole("dialog");
  assert.equal(await dialog.getByLabel("Provider").inputValue(), "openrouter");
  assert.equal(await dialog.getByLabel("Key", { exact: true }).getAttribute("type"), "password");
  await page.keyboard.type("sk-or-of-another-user");
  await page.keyboard.press("Enter");
  await dialog.getByText("OpenRouter refuses the key: No cookie auth credentials found.").waitFor();
  await page.keyboard.press("Enter");
  await dialog.getByLabel("New key").waitFor();
  await page.keyboard.type(key);
  await page.keyboard.press("Enter");
  await dialog.getByText(/OpenRouter accepts the key \(\d+ ms\)/).waitFor();
  await dialog.getByRole("button", { name: "Done" }).click();
  // The button that opened the dialog is gone.
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Models");
  await row(/OpenRouter/).getByText("In the vault, yours").waitFor();
  assert.ok(!(await page.content()).includes(key));
});

step("the key is tested from its row", async () => {
  const { page } = person;
  await page.reload();
  const tested = row(/OpenRouter/).getByText("OpenRouter accepts the key");
  await row(/OpenRouter/).getByText("Ready").waitFor();
  assert.equal(await tested.count(), 0);
  await page.getByRole("button", { name: "Test OpenRouter" }).click();
  await tested.waitFor();
});

step("models are found by words and by provider", async () => {
  const { page } = person;
  const models = page.getByRole("table", { name: "Models", exact: true }).getByRole("row");
  await until("all models and the head are listed", async () => (await models.count()) === 6);
  await page.getByRole("searchbox", { name: "Search models" }).fill("gemini flash");
  await until("one model is left", async () => (await models.count()) === 2);
  await row(/openrouter\/google\/gemini-2.5-flash/).getByText("1.05M").waitFor();
  await page.getByRole("searchbox", { name: "Search models" }).fill("nothing has this name");
  await page.getByRole("button", { name: "Show all" }).click();
  await page.getByRole("button", { name: "Context" }).click();
  const sorted = page.getByRole("columnheader", { name: "Context" });
  assert.equal(await sorted.getAttribute("aria-sort"), "descending");
  assert.match(await models.nth(1).textContent(), /gemini-2.5-flash/);
});

step("a call appears in the usage, with its cost and success", async () => {
  const { page } = person;
  await page.getByText("No calls in the last 24 hours").waitFor();
  assert.equal(await call("hello"), 200);
  assert.equal(await call("hello", "openrouter/minimax/minimax-m2.7"), 200);
  assert.equal(await call("fail", "openrouter/minimax/minimax-m2.7"), 500);
  // The page reads again when its window gets the focus.
  await page.waitForTimeout(1100);
  await page.evaluate(() => window.dispatchEvent(new Event("focus")));
  const used = page.getByRole("table", { name: "Success rates of models" });
  const minimax = used.getByRole("row", { name: /minimax-m2.7/ });
  await minimax.getByText("50%").waitFor();
  await minimax.getByText("$0.00045").waitFor();
  await page.getByRole("status").getByText("3 calls · 66.6% answered · 1k tokens in, 500 out").waitFor();
  await page.getByRole("button", { name: "Providers", exact: true }).click();
  await page.getByRole("table", { name: "Success rates of providers" }).getByText("66.6%").waitFor();
  await page.getByRole("button", { name: "Models", exact: true }).click();
  await page.getByRole("button", { name: "the last 7 days" }).click();
  await minimax.waitFor();
  await page.getByLabel("Caller", { exact: true }).selectOption("admin");
  await page.getByText("No calls in the last 7 days").waitFor();
  await page.getByLabel("Caller", { exact: true }).selectOption("All callers");
  await minimax.waitFor();
});

step("a budget refuses calls until it is raised", async () => {
  const { page } = person;
  await page.getByRole("button", { name: "Set budget" }).click();
  await page.keyboard.type("report-agent");
  await page.keyboard.press("Tab");
  await page.keyboard.type("0.000001");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await row(/report-agent/).getByText("$0 of $0.000001 left").waitFor();
  assert.equal(await call("hello"), 402);
  await page.getByRole("button", { name: "Manage the budget of report-agent" }).click();
  await page.getByRole("button", { name: "Change…" }).click();
  await page.getByLabel("Dollars in 24 hours").fill("5");
  await page.getByRole("dialog").getByRole("button", { name: "Set budget" }).click();
  await row(/report-agent/).getByText("of $5 left").waitFor();
  assert.equal(await call("hello"), 200);
});

for (const [name, viewport] of Object.entries(screens)) {
  step(`nothing is wider than a ${name}`, async () => {
    const visitor = await Person.arrive(browser, server, { viewport, hasTouch: name === "phone" });
    const { page } = visitor;
    const look = async (what, fullPage = false) => {
      for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme });
        const path = join(shots ?? "", `${what}-${name}-${colorScheme}.png`);
        if (shots) await page.screenshot({ path, animations: "disabled", fullPage });
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.equal(width, viewport.width, `${what} is as wide as the window`);
      }
      if (name === "phone") assert.deepEqual(await page.evaluate(tooSmall), [], `fingers can hit every button of ${what}`);
    };
    await visitor.logIn("/models");
    await page.getByRole("row", { name: /minimax-m2.7/ }).first().waitFor();
    await page.getByRole("button", { name: "Test OpenRouter" }).click();
    await page.getByText("OpenRouter accepts the key").waitFor();
    await look("models", true);
    await page.getByRole("button", { name: "Manage the key of OpenRouter" }).click();
    await look("models-menu");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Add key" }).click();
    await look("models-add");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Set budget" }).click();
    await look("models-budget");
    await page.keyboard.press("Escape");
    // As on a new server.
    const none = (fields) => (route) => route.fulfill({ json: { ...fields, count: 0 } });
    await page.route("**/api/v1/providers/keys", none({ keys: [] }));
    await page.route("**/api/v1/providers", async (route) => {
      const { providers, ...rest } = await (await route.fetch()).json();
      const bare = providers.map(({ key: _, ...one }) => ({ ...one, available: false }));
      return route.fulfill({ json: { ...rest, providers: bare } });
    });
    await page.route("**/api/v1/models/usage*", none({ rows: [], cost_usd: 0, from: new Date().toISOString() }));
    await page.route("**/api/v1/models/budgets", none({ budgets: [] }));
    await page.reload();
    await page.getByText("No model can be called yet").waitFor();
    await page.getByRole("heading", { name: "Your budget" }).waitFor();
    await look("models-empty", true);
    await visitor.leave();
  });
}

step("the page is for those who may call models", async () => {
  const visitor = await Person.arrive(browser, server);
  await visitor.page.route("**/api/v1/auth/*", async (route) => {
    const answer = await route.fetch();
    if (!answer.ok()) return route.fulfill({ response: answer });
    return route.fulfill({ response: answer, json: { ...(await answer.json()), scopes: ["sessions:*"] } });
  });
  await visitor.logIn("/models");
  await visitor.page.getByText("Your token lacks the permission to call models.").waitFor();
  const pages = visitor.page.getByRole("navigation", { name: "Pages" });
  assert.equal(await pages.getByRole("link", { name: "Models" }).count(), 0);
  await visitor.leave();
});

step("removing the key and the budget asks first", async () => {
  const { page } = person;
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "Manage the budget of report-agent" }).click();
  await page.getByRole("button", { name: "Remove…" }).click();
  await dialog.getByRole("button", { name: "Remove" }).click();
  await page.getByText("No caller has its own budget.").waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Budgets of callers");
  const ask = async () => {
    await page.getByRole("button", { name: "Manage the key of OpenRouter" }).click();
    await page.getByRole("button", { name: "Remove the key…" }).click();
  };
  await ask();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await ask();
  await dialog.getByRole("button", { name: "Remove" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByText("No model can be called yet").waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Models");
  assert.notEqual(await call("hello"), 200);
  await person.leave();
});

/** Runs in the page: what is smaller than a finger. */
function tooSmall() {
  return [...document.querySelectorAll("button, .button, nav a, summary")]
    .map((element) => [element, element.getBoundingClientRect()])
    .filter(([, { width, height }]) => width > 0 && (width < 44 || height < 44))
    .map(([element, { width, height }]) => `${element.textContent || element.ariaLabel} ${width}x${height}`);
}
