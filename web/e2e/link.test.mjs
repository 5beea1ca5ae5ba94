// A link to the picture, for a person without an account.

import assert from "node:assert/strict";
import { after, before } from "node:test";
import { Agent, feelingPage } from "./agent.mjs";
import { openBrowser, Person } from "./browser.mjs";
import { Server } from "./server.mjs";
import { story } from "./story.mjs";
import { until } from "./until.mjs";

const step = story();
let server, browser, agent, desk, alone, shortLived, guest, stranger;
before(async () => {
  server = await Server.start();
  browser = await openBrowser();
  agent = await Agent.of(server);
  desk = await agent.desktop("linked");
  await desk.browse(feelingPage, "felt 0 clicks");
  shortLived = await desk.ticket("view", { ttl_seconds: 1 });
  guest = await Person.arrive(browser, server);
  stranger = await Person.arrive(browser, server);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

step("the address from the API shows the picture to anyone who opens it", async () => {
  await desk.act("agent_status", { status: "Comparing prices" });
  const { url, role } = await agent.get(`desktop/vnc-url?session_id=${desk.id}`);
  assert.equal(role, "view");
  await guest.page.goto(url);
  await guest.seesPicture();
  await guest.strip.getByText("You are watching · Agent drives").waitFor();
  await guest.page.locator(".agent-banner").getByText("Comparing prices").waitFor();
  await desk.act("agent_status", { status: "Found the cheapest" });
  await guest.page.locator(".agent-banner").getByText("Found the cheapest").waitFor();
  await guest.picture.click();
  await guest.page.getByText("You are watching. You may not take control here.").waitFor();
  assert.equal(await guest.page.getByRole("button", { name: "Take control" }).count(), 0);
  assert.deepEqual(await guest.context.cookies(), []);
});

step("a picture that cannot be opened shows an error and works on retry", async () => {
  await guest.page.addInitScript(() => {
    const Real = window.WebSocket;
    window.WebSocket = class extends Real {
      constructor() {
        throw new Error("blocked by an extension");
      }
    };
    window.unblock = () => (window.WebSocket = Real);
  });
  const { url } = await desk.ticket("view");
  await guest.page.goto(url);
  await guest.page.getByText("The picture could not be opened (blocked by an extension).").waitFor();
  await guest.page.evaluate(() => window.unblock());
  await guest.page.getByRole("button", { name: "Reconnect now" }).click();
  await guest.seesPicture();
  await guest.leave();
  guest = await Person.arrive(browser, server);
});

step("with a control link, a person takes control, and resizes the screen only on request", async () => {
  const { url } = await agent.get(`desktop/vnc-url?session_id=${desk.id}&role=control`);
  assert.equal(new URL(url).searchParams.get("resize"), "remote");
  await guest.page.goto(url);
  await guest.seesPicture();
  // A ticket allows one connection at a time, and the first may still be open when the next opens. If it has closed
  // by the time the page probes the address, the answer is that this was not a WebSocket request.
  guest.forgive(/409/, /400.*\/vnc\?/, /WebSocket on-error/, /Failed when connecting/);
  await guest.takeControl();
  await guest.page.keyboard.type("hello");
  await desk.titled("felt 0 clicks 5 keys [hello]");
  assert.equal((await desk.ask("click", { x: 700, y: 500 })).body.error, "control_held");
  const width = () => guest.picture.evaluate((canvas) => canvas.width);
  assert.equal(await width(), 1024, "the agent's screen is as it was");
  await guest.page.getByRole("button", { name: "Resize the session's screen" }).click();
  await until("the screen has the window's width", async () => (await width()) === 1280);
  await desk.agent.ask("POST", "desktop/resize", { session_id: desk.id, geometry: "1024x768" });
});

step("the person releases control", async () => {
  await guest.page.getByRole("button", { name: "Hand back" }).click();
  await guest.page.getByText("You are watching").waitFor();
  const free = async () => (await desk.control()).driver === "agent";
  await until(async () => `the agent drives again: ${JSON.stringify(await desk.control())}`, free, 5000);
  await desk.act("click", { x: 700, y: 500 });
  await desk.titled("felt 1 clicks");
  await guest.leave();
});

step("a link to a session without a desktop shows its browser", async () => {
  alone = await agent.headless("alone");
  await alone.inBrowser("navigate", { url: `data:text/html,${encodeURIComponent(feelingPage)}` });
  guest = await Person.arrive(browser, server);
  await guest.page.goto((await alone.ticket("view")).url);
  await guest.seesPicture();
  await guest.strip.getByText("You are watching · Agent drives").waitFor();
  await guest.page.locator(".browser-tab", { hasText: "felt 0 clicks" }).waitFor();
  assert.match(await guest.page.getByLabel("Address").inputValue(), /^data:text/);
  for (const name of ["Take control", "New tab", "Reload"]) {
    assert.equal(await guest.page.getByRole("button", { name }).count(), 0, name);
  }
  assert.deepEqual(await guest.context.cookies(), []);
});

step("a control link takes and releases control there, too", async () => {
  let cut = false;
  const pictures = [];
  await guest.page.routeWebSocket(/cdp-stream/, (picture) => {
    if (cut) return picture.close({ code: 1011 });
    pictures.push(picture);
    picture.connectToServer();
  });
  await guest.page.goto((await alone.ticket("control")).url);
  await guest.seesPicture();
  // As above.
  guest.forgive(/409/, /400.*\/cdp-stream\?/, /WebSocket connection to/);
  await guest.takeControl();
  await guest.page.keyboard.type("hello");
  await guest.page.locator(".browser-tab", { hasText: "felt 0 clicks 5 keys [hello]" }).waitFor();
  assert.equal((await alone.control()).driver, "human");
  await guest.page.getByRole("button", { name: "Hand back" }).click();
  await guest.strip.getByText("You are watching").waitFor();
  const free = async () => (await alone.control()).driver === "agent";
  await until(async () => `the agent drives again: ${JSON.stringify(await alone.control())}`, free, 5000);
  await alone.inBrowser("execute", { script: "document.title = 'the agent goes on'" });
  await guest.page.locator(".browser-tab", { hasText: "the agent goes on" }).waitFor();

  cut = true;
  for (const picture of pictures) await picture.close({ code: 1011 });
  await guest.page.getByText("Reconnecting").waitFor();
  await alone.end();
  const read = guest.page.getByText("The session is over. It was ended on request.");
  await read.waitFor();
  guest.forgive(/404/);
  await guest.page.reload();
  await read.waitFor();
  await guest.leave();
});

const bad = {
  "that was changed": async () => {
    const { url } = await agent.get(`desktop/vnc-url?session_id=${desk.id}`);
    // In the middle of the signature, where every bit matters.
    return url.slice(0, -20) + (url.at(-20) === "A" ? "B" : "A") + url.slice(-19);
  },
  "for another session": async () => {
    const { url } = await agent.get(`desktop/vnc-url?session_id=${desk.id}`);
    return url.replace(desk.id, `${desk.id.slice(0, -4)}0000`);
  },
  "that has expired": async () => {
    // The server tolerates clock differences of some seconds.
    const address = `${server.url}/api/v1/sessions/${desk.id}/vnc?ticket=${shortLived.ticket}`;
    await until("it expires", async () => (await fetch(address)).status === 401);
    return shortLived.url;
  },
  "that was withdrawn": async () => {
    const { url, id } = await desk.ticket("view");
    await agent.ask("DELETE", `sessions/${desk.id}/tickets/${id}`);
    return url;
  },
};
for (const [which, make] of Object.entries(bad)) {
  step(`a link ${which} shows no picture, and says so`, async () => {
    await stranger.page.goto("about:blank");
    await stranger.page.goto(await make());
    await stranger.page.getByText("This link is not valid").waitFor();
    assert.equal(await stranger.page.locator('.stage[data-connected="true"]').count(), 0);
  });
}

step("an invalid link shows an error", async () => {
  await stranger.page.goto("/vnc.html?path=api/v1/elsewhere");
  await stranger.page.getByText("This link does not lead to a session").waitFor();
});
