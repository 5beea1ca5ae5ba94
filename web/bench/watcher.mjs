// A viewer without a browser: asks for what has changed, and throws it away.

import { WebSocket } from "ws";
import { patience } from "../e2e/until.mjs";

export class Watcher {
  updates = 0;
  bytes = 0;
  #socket;
  #received = [];
  #length = 0;
  #wake = () => {};
  #closed = null;

  /** Connects, and returns when it has seen the whole picture once. From then on it goes on by itself. */
  static async connect(url) {
    const watcher = new Watcher();
    const socket = new WebSocket(url, "binary", { perMessageDeflate: false });
    watcher.#socket = socket;
    socket.on("message", (message) => {
      watcher.#received.push(message);
      watcher.#length += message.length;
      watcher.bytes += message.length;
      watcher.#wake();
    });
    socket.on("close", (code) => {
      watcher.#closed ??= `closed with ${code}`;
      watcher.#wake();
    });
    socket.on("error", (error) => (watcher.#closed ??= error.message));
    await watcher.#shakeHands();
    socket.send(Buffer.from([2, 0, 0, 1, 0, 0, 0, 0])); // raw pictures
    watcher.#ask(false);
    await watcher.#update();
    watcher.going = watcher.#go();
    return watcher;
  }

  /** Whether something went wrong since. */
  get failure() {
    return this.#closed;
  }

  async close() {
    this.#closed = "by us";
    this.#socket.close();
    this.#wake();
    await this.going;
  }

  async #go() {
    while (this.#closed === null) {
      this.#ask(true);
      await this.#update(Infinity).catch((error) => (this.#closed ??= error.message));
    }
  }

  async #shakeHands() {
    await this.#read(12);
    this.#socket.send(Buffer.from("RFB 003.008\n"));
    const [count] = await this.#read(1);
    await this.#read(count);
    this.#socket.send(Buffer.from([1])); // no further security
    await this.#read(4);
    this.#socket.send(Buffer.from([1])); // others may watch too
    const init = await this.#read(24);
    this.size = init.subarray(0, 4);
    this.pixel = init[4] / 8;
    await this.#read(init.readUInt32BE(20));
  }

  #ask(incremental) {
    this.#socket.send(Buffer.from([3, incremental ? 1 : 0, 0, 0, 0, 0, ...this.size]));
  }

  /** Reads on until an update of the picture is whole. */
  async #update(deadline = patience) {
    for (;;) {
      const [type] = await this.#read(1, deadline);
      if (type === 2) continue; // a bell
      if (type === 3) {
        const head = await this.#read(7);
        await this.#read(head.readUInt32BE(3)); // a clipboard
        continue;
      }
      if (type !== 0) throw new Error(`message ${type} was not asked for`);
      const rectangles = (await this.#read(3)).readUInt16BE(1);
      for (let index = 0; index < rectangles; index += 1) {
        const head = await this.#read(12);
        if (head.readInt32BE(8) !== 0) throw new Error(`encoding ${head.readInt32BE(8)} was not asked for`);
        await this.#read(head.readUInt16BE(4) * head.readUInt16BE(6) * this.pixel);
      }
      this.updates += 1;
      return;
    }
  }

  async #read(count, deadline = patience) {
    const end = performance.now() + deadline;
    while (this.#length < count) {
      if (this.#closed !== null) throw new Error(this.#closed);
      if (performance.now() > end) throw new Error(`only ${this.#length} of ${count} bytes came`);
      let timer;
      await new Promise((resolve) => {
        this.#wake = resolve;
        if (deadline !== Infinity) timer = setTimeout(resolve, deadline);
      });
      clearTimeout(timer);
    }
    const all = this.#received.length === 1 ? this.#received[0] : Buffer.concat(this.#received);
    this.#received = all.length > count ? [all.subarray(count)] : [];
    this.#length -= count;
    return all.subarray(0, count);
  }
}
