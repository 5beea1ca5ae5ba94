// A desktop of helmdeck, as it is: the binary, its sandbox, its own page.

import { basename } from "node:path";
import { Agent } from "../e2e/agent.mjs";
import { Server } from "../e2e/server.mjs";
import { allProcesses } from "./cpu.mjs";
import { html, title } from "./content.mjs";

export class Ours {
  name = "helmdeck";

  static async start(geometry, cleanup) {
    const ours = new Ours();
    ours.server = await Server.start();
    cleanup(() => ours.server.stop());
    const agent = await Agent.of(ours.server);
    ours.desk = await agent.desktop("bench", { geometry });
    await ours.desk.browse(html, title);
    return ours;
  }

  /** An address that shows the picture, good for one viewer at a time. */
  async page() {
    return (await this.desk.agent.get(`desktop/vnc-url?session_id=${this.desk.id}`)).url;
  }

  /** An address that speaks RFB. */
  async socket() {
    const { ticket } = await this.desk.ticket("view");
    const url = new URL(`api/v1/sessions/${this.desk.id}/vnc?ticket=${ticket}`, this.server.url);
    url.protocol = "ws:";
    return url;
  }

  /** Clicks as an agent does. */
  click(x, y) {
    return this.desk.act("click", { x, y });
  }

  /** The serving side. Chromium, the window manager and the panel are what is shown, as on the other side. */
  parts = async () => {
    const inside = await this.server.processes();
    const named = (...names) => inside.filter(({ command }) => names.includes(nameOf(command)));
    const pids = async (list) => {
      const wanted = new Set(list.map(({ pid }) => pid));
      return (await allProcesses()).filter(({ pid }) => wanted.has(pid));
    };
    const children = (await allProcesses()).filter(({ parent }) => parent === process.pid);
    return {
      Xtigervnc: await pids(named("Xtigervnc")),
      guest: await pids(named("helmdeck guest", "helmdeck nest", "bwrap")),
      serve: children.filter(({ command }) => nameOf(command).endsWith(" serve")),
    };
  };
}

/** A program's name, with the first argument if it is helmdeck's. */
export function nameOf(command) {
  const [program, argument] = command.split(" ");
  const name = basename(program);
  return name === "Xtigervnc" || name === "bwrap" ? name : `${name} ${argument}`;
}
