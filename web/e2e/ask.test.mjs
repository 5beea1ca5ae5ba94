// A person asks for something on a desktop, watches the steps, pauses, answers a question and sees the outcome.
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
const key = "sk-or-0123456789abcdefSECRET";
const step = story();
let server, browser, person, provider, desk;

before(async () => {
  provider = await Provider.start();
  provider.keys.add(key);
  server = await Server.start({ HELMDECK_OPENROUTER_BASE_URL: provider.url });
  browser = await openBrowser();
  desk = await (await Agent.of(server, "admin")).desktop("asked");
  // Short, because the agent types it.
  await desk.browse("<title>room</title><button style=font-size:40px onclick=\"this.textContent='Saved'\">Save</button>", "room");
  person = await Person.arrive(browser, server, { viewport: { width: 1440, height: 900 } });
  await person.watch(desk);
  await person.page.getByRole("tab", { name: "Ask" }).click();
  if (shots) await mkdir(shots, { recursive: true });
});
after(async () => {
  await browser?.close();
  await server?.stop();
  await provider?.stop();
});

/** Takes pictures on a desk and on a phone, and checks that nothing is wider than the window. */
const look = async (what) => {
  const { page } = person;
  for (const [width, height] of [[390, 844], [1440, 900]]) {
    await page.setViewportSize({ width, height });
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      const path = join(shots ?? "", `${what}-${width}-${colorScheme}.png`);
      if (shots) await page.screenshot({ path, animations: "disabled" });
    }
    await until(`${what} fits`, async () => (await page.evaluate(() => document.documentElement.scrollWidth)) === width);
  }
};
/** What the model says next, when it is told to. */
const later = (call) => {
  let tell;
  provider.calls.push(new Promise((resolve) => (tell = () => resolve(call))));
  return tell;
};
const box = () => person.page.getByRole("textbox", { name: "What to do" });
const steps = () => person.page.getByRole("list", { name: "Steps" }).getByRole("listitem");
const state = (name) => person.page.getByRole("tabpanel", { name: "Ask" }).getByText(name, { exact: true });
const outcome = () => person.page.getByRole("region", { name: "Outcome" });

step("without a model, the tab tells how to add one, and structured mode works", async () => {
  const { page } = person;
  await page.getByRole("button", { name: "Vision" }).click();
  await page.getByText("No model can be called yet").waitFor();
  await page.getByText("helmdeck models add-key openrouter", { exact: true }).waitFor();
  await box().fill("Click Save");
  assert.equal(await page.getByRole("button", { name: "Run", exact: true }).isDisabled(), true);
  await look("ask-no-model");

  await page.getByRole("button", { name: "Structured" }).click();
  await box().press("Control+Enter");
  await outcome().getByText("Completed: verified").waitFor();
  await steps().getByText("Button “Save”").waitFor();
  await steps().getByText("Without a model").waitFor();
  await steps().getByRole("button", { name: "Enlarge before and after" }).getByRole("img").first().waitFor();
  assert.equal(provider.chats.length, 0);
});

let answers;
step("a run shows its steps and cost, and where it acts", async () => {
  const { page } = person;
  await desk.agent.post("providers/keys", { provider: "openrouter", key });
  await page.getByRole("button", { name: "Vision" }).click();
  await page.waitForTimeout(1100);
  await page.evaluate(() => window.dispatchEvent(new Event("focus")));
  await until("the default model is offered", async () => (await page.getByLabel("Model").getAttribute("placeholder")) === "openrouter/auto");
  await page.getByText("More", { exact: true }).click();
  await page.getByLabel("Budget in dollars").fill("0.5");
  await page.getByLabel("Most steps").fill("6");
  await box().fill("Book the room");
  await look("ask-form");
  answers = [
    later({ action: "left_click", coordinate: [500, 500], says: "I click the calendar." }),
    later({ action: "type", text: "https://other.example", says: "The form is on another site." }),
    later({ action: "done", text: "The room is booked." }),
  ];
  const aimed = page.evaluate(aims);
  await box().press("Control+Enter");
  await state("Running").waitFor();
  answers[0]();
  await steps().first().getByText("500, 500").waitFor();
  await steps().first().getByText("I click the calendar.").waitFor();
  await page.getByText(/1\.54k tokens · \$0\.\d+ of \$0\.50/).waitFor();
  assert.equal(await aimed, true, "the target was highlighted");
});

step("it pauses before its next step, and goes on", async () => {
  const { page } = person;
  await page.getByRole("button", { name: "Pause" }).click();
  await state("Paused").waitFor();
  answers[1]();
  await look("ask-paused");
  await page.waitForTimeout(500);
  assert.equal(await page.getByRole("region", { name: "The run asks you" }).count(), 0);
  await page.getByRole("button", { name: "Hide the panel" }).click();
  await desk.agent.post(`sessions/${desk.id}/vision/resume`);
});

step("a question is asked above the picture, also without the panel", async () => {
  const { page } = person;
  const card = page.getByRole("region", { name: "The run asks you" });
  await card.getByText("other.example").waitFor();
  assert.equal(await card.evaluate((element) => element === document.activeElement), true);
  await page.getByRole("button", { name: "Show the panel" }).click();
  await state("Waiting for you").waitFor();
  await look("ask-question");
  await card.focus();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await card.waitFor({ state: "detached" });
  await page.getByText(/^Allowed by admin: It wants to open other\.example/).waitFor();
});

step("the end says that nothing shows it", async () => {
  const { page } = person;
  answers[2]();
  await outcome().getByText("Unverified", { exact: true }).waitFor();
  await outcome().getByText("The model says that it is done, but nothing shows it.").waitFor();
  await box().waitFor();
  await look("ask-unverified");
  // It is still there for a person who comes later.
  await page.reload();
  await page.getByRole("tab", { name: "Ask" }).click();
  await outcome().getByText("Unverified", { exact: true }).waitFor();
});

step("a run is stopped", async () => {
  const { page } = person;
  later({});
  await box().fill("Wait for me");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("button", { name: "Stop" }).click();
  await outcome().getByText("Stopped", { exact: true }).waitFor();
  await look("ask-stopped");
  await person.leave();
});

/** Runs in the page: whether a target appears. */
function aims() {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), 30_000);
    new MutationObserver((_, observer) => {
      if (!document.querySelector('.spots[data-kind="aim"] .spot-point')) return;
      observer.disconnect();
      clearTimeout(timer);
      resolve(true);
    }).observe(document.body, { childList: true, subtree: true });
  });
}
