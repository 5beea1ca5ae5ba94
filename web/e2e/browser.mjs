// A person: a real browser on the pages.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { chromium } from "playwright-core";
import { password } from "./server.mjs";
import { patience, until } from "./until.mjs";

// Loads the page from a directory instead of the binary, to test a change without building the server.
const replacement = process.env.HELMDECK_PAGE;

export function openBrowser() {
  const args = [];
  // Chromium's sandbox does not work as root; it only shows our own pages.
  if (process.getuid?.() === 0) args.push("--no-sandbox");
  // A replaced page has no network origin, and could not call this machine.
  if (replacement) args.push("--disable-features=LocalNetworkAccessChecks");
  return chromium.launch({ executablePath: "/usr/bin/chromium", args });
}

/** A person with a separate browser window, which records all errors of the console. */
export class Person {
  /** Errors on the page, except those that `forgive` expects. */
  complaints = [];
  // Only the tests read the picture back, not the page. noVNC complains about data that arrives while it
  // disconnects.
  #forgiven = [/willReadFrequently/, /Got data while in an invalid state/];

  static async arrive(browser, server, options = {}) {
    const person = new Person();
    person.server = server;
    const viewport = options.viewport ?? { width: 1280, height: 800 };
    person.context = await browser.newContext({ baseURL: server.url, viewport, ...options });
    person.context.setDefaultTimeout(patience);
    if (replacement) await replacePage(person.context, replacement);
    person.page = await person.context.newPage();
    person.page.on("pageerror", (error) => person.#complain(`uncaught: ${error.message}`));
    person.page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) {
        person.#complain(`${message.text()} (${message.location().url})`);
      }
    });
    return person;
  }

  /** Expects these errors from now on. */
  forgive(...patterns) {
    this.#forgiven.push(...patterns);
  }

  #complain(text) {
    if (!this.#forgiven.some((pattern) => pattern.test(text))) this.complaints.push(text);
  }

  /** Logs in and opens `path`. */
  async logIn(path = "") {
    // Before the login, the page's first request fails, and the browser logs it as an error.
    const asked = /401.*auth\/me/;
    this.forgive(asked);
    await this.page.goto(path || "/");
    await this.page.getByLabel("User name").fill("admin");
    await this.page.getByLabel("Password").fill(password);
    await this.page.getByRole("button", { name: "Log in" }).click();
    await this.page.getByRole("button", { name: "Log in" }).waitFor({ state: "detached" });
    this.#forgiven = this.#forgiven.filter((pattern) => pattern !== asked);
  }

  /** Goes to another page through the bar: on small windows, its links are in a menu. */
  async goTo(name) {
    const pages = this.page.getByRole("navigation", { name: "Pages" });
    await pages.waitFor();
    // The bar follows the size of the window when the page is drawn.
    await this.page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
    const menu = pages.getByRole("button", { name: "Pages" });
    if (await menu.isVisible()) await menu.click();
    await pages.getByRole("link", { name, exact: true }).click();
  }

  /** Opens a session's page and waits for its picture. */
  async watch(desk) {
    await this.logIn(`/sessions/${desk.id}`);
    await this.seesPicture();
  }

  async seesPicture() {
    await this.page.locator('.stage[data-connected="true"]:visible').waitFor();
    await until("the picture is painted", async () => (await coloursOf(this.picture)) > 8);
  }

  /** The picture of the visible view. */
  get picture() {
    return this.page.locator(".screen:visible canvas");
  }

  get strip() {
    return this.page.locator(".strip:visible");
  }

  /** The colour of a pixel of the session's screen, as shown to this person. */
  colourAt(x, y) {
    return this.picture.evaluate(
      (canvas, [x, y]) => [...canvas.getContext("2d").getImageData(x, y, 1, 1).data].slice(0, 3),
      [x, y],
    );
  }

  async takeControl() {
    await this.strip.getByRole("button", { name: "Take control" }).click();
    await this.strip.getByText("You are driving").waitFor();
  }

  async handBack(message = "") {
    await this.page.getByRole("button", { name: "Hand back" }).click();
    const dialog = this.page.getByRole("dialog");
    await dialog.getByLabel("Message to the agent").fill(message);
    await dialog.getByRole("button", { name: "Hand back" }).click();
    await dialog.waitFor({ state: "hidden" });
    await this.strip.getByRole("button", { name: "Take control" }).waitFor();
  }

  /** Closes the window, and fails if there were errors. */
  async leave() {
    await this.context.close();
    assert.deepEqual(this.complaints, [], "the browser's console has errors");
  }
}

/** The number of colours on a coarse grid of a canvas: a blank one has at most one. */
export function coloursOf(canvas) {
  return canvas.evaluate((canvas) => {
    if (canvas.width === 0 || canvas.height === 0) return 0;
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const pixels = new Uint32Array(data.buffer);
    const colours = new Set();
    for (let index = 0; index < pixels.length; index += 7) colours.add(pixels[index]);
    return colours.size;
  });
}

const pages = ["/", "/login", "/settings", "/connect", "/tokens", "/packs", "/jobs", "/artifacts", "/models", "/credentials", "/audit"];
const kinds = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };

/** Serves the pages from a directory, with the server's own headers. */
async function replacePage(context, directory) {
  const fileOf = (pathname) => {
    if (pages.includes(pathname)) return "index.html";
    if (pathname.startsWith("/sessions/")) return "sessions/index.html";
    return pathname === "/vnc.html" || pathname.startsWith("/assets/") ? pathname.slice(1) : null;
  };
  const ours = (url) => fileOf(url.pathname) !== null;
  await context.route(ours, async (route) => {
    const file = fileOf(new URL(route.request().url()).pathname);
    const body = await readFile(join(directory, file));
    if (file.startsWith("assets/")) {
      return route.fulfill({ body, contentType: kinds[extname(file)] ?? "application/octet-stream" });
    }
    const response = await route.fetch();
    return route.fulfill({ response, body, status: 200, contentType: "text/html" });
  });
}
